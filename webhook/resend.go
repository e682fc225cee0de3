package webhook

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// ResendRequest says what to resend: deliveries by id, or failed ones.
type ResendRequest struct {
	IDs      []int64
	Failed   bool          // failed and interrupted ones whose event has not reached the receiver since
	Endpoint int64         // with Failed: of one receiver; 0 is every one that is enabled
	Since    time.Duration // with Failed: tried no longer ago than this; 0: any time
}

// Resent is a new delivery, and its original.
type Resent struct {
	Of int64 `json:"resend_of"`
	Delivery
}

// again is one resend to make.
type again struct {
	of, endpoint, event int64
	service             string
	missed              bool // unless it was sent again meanwhile
}

// Resend makes one new attempt each, now: the same bytes and event id, a new
// delivery with its own id and timestamp. The order is that in which the events
// happened; receivers do not wait for one another. Nothing is sent when anything
// asked for cannot be: an unknown delivery, one that is not over yet, a receiver that
// was removed (NotFound) or is disabled (Conflict). It gives what was made, even when
// an error cut the rest off. It works beside a running server and without one. A request
// that was cut off goes on with what is missing.
func (s *Sender) Resend(ctx context.Context, who db.Caller, ask ResendRequest) ([]Resent, error) {
	if err := mayKeep(who, "resending a delivery"); err != nil {
		return []Resent{}, err
	}
	if err := ask.check(); err != nil {
		return []Resent{}, err
	}
	s.recover(ctx, false)
	p, err := goesOn(ctx, s.d, who)
	if err != nil {
		return []Resent{}, err
	}
	made, err := s.goOn(ctx, who, p, ask)
	return made, p.end(ctx, who, ResentList{Deliveries: made}, err)
}

// goOn makes the attempts that an earlier run of the request did not make.
func (s *Sender) goOn(ctx context.Context, who db.Caller, p *progress, ask ResendRequest) ([]Resent, error) {
	made, err := p.earlier(ctx)
	if err != nil {
		return made, err
	}
	plan, err := db.Read(ctx, s.d, func(c *db.Conn) ([]again, error) {
		if ask.Failed {
			return planFailed(c, who.Service, ask)
		}
		return planThese(c, who.Service, ask.IDs)
	})
	if err != nil {
		return made, err
	}
	plan = slices.DeleteFunc(plan, func(a again) bool { return p.done(a.of) })
	now, err := s.resendAll(ctx, who, p, plan)
	return append(made, now...), err
}

func (ask ResendRequest) check() error {
	switch {
	case ask.Failed == (len(ask.IDs) > 0):
		return fault.Invalidf("deliveries: name them by their ids, or ask for the failed ones; one of the two")
	case !ask.Failed && (ask.Endpoint != 0 || ask.Since != 0):
		return fault.Invalidf("endpoint and since narrow the failed deliveries; they do not go with ids")
	case ask.Since < 0:
		return fault.Fieldf("since", "since: a duration of 0 or more is allowed")
	}
	return nil
}

// planThese finds the requested deliveries, each once, in the order of their events.
func planThese(c *db.Conn, service string, ids []int64) ([]again, error) {
	var plan []again
	var unknown []string
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		var state string
		a, found, err := db.One(c, func(r *db.Row) again {
			a := again{of: r.Int(), endpoint: r.Int(), event: r.Int(), service: r.Text()}
			state = r.Text()
			return a
		}, `SELECT d.id, d.endpoint_id, d.event_seq, e.service, d.state
			FROM deliveries d JOIN events e ON e.seq = d.event_seq WHERE d.id = ?`, id)
		switch {
		case err != nil:
			return nil, err
		case !found || service != "" && a.service != service:
			unknown = append(unknown, fmt.Sprint(id))
			continue
		case state == pending || state == sending:
			return nil, fault.Conflictf("delivery %d is %s: wait until its attempt is over", id, state)
		}
		if err := mayGet(c, "", a.endpoint); err != nil {
			return nil, err
		}
		plan = append(plan, a)
	}
	if len(unknown) > 0 {
		return nil, fault.NotFoundf("there is no delivery %s; nothing was sent", strings.Join(unknown, ", "))
	}
	slices.SortStableFunc(plan, func(a, b again) int { return cmp.Compare(a.event, b.event) })
	return plan, nil
}

// mayGet refuses a receiver to which nothing is sent, and one of another service than the given one; "" is any.
func mayGet(c *db.Conn, service string, endpoint int64) error {
	to, err := findReceiver(c, endpoint)
	switch {
	case err == nil && service != "" && to.service != service:
		return noReceiver(endpoint)
	case err == nil && !to.enabled:
		return fault.Conflictf("webhook %d is disabled: enable it first", endpoint)
	}
	return err
}

