package rest

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"quartermaster/app/cache"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/db/dbtest"
)

// turns is a response writer whose request waits for its turn, while another asks the same.
type turns struct {
	*httptest.ResponseRecorder
	waits   int
	another func()
}

func (w *turns) Work(string) error {
	if w.waits++; w.another != nil {
		w.another()
	}
	return nil
}

// sending is a response writer while whose answer is sent another asks the same.
type sending struct {
	turns
	meanwhile func()
}

func (w *sending) Write(b []byte) (int, error) {
	if another := w.meanwhile; another != nil {
		w.meanwhile = nil
		another()
	}
	return w.turns.Write(b)
}

// TestALargeAnswerIsOneCopy: what is too large to be kept is given to others while it is
// being sent, byte for byte in the same place, and is gone after that.
func TestALargeAnswerIsOneCopy(t *testing.T) {
	f := dbtest.Open(t, time.UTC, time.Date(2026, 11, 20, 21, 5, 0, 0, time.UTC))
	type list struct {
		Rows []string `json:"rows"`
	}
	worked := 0
	h := New(Options{
		DB: f.DB, Cache: cache.New(f.DB), Observe: func(Observation) {},
		Authenticate: func(context.Context, string, string, string) (db.Caller, error) {
			return db.Caller{Service: "store", User: "ana", Role: "admin", Scope: "full"}, nil
		},
		Service: schema.Service{Name: "store", Ops: []schema.Op{{
			Name: "list", Route: "GET /api/list", About: "A list.", Response: list{},
			Bind: func(*schema.Form) schema.Handler {
				return func(ctx context.Context, _ db.Caller) (any, error) {
					worked++
					return list{[]string{strings.Repeat("x", 1<<20)}}, f.DB.View(ctx, func(c *db.Conn) error {
						_, _, err := db.One(c, db.Int, "SELECT count(*) FROM users")
						return err
					})
				}
			},
		}}},
	})
	ask := func(meanwhile func()) *sending {
		w := &sending{turns: turns{ResponseRecorder: httptest.NewRecorder()}, meanwhile: meanwhile}
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/list", nil))
		if w.Code != http.StatusOK || w.Body.Len() < 1<<20 {
			t.Fatalf("%d, %d bytes", w.Code, w.Body.Len())
		}
		return w
	}
	var second, third *sending
	first := ask(func() {
		runtime.GC()
		second = ask(func() { third = ask(nil) })
	})
	if worked != 1 || second.waits+third.waits != 0 || !bytes.Equal(first.Body.Bytes(), third.Body.Bytes()) {
		t.Errorf("worked out %d times, turns %d and %d", worked, second.waits, third.waits)
	}
	runtime.GC()
	if ask(nil); worked != 2 {
		t.Errorf("worked out %d times, want 2: it is kept when nobody sends it", worked)
	}
}

// TestATurnMayBringTheAnswer: a list that was answered while a request for it waited is not
// worked out again, and a single record waits for no turn.
func TestATurnMayBringTheAnswer(t *testing.T) {
	f := dbtest.Open(t, time.UTC, time.Date(2026, 11, 20, 21, 5, 0, 0, time.UTC))
	type list struct {
		Rows []int64 `json:"rows"`
	}
	type record struct {
		N int64 `json:"n"`
	}
	worked := 0
	read := func(of func(n int64) any) func(*schema.Form) schema.Handler {
		return func(*schema.Form) schema.Handler {
			return func(ctx context.Context, _ db.Caller) (answer any, err error) {
				worked++
				return answer, f.DB.View(ctx, func(c *db.Conn) error {
					n, _, err := db.One(c, db.Int, "SELECT count(*) FROM users")
					answer = of(n)
					return err
				})
			}
		}
	}
	h := New(Options{
		DB: f.DB, Cache: cache.New(f.DB), Observe: func(Observation) {},
		Authenticate: func(context.Context, string, string, string) (db.Caller, error) {
			return db.Caller{Service: "store", User: "ana", Role: "admin", Scope: "full"}, nil
		},
		Service: schema.Service{Name: "store", Ops: []schema.Op{
			{Name: "list", Route: "GET /api/list", About: "A list.", Response: list{}, Bind: read(func(n int64) any { return list{[]int64{n}} })},
			{Name: "record", Route: "GET /api/record", About: "A record.", Response: record{}, Bind: read(func(n int64) any { return record{n} })},
		}},
	})
	ask := func(path string, another func()) *turns {
		w := &turns{ResponseRecorder: httptest.NewRecorder(), another: another}
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		return w
	}
	var first *turns
	second := ask("/api/list", func() { first = ask("/api/list", nil) })
	if worked != 1 || first.waits != 1 || second.waits != 1 || first.Body.String() != second.Body.String() {
		t.Errorf("worked out %d times, turns %d and %d: %s, %s", worked, first.waits, second.waits, first.Body, second.Body)
	}
	if w := ask("/api/record", nil); w.waits != 0 || worked != 2 {
		t.Errorf("a record waits %d times for a turn, and is worked out %d times", w.waits, worked-1)
	}
}
