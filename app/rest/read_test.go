package rest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"quartermaster/app/cache"
	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/db/dbtest"
)

// turns is a response writer whose request waits for its turn while another makes the same request.
type turns struct {
	*httptest.ResponseRecorder
	waits   int
	another func()
}

func (w *turns) Hold(int64) error {
	if w.waits++; w.another != nil {
		w.another()
	}
	return nil
}

// TestWaitingRequestSharesTheAnswer: a list that was answered while a request for it waited is not computed again. A
// single record waits for no turn.
func TestWaitingRequestSharesTheAnswer(t *testing.T) {
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
		assert.Must(t, w.Code == http.StatusOK, "%s: %d %s", path, w.Code, w.Body)
		return w
	}
	var first *turns
	second := ask("/api/list", func() { first = ask("/api/list", nil) })
	assert.That(t, worked == 1 && first.waits == 1 && second.waits == 1 && first.Body.String() == second.Body.String(),
		"worked out %d times, turns %d and %d: %s, %s", worked, first.waits, second.waits, first.Body, second.Body)
	if w := ask("/api/record", nil); w.waits != 0 || worked != 2 {
		t.Errorf("a record waits %d times for a turn, and is worked out %d times", w.waits, worked-1)
	}
}
