package webhook

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// Log is a part of the delivery log, newest first.
type Log struct {
	Deliveries []Delivery `json:"deliveries"`
}

// ResentList is what was made again.
type ResentList struct {
	Deliveries []Resent `json:"deliveries"`
	cut        error    // the error that ended it early
}

// Refusals fails the command if not all was delivered.
func (l ResentList) Refusals() (refused []string, left error) {
	return nil, failures(l.states(), l.cut)
}

func (l ResentList) states() (all []string) {
	for _, r := range l.Deliveries {
		all = append(all, r.State)
	}
	return all
}

// Tried are the sent examples.
type Tried struct {
	Deliveries []Delivery `json:"deliveries"`
	cut        error      // the error that ended it early
}

// Refusals fails the command if not all was delivered.
func (l Tried) Refusals() (refused []string, left error) { return nil, failures(l.states(), l.cut) }

func (l Tried) states() (all []string) {
	for _, r := range l.Deliveries {
		all = append(all, r.State)
	}
	return all
}

func failures(states []string, cut error) error {
	if n := len(states) - arrived(states); cut == nil && n > 0 {
		return fmt.Errorf("%d of %d deliveries failed", n, len(states))
	}
	return cut
}

func arrived(states []string) (n int) {
	for _, state := range states {
		if state == delivered {
			n++
		}
	}
	return n
}

// outcome is the sentence about the attempts.
func outcome(one, several string, states []string) string {
	if len(states) == 0 {
		return "no delivery needed to be sent again"
	}
	return fmt.Sprintf("%s sent, %d delivered", exact.Plural(len(states), one, several), arrived(states))
}

var (
	exampleCode     = int64(204)
	exampleMS       = int64(12)
	exampleAt       = exact.Instant(1795208700)
	exampleDelivery = Delivery{
		ID: 17, Service: "reorder", EndpointID: 3, Event: "sku.reorder_point",
		EventID: "evt_0d3f6a0c9b1e4f7788d2c1a5e6b7f809", Kind: auto, State: delivered,
		ResponseCode: &exampleCode, DurationMS: &exampleMS, CreatedAt: exampleAt, AttemptedAt: &exampleAt,
	}
)

// answered is the response's code, or why there was none.
func answered(v Delivery) string {
	switch {
	case v.ResponseCode != nil:
		return strconv.FormatInt(*v.ResponseCode, 10)
	case v.Error != nil:
		return *v.Error
	}
	return ""
}

func (o ops) listDeliveries() schema.Op {
	return schema.Op{
		Name: "list_deliveries", Admin: true,
		About: "The delivery log, newest first. A delivery is pending, sending, delivered, failed or, when the program was " +
			"cut off during the attempt, interrupted. " +
			"The last 200 of each receiver are kept.",
		Command:  "webhook deliveries",
		Example:  "webhook deliveries --failed\nwebhook deliveries --endpoint 3 --limit 20 --json",
		Response: Log{Deliveries: []Delivery{exampleDelivery}},
		Bind: func(f *schema.Form) schema.Handler {
			var q Filter
			limit := int64(defaultLimit)
			f.Enum(&q.Service, "service", "only this service's: "+strings.Join(o.names(), ", "), o.names())
			f.ID(&q.Endpoint, "endpoint", "only this receiver's", schema.ChoicesFor(receiverChoices))
			f.Bool(&q.Failed, "failed", "only failed and interrupted ones")
			f.Int(&limit, "limit", "how many at most", schema.Range(1, 1<<31))
			return func(ctx context.Context, who db.Caller) (any, error) {
				who, err := in(who, q.Service)
				if err != nil {
					return nil, err
				}
				q := q
				q.Service, q.Limit = who.Service, int(limit)
				all, err := Deliveries(ctx, o.d, q)
				return schema.Answer(Log{Deliveries: all}, err)
			}
		},
		Print: func(w io.Writer, answer any) {
			schema.Tabulate(w, "ID|SERVICE|WEBHOOK|EVENT|KIND|STATE|ANSWER|MS|CREATED", answer.(Log).Deliveries,
				func(v Delivery) []any {
					ms := ""
					if v.DurationMS != nil {
						ms = strconv.FormatInt(*v.DurationMS, 10)
					}
					return []any{
						strconv.FormatInt(v.ID, 10), v.Service, strconv.FormatInt(v.EndpointID, 10), v.Event, v.Kind, v.State,
						answered(v), ms, v.CreatedAt.String(),
					}
				})
		},
	}
}

