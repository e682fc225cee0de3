package screen

import (
	"context"
	"slices"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
	"quartermaster/webhook"
)

// hookView is one receiver with its deliveries.
type hookView struct {
	receiver   webhook.Receiver
	deliveries []webhook.Delivery
	failed     int
}

// PageTitle names the receiver.
func (v hookView) PageTitle() string { return "Receiver " + page.Num(v.receiver.ID) }

func (s *Screens) receivers() *webhook.Receivers {
	events := map[string][]string{}
	for _, e := range s.Service.Events {
		events[s.Service.Name] = append(events[s.Service.Name], e.Name)
	}
	return webhook.NewReceivers(s.DB, events)
}

func (s *Screens) hooksPage() page.Page {
	return page.New(page.Spec[[]webhook.Receiver]{
		Path: "/webhooks", Title: "Webhooks", Menu: "Webhooks", Role: page.Admin,
		Load: page.Always(func(ctx context.Context, who db.Caller) ([]webhook.Receiver, error) {
			return s.receivers().List(ctx, who.Service)
		}),
		View: hooksPage,
	})
}

func (s *Screens) hookPage() page.Page {
	return page.New(page.Spec[hookView]{
		Path: "/webhooks/:id", Title: "Receiver", Role: page.Admin,
		Load: page.ByID("id", "The receiver", func(ctx context.Context, who db.Caller, id int64) (hookView, error) {
			all, err := s.receivers().List(ctx, who.Service)
			if err != nil {
				return hookView{}, err
			}
			for _, r := range all {
				if r.ID != id {
					continue
				}
				v := hookView{receiver: r}
				v.deliveries, err = webhook.Deliveries(ctx, s.DB, webhook.Filter{Service: who.Service, Endpoint: id, Limit: 200})
				for _, d := range v.deliveries {
					if d.State == "failed" || d.State == "interrupted" {
						v.failed++
					}
				}
				return v, err
			}
			return hookView{}, fault.NotFoundf("there is no receiver %d in this service", id)
		}),
		View: hookPage,
	})
}

func enabledHooks(all []webhook.Receiver) (n int) {
	for _, r := range all {
		if r.Enabled {
			n++
		}
	}
	return n
}

func deliveryLook(state string) string {
	switch state {
	case "delivered":
		return page.Good
	case "failed", "interrupted":
		return page.Bad
	}
	return page.Idle
}

// answerOfDelivery is the receiver's answer.
func answerOfDelivery(d webhook.Delivery) string {
	switch {
	case d.ResponseCode != nil:
		return page.Num(*d.ResponseCode)
	case d.Error != nil:
		return page.Word(*d.Error)
	}
	return ""
}

func eventsOf(r webhook.Receiver, all int) string {
	if len(r.Events) == 0 || len(r.Events) == all {
		return "every event"
	}
	return page.Plural(len(r.Events), "event", "events")
}

// hookActs are the actions on a receiver in its row: resending comes first.
func hookActs(r webhook.Receiver) []page.Action {
	test := page.Do("Test", "test_webhook", "id", page.Num(r.ID)).Named(r.URL)
	if r.Last == nil {
		return []page.Action{test}
	}
	return []page.Action{page.Do("Resend", "resend_delivery", "id", page.Num(r.Last.ID)).Named("the last to " + r.URL),
		test.Quiet()}
}

// failing are the receivers whose last delivery failed: an admin sees them on the service's first page.
func (x *exchange) failing() []webhook.Receiver {
	v := x.visitor
	if v.area != page.Staff || v.caller.Role != page.Admin || x.route == nil || x.route.pattern != "/" {
		return nil
	}
	all, err := x.s.receivers().List(x.r.Context(), x.s.Service.Name)
	if err != nil {
		x.s.Log.Warn().Err(err).Msg("the receivers could not be read")
	}
	return slices.DeleteFunc(all, func(r webhook.Receiver) bool {
		return !r.Enabled || r.Last == nil || r.Last.State != "failed" && r.Last.State != "interrupted"
	})
}
