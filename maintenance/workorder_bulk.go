package maintenance

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// maxBulk is how many work orders one bulk change moves.
const maxBulk = 10_000

// Moved is the result of a bulk change, order by order.
type Moved struct {
	Moved   []WorkOrder    `json:"moved"`
	Refused []RefusedOrder `json:"refused"`

	Unpriced bool `json:"-"` // there is labor, and no hourly rate yet
}

// RefusedOrder is an unchanged work order, and why.
type RefusedOrder struct {
	ID     int64  `json:"id"`
	Reason string `json:"reason"`
}

// Refusals names the refused ones, which fails the command. Print shows the moved ones.
func (m Moved) Refusals() (refused []string, err error) {
	refused = []string{}
	for _, r := range m.Refused {
		name := fmt.Sprintf("work order %d", r.ID)
		if strings.HasPrefix(r.Reason, name+" ") { // it names the order itself
			refused = append(refused, r.Reason)
			continue
		}
		refused = append(refused, name+": "+r.Reason)
	}
	if len(refused) > 0 {
		err = fmt.Errorf("%d of %d work orders were refused", len(m.Refused), len(m.Refused)+len(m.Moved))
	}
	return refused, err
}

// MoveWorkOrders moves many work orders, each separately: a refused one is named and the others continue. An unknown
// status refuses all.
func (s *Service) MoveWorkOrders(ctx context.Context, who db.Caller, status string, ids []int64, resolution string) (
	Moved, error) {
	return s.moveEach(ctx, who, Move{Status: status, Resolution: resolution}, marked{ids: ids})
}

func (s *Service) moveEach(ctx context.Context, who db.Caller, all Move, m marked) (Moved, error) {
	if err := all.check(); err != nil {
		return Moved{}, err
	}
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (done Moved, err error) {
		done.Moved, done.Refused, err = m.each(tx, func(id int64) (WorkOrder, error) {
			one := all
			one.ID = id
			return moveWorkOrder(tx, one)
		})
		return done, err
	})
}

// ParseFilter parses the filters of the list's address: "status=open&assigned_to=Ana". Unknown and wrong ones are
// refused.
func ParseFilter(query string) (f Filter, err error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return f, fault.Fieldf("match", "match: %s is not a query string", schema.Quote(query))
	}
	op := schema.Op{Bind: func(form *schema.Form) schema.Handler {
		f.Limit = newest
		BindFilter(form, &f)
		bindQ(form, &f.Q)
		return nil
	}}
	_, err = op.Decode(schema.Input{Surface: schema.Page, Values: values, Lenient: true,
		Currency: exact.CurrencyOf("USD")})
	f.After = 0
	return f, err
}

func (s *Service) moveWorkOrders() schema.Op {
	return schema.Op{
		Name: "move_workorders",
		About: "Move several work orders to a status. Refused ones are named with the reason; the others are moved. " +
			"The same rules and events apply as for a single move.",
		Writes: true,
		Response: Moved{Moved: []WorkOrder{sampleDone},
			Refused: []RefusedOrder{{ID: 14, Reason: "there is no work order 14"}}},
		Bind: schema.Does2(func(f *schema.Form, all *Move, m *marked) {
			bindStatus(f, &all.Status, "the new status", schema.Required, schema.Positional("STATUS"))
			m.bind(f)
			f.Text(&all.Resolution, "resolution", "what was done; needed for done", schema.Most(maxText), schema.Lines)
			f.Text(&all.SkipSteps, "skip_steps", "why open steps of their check lists are skipped", schema.Most(maxText),
				schema.Label("Why steps are skipped"), schema.Help("Needed where steps of a check list are open."))
		}, s.moveEach),
		Example: "maintenance move in-progress 12 14\nmaintenance move done 12 14 --resolution \"Filters changed\" --as alice",
		Print: func(w io.Writer, answer any) {
			for _, wo := range answer.(Moved).Moved {
				fmt.Fprintf(w, "%d: %s\n", wo.ID, wo.Status)
			}
		},
		Did:   schema.Said(didMove),
		Doubt: doubtMoves,
		Leads: func(any) string { return "/work-orders" },
	}
}

// doubtMoves asks before jobs are cancelled, and names the first of them.
func doubtMoves(answer any, _ schema.Money) schema.Question {
	m := answer.(Moved).Moved
	if len(m) == 0 || m[0].Status != "cancelled" {
		return schema.Question{}
	}
	q := schema.Question{Title: "Cancel " + jobs(int64(len(m)), "", "") + "?", Button: "Cancel them",
		Text: "Cancelled work orders cannot be reopened. Their history is kept."}
	for i, wo := range m {
		if i == 5 {
			q.Points = append(q.Points, fmt.Sprintf("and %d more", len(m)-i))
			break
		}
		q.Points = append(q.Points, fmt.Sprintf("%d, %s: %s", wo.ID, wo.Asset, wo.Description))
	}
	return q
}

func didMove(m Moved) string {
	text := "No work order was moved."
	switch n := len(m.Moved); {
	case n == 1:
		text = fmt.Sprintf("Work order %d is %s.", m.Moved[0].ID, m.Moved[0].Status)
	case n > 1:
		text = fmt.Sprintf("%d work orders are %s.", n, m.Moved[0].Status)
	}
	if m.Unpriced {
		text += " " + unpriced
	}
	return text
}
