package webhook

import (
	"context"
	"time"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// parcel is what one attempt needs.
type parcel struct {
	id, endpoint                  int64
	service, event, eventID, kind string
	url, secret, oldSecret        string // oldSecret is "" when it no longer signs along
	body                          []byte
	at                            exact.Instant
}

const parcelColumns = `d.id, d.endpoint_id, e.service, e.event, e.id, d.kind, p.url, p.secret,
	CASE WHEN p.old_until > ?1 THEN p.old_secret END, e.body
	FROM deliveries d CROSS JOIN endpoints p ON p.id = d.endpoint_id CROSS JOIN events e ON e.seq = d.event_seq`

func scanParcel(r *db.Row) *parcel {
	return &parcel{
		id: r.Int(), endpoint: r.Int(), service: r.Text(), event: r.Text(), eventID: r.Text(), kind: r.Text(),
		url: r.Text(), secret: r.Text(), oldSecret: r.Text(), body: r.Bytes(),
	}
}

// A delivery's id grows with its event's place in time, so the lowest is the oldest.
// Only the sender's own deliveries are ever pending: a resend begins as sending.
const oldestPending = "SELECT " + parcelColumns + ` WHERE d.endpoint_id = ?2 AND d.state = 'pending'
	AND p.enabled = 1 AND p.removed_at IS NULL ORDER BY d.id LIMIT 1`

// take marks the receiver's oldest pending delivery as being sent. The attempt may
// begin once the transaction is on the disk.
func take(tx *db.Tx, endpoint int64) (*parcel, error) {
	p, found, err := db.One(&tx.Conn, scanParcel, oldestPending, tx.Now(), endpoint)
	if err != nil || !found {
		return nil, err
	}
	p.at = tx.Now()
	_, err = tx.Exec("UPDATE deliveries SET state = 'sending', attempted_at = ? WHERE id = ?", tx.Now(), p.id)
	return p, err
}

// Attempt is one attempt and what came of it, for the log. It holds no URL, no
// secret and no word of the receiver's.
type Attempt struct {
	Delivery, Endpoint            int64
	Service, Event, EventID, Kind string
	State                         string // delivered, failed or interrupted
	Status                        int    // 0 when there was no answer
	Error                         string // a class of the delivery log; "" when there was an answer
	Took                          time.Duration
}

// try makes the attempt. The end of ctx, which is not the attempt's own time limit,
// interrupts it.
func (s *Sender) try(ctx context.Context, p *parcel) Attempt {
	a := Attempt{Delivery: p.id, Endpoint: p.endpoint, Service: p.service, Event: p.event, EventID: p.eventID, Kind: p.kind}
	begin := time.Now()
	status, why := s.client.post(ctx, p.url, header(p, s.o.Version), p.body)
	a.Took = time.Since(begin)
	switch {
	case ctx.Err() != nil && status == 0:
		a.State = interrupted
	case status >= 200 && status <= 299:
		a.State, a.Status = delivered, status
	default:
		a.State, a.Status, a.Error = failed, status, string(why)
	}
	return a
}

// record writes what came of an attempt. prune comes after it.
func record(tx *db.Tx, a Attempt) error {
	var status *int64
	if a.Status != 0 {
		n := int64(a.Status)
		status = &n
	}
	var why *string
	if a.Error != "" {
		why = &a.Error
	}
	_, err := tx.Exec("UPDATE deliveries SET state = ?, response_code = ?, error = ?, duration_ms = ? WHERE id = ?",
		a.State, status, why, a.Took.Milliseconds(), a.Delivery)
	return err
}

// kept is how many finished deliveries a receiver's log holds.
const kept = 200

const newestToGo = `SELECT id FROM deliveries WHERE endpoint_id = ? AND state IN ('delivered', 'failed', 'interrupted')
	ORDER BY id DESC LIMIT 1 OFFSET ?`

// prune leaves a receiver's newest finished deliveries. What is not finished is
// neither counted nor touched: a long backlog must not empty the log.
func prune(tx *db.Tx, endpoint int64) error {
	last, found, err := db.One(&tx.Conn, db.Int, newestToGo, endpoint, kept)
	if err != nil || !found {
		return err
	}
	_, err = tx.Exec(`DELETE FROM deliveries WHERE endpoint_id = ? AND state IN ('delivered', 'failed', 'interrupted') AND id <= ?`,
		endpoint, last)
	return err
}
