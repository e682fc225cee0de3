package rental

import (
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/db/dbtest"
	"quartermaster/schema/strict"
)

// fixture is the service over a real file, with a clock that the test sets.
type fixture struct {
	*Service
	*dbtest.Fixture
}

var (
	ctx    = context.Background()
	cli    = db.CLI("rental")
	ann    = db.Caller{Service: "rental", User: "ann", Role: "member", Scope: "full", Via: "rest", KeyID: 1}
	viewer = db.Caller{Service: "rental", User: "vic", Role: "viewer", Scope: "full", Via: "rest", KeyID: 2}
	reader = db.Caller{Service: "rental", User: "ann", Role: "admin", Scope: "read", Via: "mcp", KeyID: 3}
)

// open makes an empty fixture in UTC at noon of the day.
func open(t testing.TB, on string) *fixture {
	t.Helper()
	return openIn(t, time.UTC, day(t, on).Time(time.UTC).Add(12*time.Hour))
}

func openIn(t testing.TB, zone *time.Location, now time.Time) *fixture {
	t.Helper()
	h := dbtest.Open(t, zone, now)
	return &fixture{Fixture: h, Service: New(h.DB)}
}

// table finds one of the service's tables.
func (h *fixture) table(name string) schema.Table {
	h.T.Helper()
	t, ok := h.Declare().Table(name)
	assert.Must(h.T, ok, "no table %s", name)
	return t
}

// row imports one CSV row of "name=value" cells.
func (h *fixture) row(table string, cells ...string) error {
	h.T.Helper()
	in := map[string]string{}
	for _, c := range cells {
		name, value, _ := strings.Cut(c, "=")
		in[name] = value
	}
	return h.put(h.table(table), in)
}

func (h *fixture) put(t schema.Table, cells map[string]string) error {
	put, err := t.Decode(cells, schema.LoadOptions{})
	if err != nil {
		return err
	}
	return db.Exec(ctx, h.DB, cli, func(tx *db.Tx) error {
		_, err := put(tx)
		return err
	})
}

// load imports the rows of a CSV text, which must all be good.
func (h *fixture) load(table, text string) {
	h.T.Helper()
	for _, refusal := range h.try(table, text) {
		h.T.Fatalf("%s: %s", table, refusal)
	}
}

// try imports the rows of a CSV text in one transaction and returns the refusals.
func (h *fixture) try(table, text string) (refusals []string) {
	h.T.Helper()
	records := assert.Value(csv.NewReader(strings.NewReader(text)).ReadAll())(h.T)
	t := h.table(table)
	h.Must(db.Exec(ctx, h.DB, cli, func(tx *db.Tx) error {
		for _, rows := range groups(t, records) {
			var put schema.Put
			var err error
			if t.Rows == nil {
				put, err = t.Decode(rows[0], schema.LoadOptions{})
			} else {
				put, _, err = t.DecodeRows(rows, schema.LoadOptions{})
			}
			if err == nil {
				_, err = put.Try(tx)
			}
			if err != nil {
				refusals = append(refusals, fmt.Sprintf("%v: %v", rows, err))
			}
		}
		return nil
	}))
	return refusals
}

// groups are the records by name; records of one group make one record of the table.
func groups(t schema.Table, records [][]string) (all [][]map[string]string) {
	at := map[string]int{}
	for _, r := range records[1:] {
		cells := map[string]string{}
		for i, name := range records[0] {
			cells[name] = r[i]
		}
		key := ""
		for _, name := range t.Group {
			key += cells[name] + "\x00"
		}
		if strings.Trim(key, "\x00") != "" {
			if i, known := at[key]; known {
				all[i] = append(all[i], cells)
				continue
			}
			at[key] = len(all)
		}
		all = append(all, []map[string]string{cells})
	}
	return all
}

// export returns a table as CSV text.
func (h *fixture) export(table string) string {
	h.T.Helper()
	var b strings.Builder
	h.exportTo(table, &b)
	return b.String()
}

