package webhook

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// ops binds the arguments of the operations on receivers and deliveries.
type ops struct {
	d         *db.DB
	receivers *Receivers
	services  []schema.Service
	sender    func(private bool) *Sender
}

// Ops are the operations on receivers and deliveries. sender returns the one that sends requested deliveries; a
// command's flag allows private addresses, a page never does. Without a database they can only be described.
func Ops(d *db.DB, services []schema.Service, sender func(private bool) *Sender) []schema.Op {
	events := map[string][]string{}
	for _, s := range services {
		events[s.Name] = []string{}
		for _, e := range s.Events {
			events[s.Name] = append(events[s.Name], e.Name)
		}
	}
	o := ops{d: d, receivers: NewReceivers(d, events), services: services, sender: sender}
	return []schema.Op{
		o.addWebhook(), o.listWebhooks(),
		o.change("remove", "Send nothing more to a receiver, and forget its URL and secret.", o.receivers.Remove),
		o.change("enable", "Send events to a receiver again, beginning with the waiting ones.", o.receivers.Enable),
		o.change("disable", "Disable a receiver: events that happen meanwhile are not sent to it.", o.receivers.Disable),
		o.setParallel(), o.rotateWebhook(), o.testWebhook(),
		o.listDeliveries(), o.deliveryRequest(), o.resendDelivery(), o.resendFailed(),
	}
}

func (o ops) names() (names []string) {
	for _, s := range o.services {
		names = append(names, s.Name)
	}
	return names
}

// silent is a command that prints only what it did.
func silent(io.Writer, any) {}

// bindID binds a receiver's id.
func bindID(f *schema.Form, p *int64) {
	f.ID(p, "id", "the receiver's number", schema.Required, schema.Positional("ID"), schema.ChoicesFor(receiverChoices))
}

// receiverChoices are the receivers of the caller's service; of all for the operator.
func receiverChoices(c *db.Conn, who db.Caller, f schema.Find) ([]schema.Choice, error) {
	return schema.Among(func(c *db.Conn) ([]schema.Choice, error) {
		return db.All(c, func(r *db.Row) schema.Choice {
			return schema.Choice{Value: strconv.FormatInt(r.Int(), 10), Text: r.Text()}
		}, "SELECT id, service || ' ' || url FROM endpoints WHERE removed_at IS NULL AND (service = ?1 OR ?1 = '') ORDER "+
			"BY id", who.Service)
	})(c, f)
}

// eventList tells each service's events.
func (o ops) eventList() string {
	var b strings.Builder
	b.WriteString("Events:")
	for _, s := range o.services {
		if names := o.receivers.events[s.Name]; len(names) > 0 {
			fmt.Fprintf(&b, "\n  %s: %s", s.Name, strings.Join(names, ", "))
		}
	}
	return b.String()
}

// List is the receivers.
type List struct {
	Webhooks []Receiver `json:"webhooks"`
}

// Redacted is the answer without the secret, which is never shown again.
func (s Secret) Redacted() any { s.Secret = ""; return s }

func tellSecret(w io.Writer, s Secret) { _, _ = fmt.Fprintf(w, "id: %d\nsecret: %s\n", s.ID, s.Secret) }

var exampleSecret = Secret{ID: 3, Secret: secretPrefix + "..."}

func toReceiver(id int64) string { return "/webhooks/" + strconv.FormatInt(id, 10) }