const missed = `SELECT MAX(d.id), d.endpoint_id, d.event_seq, e.service
	FROM deliveries d INDEXED BY deliveries_missed
	CROSS JOIN events e ON e.seq = d.event_seq CROSS JOIN endpoints p ON p.id = d.endpoint_id
	WHERE d.state IN ('failed', 'interrupted') AND d.attempted_at >= ?1 AND e.test = 0
	AND p.removed_at IS NULL AND p.enabled = 1 AND (?2 = '' OR p.service = ?2) AND (?3 = 0 OR p.id = ?3)
	AND NOT EXISTS (SELECT 1 FROM deliveries o WHERE o.event_seq = d.event_seq AND o.endpoint_id = d.endpoint_id
		AND (o.state IN ('pending', 'sending') OR o.state = 'delivered' AND o.id > d.id))
	GROUP BY d.event_seq, d.endpoint_id ORDER BY d.event_seq, d.endpoint_id`

// planFailed finds, for each receiver, each event that failed and has not reached it since.
func planFailed(c *db.Conn, service string, ask ResendRequest) ([]again, error) {
	if ask.Endpoint != 0 {
		if err := mayGet(c, service, ask.Endpoint); err != nil {
			return nil, err
		}
	}
	from := exact.Instant(0)
	if ask.Since > 0 {
		from = c.Now() - exact.Instant(ask.Since/time.Second)
	}
	return db.All(c, func(r *db.Row) again {
		return again{of: r.Int(), endpoint: r.Int(), event: r.Int(), service: r.Text(), missed: true}
	}, missed, from, service, ask.Endpoint)
}

// resendAll carries the plan out, one worker per receiver.
func (s *Sender) resendAll(ctx context.Context, who db.Caller, p *progress, plan []again) ([]Resent, error) {
	workers := map[int64][]int{} // indexes in the plan, by receiver
	for i, a := range plan {
		workers[a.endpoint] = append(workers[a.endpoint], i)
	}
	made, errs := make([]Resent, len(plan)), make([]error, len(plan))
	if s.d.Trying() { // nothing is sent, and all is one transaction
		for i := range plan {
			if made[i], errs[i] = s.resend(ctx, who, p, plan[i]); errs[i] != nil {
				return nil, errs[i]
			}
		}
		return slices.DeleteFunc(made, func(r Resent) bool { return r.ID == 0 }), nil
	}
	var group sync.WaitGroup
	for _, places := range workers {
		group.Go(func() {
			for _, i := range places {
				if made[i], errs[i] = s.resend(ctx, who, p, plan[i]); errs[i] != nil {
					return
				}
			}
		})
	}
	group.Wait()
	made = slices.DeleteFunc(made, func(r Resent) bool { return r.ID == 0 })
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return made, errs[i]
	}
	return made, nil
}

// resent is the audit entry of a resend.
type resent struct {
	Delivery int64  `json:"delivery"`
	Webhook  int64  `json:"webhook"`
	Event    string `json:"event"`
}

// resend makes one new attempt: the new delivery is stored as sending before the first byte is sent.
func (s *Sender) resend(ctx context.Context, who db.Caller, at *progress, a again) (Resent, error) {
	who.Service = a.service
	var p *outgoing
	err := at.step(ctx, who, a.of, func(tx *db.Tx) (id int64, err error) {
		p = nil
		if err := mayGet(&tx.Conn, "", a.endpoint); err != nil {
			return 0, err
		}
		if a.missed {
			_, since, err := db.One(&tx.Conn, db.Int,
				"SELECT 1 FROM deliveries WHERE event_seq = ? AND endpoint_id = ? AND id > ?",
				a.event, a.endpoint, a.of)
			if err != nil || since {
				return 0, err
			}
		}
		if p, err = sendNow(tx, a.endpoint, a.event, resend); err != nil {
			return 0, err
		}
		return p.id, tx.Audit("delivery.resent", db.Subject("delivery", a.of),
			resent{Delivery: p.id, Webhook: a.endpoint, Event: p.eventID})
	})
	if err != nil || p == nil {
		return Resent{}, err
	}
	if s.d.Trying() {
		return Resent{Of: a.of, Delivery: p.log(resend)}, nil
	}
	return s.finish(ctx, a.of, s.try(ctx, p))
}

// log is the delivery in the log's format before its attempt ends.
func (o *outgoing) log(kind string) Delivery {
	return Delivery{
		ID: o.id, Service: o.service, EndpointID: o.endpoint, Event: o.event, EventID: o.eventID, Kind: kind, State: sending,
		CreatedAt: o.at, AttemptedAt: &o.at,
	}
}

// finish stores the outcome of a resend. Like a worker it retries while the database cannot be written, until ctx ends.
func (s *Sender) finish(ctx context.Context, of int64, outcome Attempt) (Resent, error) {
	for {
		d, err := db.Update(context.WithoutCancel(ctx), s.d, db.Bookkeeping(), func(tx *db.Tx) (Delivery, error) {
			if err := record(tx, outcome); err != nil {
				return Delivery{}, err
			}
			d, _, err := db.One(&tx.Conn, scanDelivery, "SELECT "+deliveryColumns+" WHERE d.id = ?", outcome.Delivery)
			if err != nil {
				return Delivery{}, err
			}
			return d, prune(tx, outcome.Endpoint)
		})
		if err == nil {
			s.o.Log(outcome)
			return Resent{Of: of, Delivery: d}, ctx.Err()
		}
		s.o.Trouble(err)
		if !pause(ctx) {
			s.o.Log(outcome)
			return Resent{}, err
		}
	}
}
