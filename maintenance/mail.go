package maintenance

import (
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// Mails are the messages that the service sends.
func (s *Service) Mails() []mail.Kind { return []mail.Kind{answerKind} }

// MailWords are what a work order is, as messages say it.
var MailWords = []string{"Open", "In progress", "Done", "Cancelled", "Work order", "due", assignedTitle, requestTitle}

var statusWords = map[string]string{"open": "Open", "in-progress": "In progress", "done": "Done",
	"cancelled": "Cancelled"}

var answerKind = mail.Kind{
	Name: "answer", Service: "maintenance", About: "To the person who asked for a work order, when it is done or " +
		"cancelled.",
	Fields:  []mail.Field{{Name: "number"}, {Name: "asset"}, {Name: "status"}, {Name: "resolution"}},
	Subject: "{asset}: {status}",
	Body: "Hello,\n\nyou told us about {asset}. Your request, number {number}, is: " +
		"{status}.\n\n{resolution}\n\n{shop}\n{shop_address}",
	Fill: fillAnswer, Newest: newestAnswer, Find: answerNamed,
}

// answered is the row of a message about the order.
func answered(id int64, to string) mail.Row {
	return mail.Row{Subject: db.Subject("work_order", id), Record: strconv.FormatInt(id, 10), To: to}
}

// mailAnswer notifies the requester that the order is closed.
func mailAnswer(tx *db.Tx, wo WorkOrder) error {
	if !closed(wo.Status) {
		return nil
	}
	_, err := answerKind.Queue(tx, answered(wo.ID, schema.Cell(wo.RequesterEmail)))
	return err
}

// fillAnswer fills in the outcome of a work order.
func fillAnswer(c *db.Conn, w *mail.Writer, r mail.Row) (v mail.Content, err error) {
	wo, found, err := lookWorkOrder(c, numberOf(strings.TrimPrefix(r.Subject, "work_order:")))
	if err != nil {
		return v, err
	}
	switch {
	case !found:
		v.Untrue = "the work order no longer exists"
	case !closed(wo.Status):
		v.Untrue = "the work order is " + wo.Status
	}
	v.To = schema.Cell(wo.RequesterEmail)
	v.Values = map[string]mail.Value{"number": mail.Text(r.Record), "asset": mail.Text(wo.Asset),
		"status":     mail.Text(w.Word(statusWords[wo.Status])),
		"resolution": mail.Text(schema.Cell(wo.Resolution))}
	return v, nil
}

func newestAnswer(c *db.Conn) (mail.Row, bool, error) {
	id, found, err := db.One(c, db.Int, "SELECT id FROM work_orders WHERE status IN ('done', 'cancelled') ORDER BY "+
		"+id DESC LIMIT 1")
	return answered(id, ""), found, err
}

// answerNamed finds a work order for a preview by its number.
func answerNamed(_ *db.Conn, name string) (mail.Row, error) {
	id := numberOf(strings.TrimPrefix(name, "#"))
	if id == 0 {
		return mail.Row{}, fault.NotFoundf("there is no work order %q; name it by its number", name)
	}
	return answered(id, ""), nil
}

// requester parses the requester's address; an empty one is none.
func requester(field, written string) (*string, error) {
	if written = strings.TrimSpace(written); written == "" {
		return nil, nil
	}
	address, err := mail.CheckAddress(field, written)
	return &address, err
}
