package reorder

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

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

var cli = db.CLI("reorder")

// open makes an empty fixture on 20 November 2026.
func open(t testing.TB) *fixture {
	t.Helper()
	h := dbtest.Open(t, time.UTC, dbtest.Noon)
	return &fixture{Fixture: h, Service: New(h.DB)}
}

// accept starts again with the operator's acceptance of the clock, which was set back.
func (s *fixture) accept() {
	s.T.Helper()
	s.Accept()
	s.Service = New(s.DB)
}

// row imports one CSV row into a table.
func (s *fixture) row(table schema.Table, header, cells string) error {
	s.T.Helper()
	in, names := map[string]string{}, strings.Split(header, ",")
	for i, cell := range strings.Split(cells, ",") {
		in[names[i]] = cell
	}
	put, err := table.Decode(in, schema.LoadOptions{})
	if err != nil {
		return err
	}
	return db.Exec(context.Background(), s.DB, cli, func(tx *db.Tx) error {
		_, err := put(tx)
		return err
	})
}

// sku imports a row of the catalogue.
func (s *fixture) sku(header, cells string) {
	s.T.Helper()
	s.Must(s.row(skuTable(), header, cells))
}

// stock sets a SKU's stock and reports whether the alarm was fired.
func (s *fixture) stock(sku, to string) bool {
	s.T.Helper()
	n := milli(s.T, to)
	a := val(s.Adjust(context.Background(), cli, Adjustment{SKU: sku, SetTo: &n}))
	return a.Crossed
}

// call runs one of the service's operations with JSON arguments, as an agent or a POST would.
func (s *fixture) call(op schema.Op, surface schema.Surface, body string) (any, error) {
	s.T.Helper()
	v := val(strict.Parse([]byte(body), strict.MaxDepth))
	do, err := op.Decode(schema.Input{Surface: surface, Body: v, HasBody: true})
	if err != nil {
		return nil, err
	}
	return do(context.Background(), cli)
}

// get runs a GET with the query.
func (s *fixture) get(op schema.Op, query map[string][]string) (any, error) {
	do, err := op.Decode(schema.Input{Surface: schema.REST, Query: query})
	if err != nil {
		return nil, err
	}
	return do(context.Background(), cli)
}

// val returns a call's value; an error ends the test.
func val[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b := assert.Value(strict.Marshal(v))(t)
	return string(b)
}

// audit lists the audit trail, oldest first: "action subject changes".
func (s *fixture) audit() (entries []string) {
	s.T.Helper()
	s.Must(s.DB.View(context.Background(), func(c *db.Conn) (err error) {
		entries, err = db.All(c, func(r *db.Row) string { return r.Text() + " " + r.Text() + " " + r.Text() },
			"SELECT action, subject, changes FROM audit ORDER BY id")
		return err
	}))
	return entries
}

// events lists the data of the events, oldest first.
func (s *fixture) events() (all []Alarm) {
	s.T.Helper()
	s.Must(s.DB.View(context.Background(), func(c *db.Conn) error {
		return db.Each(c, func(r *db.Row) error {
			var e struct {
				Event string
				Data  struct {
					SKU    string
					Status string
				}
			}
			if err := json.Unmarshal(r.Bytes(), &e); err != nil {
				return err
			}
			assert.That(s.T, e.Event == "sku.reorder_point", "an event %q", e.Event)
			all = append(all, Alarm{SKU: e.Data.SKU, Status: e.Data.Status})
			return nil
		}, "SELECT body FROM events ORDER BY seq")
	}))
	return all
}

// record reads a stored SKU.
func (s *fixture) record(sku string) (rec article) {
	s.T.Helper()
	s.Must(s.DB.View(context.Background(), func(c *db.Conn) (err error) {
		rec, err = find(c, sku)
		return err
	}))
	return rec
}

// suggest drafts the given SKUs, or all, and returns the drafts in short.
func (s *fixture) suggest(codes ...string) []string {
	s.T.Helper()
	done := val(s.SuggestOrders(context.Background(), cli, SuggestQuery{SKUs: codes}))
	return told(done.PurchaseOrders)
}
