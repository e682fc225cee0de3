package screen

import (
	"maps"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// newOrEdit distinguishes an Edit form, which carries the values that it was loaded with, from a New one. An Edit form
// writes only changed fields, and is refused if somebody else changed the same ones. A New form is refused if its keys
// are in use. Both are checked in the operation's transaction.
func (x *exchange) newOrEdit(op schema.Op, in *sent, r *db.Request) error {
	currency := exact.CurrencyOf(x.shop.currency)
	switch {
	case op.Fill == nil:
	case in.seen != "":
		now, found, err := x.present(op, in.fields)
		if err == nil && !found {
			err = fault.Conflictf("This record was removed or renamed after you opened the form.")
		}
		if err != nil {
			return err
		}
		e, err := op.Edited(in.fields, now, in.seen)
		if err != nil {
			return err
		}
		in.written = e.Fields
		r.Expect = func(c *db.Conn) error { return op.Unchanged(c, e, currency) }
	case op.Makes():
		in.written = maps.Clone(in.fields)
		if op.Number != "" {
			in.written[op.Number] = []string{""}
		}
		r.Expect = func(c *db.Conn) error { return op.Unused(c, in.written, currency) }
	}
	return nil
}

// trial is the result of a trial run: the question before it is done, or why it would be refused.
type trial struct {
	ask schema.Question // without a Title there is no question
	err error
}

// try runs the operation as a trial, so that the question can say in numbers what will happen.
func (x *exchange) try(op schema.Op, in *sent) (trial, string) {
	var answer any
	who := x.who()
	_, err := x.s.DB.Trial(x.r.Context(), func(d *db.DB) error {
		bound := &Screens{Options: x.s.On(d)}
		bound.collectAll()
		handle, err := bound.ops[x.route.area][op.Name].Decode(x.forOp(in))
		if err == nil {
			answer, err = handle(x.r.Context(), who)
		}
		return err
	})
	if e, refused := fault.As(err); refused {
		err = e.Amounts(x.shop.written)
	}
	if err != nil {
		return trial{err: err}, ""
	}
	q := questionOf(op, answer, x.shop)
	if op.Confirmed() {
		q.Title = x.asked(op, in, answer)
	}
	return trial{ask: q}, x.askedOf(op, in)
}

// asked is the heading of a question: the action and its record, "Cancel purchase order PO-000012, Wollwerk, 3 lines?".
func (x *exchange) asked(op schema.Op, in *sent, answer any) string {
	if op.Thing != nil {
		verb, _, _ := strings.Cut(op.PageTitle(), " ")
		return verb + " " + op.Thing(answer) + "?"
	}
	thing := ""
	for _, a := range op.Args(schema.Page) {
		value := in.fields.Get(schema.PageField(a.Name))
		if !a.Required || value == "" || a.Kind == schema.EnumKind || a.Kind == schema.DayKind || a.Many {
			continue
		}
		if list, err := x.choices(a, schema.Find{Value: value, Most: 1}); err == nil && len(list) > 0 {
			thing = list[0].Whole()
		} else if a.Kind != schema.IntKind {
			thing = value
		}
		break
	}
	return strings.TrimSpace(op.PageTitle()+" "+thing) + "?"
}

// questionOf is the question before the operation, from a trial's answer.
func questionOf(op schema.Op, answer any, shop shopSettings) schema.Question {
	money := exact.CurrencyOf(shop.currency).Format
	if !op.Confirmed() {
		ask := op.Doubt
		if op.Preview != nil {
			ask = op.Preview
		}
		q := ask(answer, money)
		q.Text = stated(q.Text, shop)
		for i := range q.Points {
			q.Points[i] = schema.MomentsInWords(q.Points[i], shop.zone)
		}
		for i := range q.Boxes {
			q.Boxes[i].Label = schema.DaysInWords(q.Boxes[i].Label)
		}
		return q
	}
	q := schema.Question{Title: op.PageTitle() + "?", Text: "This cannot be undone.", Button: op.Verb()}
	if op.Will != nil {
		if will := op.Will(answer, money); will != "" {
			q.Text = stated(will, shop)
		}
	}
	return q
}

// stated is an operation's message, with states in the words of pages.
func stated(text string, shop shopSettings) string {
	text = strings.NewReplacer("in-progress", "in progress", "in_progress", "in progress").Replace(text)
	return sentence(schema.MomentsInWords(text, shop.zone))
}