// exportTo writes a table as CSV with the columns of an export.
func (h *fixture) exportTo(table string, to *strings.Builder) {
	h.T.Helper()
	w := csv.NewWriter(to)
	t := h.table(table)
	var names []string
	for _, c := range t.Columns() {
		names = append(names, c.Name)
	}
	h.Must(h.DB.View(ctx, func(c *db.Conn) error {
		if t.Written != nil {
			n, err := t.Written(c)
			if err != nil {
				return err
			}
			names = names[:n]
		}
		h.Must(w.Write(names))
		return t.Export(c, func(cells ...string) error { return w.Write(cells[:len(names)]) })
	}))
	w.Flush()
	h.Must(w.Error())
}

var tableNames = []string{"properties", "units", "tenants", "leases", "rents", "recurring", "charges", "payments", "deposits", "tickets"}

// lease makes a unit and a lease of it from "name=value" cells and returns the lease's id.
func (h *fixture) lease(cells ...string) int64 {
	h.T.Helper()
	n := h.Number("SELECT count(*) FROM units") + 1
	unit := fmt.Sprintf("U%d", n)
	h.Must(h.row("properties", "name=House"))
	h.Must(h.row("tenants", "name=Tenant "+unit, "email="+unit+"@example.org"))
	h.Must(h.row("units", "property=House", "name="+unit))
	h.Must(h.row("leases", append([]string{"property=House", "unit=" + unit, "tenant=Tenant " + unit, "rent_cents=100000"}, cells...)...))
	return h.Number("SELECT max(id) FROM leases")
}

// written counts all rows that writes leave: the same number before and after means that nothing was written.
func (h *fixture) written() int64 {
	h.T.Helper()
	return h.Number(`SELECT (SELECT count(*) FROM audit) + (SELECT count(*) FROM events) + (SELECT count(*) FROM charges)
		+ (SELECT count(*) FROM payments) + (SELECT count(*) FROM leases) + (SELECT count(*) FROM tickets)`)
}

// events lists the names of the events that were emitted, in order.
func (h *fixture) events() []string { return h.Texts("SELECT event FROM events ORDER BY seq") }

// lines shows charges as "due amount label paid".
func lines(charges []Charge) (all []string) {
	for _, c := range charges {
		line := fmt.Sprintf("%s %d %s", c.DueDate, c.AmountCents, c.Label)
		if c.Paid {
			line += fmt.Sprintf(" paid %s %s", c.PaidDate, *c.Method)
		}
		all = append(all, line)
	}
	return all
}