func (o ops) addWebhook() schema.Op {
	return schema.Op{
		Name: "add_webhook", Writes: true, Admin: true, Credential: true, Creates: true,
		About: "Add a receiver of the named events of a service, or of all its events. Its id and secret are shown only " +
			"now. " +
			"Without a secret one is created, in the form of Standard Webhooks. Events are sent one by one, or with " +
			"--parallel several at a time, in order per subject.\n\n" + o.eventList(),
		Command: "webhook add",
		Example: "webhook add --service reorder --url https://example.com/alarms\n" +
			"webhook add --service reorder --url https://example.com/alarms --event sku.reorder_point --json",
		Response: exampleSecret, Print: schema.Printed(tellSecret),
		Bind: func(f *schema.Form) schema.Handler {
			var service, url, secret string
			var events []string
			parallel := int64(1)
			opts := []schema.Opt{}
			if f.Surface() == schema.Command {
				opts = append(opts, schema.Required)
			}
			f.Enum(&service, "service", "whose events: "+strings.Join(o.names(), ", "), o.names(), opts...)
			f.Text(&url, "url", "where they are sent: http or https", schema.Most(maxURL), schema.Required)
			f.Texts(&events, "event", "an event to send; may be repeated", 50, 100, o.eventChoices())
			given := f.Text(&secret, "secret", "the secret that signs them; without it a new one is created", schema.Secret)
			if given && secret == "" && f.Surface() == schema.Command {
				f.Refuse("secret", "--secret: it is empty; leave it out to create one")
			}
			f.Int(&parallel, "parallel",
				"how many events are sent at a time, 2 to 16; 1 is one by one", schema.Range(1, mostParallel))
			o.checkEvents(f, service, events)
			return func(ctx context.Context, who db.Caller) (any, error) {
				who, err := in(who, service)
				if err != nil {
					return nil, err
				}
				return schema.Answer(o.receivers.Add(ctx, who, url, events, secret, parallel))
			}
		},
		Did: schema.Said(func(s Secret) string {
			return strings.TrimSpace(fmt.Sprintf("webhook %d added; its secret is shown only now. %s", s.ID, s.Warned))
		}),
		Leads: schema.Of(func(s Secret) string { return toReceiver(s.ID) }),
	}
}

// in makes the caller act in the service: the operator in any, others in their own.
func in(who db.Caller, service string) (db.Caller, error) {
	switch {
	case who.Service == "":
		who.Service = service
	case service != "" && service != who.Service:
		return who, fault.Forbiddenf("receivers of the %s service are listed there, not in the %s service", service,
			who.Service)
	}
	return who, nil
}

// eventChoices lets the command line and pages choose among all events.
func (o ops) eventChoices() schema.Opt {
	return schema.Choices(schema.Among(func(*db.Conn) (all []schema.Choice, err error) {
		for _, s := range o.services {
			for _, e := range s.Events {
				all = append(all, schema.Choice{Value: e.Name, Text: e.Name})
			}
		}
		return all, nil
	}))
}

// checkEvents refuses events that the service, or without one any service, does not have.
func (o ops) checkEvents(f *schema.Form, service string, events []string) {
	var known []string
	for _, s := range o.services {
		if service == "" || s.Name == service {
			known = append(known, o.receivers.events[s.Name]...)
		}
	}
	name := "event"
	if f.Surface() == schema.Command {
		name = "--event"
	}
	for _, e := range events {
		if !slices.Contains(known, e) {
			f.Refuse("event", "%s: %s is not allowed; it takes one of %s", name, schema.Quote(e), strings.Join(known, ", "))
		}
	}
}

func (o ops) listWebhooks() schema.Op {
	example := Receiver{ID: 3, Service: "reorder", URL: "https://example.com/alarms",
		Events: []string{"sku.reorder_point"}, Enabled: true}
	return schema.Op{
		Name: "list_webhooks", Admin: true, About: "The receivers.",
		Command: "webhook list", Example: "webhook list --json", Response: List{Webhooks: []Receiver{example}},
		Bind: schema.Does(func(f *schema.Form, service *string) {
			f.Enum(service, "service", "only this service's: "+strings.Join(o.names(), ", "), o.names())
		}, func(ctx context.Context, who db.Caller, service string) (l List, err error) {
			if who, err = in(who, service); err == nil {
				l.Webhooks, err = o.receivers.List(ctx, who.Service)
			}
			return l, err
		}),
		Print: schema.Printed(func(w io.Writer, l List) {
			schema.Tabulate(w, "ID|SERVICE|STATE|URL|EVENTS", l.Webhooks, func(v Receiver) []any {
				state := map[bool]string{true: "enabled", false: "disabled"}[v.Enabled]
				return []any{v.ID, v.Service, state, v.URL, strings.Join(v.Events, ", ")}
			})
		}),
	}
}

