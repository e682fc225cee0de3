package store

import (
	"cmp"
	"time"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// setState changes a license's state and the totals. An equal state changes nothing.
func setState(tx *db.Tx, l License, to string) {
	if l.state == to {
		return
	}
	tx.Do("UPDATE store_licenses SET state = ? WHERE id = ?", to, l.ID)
	addLicenses(tx, l.state, -1)
	addLicenses(tx, to, 1)
}

// setEnd changes a license's end; nil is never.
func setEnd(tx *db.Tx, l License, ends *exact.Instant) {
	if sameEnd(l.ExpiresAt, ends) {
		return
	}
	tx.Do("UPDATE store_licenses SET expires_at = ? WHERE id = ?", ends, l.ID)
}

func sameEnd(a, b *exact.Instant) bool { return a == b || a != nil && b != nil && *a == *b }

// decide stores the decision of staff or a refund on a license, and applies its state.
func decide(tx *db.Tx, id int64, to string) error {
	tx.Do("UPDATE store_licenses SET decided = ?1 WHERE id = ?2 AND decided <> ?1", to, id)
	return applyState(tx, id)
}

// applyState sets the decided state, but suspends an active license while a dispute is open.
func applyState(tx *db.Tx, id int64) error {
	l, err := findLicense(&tx.Conn, id)
	if err != nil {
		return err
	}
	to := l.decided
	if to == stateActive {
		_, held, err := db.One(&tx.Conn, db.Int, "SELECT 1 FROM store_holds WHERE license_id = ? LIMIT 1", id)
		if err != nil {
			return err
		}
		if held {
			to = stateSuspended
		}
	}
	setState(tx, l, to)
	return nil
}

// licenseMoved is what the audit trail calls a license's move to a state.
var licenseMoved = map[string]string{stateSuspended: "license.suspended", stateActive: "license.resumed",
	stateRevoked: "license.revoked"}

// moveLicense suspends a license until it is resumed, resumes it if its date allows, or revokes it for good. Refused:
// an unknown license, a move that licenseMoves does not have. One that only a dispute suspends stays suspended after
// the dispute once it is suspended itself, and is no longer suspended by the dispute once it is resumed.
func moveLicense(tx *db.Tx, id int64, to string) (License, error) {
	l, err := findLicense(&tx.Conn, id)
	if err != nil {
		return l, err
	}
	from := l.state
	if to == stateSuspended {
		from = l.decided
	}
	if err := licenseMoves.Check("license", from, to); err != nil {
		return l, err
	}
	if to == stateActive {
		tx.Do("DELETE FROM store_holds WHERE license_id = ?", id)
	}
	if err := decide(tx, id, to); err != nil {
		return l, err
	}
	if err := tx.Audit(licenseMoved[to], subject(l), map[string]string{"from": l.state, "to": to}); err != nil {
		return l, err
	}
	moved, err := licenseFor(&tx.Conn, tx.Who(), id)
	if err == nil && to == stateRevoked {
		moved.files, err = runningFiles(&tx.Conn, []License{moved})
	}
	return moved, err
}

// licenseFor returns a license as who may see it.
func licenseFor(c *db.Conn, who db.Caller, id int64) (License, error) {
	l, err := findLicense(c, id)
	if err == nil && !seesKeys(who) {
		l = l.masked()
	}
	return l, err
}

// Extension is an extension of a license: by days from its end, or from now if it has ended; or to the end of a day.
type Extension struct {
	Days  int64 // 0 is not said
	Until *exact.Day
}

const mostDays = 36_500

// extendLicense lets a license end later. Refused: an unknown license, one that never
// ends or was revoked, an end that is not later than the one it has, days and until
// both or neither.
func extendLicense(tx *db.Tx, id int64, x Extension) (License, error) {
	switch {
	case (x.Days == 0) == (x.Until == nil):
		return License{}, fault.Fieldf("days", "give days or until, one of them")
	case x.Until == nil && (x.Days < 1 || x.Days > mostDays):
		return License{}, fault.Fieldf("days", "days: %d is out of range; it takes 1 to %d", x.Days, mostDays)
	}
	l, err := findLicense(&tx.Conn, id)
	switch {
	case err != nil:
		return l, err
	case l.ExpiresAt == nil:
		return l, fault.Conflictf("license %d never ends; there is nothing to extend", id)
	case l.state == stateRevoked:
		return l, fault.Conflictf("license %d was revoked, which is final", id)
	}
	ends, field := max(*l.ExpiresAt, tx.Now())+exact.Instant(x.Days*day), "days"
	if x.Until != nil {
		ends, field = endOf(*x.Until, tx.Zone()), "until"
	}
	if ends <= *l.ExpiresAt {
		return l, fault.Fieldf(field, "%s: license %d ends at %s; it takes a day after that", field, id, l.ExpiresAt)
	}
	tx.Do("UPDATE store_licenses SET extended_until = ? WHERE id = ?", ends, id)
	setEnd(tx, l, &ends)
	if err := tx.Audit("license.extended", subject(l), map[string]any{"from": l.ExpiresAt, "to": ends}); err != nil {
		return l, err
	}
	return licenseFor(&tx.Conn, tx.Who(), id)
}

// endOf is the last second of a day in the shop's zone.
func endOf(d exact.Day, zone *time.Location) exact.Instant {
	return exact.InstantOf((d + 1).Time(zone)) - 1
}

// rotated is what the audit trail calls another key of a license.
const rotated = "license.rotated"

// rotateLicenseKey gives a license another key: the old one is unknown from then on, and the seats stay. Refused: an
// unknown license, a revoked one.
func rotateLicenseKey(tx *db.Tx, id int64) (License, error) {
	l, err := findLicense(&tx.Conn, id)
	switch {
	case err != nil:
		return l, err
	case l.state == stateRevoked:
		return l, fault.Conflictf("license %d was revoked, which is final", id)
	}
	key := newKey()
	tx.Do("UPDATE store_licenses SET license_key = ?, key_hash = ?, loose_hash = NULL WHERE id = ?", key,
		digest(key, keyLength), id)
	if err := tx.Audit(rotated, subject(l), map[string]string{"old_key": mask(l.Key)}); err != nil {
		return l, err
	}
	if _, err := keyKind.Queue(tx, mail.Row{Subject: subject(l), Record: l.OrderRef, To: l.CustomerEmail}); err != nil {
		return l, err
	}
	return licenseFor(&tx.Conn, tx.Who(), id)
}

// releaseSeat releases a seat of a license for its buyer. Refused: an unknown license, a seat that it does not have.
func releaseSeat(tx *db.Tx, id, seat int64) (License, error) {
	l, err := findLicense(&tx.Conn, id)
	if err != nil {
		return l, err
	}
	a, found, err := activations.One(&tx.Conn, "WHERE license_id = ? AND id = ?", id, seat)
	if err == nil && !found {
		err = fault.NotFoundf("license %d has no seat %d", id, seat)
	}
	if err != nil {
		return l, err
	}
	if err := giveUp(tx, l, a); err != nil {
		return l, err
	}
	l, err = licenseFor(&tx.Conn, tx.Who(), id)
	l.released = cmp.Or(a.Label, a.Fingerprint)
	return l, err
}

// giveUp frees a seat.
func giveUp(tx *db.Tx, l License, a Activation) error {
	tx.Do("DELETE FROM store_activations WHERE id = ?", a.ID)
	l.ActivationCount--
	countSeats(tx, l, -1)
	return tx.Audit("license.deactivated", subject(l), map[string]any{"activation": a.ID, "fingerprint": a.Fingerprint})
}
