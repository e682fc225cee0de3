package webhook

import (
	"context"
	"fmt"
	"slices"
	"time"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/mail"
)

// outgoing is a delivery with the data of its attempt.
type outgoing struct {
	id, endpoint                  int64
	service, event, eventID, kind string
	url, secret, oldSecret        string // oldSecret is "" if it no longer signs
	body                          []byte
	subject                       string // the event's subject
	test                          bool   // the event is an example
	at                            exact.Instant
}

const outgoingColumns = `d.id, d.endpoint_id, e.service, e.event, e.id, d.kind, p.url, p.secret,
	CASE WHEN p.old_until > ?1 THEN p.old_secret END, e.body, e.subject, e.test
	FROM deliveries d CROSS JOIN endpoints p ON p.id = d.endpoint_id CROSS JOIN events e ON e.seq = d.event_seq`

func scanOutgoing(r *db.Row) *outgoing {
	return &outgoing{
		id: r.Int(), endpoint: r.Int(), service: r.Text(), event: r.Text(), eventID: r.Text(), kind: r.Text(),
		url: r.Text(), secret: r.Text(), oldSecret: r.Text(), body: r.Bytes(), subject: r.Text(), test: r.Bool(),
	}
}

const oneOutgoing = "SELECT " + outgoingColumns + " WHERE d.id = ?2"

// sendNow writes a delivery of an event, stored as sending before the first byte is sent.
func sendNow(tx *db.Tx, endpoint, event int64, kind string) (*outgoing, error) {
	id, err := tx.Insert(`INSERT INTO deliveries (endpoint_id, event_seq, kind, state, created_at, attempted_at)
		VALUES (?1, ?2, ?4, 'sending', ?3, ?3)`, endpoint, event, tx.Now(), kind)
	if err != nil {
		return nil, err
	}
	o, _, err := db.One(&tx.Conn, scanOutgoing, oneOutgoing, tx.Now(), id)
	if err == nil {
		o.at = tx.Now()
	}
	return o, err
}

// Ids of deliveries grow with their events, so the lowest is the oldest. Only the sender's own deliveries are ever
// pending: a resend begins as sending.
const (
	oldestPending = "SELECT " + outgoingColumns + ` WHERE d.endpoint_id = ?2 AND d.state = 'pending'
		ORDER BY d.id LIMIT ?3`
	capacity = "SELECT parallel FROM endpoints WHERE id = ? AND enabled = 1 AND removed_at IS NULL"
)

// lookAhead bounds how many pending deliveries are searched for one whose subject has none under way.
const lookAhead = 200

// take marks deliveries of the receiver as being sent, oldest first: as many as it takes at a time beside those under
// way, and never two of one subject. The attempts may begin once the transaction is on the disk. It also returns how
// many the receiver takes at a time, 0 when it gets nothing.
func take(tx *db.Tx, endpoint int64, underWay int, busy map[string]bool) (parallel int, taken []*outgoing, err error) {
	n, _, err := db.One(&tx.Conn, db.Int, capacity, endpoint)
	parallel = int(n)
	if err != nil || parallel <= underWay {
		return parallel, nil, err
	}
	if taken, err = choose(&tx.Conn, endpoint, parallel-underWay, busy); err != nil {
		return parallel, nil, err
	}
	for _, o := range taken {
		o.at = tx.Now()
		if _, err := tx.Exec("UPDATE deliveries SET state = 'sending', attempted_at = ? WHERE id = ?", o.at, o.id); err != nil {
			return parallel, nil, err
		}
	}
	return parallel, taken, nil
}

// choose returns the oldest pending deliveries that may begin, at most free.
func choose(c *db.Conn, endpoint int64, free int, busy map[string]bool) (chosen []*outgoing, err error) {
	oldest, err := c.Prepare(oldestPending)
	if err != nil {
		return nil, err
	}
	defer oldest.Reset()
	if err := oldest.Args(c.Now(), endpoint, lookAhead); err != nil {
		return nil, err
	}
	for len(chosen) < free {
		row, err := oldest.Step()
		if err != nil || row == nil {
			return chosen, err
		}
		o := scanOutgoing(row)
		if !busy[o.subject] && !slices.ContainsFunc(chosen, func(c *outgoing) bool { return c.subject == o.subject }) {
			chosen = append(chosen, o)
		}
	}
	return chosen, nil
}

// Attempt is one attempt with its outcome, for the log. It holds no URL, no secret and no text of the receiver.
type Attempt struct {
	Delivery, Endpoint            int64
	Service, Event, EventID, Kind string
	State                         string // delivered, failed or interrupted
	Status                        int    // 0 if there was no answer
	Error                         string // a class of the delivery log; "" if there was an answer
	Took                          time.Duration
}

// try makes the attempt of a delivery stored as sending. The end of ctx, which is not the attempt's own time limit,
// interrupts it.
func (s *Sender) try(ctx context.Context, p *outgoing) Attempt {
	a := Attempt{Delivery: p.id, Endpoint: p.endpoint, Service: p.service, Event: p.event, EventID: p.eventID,
		Kind: p.kind}
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

// record stores the outcome of an attempt. prune follows it.
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
	if err != nil || a.State != failed {
		return err
	}
	return mail.Notify(tx, mail.Told{Notice: "deliveries", Subject: db.Subject("webhook", a.Endpoint),
		Record:  fmt.Sprint("receiver ", a.Endpoint),
		Service: a.Service, Role: "admin", Every: 3600})
}

// kept is how many finished deliveries a receiver's log holds.
const kept = 200

const newestToGo = `SELECT id FROM deliveries WHERE endpoint_id = ? AND state IN ('delivered', 'failed', 'interrupted')
	ORDER BY id DESC LIMIT 1 OFFSET ?`

// prune keeps a receiver's newest finished deliveries. Unfinished ones do not count and stay: a long backlog must not
// empty the log.
func prune(tx *db.Tx, endpoint int64) error {
	last, found, err := db.One(&tx.Conn, db.Int, newestToGo, endpoint, kept)
	if err != nil || !found {
		return err
	}
	_, err = tx.Exec(`DELETE FROM deliveries WHERE endpoint_id = ? AND state IN ('delivered', 'failed', 'interrupted')
		AND id <= ?`,
		endpoint, last)
	return err
}