// Changed is a receiver that was changed.
type Changed struct {
	ID int64 `json:"id"`
}

func (o ops) change(word, about string, act func(context.Context, db.Caller, int64) error) schema.Op {
	op := schema.Op{
		Name: word + "_webhook", Writes: true, Admin: true, Destructive: word == "remove", About: about,
		Command: "webhook " + word + " ID", Example: "webhook " + word + " 3", Response: Changed{ID: 3}, Print: silent,
		Bind: schema.Does(bindID, func(ctx context.Context, who db.Caller, id int64) (Changed, error) {
			return Changed{ID: id}, act(ctx, who, id)
		}),
		Did: schema.Said(func(c Changed) string {
			return fmt.Sprintf("webhook %d %sd", c.ID, word)
		}),
		Leads: toChanged,
	}
	switch word {
	case "remove":
		op.Leads = func(any) string { return "/webhooks" }
		op.Will = schema.Said(func(c Changed) string {
			return fmt.Sprintf("Webhook %d gets nothing more. Its URL, secret and waiting deliveries are removed; the log of "+
				"its deliveries stays.", c.ID)
		})
	case "enable":
		op.Undo = undo("disable_webhook", "Disable")
	case "disable":
		op.Undo = undo("enable_webhook", "Enable")
	}
	return op
}

var toChanged = schema.Of(func(c Changed) string { return toReceiver(c.ID) })

func undo(name, label string) func(any) *schema.Undo {
	return func(answer any) *schema.Undo {
		return &schema.Undo{Op: name, Label: label,
			Fields: map[string]string{"id": strconv.FormatInt(answer.(Changed).ID, 10)}}
	}
}

func (o ops) setParallel() schema.Op {
	return schema.Op{
		Name: "set_webhook_parallel", Writes: true, Admin: true, Idempotent: true,
		About: "Change how many events are sent to a receiver at a time: 1 is one by one, 2 to 16 are in order per " +
			"subject only.",
		Command: "webhook parallel ID N", Example: "webhook parallel 3 8", Response: Changed{ID: 3}, Print: silent,
		Bind: schema.Does2(func(f *schema.Form, id, n *int64) {
			bindID(f, id)
			f.Int(n, "parallel", "1 to 16", schema.Required, schema.Range(1, mostParallel), schema.Positional("N"))
		}, func(ctx context.Context, who db.Caller, id, n int64) (Changed, error) {
			return Changed{ID: id}, o.receivers.SetParallel(ctx, who, id, n)
		}),
		Did:   schema.Said(func(c Changed) string { return fmt.Sprintf("webhook %d changed", c.ID) }),
		Leads: toChanged,
	}
}

func (o ops) rotateWebhook() schema.Op {
	return schema.Op{
		Name: "rotate_webhook", Writes: true, Admin: true, Credential: true,
		About: "Give a receiver a new secret, shown only now. For 24 hours the old one signs too, so that no event is " +
			"missed.",
		Command: "webhook rotate ID", Example: "webhook rotate 3",
		Response: exampleSecret, Print: schema.Printed(tellSecret),
		Bind: schema.Does(bindID, o.receivers.Rotate),
		Did: schema.Said(func(s Secret) string {
			return fmt.Sprintf("webhook %d has a new secret, shown only now; the old one signs too for 24 hours", s.ID)
		}),
		Leads: schema.Of(func(s Secret) string { return toReceiver(s.ID) }),
	}
}
