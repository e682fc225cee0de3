package screen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"quartermaster/app/table"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
)

// importWithin is how long the form of an import waits for its end; a longer one continues, and its page shows the
// progress.
const importWithin = 2 * time.Second

// asked is stored with an import's work, to continue after a kill.
type asked struct {
	User string `json:"user"`
	File string `json:"file"` // its name
	Form string `json:"form"` // its options
}

// runView is the page of a running or finished import.
type runView struct {
	table   schema.Table
	id      int64
	file    string
	done    int64
	total   int64 // 0: not known yet
	refusal *fault.Error
	result  *message  // of a finished one
	notes   []string  // beside its result
	refused string    // the address of its refused rows, as a file
	list    page.Page // of the table's records, if there is one
}

// far is "2,000 of 40,000 rows".
func (v *runView) far() string {
	if v.total == 0 {
		return "the file is being read"
	}
	return page.Num(v.done) + " of " + page.Plural(int(v.total), "row", "rows")
}

func (v *runView) again() string { return runPath(v.table.Name, v.id) }

// runPath is the page of an import's work.
func runPath(t string, id int64) string { return "/import/" + queryEscape(t) + "?job=" + page.Num(id) }

// load imports an uploaded file: once, however often its form is sent. The import's page shows the result, also after a
// kill.
func (x *exchange) load(t schema.Table, in *sent) error {
	token := table.HashOf(in.fields.Get("file"))
	work, err := read(x, func(c *db.Conn) (*db.Work, error) { return db.FindWorkOf(c, token) })
	if err != nil {
		return err
	}
	if work != nil && (work.Answer != nil || x.s.DB.UnderWay(work.Job)) {
		return x.lead(runPath(t.Name, work.ID))
	}
	file, err := table.NewStore(x.s.DB).Find(x.r.Context(), x.who(), in.fields.Get("file"))
	if err != nil {
		return err
	}
	run, err := x.startImport(t, file, token, in.fields)
	if err != nil {
		return err
	}
	wait := time.NewTimer(importWithin)
	defer wait.Stop()
	select {
	case err := <-run.ended:
		if err != nil {
			return err
		}
	case <-wait.C:
	case <-x.r.Context().Done():
	}
	return x.lead(runPath(t.Name, run.work.ID))
}

// importRun is a started import, and the channel that announces its end.
type importRun struct {
	work  *db.Work
	ended chan error
}

// waitingView is the file with the form's options.
func waitingView(t schema.Table, file table.Waiting, form url.Values) (v importView, err error) {
	v = importView{table: t, file: file, query: form}
	v.query.Set("read", "yes")
	if v.look, err = table.LookAt(t, file.File, readingOf(form, table.Look{})); err != nil {
		return v, err
	}
	v.reading = readingOf(form, v.look)
	v.add, v.emit = form.Get("add") == "true", form.Get("emit") == "true"
	return v, nil
}

// startImport begins the import in the background, or continues it: neither a closed nor a slow browser ends it.
func (x *exchange) startImport(t schema.Table, file table.Waiting, token string, form url.Values) (run importRun,
	err error) {
	who := x.who().Asking(&db.Request{Several: true})
	v, err := waitingView(t, file, form)
	if err != nil {
		return run, err
	}
	text, err := json.Marshal(asked{User: who.User, File: file.Name, Form: form.Encode()})
	if err != nil {
		return run, err
	}
	o := v.options(false)
	if run.work, err = table.Begin(x.r.Context(), x.s.DB, who, t, file.File, o, token, string(text)); err != nil {
		return run, err
	}
	run.ended = make(chan error, 1)
	if run.work.Answer != nil { // by a run that this one waited for
		run.work.Close()
		run.ended <- nil
		return run, nil
	}
	run.work.Total, o.Work = int64(v.look.Lines), run.work
	x.s.stopped.Delete(run.work.ID)
	x.s.Background(func(ctx context.Context) {
		out, err := table.Run(ctx, x.s.DB, who, t, file.File, o, nil)
		store := table.NewStore(x.s.DB)
		switch {
		case err == nil:
			err = store.Remember(ctx, who.Service, t.Name, v.look.Columns, v.reading)
			if len(out.Errors) == 0 || t.Secret {
				err = errors.Join(err, store.Drop(ctx, token))
			} // otherwise its refused rows are available until the file expires
			run.work.Close()
		case ctx.Err() != nil: // the server stops: opening the page continues it
			err = nil
			run.work.Close()
		case run.work.Done == 0: // nothing was stored: the form may be sent again unchanged
			err = errors.Join(err, run.work.Drop(context.WithoutCancel(ctx)))
		default:
			x.s.stopped.Store(run.work.ID, x.faultOf(err))
			run.work.Close()
		}
		run.ended <- err
	})
	return run, nil
}

