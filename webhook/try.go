package webhook

import (
	"context"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Example is an example event, for testing a receiver.
type Example struct {
	Event string
	Data  any
}

// Test sends a receiver one signed example of each event that it subscribes to. The body has "test": true beside event,
// and a header says so too. It returns the deliveries made, also if an error ended it early.
func (s *Sender) Test(ctx context.Context, who db.Caller, id int64, examples []Example) ([]Delivery, error) {
	made := []Delivery{}
	who, err := ofService(ctx, s.d, who, id)
	if err != nil {
		return made, err
	}
	p, err := goesOn(ctx, s.d, who)
	if err != nil {
		return made, err
	}
	made, err = s.testAll(ctx, who, id, p, examples)
	return made, p.end(ctx, who, Tried{Deliveries: made}, err)
}

// testAll sends the examples that an earlier run of the request did not send.
func (s *Sender) testAll(ctx context.Context, who db.Caller, id int64, p *progress, examples []Example) ([]Delivery,
	error) {
	made := []Delivery{}
	earlier, err := p.earlier(ctx)
	if err != nil {
		return made, err
	}
	for _, e := range earlier {
		made = append(made, e.Delivery)
	}
	for i, e := range examples {
		place := int64(-i - 1) // below every delivery's id
		if p.done(place) {
			continue
		}
		o, err := s.example(ctx, who, id, p, place, e)
		if err != nil {
			return made, err
		}
		if o == nil {
			continue
		}
		if s.d.Trying() {
			made = append(made, o.log(test))
			continue
		}
		done, err := s.finish(ctx, 0, s.try(ctx, o))
		if err != nil {
			return made, err
		}
		made = append(made, done.Delivery)
	}
	if len(made) == 0 {
		return made, fault.Conflictf("webhook %d has no known event: nothing was sent", id)
	}
	return made, nil
}

// tried is the audit entry of an example.
type tried struct {
	Delivery int64  `json:"delivery"`
	Event    string `json:"event"`
}

// example writes the event and its delivery, stored as sending before the first byte is sent; nil if the receiver does
// not subscribe to it.
func (s *Sender) example(ctx context.Context, who db.Caller, id int64, p *progress, place int64, e Example) (
	o *outgoing, err error) {
	err = p.step(ctx, who, place, func(tx *db.Tx) (int64, error) {
		o = nil
		if err := mayGet(&tx.Conn, "", id); err != nil {
			return 0, err
		}
		_, takes, err := db.One(&tx.Conn, db.Int, `SELECT 1 FROM endpoints
			WHERE id = ?1 AND (events = '' OR instr(',' || events || ',', ',' || ?2 || ',') > 0)`, id, e.Event)
		if err != nil || !takes {
			return 0, err
		}
		seq, err := tx.Example(e.Event, e.Data)
		if err != nil {
			return 0, err
		}
		if o, err = sendNow(tx, id, seq, test); err != nil {
			return 0, err
		}
		return o.id, tx.Audit("webhook.tested", db.Subject("webhook", id), tried{Delivery: o.id, Event: e.Event})
	})
	return o, err
}

// Request is a delivery's request as it was sent. The signatures are made again, with the receiver's present secrets.
type Request struct {
	ID      int64             `json:"id"`
	Method  string            `json:"method"`
	URL     string            `json:"url"` // "" if the receiver was removed
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// Sent returns a delivery's request. It is refused for one that was not tried yet.
func (s *Sender) Sent(ctx context.Context, who db.Caller, id int64) (Request, error) {
	if who.Role != "admin" {
		return Request{}, fault.Forbiddenf("only an admin may see a delivery's request; %s has the role %s", who.User,
			who.Role)
	}
	return db.Read(ctx, s.d, func(c *db.Conn) (r Request, err error) {
		at, found, err := db.One(c, db.Int, "SELECT coalesce(attempted_at, 0) FROM deliveries WHERE id = ?", id)
		if err != nil {
			return r, err
		}
		var o *outgoing
		if found {
			o, found, err = db.One(c, scanOutgoing, oneOutgoing, at, id)
		}
		switch {
		case err != nil:
			return r, err
		case !found || who.Service != "" && who.Service != o.service:
			return r, fault.NotFoundf("there is no delivery %d", id)
		case at == 0:
			return r, fault.Conflictf("delivery %d was not attempted yet", id)
		}
		o.at = exact.Instant(at)
		r = Request{ID: id, Method: "POST", URL: o.url, Headers: map[string]string{}, Body: string(o.body)}
		for name, values := range header(o, s.o.Version) {
			r.Headers[name] = values[0]
		}
		return r, nil
	})
}
