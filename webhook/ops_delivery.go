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
	return nil, failures(len(l.Deliveries), l.arrived(), l.cut)
}

func (l ResentList) arrived() (n int) {
	for _, r := range l.Deliveries {
		n += came(r.Delivery)
	}
	return n
}

// Tried are the sent examples.
type Tried struct {
	Deliveries []Delivery `json:"deliveries"`
	cut        error      // the error that ended it early
}

// Refusals fails the command if not all was delivered.
func (l Tried) Refusals() (refused []string, left error) {
	return nil, failures(len(l.Deliveries), l.arrived(), l.cut)
}

func (l Tried) arrived() (n int) {
	for _, d := range l.Deliveries {
		n += came(d)
	}
	return n
}

// came is 1 for a delivery that arrived.
func came(d Delivery) int { return map[bool]int{true: 1}[d.State == delivered] }

func failures(sent, arrived int, cut error) error {
	if cut == nil && sent > arrived {
		return fmt.Errorf("%d of %d deliveries failed", sent-arrived, sent)
	}
	return cut
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
		Bind: schema.Does(func(f *schema.Form, q *Filter) {
			q.Limit = defaultLimit
			f.Enum(&q.Service, "service", "only this service's: "+strings.Join(o.names(), ", "), o.names())
			f.ID(&q.Endpoint, "endpoint", "only this receiver's", schema.ChoicesFor(receiverChoices))
			f.Bool(&q.Failed, "failed", "only failed and interrupted ones")
			f.Int(&q.Limit, "limit", "how many at most", schema.Range(1, 1<<31))
		}, func(ctx context.Context, who db.Caller, q Filter) (l Log, err error) {
			if who, err = in(who, q.Service); err == nil {
				q.Service = who.Service
				l.Deliveries, err = Deliveries(ctx, o.d, q)
			}
			return l, err
		}),
		Print: schema.Printed(func(w io.Writer, l Log) {
			schema.Tabulate(w, "ID|SERVICE|WEBHOOK|EVENT|KIND|STATE|ANSWER|MS|CREATED", l.Deliveries,
				func(v Delivery) []any {
					return []any{v.ID, v.Service, v.EndpointID, v.Event, v.Kind, v.State, answered(v),
						schema.Cell(v.DurationMS), v.CreatedAt}
				})
		}),
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
		Bind: schema.Does2(func(f *schema.Form, id *int64, private *bool) {
			bindID(f, id)
			o.private(f, private)
		}, func(ctx context.Context, who db.Caller, id int64, private bool) (t Tried, err error) {
			examples, err := o.examples(ctx, id)
			if err != nil {
				return t, err
			}
			t.Deliveries, err = o.sender(private).Test(ctx, who, id, examples)
			if len(t.Deliveries) > 0 { // what was sent is reported in any case
				t.cut, err = err, nil
			}
			return t, err
		}),
		Print: schema.Printed(func(w io.Writer, t Tried) {
			schema.Tabulate(w, "ID|WEBHOOK|EVENT|STATE|ANSWER", t.Deliveries, func(v Delivery) []any {
				return []any{v.ID, v.EndpointID, v.Event, v.State, answered(v)}
			})
		}),
		Did: schema.Said(func(t Tried) string {
			return fmt.Sprintf("%s sent, %d delivered", exact.Plural(len(t.Deliveries), "example", "examples"), t.arrived())
		}),
		Leads: schema.Of(func(t Tried) string { return toReceiver(t.Deliveries[0].EndpointID) }),
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
		Bind: schema.Does(func(f *schema.Form, id *int64) {
			f.ID(id, "id", "the delivery's number", schema.Required, schema.Positional("DELIVERY_ID"))
		}, func(ctx context.Context, who db.Caller, id int64) (Request, error) {
			return o.sender(false).Sent(ctx, who, id)
		}),
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
		Bind: schema.Does2(func(f *schema.Form, ask *ResendRequest, private *bool) {
			opts := []schema.Opt{schema.Positional("DELIVERY_ID")}
			if f.Surface() != schema.Command {
				opts = append(opts, schema.Required)
			}
			f.IDs(&ask.IDs, "id", "the deliveries' numbers", 10_000, opts...)
			if f.Surface() == schema.Command {
				f.Bool(&ask.Failed, "failed", "those that failed or were interrupted, and have not arrived since")
				narrowed := o.narrow(f, ask, "with --failed: ")
				switch {
				case ask.Failed == (len(ask.IDs) > 0):
					f.Refuse("id", "name the deliveries by their ids, or give --failed; one of the two")
				case !ask.Failed && narrowed:
					f.Refuse("id", "--endpoint and --since narrow --failed; they do not go with ids")
				}
			}
			o.private(f, private)
		}, o.resend),
		Print: schema.Printed(printResent), Did: schema.Said(didResend), Leads: schema.Of(leadsResend),
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

func (o ops) resend(ctx context.Context, who db.Caller, ask ResendRequest, private bool) (l ResentList, err error) {
	l.Deliveries, err = o.sender(private).Resend(ctx, who, ask)
	if len(l.Deliveries) > 0 { // what was sent is reported in any case
		l.cut, err = err, nil
	}
	return l, err
}

func (o ops) resendFailed() schema.Op {
	return schema.Op{
		Name: "resend_failed", Writes: true, Admin: true, Several: true,
		About:    "Make one new attempt for each delivery that failed or was interrupted and did not arrive since.",
		Response: exampleResent(),
		Bind: schema.Does(func(f *schema.Form, ask *ResendRequest) {
			ask.Failed = true
			o.narrow(f, ask, "")
		}, func(ctx context.Context, who db.Caller, ask ResendRequest) (ResentList, error) {
			return o.resend(ctx, who, ask, false)
		}),
		Print: schema.Printed(printResent), Did: schema.Said(didResend), Leads: schema.Of(leadsResend),
	}
}

func exampleResent() ResentList {
	d := exampleDelivery
	d.Kind = resend
	return ResentList{Deliveries: []Resent{{Of: 12, Delivery: d}}}
}

func printResent(w io.Writer, l ResentList) {
	schema.Tabulate(w, "ID|RESEND OF|WEBHOOK|EVENT|STATE|ANSWER", l.Deliveries, func(r Resent) []any {
		return []any{r.ID, r.Of, r.EndpointID, r.Event, r.State, answered(r.Delivery)}
	})
}

func didResend(l ResentList) string {
	if len(l.Deliveries) == 0 {
		return "no delivery needed to be sent again"
	}
	return fmt.Sprintf("%s sent, %d delivered", exact.Plural(len(l.Deliveries), "delivery", "deliveries"), l.arrived())
}

func leadsResend(l ResentList) string {
	if len(l.Deliveries) == 0 {
		return "/webhooks"
	}
	return toReceiver(l.Deliveries[0].EndpointID)
}
