package maintenance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/db/dbtest"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

// fixture is the service over a real file, with a clock that the test sets.
type fixture struct {
	*Service
	*dbtest.Fixture
}

var (
	ctx = context.Background()
	cli = db.CLI("maintenance")
	ana = db.Caller{Service: "maintenance", User: "ana", Role: "member", Scope: "full", Via: "rest"}
)

// open makes an empty fixture at noon of 20 November 2026. After each test doctor must find nothing.
func open(t testing.TB) *fixture {
	t.Helper()
	h := dbtest.Open(t, time.UTC, dbtest.Noon)
	s := &fixture{Fixture: h, Service: New(h.DB)}
	t.Cleanup(func() {
		for _, b := range s.doctor() {
			t.Errorf("doctor: %s", b)
		}
	})
	return s
}

func (s *fixture) doctor() (breaches []string) {
	s.T.Helper()
	s.Must(s.DB.View(ctx, func(c *db.Conn) (err error) {
		breaches, err = s.Declare().Check(c)
		return err
	}))
	return breaches
}

// row imports one row into a table: cells separated by |, empty ones at the end omitted.
func (s *fixture) row(table, header, cells string) error {
	s.T.Helper()
	t, ok := s.Declare().Table(table)
	assert.Must(s.T, ok, "no table %s", table)
	in, names := map[string]string{}, strings.Split(header, ",")
	for i, cell := range strings.Split(cells+strings.Repeat("|", len(names)-1-strings.Count(cells, "|")), "|") {
		in[names[i]] = cell
	}
	put, err := t.Decode(in, schema.LoadOptions{})
	if err != nil {
		return err
	}
	return db.Exec(ctx, s.DB, cli, func(tx *db.Tx) error {
		_, err := put.Try(tx)
		return err
	})
}

// rows imports rows that must all be accepted.
func (s *fixture) rows(table, header string, rows ...string) {
	s.T.Helper()
	for _, r := range rows {
		assert.OK(s.T, s.row(table, header, r), "%s %s", table, r)
	}
}

// export is a whole table, a row per line, cells separated by |.
func (s *fixture) export(table string) []string {
	s.T.Helper()
	t, _ := s.Declare().Table(table)
	lines := []string{}
	s.Must(s.DB.View(ctx, func(c *db.Conn) error {
		return t.Export(c, func(cells ...string) error {
			lines = append(lines, strings.Join(cells, "|"))
			return nil
		})
	}))
	return lines
}

// header is a table's columns.
func (s *fixture) header(table string) string {
	t, _ := s.Declare().Table(table)
	var names []string
	for _, a := range t.Columns() {
		names = append(names, a.Name)
	}
	return strings.Join(names, ",")
}

// lathe makes asset 1 with one meter of hours, with the reading of the day; "" for a meter without readings.
func (s *fixture) lathe(reading, since string) {
	s.T.Helper()
	s.rows("assets", "asset_tag,name", "L-1|Lathe")
	s.rows("meters", "asset_tag,name,unit,reading,read_date", "L-1|hours|h|"+reading+"|"+since)
}

// read posts a reading of asset 1; "" is today.
func (s *fixture) read(reading, date string, correction bool) (Recorded, error) {
	s.T.Helper()
	return do(s, ana, recordReading, NewReading{AssetID: 1, Reading: milli(s.T, reading), ReadDate: dayPtr(s.T, date), Correction: correction})
}

// reads posts a reading that must be accepted.
func (s *fixture) reads(reading, date string) Recorded {
	s.T.Helper()
	r := assert.Value(s.read(reading, date, false))(s.T)
	return r
}

// opens opens a work order on asset 1.
func (s *fixture) opens(n WorkOrder) WorkOrder {
	s.T.Helper()
	if n.AssetID == 0 {
		n.AssetID = 1
	}
	if n.Description == "" {
		n.Description = "a job"
	}
	wo := assert.Value(do(s, ana, openWorkOrder, n))(s.T)
	return wo
}