// runPage answers GET /import/:table?job=N: the import's progress, or its result. It continues an interrupted one.
func (x *exchange) runPage(t schema.Table, id int64) error {
	work, err := read(x, func(c *db.Conn) (*db.Work, error) { return db.FindWork(c, id) })
	if err != nil {
		return err
	}
	var a asked
	if work == nil || json.Unmarshal([]byte(work.Asked), &a) != nil || a.User != x.who().User ||
		work.Service != x.s.Service.Name {
		return fault.NotFoundf("this import is no longer known; choose the file again")
	}
	v := runView{table: t, id: id, file: a.File, done: work.Done, total: work.Total}
	switch {
	case work.Answer != nil:
		out, err := table.Answered(work)
		if err != nil {
			return err
		}
		if x.r.URL.Query().Get("format") == "refused" {
			return x.refusedOf(t, work, a, out)
		}
		told := importView{table: t}
		if len(out.Errors) > 0 && !t.Secret {
			if still, err := x.stillThere(t, work, a); err == nil { // as long as the file waits, its own header names the cells
				told = still
			}
		}
		v.result, v.notes = told.message(a.File, out), out.Notes
		if at := slices.IndexFunc(x.s.pages, func(p page.Page) bool { return p.Path == "/"+t.Name }); at >= 0 {
			v.list = x.s.pages[at]
		}
		if len(out.Errors) > 0 && !t.Secret {
			v.refused = v.again() + "&format=refused"
		}
	case !x.s.DB.UnderWay(work.Job):
		why, _ := x.s.stopped.Load(id)
		if v.refusal, _ = why.(*fault.Error); v.refusal == nil || x.r.URL.Query().Has("on") {
			v.refusal = nil
			if err := x.goOn(t, work, a); err != nil {
				v.refusal = x.faultOf(err)
			}
		}
	}
	if v.result == nil && v.refusal == nil {
		x.w.Header().Set("Refresh", "1; url="+v.again())
	}
	return x.showInFrame(http.StatusOK, "Import "+tableWords(t.Name), false, importRunPage(v))
}

// goOn continues an interrupted import.
func (x *exchange) goOn(t schema.Table, work *db.Work, a asked) error {
	file, err := table.NewStore(x.s.DB).Resume(x.r.Context(), work.Token)
	if err != nil {
		return err
	}
	form, err := url.ParseQuery(a.Form)
	if err != nil {
		return err
	}
	_, err = x.startImport(t, file, work.Token, form)
	return err
}

// stillThere reads the file of an import again, while it is stored.
func (x *exchange) stillThere(t schema.Table, work *db.Work, a asked) (v importView, err error) {
	form, err := url.ParseQuery(a.Form)
	if err != nil {
		return v, err
	}
	file, err := table.NewStore(x.s.DB).Resume(x.r.Context(), work.Token)
	if err != nil {
		return v, err
	}
	return waitingView(t, file, form)
}

// refusedOf sends the rows that an import refused, while their file is stored.
func (x *exchange) refusedOf(t schema.Table, work *db.Work, a asked, out table.Outcome) error {
	v, err := x.stillThere(t, work, a)
	if err != nil {
		return err
	}
	return x.refusedRows(t, v.file.File, v.reading, out.Errors)
}

// message is the result of an import.
func (v importView) message(file string, out table.Outcome) *message {
	rows := page.Plural(out.Imported-out.Same, "row of "+file+" was", "rows of "+file+" were")
	m := &message{Text: fmt.Sprintf("%s imported into %s. %s", rows, tableWords(v.table.Name), rowsOf(out))}
	if out.Imported > 0 && out.Imported == out.Same {
		m.Text = fmt.Sprintf("Nothing in %s is new for %s. %s", file, tableWords(v.table.Name), rowsOf(out))
	}
	groups := v.refusedGroups(out.Errors)
	for i, g := range groups {
		if i == 20 {
			left := 0
			for _, g := range groups[i:] {
				left += len(g.lines)
			}
			m.Refused = append(m.Refused, page.Plural(left, "more row was refused", "more rows were refused"))
			break
		}
		where := "line "
		if len(g.lines) > 1 {
			where = "lines "
		}
		if where += g.where(); g.column != "" {
			where += ", " + g.column
		}
		m.Refused = append(m.Refused, where+": "+g.reason)
	}
	return m
}

// rowsOf is "2 of 24 rows are new, 1 changed, 20 the same, 1 refused."
func rowsOf(out table.Outcome) string {
	rows := page.Plural(out.Imported+len(out.Errors), "row is", "rows are")
	return fmt.Sprintf("%s of %s new, %s changed, %s the same, %s refused.", page.Grouped(out.New), rows,
		page.Grouped(out.Changed), page.Grouped(out.Same), page.Grouped(len(out.Errors)))
}
