package account

import (
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// MayStill refuses, in a write's transaction, a caller who lost their access since the request came: a revoked key, an
// ended session, a disabled user or a changed role. Callers without key and session are not checked.
func MayStill(c *db.Conn, who db.Caller) error {
	role, found, err := who.Role, true, error(nil)
	switch {
	case who.KeyID != 0:
		role, found, err = db.One(c, db.Text, `SELECT r.role FROM keys k JOIN users u ON u.id = k.user_id
			JOIN roles r ON r.user_id = k.user_id AND r.service = k.service
			WHERE k.id = ? AND k.revoked_at IS NULL AND u.disabled = 0`, who.KeyID)
	case who.Session != 0 && who.Subject == 0:
		role, found, err = db.One(c, db.Text, `SELECT r.role FROM sessions s JOIN users u ON u.id = s.subject
			JOIN roles r ON r.user_id = u.id AND r.service = ?2
			WHERE s.id = ?1 AND s.kind = 'staff' AND u.disabled = 0 AND u.removed_at IS NULL`, who.Session, who.Service)
	case who.Session != 0:
		_, found, err = db.One(c, db.Int, "SELECT 1 FROM sessions WHERE id = ?", who.Session)
	}
	switch {
	case err != nil:
		return err
	case !found:
		return fault.New(fault.Unauthorized, "%s no longer has access; nothing was written", who.User)
	case role != who.Role:
		return fault.Forbiddenf("the role of %s changed to %s during this request; nothing was written", who.User, role)
	}
	return nil
}
