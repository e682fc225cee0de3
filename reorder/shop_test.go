package reorder

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

// shop is the service over a real file, with a clock that the test sets.
type shop struct {
	*Service
	db   *db.DB
	t    testing.TB
	path string
	o    db.Options

	mu  sync.Mutex
	now time.Time
}

var cli = db.CLI("reorder")

// open makes an empty shop on 20 November 2026.
func open(t testing.TB) *shop {
	t.Helper()
	s := &shop{t: t, now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	path := filepath.Join(t.TempDir(), "shop.db")
	o := db.Options{Zone: time.UTC, Now: func() time.Time {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.now
	}}
	s.must(db.Create(path, o))
	d, err := db.Open(path, o)
	s.must(err)
	s.path, s.o, s.db, s.Service = path, o, d, New(d)
	t.Cleanup(func() { s.must(s.db.Close()) })
	return s
}

// accept starts again with the operator's word that the clock, which was set back, is
// right: nothing that depends on the day is written otherwise.
func (s *shop) accept() {
	s.t.Helper()
	s.must(s.db.Close())
	o := s.o
	o.Accept = true
	d, err := db.Open(s.path, o)
	s.must(err)
	s.db, s.Service = d, New(d)
}

func (s *shop) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// on sets the clock to noon of the day.
func (s *shop) on(d string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = day(s.t, d).Time(time.UTC).Add(12 * time.Hour)
}

// refused fails unless err is a refusal of the kind whose text has every part.
func (s *shop) refused(err error, kind fault.Kind, parts ...string) {
	s.t.Helper()
	if !fault.Is(err, kind) {
		s.t.Fatalf("got %v, want a refusal of kind %s", err, kind)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			s.t.Errorf("the refusal %q does not say %q", err, p)
		}
	}
}

// row puts one CSV row into a table by its own Row and Put, as import does.
func (s *shop) row(table schema.Table, header, cells string) error {
	s.t.Helper()
	in, names := map[string]string{}, strings.Split(header, ",")
	for i, cell := range strings.Split(cells, ",") {
		in[names[i]] = cell
	}
	put, err := table.Bind(in, schema.LoadOptions{})
	if err != nil {
		return err
	}
	return db.Exec(context.Background(), s.db, cli, func(tx *db.Tx) error { return put(tx) })
}

// sku puts a row of the catalogue.
func (s *shop) sku(header, cells string) {
	s.t.Helper()
	s.must(s.row(s.skuTable(), header, cells))
}

// stock sets a SKU's stock and tells whether the alarm was fired.
func (s *shop) stock(sku, to string) bool {
	s.t.Helper()
	n := milli(s.t, to)
	a, err := s.Adjust(context.Background(), cli, Adjustment{SKU: sku, SetTo: &n})
	s.must(err)
	return a.Crossed
}

// call carries out one of the service's operations with JSON arguments, as an agent
// or a POST would.
func (s *shop) call(op schema.Op, surface schema.Surface, body string) (any, error) {
	s.t.Helper()
	v, err := strict.Parse([]byte(body), strict.MaxDepth)
	s.must(err)
	do, err := op.Bind(schema.Input{Surface: surface, Body: v, HasBody: true})
	if err != nil {
		return nil, err
	}
	return do(context.Background(), cli)
}

// get carries out a GET with the query.
func (s *shop) get(op schema.Op, query map[string][]string) (any, error) {
	do, err := op.Bind(schema.Input{Surface: schema.REST, Query: query})
	if err != nil {
		return nil, err
	}
	return do(context.Background(), cli)
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := strict.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// audit lists the audit trail, oldest first: "action subject changes".
func (s *shop) audit() (entries []string) {
	s.t.Helper()
	s.must(s.db.View(context.Background(), func(c *db.Conn) (err error) {
		entries, err = db.All(c, func(r *db.Row) string { return r.Text() + " " + r.Text() + " " + r.Text() },
			"SELECT action, subject, changes FROM audit ORDER BY id")
		return err
	}))
	return entries
}

// events lists the data of the events, oldest first.
func (s *shop) events() (all []Alarm) {
	s.t.Helper()
	s.must(s.db.View(context.Background(), func(c *db.Conn) error {
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
			if e.Event != "sku.reorder_point" {
				s.t.Errorf("an event %q", e.Event)
			}
			all = append(all, Alarm{SKU: e.Data.SKU, Status: e.Data.Status})
			return nil
		}, "SELECT body FROM events ORDER BY seq")
	}))
	return all
}

// record reads a SKU as it is stored.
func (s *shop) record(sku string) (rec record) {
	s.t.Helper()
	s.must(s.db.View(context.Background(), func(c *db.Conn) (err error) {
		rec, err = find(c, sku)
		return err
	}))
	return rec
}
