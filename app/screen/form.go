package screen

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
	"quartermaster/schema/wire"
)

// doView is the page of an operation.
type doView struct {
	op       schema.Op
	given    url.Values
	then     string
	from     string // the page on which it was refused before
	key      string
	record   map[string]string          // initial values of its fields
	seen     string                     // the record when the form was made
	now      string                     // the record now
	offered  map[string][]schema.Choice // by field: the records that the typed text may mean
	alone    bool                       // it came from the operation's own page
	refusal  *fault.Error
	will     trial
	asked    string
	waits    map[string]string // by field: the token of a file that was uploaded before
	files    map[string]schema.File
	confirm  bool // the question, with confirm=yes
	ask      bool // a question must be confirmed first
	password bool // the password must be typed again
	differs  []difference
	marks    [2]string // the marking operation of the list whose marks the form got, and its field for them
	action   string    // the prefix of the form's address
	home     string
	beside   schema.Beside
}

// difference is a field that two people changed.
type difference struct{ label, yours, theirs string }

func (v *doView) status() int {
	switch {
	case v.refusal != nil:
		return wire.Status(v.refusal.Kind)
	case v.password:
		return http.StatusUnauthorized
	}
	return http.StatusOK
}

// present reads the record that the fields name, in its form's format.
func (x *exchange) present(op schema.Op, fields url.Values) (record url.Values, found bool,
	err error) {
	if op.Fill == nil {
		return nil, false, nil
	}
	record, err = read(x, func(c *db.Conn) (filled map[string][]string, err error) {
		filled, found, err = op.Filled(c, fields, exact.CurrencyOf(x.shop.currency))
		return filled, err
	})
	return record, found, err
}

// fill fills the form from the record in the address; other values in the address override the record's.
func (x *exchange) fill(v *doView) error {
	record, found, err := x.present(v.op, v.given)
	if err != nil || !found {
		return err
	}
	v.record = map[string]string{}
	for name, values := range record {
		v.record[name] = strings.Join(values, "\n")
	}
	v.now = schema.Seen(record)
	return nil
}

// compare lists the differences between what was typed and what is stored now, and allows sending the form over it.
func (x *exchange) compare(v *doView) error {
	if v.seen == "" {
		return nil
	}
	if err := x.fill(v); err != nil || v.record == nil || v.now == v.seen {
		return err
	}
	now := map[string][]string{}
	for name, text := range v.record {
		now[name] = []string{text}
	}
	e, err := v.op.Edited(v.given, now, v.seen)
	if err != nil {
		return err
	}
	for _, a := range v.op.Args(schema.Page) {
		field := schema.PageField(a.Name)
		yours, typed := v.given[field]
		theirs, held := v.record[field]
		switch {
		case !typed || !held || v.op.Identifies(a.Name):
		case !e.Writes(field):
			v.given[field] = []string{theirs} // only the other user changed it
		case yours[len(yours)-1] != theirs:
			v.differs = append(v.differs, difference{a.Label(), yours[len(yours)-1], theirs})
		}
	}
	return nil
}

// showForm sends the page of an operation.
func (x *exchange) showForm(status int, v doView) error {
	f := x.frame()
	v.action, v.home = strings.TrimSuffix(f.DoPath(""), "/")+"/", x.placeOf(v.op)
	if from := x.referer(); from != "" && x.r.Method == http.MethodGet && x.ours(from) == from {
		v.home = from
	}
	x.place = backOf(&v)
	f.Path, f.Query = f.DoPath(v.op.Name), nil
	f.Currency = v.op.CurrencyFor(x.inputOf(v.given, true)).Code
	v.now = cmp.Or(v.now, v.seen)
	title := v.op.PageTitle()
	if what, saves := strings.CutPrefix(title, "Save "); saves && v.op.Makes() {
		title = v.op.NewTitle()
		if v.now != "" {
			title = "Edit " + what
		}
	}
	secret := v.op.Credential
	if v.op.Beside != nil && !v.confirm {
		beside, err := read(x, func(c *db.Conn) (schema.Beside, error) {
			given := map[string]string{}
			for name := range v.given {
				given[name] = v.given.Get(name)
			}
			return v.op.Beside(c, given)
		})
		if err != nil {
			return err
		}
		v.beside = beside
	}
	fm := x.form(&v)
	fm.Back = backOf(&v)
	return x.show(status, title, secret, f, formPage(&v, title, fm))
}

