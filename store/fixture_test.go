package store

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
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
)

// fixture is a store over a real database file, with a clock that the test moves.
type fixture struct {
	*Service
	*dbtest.Fixture
}

var opening = time.Date(2026, time.November, 20, 21, 5, 0, 0, time.UTC)

var (
	admin  = db.Caller{Service: "store", User: "ann", Role: "admin", Scope: "full", Via: "rest"}
	viewer = db.Caller{Service: "store", User: "vic", Role: "viewer", Scope: "full", Via: "rest"}
	cli    = db.CLI("store")
)

var background = context.Background()

// newFixture opens a fixture with three products: PLUGIN (three seats, forever, tiers basic
// and pro), YEAR (unlimited seats, 365 days), BOOK (no license).
func newFixture(t testing.TB) *fixture { return newFixtureIn(t, time.UTC) }

func newFixtureIn(t testing.TB, zone *time.Location) *fixture {
	t.Helper()
	s := emptyFixtureIn(t, zone)
	s.load("products", nil,
		"sku,name,kind,price_cents,activation_limit,license_days,tiers,active",
		"PLUGIN,Audio plugin,license,4900,3,,basic|pro,true",
		"YEAR,One year,license,3900,,365,,true",
		"BOOK,A book,other,1900,,,,true")
	return s
}

func emptyFixture(t testing.TB) *fixture { return emptyFixtureIn(t, time.UTC) }

func emptyFixtureIn(t testing.TB, zone *time.Location) *fixture {
	t.Helper()
	h := dbtest.Open(t, zone, opening)
	s := &fixture{Fixture: h, Service: New(h.DB)}
	t.Cleanup(s.holdsTogether)
	return s
}

// holdsTogether runs doctor on the fixture after every test: every invariant holds.
func (s *fixture) holdsTogether() {
	s.T.Helper()
	for _, breach := range s.doctor() {
		assert.Contains(s.T, breach, "could not be booked", "doctor")
	}
}

func (s *fixture) doctor() []string {
	s.T.Helper()
	breaches, err := db.Read(background, s.DB, check)
	assert.OK(s.T, err)
	return breaches
}

func (s *fixture) now() exact.Instant { return exact.InstantOf(s.Now()) }

func (s *fixture) pass(d time.Duration) { s.At(s.Now().Add(d)) }

// load imports lines of CSV, the first being the header, and returns the refusals by line number.
func (s *fixture) load(table string, o *schema.LoadOptions, lines ...string) map[int]string {
	s.T.Helper()
	tab, ok := s.Declare().Table(table)
	assert.Must(s.T, ok, "no table %s", table)
	if o == nil {
		o = &schema.LoadOptions{}
	}
	header := s.cells(lines[0])
	refused := map[int]string{}
	assert.OK(s.T, db.Exec(background, s.DB, cli, func(tx *db.Tx) error {
		for i, line := range lines[1:] {
			cells := map[string]string{}
			for j, cell := range s.cells(line) {
				cells[header[j]] = cell
			}
			put, err := tab.Decode(cells, *o)
			if err == nil {
				_, err = put.Try(tx)
			}
			if err != nil {
				refused[i+2] = err.Error()
			}
		}
		return nil
	}))
	return refused
}

func (s *fixture) cells(line string) []string {
	s.T.Helper()
	cells, err := csv.NewReader(strings.NewReader(line)).Read()
	assert.OK(s.T, err)
	return cells
}

// dump exports a table as lines of CSV.
func (s *fixture) dump(table string) []string {
	s.T.Helper()
	tab, _ := s.Declare().Table(table)
	var header []string
	for _, a := range tab.Columns() {
		header = append(header, a.Name)
	}
	var text strings.Builder
	out := csv.NewWriter(&text)
	assert.OK(s.T, out.Write(header))
	assert.OK(s.T, s.DB.View(background, func(c *db.Conn) error {
		return tab.Export(c, func(cells ...string) error { return out.Write(cells) })
	}))
	out.Flush()
	return strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
}

// sell records an order of qty units for the buyer.
func (s *fixture) sell(sku, email string, qty int64) OrderDetail {
	s.T.Helper()
	r, err := do(s, cli, recordOrder, NewOrder{Email: email, SKU: sku, Qty: qty})
	assert.OK(s.T, err)
	return r.OrderDetail
}

// license sells one and gives its license, key in full.
func (s *fixture) license(sku string) License {
	s.T.Helper()
	return s.sell(sku, "ann@example.com", 1).Licenses[0]
}

func (s *fixture) check(key, fingerprint string) Verdict {
	s.T.Helper()
	v, err := s.CheckLicense(background, Asked{Key: key, Fingerprint: fingerprint, Remote: "192.0.2.1"})
	assert.OK(s.T, err)
	return v
}

func (s *fixture) activate(key, fingerprint string) (Activated, error) {
	return s.ActivateLicense(background, Asked{Key: key, Fingerprint: fingerprint, Remote: "192.0.2.1"}, "")
}

// event is an emitted event.
type event struct {
	Event string          `json:"event"`
	Data  json.RawMessage `json:"data"`
	raw   string
}

func (s *fixture) events() []event {
	s.T.Helper()
	all, err := db.Read(background, s.DB, func(c *db.Conn) ([]event, error) {
		return db.All(c, func(r *db.Row) event {
			e := event{raw: string(r.Bytes())}
			assert.NoError(s.T, json.Unmarshal([]byte(e.raw), &e), "event body")
			return e
		}, "SELECT body FROM events ORDER BY seq")
	})
	assert.OK(s.T, err)
	return all
}

func (s *fixture) eventNames() string {
	var names []string
	for _, e := range s.events() {
		names = append(names, e.Event)
	}
	return strings.Join(names, " ")
}

// count returns the number that the query counts.
func (s *fixture) count(query string, args ...any) int64 {
	s.T.Helper()
	n, err := db.Read(background, s.DB, func(c *db.Conn) (int64, error) {
		n, _, err := db.One(c, db.Int, query, args...)
		return n, err
	})
	assert.OK(s.T, err)
	return n
}

// val returns a call's value; an error ends the test.
func val[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// refused checks that err is a refusal of the code whose detail contains every part.
func refused(t testing.TB, err error, code string, parts ...string) *fault.Error {
	t.Helper()
	var e *fault.Error
	assert.Must(t, errors.As(err, &e), "got %v, want a refusal %s", err, code)
	assert.That(t, e.Word() == code, "refused with %s (%s), want %s", e.Word(), e.Detail, code)
	for _, part := range parts {
		assert.That(t, strings.Contains(e.Detail, part), "the detail %q does not say %q", e.Detail, part)
	}
	return e
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	assert.That(t, got == want, "%s: got %v, want %v", what, got, want)
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(b)
}

// do runs an operation of one argument; do0, do2 and do3 run those of none, of two and of three.
func do[A, T any](h *fixture, who db.Caller, fn func(*db.Tx, A) (T, error), a A) (T, error) {
	return db.Update(context.Background(), h.DB, who, func(tx *db.Tx) (T, error) { return fn(tx, a) })
}

func do0[T any](h *fixture, who db.Caller, fn func(*db.Tx) (T, error)) (T, error) {
	return db.Update(context.Background(), h.DB, who, fn)
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