// private binds a command's flag that allows private addresses.
func (o ops) private(f *schema.Form, p *bool) {
	if f.Surface() == schema.Command {
		f.Bool(p, "webhook_allow_private", "let them go to loopback and private addresses")
	}
}

func (o ops) testWebhook() schema.Op {
	example := exampleDelivery
	example.Kind = test
	return schema.Op{
		Name: "test_webhook", Writes: true, Admin: true, Several: true,
		About: "Send a receiver one signed example of each of its events now, and show what it answered. " +
			"The body says \"test\": true beside event, and the header X-<Service>-Test says true.",
		Command: "webhook test ID", Example: "webhook test 3\nwebhook test 3 --json",
		Response: Tried{Deliveries: []Delivery{example}},
		Bind: func(f *schema.Form) schema.Handler {
			var id int64
			var private bool
			o.id(f, &id)
			o.private(f, &private)
			return func(ctx context.Context, who db.Caller) (any, error) {
				examples, err := o.examples(ctx, id)
				if err != nil {
					return nil, err
				}
				made, err := o.sender(private).Test(ctx, who, id, examples)
				if len(made) > 0 { // what was sent is reported in any case
					return Tried{Deliveries: made, cut: err}, nil
				}
				return nil, err
			}
		},
		Print: func(w io.Writer, answer any) {
			schema.Tabulate(w, "ID|WEBHOOK|EVENT|STATE|ANSWER", answer.(Tried).Deliveries, func(v Delivery) []any {
				return []any{strconv.FormatInt(v.ID, 10), strconv.FormatInt(v.EndpointID, 10), v.Event, v.State, answered(v)}
			})
		},
		Did: func(answer any, _ schema.Money) string {
			return outcome("example", "examples", answer.(Tried).states())
		},
		Leads: func(answer any) string { return toReceiver(answer.(Tried).Deliveries[0].EndpointID) },
	}
}

// examples are the events of the receiver's service.
func (o ops) examples(ctx context.Context, id int64) (all []Example, err error) {
	to, err := db.Read(ctx, o.d, func(c *db.Conn) (standing, error) { return findReceiver(c, id) })
	for _, s := range o.services {
		if s.Name != to.service {
			continue
		}
		for _, e := range s.Events {
			all = append(all, Example{Event: e.Name, Data: e.Data})
		}
	}
	return all, err
}

func (o ops) deliveryRequest() schema.Op {
	return schema.Op{
		Name: "delivery_request", Admin: true,
		About: "A delivery's request as it was sent: method, URL, headers and body. It is signed with the receiver's " +
			"present secrets.",
		Command: "webhook request DELIVERY_ID", Example: "webhook request 17",
		Response: Request{ID: 17, Method: "POST", URL: "https://example.com/alarms", Headers: map[string]string{},
			Body: "{}"},
		Bind: func(f *schema.Form) schema.Handler {
			var id int64
			f.ID(&id, "id", "the delivery's number", schema.Required, schema.Positional("DELIVERY_ID"))
			return func(ctx context.Context, who db.Caller) (any, error) {
				return schema.Answer(o.sender(false).Sent(ctx, who, id))
			}
		},
		Print: schema.Printed(func(w io.Writer, r Request) {
			_, _ = fmt.Fprintf(w, "%s %s\n", r.Method, r.URL)
			for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
				_, _ = fmt.Fprintf(w, "%s: %s\n", name, r.Headers[name])
			}
			_, _ = fmt.Fprintf(w, "\n%s\n", r.Body)
		}),
	}
}