// owes fails unless the ledger has the lines.
func (h *fixture) owes(lease int64, want ...string) Ledger {
	h.T.Helper()
	l := h.ledger(lease)
	got := lines(l.Charges)
	assert.Must(h.T, slices.Equal(got, want), "ledger:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	return l
}

// breaches are doctor's findings.
func (h *fixture) breaches() (all []string) {
	h.T.Helper()
	h.Must(h.DB.View(ctx, func(c *db.Conn) (err error) {
		all, err = h.Declare().Check(c)
		return err
	}))
	return all
}

// sound fails unless doctor finds nothing.
func (h *fixture) sound() {
	h.T.Helper()
	for _, b := range h.breaches() {
		h.T.Errorf("doctor: %s", b)
	}
}

// raw changes rows directly.
func (h *fixture) raw(query string) {
	h.T.Helper()
	h.Must(db.Exec(ctx, h.DB, db.Bookkeeping(), func(tx *db.Tx) error {
		_, err := tx.Exec(query)
		return err
	}))
}

// tool runs an operation as an agent does.
func (h *fixture) tool(name string, who db.Caller, args string) (any, error) {
	h.T.Helper()
	for _, op := range h.Declare().Tools() {
		if op.Tool == name {
			return h.call(op, who, schema.Input{Surface: schema.Tool, HasBody: true}, args)
		}
	}
	h.T.Fatalf("no tool %s", name)
	return nil, nil
}

func (h *fixture) call(op schema.Op, who db.Caller, in schema.Input, body string) (any, error) {
	h.T.Helper()
	var err error
	in.Body, err = strict.Parse([]byte(body), strict.MaxDepth)
	h.Must(err)
	do, err := op.Decode(in)
	if err != nil {
		return nil, err
	}
	return do(ctx, who)
}

// get runs a GET with "name=value" parameters.
func (h *fixture) get(op schema.Op, who db.Caller, id string, query ...string) (any, error) {
	q := map[string][]string{}
	for _, p := range query {
		name, value, _ := strings.Cut(p, "=")
		q[name] = append(q[name], value)
	}
	do, err := op.Decode(schema.Input{Surface: schema.REST, Query: q, Path: func(string) string { return id }})
	if err != nil {
		return nil, err
	}
	return do(ctx, who)
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b := assert.Value(strict.Marshal(v))(t)
	return string(b)
}

// do runs an operation of one argument; do2 and do3 run those of two and of three.
func do[A, T any](h *fixture, who db.Caller, fn func(*db.Tx, A) (T, error), a A) (T, error) {
	return db.Update(ctx, h.DB, who, func(tx *db.Tx) (T, error) { return fn(tx, a) })
}

func do2[A, B, T any](h *fixture, who db.Caller, fn func(*db.Tx, A, B) (T, error), a A, b B) (T, error) {
	return db.Update(ctx, h.DB, who, func(tx *db.Tx) (T, error) { return fn(tx, a, b) })
}

func do3[A, B, C, T any](h *fixture, who db.Caller, fn func(*db.Tx, A, B, C) (T, error), a A, b B, c C) (T, error) {
	return db.Update(ctx, h.DB, who, func(tx *db.Tx) (T, error) { return fn(tx, a, b, c) })
}

// must, must2 and must3 run what must be accepted.
func must[A, T any](h *fixture, who db.Caller, fn func(*db.Tx, A) (T, error), a A) T {
	h.T.Helper()
	v := assert.Value(do(h, who, fn, a))(h.T)
	return v
}

func must2[A, B, T any](h *fixture, who db.Caller, fn func(*db.Tx, A, B) (T, error), a A, b B) T {
	h.T.Helper()
	return must(h, who, func(tx *db.Tx, a A) (T, error) { return fn(tx, a, b) }, a)
}

func must3[A, B, C, T any](h *fixture, who db.Caller, fn func(*db.Tx, A, B, C) (T, error), a A, b B, c C) T {
	h.T.Helper()
	return must(h, who, func(tx *db.Tx, a A) (T, error) { return fn(tx, a, b, c) }, a)
}

// refusal, refusal2 and refusal3 are what an operation is refused with.
func refusal[A, T any](h *fixture, who db.Caller, fn func(*db.Tx, A) (T, error), a A) error {
	_, err := do(h, who, fn, a)
	return err
}

func refusal2[A, B, T any](h *fixture, who db.Caller, fn func(*db.Tx, A, B) (T, error), a A, b B) error {
	_, err := do2(h, who, fn, a, b)
	return err
}

func refusal3[A, B, C, T any](h *fixture, who db.Caller, fn func(*db.Tx, A, B, C) (T, error), a A, b B, c C) error {
	_, err := do3(h, who, fn, a, b, c)
	return err
}

func (h *fixture) ledger(lease int64) Ledger {
	h.T.Helper()
	l := assert.Value(h.Ledger(ctx, viewer, lease))(h.T)
	return l
}

func (h *fixture) arrears() Arrears {
	h.T.Helper()
	a := assert.Value(h.Arrears(ctx, viewer))(h.T)
	return a
}

func returnDeposit(tx *db.Tx, p PayoutRequest) (Payout, error) { return payOut(tx, "deposit", p) }

func returnCredit(tx *db.Tx, p PayoutRequest) (Payout, error) { return payOut(tx, "credit", p) }