// moves moves a work order through states that must be accepted.
func (s *fixture) moves(id int64, states ...string) (wo WorkOrder) {
	s.T.Helper()
	for _, to := range states {
		m := Move{ID: id, Status: to}
		if to == "done" {
			m.Resolution = "repaired"
		}
		var err error
		wo, err = do(s, ana, moveWorkOrder, m)
		assert.OK(s.T, err, "to %s", to)
	}
	return wo
}

// due is one plan's row of the due list.
func (s *fixture) due(id int64) PMDueRow {
	s.T.Helper()
	list := assert.Value(s.PMDue(ctx, ""))(s.T)
	for _, row := range list.PMDue {
		if row.PMID == id {
			return row
		}
	}
	s.T.Fatalf("plan %d is not in the list", id)
	return PMDueRow{}
}

// meter is a meter of asset 1 by name.
func (s *fixture) meter(name string) Meter {
	s.T.Helper()
	page := assert.Value(s.Assets(ctx, AssetFilter{Cursor: schema.First(10)}))(s.T)
	for _, m := range page.Assets[0].Meters {
		if m.Name == name {
			return m
		}
	}
	s.T.Fatalf("no meter %s", name)
	return Meter{}
}

// op finds an operation by its tool or its route.
func (s *fixture) op(name string) schema.Op {
	s.T.Helper()
	service := s.Declare()
	for _, op := range service.Tools() {
		if op.Tool == name {
			return op
		}
	}
	for _, op := range service.Ops {
		if op.Route == name {
			return op
		}
	}
	s.T.Fatalf("no operation %s", name)
	return schema.Op{}
}

// call runs a tool with JSON arguments, as an agent would, and returns its answer as JSON.
func (s *fixture) call(tool, args string) (string, error) {
	s.T.Helper()
	return s.answer(s.op(tool), schema.Input{Surface: schema.Tool, Body: parsed(s.T, args), HasBody: true})
}

// post runs a POST with the path's id and a JSON body.
func (s *fixture) post(route, id, body string) (string, error) {
	s.T.Helper()
	return s.answer(s.op(route), schema.Input{Path: func(string) string { return id }, Body: parsed(s.T, body), HasBody: true})
}

// get runs a GET with the path's id and a query of name, value pairs.
func (s *fixture) get(route, id string, query ...string) (string, error) {
	s.T.Helper()
	in := schema.Input{Path: func(string) string { return id }, Query: map[string][]string{}}
	for i := 0; i+1 < len(query); i += 2 {
		in.Query[query[i]] = []string{query[i+1]}
	}
	return s.answer(s.op(route), in)
}

func (s *fixture) answer(op schema.Op, in schema.Input) (string, error) {
	s.T.Helper()
	do, err := op.Decode(in)
	if err != nil {
		return "", err
	}
	answer, err := do(ctx, ana)
	if err != nil {
		return "", err
	}
	return asJSON(s.T, answer), nil
}

func parsed(t testing.TB, s string) strict.Value {
	t.Helper()
	v := assert.Value(strict.Parse([]byte(s), strict.MaxDepth))(t)
	return v
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b := assert.Value(strict.Marshal(v))(t)
	return string(b)
}

// audit lists the audit trail, oldest first: "action subject".
func (s *fixture) audit() (entries []string) {
	s.T.Helper()
	s.Must(s.DB.View(ctx, func(c *db.Conn) (err error) {
		entries, err = db.All(c, func(r *db.Row) string { return r.Text() + " " + r.Text() }, "SELECT action, subject FROM audit ORDER BY id")
		return err
	}))
	return entries
}

// told is an event.
type told struct {
	Event string
	Data  map[string]any
}

func (e told) String() string { return fmt.Sprintf("%s %v", e.Event, e.Data) }

