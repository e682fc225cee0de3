package maintenance

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
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
	for _, r := range m.Refused {
		name := fmt.Sprintf("work order %d", r.ID)
		if !strings.HasPrefix(r.Reason, name+" ") { // it does not name the order itself
			r.Reason = name + ": " + r.Reason
		}
		refused = append(refused, r.Reason)
	}
	return schema.SomeRefused(refused, len(m.Refused)+len(m.Moved), "work orders")
}

// Left are the refused work orders: they stay marked.
func (m Moved) Left() (ids []string) {
	for _, r := range m.Refused {
		ids = append(ids, strconv.FormatInt(r.ID, 10))
	}
	return ids
}

// marked are the work orders of a bulk action.
type marked struct{ schema.Chosen }

func (m *marked) bind(f *schema.Form) {
	m.Bind(f, "work order", maxBulk, schema.AllowDuplicates, schema.Positional("ID"), schema.Usual,
		schema.Help("None is marked. Go back and mark them in the list of work orders, or write their numbers here."))
}

// each does an action on each order separately and names the refused ones.
func (m marked) each(tx *db.Tx, act func(id int64) (WorkOrder, error)) (done []WorkOrder, refused []RefusedOrder,
	err error) {
	ids, err := m.All(&tx.Conn, matchingOrders)
	if err != nil {
		return nil, nil, err
	}
	refused = []RefusedOrder{}
	done, err = schema.EachOf(tx, ids, m.Whole, act, func(id int64, reason string) {
		refused = append(refused, RefusedOrder{ID: id, Reason: reason})
	})
	return done, refused, err
}

// matchingOrders lists the orders of the filters in the list's address, at most maxBulk.
func matchingOrders(c *db.Conn, query string) ([]int64, error) {
	var f Filter
	err := schema.Filters(query, func(form *schema.Form) {
		BindFilter(form, &f)
		bindQ(form, &f.Q)
	})
	if err != nil {
		return nil, err
	}
	if err := f.resolve(c); err != nil {
		return nil, err
	}
	t := f.where(c)
	ids, err := db.All(c, db.Int, "SELECT w.id"+orderTables+t.SQL()+" ORDER BY w.id LIMIT ?", append(t.Args, maxBulk+1)...)
	if err == nil && len(ids) > maxBulk {
		err = fault.Invalidf("more than %d work orders match; narrow the filters", maxBulk)
	}
	return ids, err
}

// moveWorkOrders moves many work orders, each separately: a refused one is named and the others continue.
func moveWorkOrders(tx *db.Tx, all Move, m marked) (done Moved, err error) {
	done.Moved, done.Refused, err = m.each(tx, func(id int64) (WorkOrder, error) {
		one := all
		one.ID = id
		return moveWorkOrder(tx, one)
	})
	return done, err
}

func (s *Service) moveWorkOrders() schema.Op {
	return schema.Op{
		Name: "move_workorders",
		About: "Move several work orders to a status. Refused ones are named with the reason; the others are moved. " +
			"The same rules and events apply as for a single move.",
		Writes: true,
		Response: Moved{Moved: []WorkOrder{sampleDone},
			Refused: []RefusedOrder{{ID: 14, Reason: "there is no work order 14"}}},
		Bind: schema.Writes2(s.db, func(f *schema.Form, all *Move, m *marked) {
			bindStatus(f, &all.Status, "the new status", schema.Required, schema.Positional("STATUS"))
			m.bind(f)
			f.Text(&all.Resolution, "resolution", "what was done; needed for done", schema.Most(maxText), schema.Lines)
			f.Text(&all.SkipSteps, "skip_steps", "why open steps of their check lists are skipped", schema.Most(maxText),
				schema.Label("Why steps are skipped"), schema.Help("Needed where steps of a check list are open."))
		}, moveWorkOrders),
		Example: "maintenance move in-progress 12 14\nmaintenance move done 12 14 --resolution \"Filters changed\" --as alice",
		Print:   schema.Printed(printMoved),
		Did:     schema.Said(didMove),
		Doubt:   doubtMoves,
		Leads:   func(any) string { return "/work-orders" },
	}
}

func printMoved(w io.Writer, m Moved) {
	for _, wo := range m.Moved {
		fmt.Fprintf(w, "%d: %s\n", wo.ID, wo.Status)
	}
}

// doubtMoves asks before jobs are cancelled, and names the first of them.
func doubtMoves(answer any, _ schema.Money) schema.Question {
	m := answer.(Moved).Moved
	if len(m) == 0 || m[0].Status != "cancelled" {
		return schema.Question{}
	}
	return schema.Question{Title: "Cancel " + jobs(int64(len(m)), "", "") + "?", Button: "Cancel them",
		Text: "Cancelled work orders cannot be reopened. Their history is kept.",
		Points: schema.Few(m, 5, func(wo WorkOrder) string {
			return fmt.Sprintf("%d, %s: %s", wo.ID, wo.Asset, wo.Description)
		})}
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