// form is the form of the page: with what was typed, given, or stored.
func (x *exchange) form(v *doView) page.Form {
	fm := page.Form{Op: v.op.Name, Record: true, Alone: true, Main: true, Values: v.record,
		Given: withoutSecrets(v.op, v.given), Fixed: map[string]string{}, Refused: map[string]string{}}
	if v.then != "" {
		fm.Fixed["then"] = v.then
	}
	if v.marks[1] != "" { // what is refused stays marked
		fm.Fixed["marked_op"], fm.Fixed["marked_field"] = v.marks[0], v.marks[1]
	}
	if v.key != "" && (v.refusal == nil || v.refusal.Kind != fault.Conflict) {
		fm.Fixed["idempotency_key"] = v.key
	}
	if v.now != "" {
		fm.Fixed["seen"] = v.now
	}
	if v.op.Makes() {
		fm.Button = "Save"
	}
	if v.op.Preview != nil {
		fm.Button = "Show what would happen"
	}
	fm.Sent = map[string]string{}
	names := map[string][]string{}
	for _, field := range sortedKeys(v.waits) {
		fm.Fixed[waitsPrefix+field] = v.waits[field]
		names[firstField(field)] = append(names[firstField(field)], v.files[field].Name)
	}
	for field, all := range names {
		if fm.Sent[field] = all[0] + " is here"; len(all) > 1 {
			fm.Sent[field] = strings.Join(all, ", ") + " are here"
		}
	}
	fm.Facts, fm.Offered = v.facts(), v.offered
	fm.Focus = v.refusal == nil && v.now == ""
	if v.op.Makes() && v.op.Number != "" && v.now == "" {
		fm.Fixed[v.op.Number] = ""
	}
	if v.refusal != nil {
		for _, r := range v.refusal.Fields {
			name := schema.PageField(r.Field)
			if fm.Refused[name] == "" {
				fm.Refused[name] = r.Detail
			}
		}
	}
	if v.op.Confirmed() && v.will.err == nil && v.asked != "" {
		fm.Confirm = true
		fm.Fixed["asked"] = v.asked
		fm.Danger = v.op.Destructive
	}
	if v.password || v.op.Credential && x.route.area == page.Staff && !x.visitor.session.Fresh(x.now()) {
		v.password = true
		fm.Extra = passwordAgain(v.refusal != nil && v.refusal.Kind == fault.Invalid &&
			slices.ContainsFunc(v.refusal.Fields, func(f fault.Field) bool { return f.Field == "password" }))
	}
	return fm
}

// facts are the fields that identify the record, if the form was opened for one: they are shown, and sent along.
func (v *doView) facts() (fields []string) {
	for _, a := range v.op.Args(schema.Page) {
		field := schema.PageField(a.Name)
		held := v.given.Get(field) != "" || v.record[field] != ""
		switch {
		case !held:
		case v.op.Makes():
			if v.now != "" && (v.op.Number == "" && v.op.Identifies(a.Name) || a.Name == v.op.Number) {
				fields = append(fields, field)
			}
		case a.Required && (a.Path != "" || a.HasChoices() && (v.op.Confirmed() || a.Positional != "" && !v.op.Creates)):
			fields = append(fields, field)
		}
	}
	return fields
}

// withoutSecrets drops values that are never shown again.
func withoutSecrets(op schema.Op, given url.Values) url.Values {
	kept := url.Values{}
	maps.Copy(kept, given)
	for _, a := range op.Args(schema.Page) {
		if a.Secret {
			delete(kept, schema.PageField(a.Name))
		}
	}
	return kept
}

// summaryLine is one refusal in the summary, with the field that it links to.
type summaryLine struct{ field, text string }

// summary lists the refusals.
func summary(v *doView, fm page.Form) []summaryLine {
	var lines []summaryLine
	if v.refusal == nil {
		return nil
	}
	for _, r := range v.refusal.Fields {
		lines = append(lines, summaryLine{page.FieldID(fm, schema.PageField(r.Field)), r.Detail})
	}
	return lines
}