// events lists the events, oldest first.
func (s *fixture) events() (all []told) {
	s.T.Helper()
	s.Must(s.DB.View(ctx, func(c *db.Conn) error {
		return db.Each(c, func(r *db.Row) error {
			var e told
			err := json.Unmarshal(r.Bytes(), &e)
			all = append(all, e)
			return err
		}, "SELECT body FROM events ORDER BY seq")
	}))
	return all
}

// names lists the events' names.
func (s *fixture) names() string {
	var names []string
	for _, e := range s.events() {
		names = append(names, e.Event)
	}
	return strings.Join(names, " ")
}

// untouched fails unless do is refused and changes nothing.
func (s *fixture) untouched(kind fault.Kind, part string, do func() error) {
	s.T.Helper()
	before := s.dump()
	s.Refused(do(), kind, part)
	after := s.dump()
	assert.That(s.T, after == before, "a refused change left a trace:\nbefore %s\nafter  %s", before, after)
}

// rejected is untouched for a refusal of any kind.
func (s *fixture) rejected(part string, do func() error) {
	s.T.Helper()
	before := s.dump()
	if err := do(); err == nil || !strings.Contains(err.Error(), part) {
		s.T.Errorf("got %v, want a refusal that says %q", err, part)
	} else if _, is := fault.As(err); !is {
		s.T.Errorf("%v is no refusal", err)
	}
	assert.That(s.T, s.dump() == before, "a refused change left a trace")
}

// dump is all data of the service, as text.
func (s *fixture) dump() string {
	s.T.Helper()
	var b strings.Builder
	s.Must(s.DB.View(ctx, func(c *db.Conn) error {
		for _, table := range []string{"assets", "meters", "readings", "parts", "pm_plans", "work_orders", "work_order_counts", "part_uses", "photos", "maintenance_settings", "audit", "events"} {
			columns, err := db.All(c, db.Text, "SELECT CASE name WHEN 'data' THEN 'length(data)' ELSE name END FROM pragma_table_info(?)", table)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%s:", table)
			if err := db.Each(c, func(r *db.Row) error {
				b.WriteString(" " + r.Text())
				return nil
			}, "SELECT concat_ws('|', "+strings.Join(columns, ", ")+") FROM "+table); err != nil {
				return err
			}
		}
		return nil
	}))
	return b.String()
}

func dayText(p *exact.Day) string {
	if p == nil {
		return "null"
	}
	return p.String()
}

// do runs an operation of one argument; do0, do2 and do3 run those of none, of two and of three.
func do[A, T any](h *fixture, who db.Caller, fn func(*db.Tx, A) (T, error), a A) (T, error) {
	return db.Update(context.Background(), h.DB, who, func(tx *db.Tx) (T, error) { return fn(tx, a) })
}

func do2[A, B, T any](h *fixture, who db.Caller, fn func(*db.Tx, A, B) (T, error), a A, b B) (T, error) {
	return db.Update(context.Background(), h.DB, who, func(tx *db.Tx) (T, error) { return fn(tx, a, b) })
}

func do3[A, B, C, T any](h *fixture, who db.Caller, fn func(*db.Tx, A, B, C) (T, error), a A, b B, c C) (T, error) {
	return db.Update(context.Background(), h.DB, who, func(tx *db.Tx) (T, error) { return fn(tx, a, b, c) })
}

// command runs an operation with the arguments of a command, "name=value"; an empty one is left out.
func (s *fixture) command(op schema.Op, who db.Caller, args ...string) (any, error) {
	values := map[string][]string{}
	for _, a := range args {
		if name, value, _ := strings.Cut(a, "="); value != "" {
			values[name] = append(values[name], value)
		}
	}
	do, err := op.Decode(schema.Input{Surface: schema.Command, Values: values,
		View: func(fn func(*db.Conn) error) error { return s.DB.View(context.Background(), fn) }})
	if err != nil {
		return nil, err
	}
	return do(context.Background(), who)
}
