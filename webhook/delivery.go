package webhook

import (
	"context"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// The states of a delivery.
const (
	pending   = "pending"   // owed, not tried
	sending   = "sending"   // being attempted, or interrupted by a crash and not yet recovered
	delivered = "delivered" // answered with a 2xx
	failed    = "failed"    // answered with anything else, or not at all
	// interrupted during the attempt, so that its arrival is unknown; or before, by its receiver's removal
	interrupted = "interrupted"
)

// The kinds of deliveries.
const (
	auto   = "auto"   // made by the event
	resend = "resend" // requested
	test   = "test"   // an example, to try the receiver with
)

// Delivery is one entry of the delivery log: an event, a receiver, and at most one
// attempt.
type Delivery struct {
	ID           int64          `json:"id"`
	Service      string         `json:"service"`
	EndpointID   int64          `json:"endpoint_id"`
	Event        string         `json:"event"`
	EventID      string         `json:"event_id"`
	Kind         string         `json:"kind" enum:"auto,resend,test"`
	State        string         `json:"state" enum:"pending,sending,delivered,failed,interrupted"`
	ResponseCode *int64         `json:"response_code"` // null when there was no answer
	Error        *string        `json:"error"`         // a class, null when there was an answer
	DurationMS   *int64         `json:"duration_ms"`
	CreatedAt    exact.Instant  `json:"created_at"`
	AttemptedAt  *exact.Instant `json:"attempted_at"` // null before the attempt
}

// The log is read in the order of its ids, or of an index by receiver; CROSS JOIN forces that.
const deliveryColumns = `d.id, p.service, d.endpoint_id, e.event, e.id, d.kind, d.state, d.response_code, d.error,
	d.duration_ms, d.created_at, d.attempted_at
	FROM deliveries d CROSS JOIN endpoints p ON p.id = d.endpoint_id CROSS JOIN events e ON e.seq = d.event_seq`

func scanDelivery(r *db.Row) Delivery {
	return Delivery{
		ID: r.Int(), Service: r.Text(), EndpointID: r.Int(), Event: r.Text(), EventID: r.Text(), Kind: r.Text(),
		State:        r.Text(),
		ResponseCode: r.IntPtr(), Error: r.TextPtr(), DurationMS: r.IntPtr(), CreatedAt: r.Instant(),
		AttemptedAt: r.InstantPtr(),
	}
}

// Filter restricts the delivery log.
type Filter struct {
	Service  string // "" is all
	Endpoint int64  // 0 is all; a removed receiver's log is still there
	Failed   bool   // only failed and interrupted ones
	Limit    int64  // below 1 is 100
}

const defaultLimit = 100

func (f Filter) where() (w db.Where) {
	w.And(f.Service != "", "p.service = ?", f.Service)
	w.And(f.Endpoint != 0, "d.endpoint_id = ?", f.Endpoint)
	w.And(f.Failed, "d.state IN ('failed', 'interrupted')")
	return w
}

// Deliveries returns the delivery log, newest first.
func Deliveries(ctx context.Context, d *db.DB, f Filter) ([]Delivery, error) {
	if f.Limit < 1 {
		f.Limit = defaultLimit
	}
	w := f.where()
	return db.Read(ctx, d, func(c *db.Conn) ([]Delivery, error) {
		if f.Endpoint != 0 {
			_, found, err := db.One(c, db.Int, "SELECT id FROM endpoints WHERE id = ?", f.Endpoint)
			if err != nil {
				return nil, err
			}
			if !found {
				return nil, noReceiver(f.Endpoint)
			}
		}
		return db.All(c, scanDelivery, "SELECT "+deliveryColumns+w.SQL()+" ORDER BY d.id DESC LIMIT ?",
			append(w.Args, f.Limit)...)
	})
}

// Pending counts the deliveries waiting to be sent.
func Pending(c *db.Conn) (int64, error) {
	n, _, err := db.One(c, db.Int, "SELECT COUNT(*) FROM deliveries WHERE state = 'pending'")
	return n, err
}
