// Package webhook tells receivers what happened: who they are, how a delivery is
// signed and sent, the log of the deliveries, and how one is sent again.
//
// A change's transaction writes the event and one pending delivery for every
// receiver that wants it (db.Tx.Emit). The Sender works from those rows alone, so
// that nothing is lost between the change and its delivery: sending is on the disk
// before the first byte leaves, and what came of it afterwards. After a crash a
// delivery that was pending goes out, and one that was being sent is interrupted:
// whether it arrived is not known, and it is never repeated without being asked for.
package webhook

import (
	"context"
	"maps"
	"slices"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Receiver is a URL that gets a service's events. Its secret is never part of it.
type Receiver struct {
	ID      int64    `json:"id"`
	Service string   `json:"service"`
	URL     string   `json:"url"`
	Events  []string `json:"events"` // its events, in the service's order
	Enabled bool     `json:"enabled"`

	Parallel int64     `json:"parallel,omitempty"` // number of simultaneous deliveries; absent: one, in order
	Last     *Delivery `json:"-"`                  // the newest whose attempt is over
}

// Secret is shown once: when a receiver is added, and when its secret
// is changed.
type Secret struct {
	ID     int64  `json:"id"`
	Secret string `json:"secret"`
	Warned string `json:"-"` // a sentence, if nothing may be delivered to the address
}

// Receivers is the register of receivers.
type Receivers struct {
	d      *db.DB
	events map[string][]string
}

// NewReceivers returns the register. events are each service's events, in the order of display.
func NewReceivers(d *db.DB, events map[string][]string) *Receivers {
	return &Receivers{d: d, events: events}
}

const receiverColumns = "id, service, url, events, enabled, nullif(parallel, 1)"

func (r *Receivers) scan(row *db.Row) Receiver {
	v := Receiver{ID: row.Int(), Service: row.Text(), URL: row.Text()}
	if list := row.Text(); list != "" {
		v.Events = strings.Split(list, ",")
	} else {
		v.Events = slices.Clone(r.events[v.Service])
	}
	v.Enabled, v.Parallel = row.Bool(), row.Int()
	return v
}

// List returns every receiver of the service, or of all for "", oldest first.
func (r *Receivers) List(ctx context.Context, service string) ([]Receiver, error) {
	return db.Read(ctx, r.d, func(c *db.Conn) ([]Receiver, error) {
		all, err := db.All(c, r.scan, "SELECT "+receiverColumns+` FROM endpoints
			WHERE removed_at IS NULL AND (?1 = '' OR service = ?1) ORDER BY id`, service)
		for i := range all {
			last, found, err := db.One(c, scanDelivery, "SELECT "+deliveryColumns+` WHERE d.endpoint_id = ?
				AND d.state IN ('delivered', 'failed', 'interrupted') ORDER BY d.id DESC LIMIT 1`, all[i].ID)
			if err != nil {
				return nil, err
			}
			if found {
				all[i].Last = &last
			}
		}
		return all, err
	})
}

// mayKeep refuses a caller who is no admin.
func mayKeep(who db.Caller, what string) error {
	if err := who.MayWrite(what); err != nil {
		return err
	}
	if who.Role != "admin" {
		return fault.Forbiddenf("%s needs the role admin; %s has the role %s", what, who.User, who.Role)
	}
	return nil
}

// added is what the audit trail keeps of a new receiver.
type added struct {
	Site   string   `json:"site"` // without path and query, which may hold secrets
	Events []string `json:"events"`
}

// Add adds a receiver of the caller's service with parallel simultaneous deliveries: 0 and 1 mean one by one. Without
// events it gets all of the service's, including later versions' ones; without a secret one is generated.
func (r *Receivers) Add(ctx context.Context, who db.Caller, url string, events []string, secret string,
	parallel int64) (Secret, error) {
	if err := mayKeep(who, "adding a webhook"); err != nil {
		return Secret{}, err
	}
	parallel, err := checkParallel(parallel)
	if err != nil {
		return Secret{}, err
	}
	url = strings.TrimSpace(url)
	u, err := checkURL(url)
	if err != nil {
		return Secret{}, err
	}
	if events, err = r.wanted(who.Service, events); err != nil {
		return Secret{}, err
	}
	if secret == "" {
		secret = newSecret()
	} else if err := checkSecret(secret); err != nil {
		return Secret{}, err
	}
	return db.Update(ctx, r.d, who, func(tx *db.Tx) (Secret, error) {
		id, err := tx.Insert(
			"INSERT INTO endpoints (service, url, events, secret, parallel, created_at) VALUES (?, ?, ?, ?, ?, ?)",
			who.Service, url, strings.Join(events, ","), secret, parallel, tx.Now())
		if err != nil {
			return Secret{}, err
		}
		return Secret{id, secret, warning(u.Hostname())}, tx.Audit("webhook.added", db.Subject("webhook", id),
			added{Site: site(u), Events: events})
	})
}

// wanted checks the asked events and gives them once each, in the service's order;
// empty for all of them.
func (r *Receivers) wanted(service string, asked []string) ([]string, error) {
	known, is := r.events[service]
	if !is {
		return nil, fault.Fieldf("service",
			"service: %q is not one of %s", service, strings.Join(slices.Sorted(maps.Keys(r.events)), ", "))
	}
	for _, e := range asked {
		if !slices.Contains(known, e) {
			return nil, fault.Fieldf("event", "event: %q is not an event of the %s service; it has %s", e, service,
				strings.Join(known, ", "))
		}
	}
	list := []string{}
	for _, e := range known {
		if slices.Contains(asked, e) {
			list = append(list, e)
		}
	}
	return list, nil
}

// Remove removes a receiver: nothing more is sent to it, and its URL and secrets are deleted. Its log stays; pending
// deliveries become interrupted.
func (r *Receivers) Remove(ctx context.Context, who db.Caller, id int64) error {
	return r.change(ctx, who, id, "webhook.removed", Changed{ID: id}, func(tx *db.Tx) error {
		if _, err := tx.Exec("UPDATE deliveries SET state = 'interrupted' WHERE endpoint_id = ? AND state = 'pending'",
			id); err != nil {
			return err
		}
		if err := prune(tx, id); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE endpoints SET removed_at = ?, url = '', secret = '', old_secret = NULL, old_until = NULL
			WHERE id = ?`, tx.Now(), id)
		return err
	})
}

// Enable resumes a receiver: new events are for it again, and pending deliveries are sent now.
func (r *Receivers) Enable(ctx context.Context, who db.Caller, id int64) error {
	return r.set(ctx, who, id, "webhook.enabled", "enabled", 1)
}

// Disable pauses a receiver: new events are not for it, and pending deliveries wait until it is enabled.
func (r *Receivers) Disable(ctx context.Context, who db.Caller, id int64) error {
	return r.set(ctx, who, id, "webhook.disabled", "enabled", 0)
}

func (r *Receivers) set(ctx context.Context, who db.Caller, id int64, action, column string, value int64) error {
	return r.change(ctx, who, id, action, Changed{ID: id}, func(tx *db.Tx) error {
		_, err := tx.Exec("UPDATE endpoints SET "+column+" = ? WHERE id = ?", value, id)
		return err
	})
}

// checkParallel refuses a number of events at a time that is out of range.
func checkParallel(n int64) (int64, error) {
	if n = max(n, 1); n > mostParallel {
		return 0, fault.Fieldf("parallel", "parallel: %d is out of range; it takes 1 to %d", n, mostParallel)
	}
	return n, nil
}

// SetParallel changes how many events a receiver takes at a time.
func (r *Receivers) SetParallel(ctx context.Context, who db.Caller, id, parallel int64) error {
	parallel, err := checkParallel(parallel)
	if err != nil {
		return err
	}
	return r.set(ctx, who, id, "webhook.parallel", "parallel", parallel)
}

// oldSigns is how long a replaced secret also signs, in seconds.
const oldSigns = 24 * 60 * 60

// Rotate gives a receiver a new secret. The previous one also signs for 24 hours; an earlier one no longer does.
func (r *Receivers) Rotate(ctx context.Context, who db.Caller, id int64) (Secret, error) {
	fresh := Secret{ID: id, Secret: newSecret()}
	err := r.change(ctx, who, id, "webhook.rotated", fresh, func(tx *db.Tx) error {
		_, err := tx.Exec("UPDATE endpoints SET old_secret = secret, old_until = ?, secret = ? WHERE id = ?",
			tx.Now()+oldSigns, fresh.Secret, id)
		return err
	})
	if err != nil {
		return Secret{}, err
	}
	return fresh, nil
}

// change runs one act on a receiver, audited in the receiver's service, and answers with what
// is given.
func (r *Receivers) change(ctx context.Context, who db.Caller, id int64, action string, answer any,
	act func(*db.Tx) error) error {
	who, err := ofService(ctx, r.d, who, id)
	if err != nil {
		return err
	}
	_, err = db.Update(ctx, r.d, who, func(tx *db.Tx) (any, error) {
		if _, err := findReceiver(&tx.Conn, id); err != nil {
			return nil, err
		}
		if err := act(tx); err != nil {
			return nil, err
		}
		return answer, tx.Audit(action, db.Subject("webhook", id), struct{}{})
	})
	return err
}

// ofService is the caller acting in the receiver's service, if they may write. A caller of another service gets not
// found.
func ofService(ctx context.Context, d *db.DB, who db.Caller, id int64) (db.Caller, error) {
	if err := mayKeep(who, "changing a webhook"); err != nil {
		return who, err
	}
	to, err := db.Read(ctx, d, func(c *db.Conn) (standing, error) { return findReceiver(c, id) })
	if err == nil && who.Service != "" && who.Service != to.service {
		err = noReceiver(id)
	}
	if err == nil {
		who.Service = to.service
	}
	return who, err
}

// standing is what an act on a receiver needs to know of it.
type standing struct {
	service string
	enabled bool
}

// findReceiver returns a receiver that was not removed.
func findReceiver(c *db.Conn, id int64) (standing, error) {
	to, found, err := db.One(c, func(r *db.Row) standing { return standing{service: r.Text(), enabled: r.Bool()} },
		"SELECT service, enabled FROM endpoints WHERE id = ? AND removed_at IS NULL", id)
	if err == nil && !found {
		err = noReceiver(id)
	}
	return to, err
}

func noReceiver(id int64) error { return fault.NotFoundf("there is no webhook %d", id) }