func (o ops) resendDelivery() schema.Op {
	return schema.Op{
		Name: "resend_delivery", Writes: true, Admin: true, Several: true,
		About: "Make one new attempt for each delivery now, with the same body and event id, even beside a running server. " +
			"--failed resends those that failed or were interrupted and did not arrive since. It skips failed tests. The " +
			"exit code is 1 if any fails.",
		Command:  "webhook resend [DELIVERY_ID...]",
		Example:  "webhook resend 17 18\nwebhook resend --failed --since 24h\nwebhook resend --failed --endpoint 3 --json",
		Response: exampleResent(),
		Bind: func(f *schema.Form) schema.Handler {
			var ask ResendRequest
			var private bool
			opts := []schema.Opt{schema.Positional("DELIVERY_ID")}
			if f.Surface() != schema.Command {
				opts = append(opts, schema.Required)
			}
			f.IDs(&ask.IDs, "id", "the deliveries' numbers", 10_000, opts...)
			if f.Surface() == schema.Command {
				f.Bool(&ask.Failed, "failed", "those that failed or were interrupted, and have not arrived since")
				narrowed := o.narrow(f, &ask, "with --failed: ")
				switch {
				case ask.Failed == (len(ask.IDs) > 0):
					f.Refuse("id", "name the deliveries by their ids, or give --failed; one of the two")
				case !ask.Failed && narrowed:
					f.Refuse("id", "--endpoint and --since narrow --failed; they do not go with ids")
				}
			}
			o.private(f, &private)
			return func(ctx context.Context, who db.Caller) (any, error) { return o.resend(ctx, who, ask, private) }
		},
		Print: printResent, Did: didResend, Leads: leadsResend,
	}
}

// narrow binds which failed deliveries are meant, and reports whether any was omitted.
func (o ops) narrow(f *schema.Form, ask *ResendRequest, when string) bool {
	endpoint := f.ID(&ask.Endpoint, "endpoint", when+"only this receiver's", schema.ChoicesFor(receiverChoices))
	var since string
	given := f.Text(&since, "since", when+"only those tried within this time, such as 90m or 24h", schema.Most(50))
	if given && since != "" {
		d, err := time.ParseDuration(since)
		if err != nil || d < time.Second {
			f.Refuse("since", "since: %s is not allowed; it takes a time of at least 1s, such as 90m or 24h",
				schema.Quote(since))
		}
		ask.Since = d
	}
	return endpoint || given && since != ""
}

func (o ops) resend(ctx context.Context, who db.Caller, ask ResendRequest, private bool) (any, error) {
	made, err := o.sender(private).Resend(ctx, who, ask)
	if len(made) > 0 { // what was sent is reported in any case
		return ResentList{Deliveries: made, cut: err}, nil
	}
	return schema.Answer(ResentList{Deliveries: made}, err)
}

func (o ops) resendFailed() schema.Op {
	return schema.Op{
		Name: "resend_failed", Writes: true, Admin: true, Several: true,
		About:    "Make one new attempt for each delivery that failed or was interrupted and did not arrive since.",
		Response: exampleResent(),
		Bind: func(f *schema.Form) schema.Handler {
			ask := ResendRequest{Failed: true}
			o.narrow(f, &ask, "")
			return func(ctx context.Context, who db.Caller) (any, error) { return o.resend(ctx, who, ask, false) }
		},
		Print: printResent, Did: didResend, Leads: leadsResend,
	}
}

func exampleResent() ResentList {
	d := exampleDelivery
	d.Kind = resend
	return ResentList{Deliveries: []Resent{{Of: 12, Delivery: d}}}
}

func printResent(w io.Writer, answer any) {
	schema.Tabulate(w, "ID|RESEND OF|WEBHOOK|EVENT|STATE|ANSWER", answer.(ResentList).Deliveries, func(r Resent) []any {
		return []any{strconv.FormatInt(r.ID, 10), strconv.FormatInt(r.Of, 10), strconv.FormatInt(r.EndpointID, 10), r.Event,
			r.State, answered(r.Delivery)}
	})
}

func didResend(answer any, _ schema.Money) string {
	return outcome("delivery", "deliveries", answer.(ResentList).states())
}

func leadsResend(answer any) string {
	all := answer.(ResentList).Deliveries
	if len(all) == 0 {
		return "/webhooks"
	}
	return toReceiver(all[0].EndpointID)
}
