package screen

import (
	"net/http"

	"quartermaster/app/table"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
	"quartermaster/schema/wire"
)

// toSecrets admits to a table that gives access: admins who typed their password recently. Others must type it; in is
// what they sent, nil for a page. The answer is not cached.
func (x *exchange) toSecrets(t schema.Table, in *sent) (done bool, err error) {
	if !t.Secret || x.visitor == nil {
		return false, nil
	}
	x.w.Header().Set("Cache-Control", "no-store")
	if err := x.needs(page.Admin, t.Name); err != nil || x.visitor.session.Fresh(x.now()) {
		return false, err
	}
	v := passwordView{title: t.Name, path: x.r.URL.Path, then: x.r.URL.RequestURI()}
	status := http.StatusOK
	if in != nil {
		status, v.fields = http.StatusUnauthorized, in.all()
		if in.password != "" {
			err := x.s.Sessions.Confirm(x.r.Context(), x.visitor.session, in.password, x.from())
			if err == nil {
				return false, nil
			}
			v.refusal = x.faultOf(err)
			status = wire.Status(v.refusal.Kind)
		}
	}
	return true, x.showInFrame(status, "Your password, again", false, passwordPage(v))
}

// passwordView is the page that asks for the password before a table with secrets.
type passwordView struct {
	title, path, then string
	fields            map[string][]string // of the sent form
	refusal           *fault.Error
}

// exportOf guards the export of tables with secrets.
func (x *exchange) exportOf(show handle) error {
	t, err := x.s.table(x.path["table"])
	if err == nil {
		if done, err := x.toSecrets(t, nil); done || err != nil {
			return err
		}
	}
	return show(x)
}

// confirmExport checks the password for an export and redirects to it.
func confirmExport(x *exchange) error {
	if done, err := x.admit(); done || err != nil {
		return err
	}
	t, err := x.s.table(x.path["table"])
	if err != nil {
		return err
	}
	in, err := x.receive(mostForm)
	if err != nil {
		return err
	}
	if done, err := x.toSecrets(t, in); done || err != nil {
		return err
	}
	return x.lead("/export/" + queryEscape(t.Name))
}

// tablesFor are the tables that the caller may read or write.
func (s *Screens) tablesFor(who db.Caller) []schema.Table {
	var all []schema.Table
	for _, t := range s.Service.Tables {
		if !t.Secret || who.Role == page.Admin {
			all = append(all, t)
		}
	}
	return all
}

// chooser maps a name in the file to a record.
type chooser struct {
	schema.Unknown
	choices []schema.Choice
	then    string
}

// mostChosen are the most records that one chooser lists.
const mostChosen = 1000

// choosers are for the file's unknown names of records.
func (x *exchange) choosers(out table.Outcome) ([]chooser, error) {
	var all []chooser
	for _, u := range out.Unknown {
		c := chooser{Unknown: u, then: x.r.URL.RequestURI()}
		if name := out.Called[u.Name]; name != "" {
			c.Name = name + " (" + u.Name + ")"
		}
		op, known := x.s.Service.Op(u.Op)
		if !known || x.mayDo(op) != nil {
			continue
		}
		for _, a := range op.Args(schema.Page) {
			if a.Name != u.Field || !a.HasChoices() {
				continue
			}
			var err error
			if c.choices, err = x.choices(a, schema.Find{Most: mostChosen}); err != nil {
				return nil, err
			}
		}
		if len(c.choices) > 0 {
			all = append(all, c)
		}
	}
	return all, nil
}
