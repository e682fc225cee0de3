package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"quartermaster/mcp"
	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/db/dbtest"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

// notes is a small service over a real database: its records are audit entries.
type notes struct{ db *db.DB }

type note struct {
	ID     int64   `json:"id"`
	Text   string  `json:"text" about:"what was noted"`
	Actor  string  `json:"actor"`
	Via    string  `json:"via" enum:"rest,mcp,cli"`
	Colour *string `json:"colour" enum:"red,green"`
	Extra  string  `json:"extra,omitempty"`
}

type noteList struct {
	Notes []note `json:"notes"`
	Total int64  `json:"total"`
}

type row struct {
	Date exact.Day   `json:"date"`
	Qty  exact.Milli `json:"qty"`
}

type ingested struct {
	Imported int64 `json:"imported"`
}

// day is an answer that encodes itself.
type day struct {
	Today string `json:"today"`
}

func (d day) MarshalJSON() ([]byte, error) { return []byte(`{"today":"2026-11-20"}`), nil }

func (s *notes) service() schema.Service {
	return schema.Service{
		Name: "notes", Title: "Notes service", About: "Keeps notes.",
		Ops: []schema.Op{s.list(), s.write(), s.ingest(), s.today(), s.fail(), {
			Route: "GET /api/only-rest", About: "Not for agents.", Response: day{},
			Bind: func(*schema.Form) schema.Handler { return nil },
		}},
	}
}

func (s *notes) list() schema.Op {
	return schema.Op{
		Tool: "list_notes", About: "The notes, newest first.",
		Response: noteList{Notes: []note{{ID: 1, Text: "hello", Actor: "alice", Via: "mcp"}}, Total: 1},
		Bind: func(f *schema.Form) schema.Handler {
			var limit int64
			var actor string
			f.Text(&actor, "actor", "only of this user")
			f.Limit(&limit)
			return func(ctx context.Context, _ db.Caller) (any, error) {
				var l noteList
				err := s.db.View(ctx, func(c *db.Conn) (err error) {
					if l.Total, _, err = db.One(c, db.Int, "SELECT count(*) FROM audit WHERE ? IN ('', actor)", actor); err != nil {
						return err
					}
					l.Notes, err = db.All(c, func(r *db.Row) note {
						return note{ID: r.Int(), Text: r.Text(), Actor: r.Text(), Via: r.Text()}
					}, "SELECT id, subject, actor, via FROM audit WHERE ? IN ('', actor) ORDER BY id DESC LIMIT ?", actor, limit)
					return err
				})
				return l, err
			}
		},
	}
}

func (s *notes) write() schema.Op {
	return schema.Op{
		Tool: "write_note", About: "Writes a note.", Writes: true, Creates: true, Response: note{Via: "mcp"},
		Bind: func(f *schema.Form) schema.Handler {
			colour := "red"
			var text, header string
			var on exact.Day
			var times int64
			var weight exact.Milli
			var loud bool
			f.Text(&text, "text", "what to note", schema.Required, schema.Most(200))
			f.Enum(&colour, "colour", "its colour", []string{"red", "green"})
			f.Day(&on, "on", "the day that it is about")
			f.Int(&times, "times", "how many times", schema.Range(1, 9))
			f.Milli(&weight, "weight", "how heavy")
			f.Bool(&loud, "loud", "whether it shouts")
			f.Header(&header, "X-Note", "only over REST")
			return func(ctx context.Context, who db.Caller) (any, error) {
				return db.Update(ctx, s.db, who, func(tx *db.Tx) (note, error) {
					if err := tx.Audit("note.written", text, map[string]any{"colour": colour}); err != nil {
						return note{}, err
					}
					id, _, err := db.One(&tx.Conn, db.Int, "SELECT max(id) FROM audit")
					return note{ID: id, Text: text, Actor: tx.Who().User, Via: tx.Who().Via, Colour: &colour, Extra: header}, err
				})
			}
		},
	}
}

func (s *notes) ingest() schema.Op {
	return schema.Op{
		Tool: "ingest_rows", About: "Takes rows.", Writes: true, Idempotent: true, Destructive: true, MaxBody: 4 << 20, Response: ingested{Imported: 1},
		Bind: func(f *schema.Form) schema.Handler {
			var rows strict.Value
			f.Rows(&rows, "rows", "the rows", row{Date: 20000, Qty: 1000}, 50_000, schema.Required)
			return func(ctx context.Context, who db.Caller) (any, error) {
				return db.Update(ctx, s.db, who, func(tx *db.Tx) (in ingested, err error) {
					for range rows.Items {
						in.Imported++
					}
					return in, tx.Audit("rows.taken", "rows", in)
				})
			}
		},
	}
}

func (s *notes) today() schema.Op {
	return schema.Op{
		Tool: "tell_day", About: "Tells the day.", Response: day{Today: "2026-11-20"},
		Bind: func(*schema.Form) schema.Handler {
			return func(context.Context, db.Caller) (any, error) { return day{}, nil }
		},
	}
}

// secret must never reach a caller.
const secret = "SELECT password FROM vault"

func (s *notes) fail() schema.Op {
	return schema.Op{
		Tool: "fail", About: "Fails in the asked way.", Response: ingested{},
		Bind: func(f *schema.Form) schema.Handler {
			var how string
			f.Enum(&how, "how", "in which way", []string{"error", "panic", "missing", "conflict", "full", "nothing", "unwritable"}, schema.Required)
			return func(context.Context, db.Caller) (any, error) {
				switch how {
				case "panic":
					panic(secret)
				case "missing":
					return nil, fault.NotFoundf("there is no note 7")
				case "conflict":
					return nil, fault.Conflictf("the note is \"closed\"\nand stays so")
				case "full":
					return nil, fault.Unavailablef(errors.New(secret), "the disk is full: nothing was written")
				case "nothing":
					return nil, fault.New(fault.Internal, secret)
				case "unwritable":
					return map[string]any{"f": func() {}}, nil
				}
				return nil, errors.New(secret)
			}
		},
	}
}

// server is an endpoint behind real HTTP.
type server struct {
	url string
	db  *db.DB

	mu     sync.Mutex
	logged []string
}

func (s *server) log(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logged = append(s.logged, err.Error())
}

// lastLog returns what was logged since the last call.
func (s *server) lastLog() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := strings.Join(s.logged, "\n")
	s.logged = nil
	return l
}

// authenticate knows keys by name, each of a user with a scope and a role.
func authenticate(r *http.Request) (db.Caller, error) {
	who := db.Caller{Service: "notes", User: "alice", Role: "admin", Scope: "full", Via: "rest", KeyID: 1}
	switch r.Header.Get("Authorization") {
	case "Bearer full":
	case "Bearer read":
		who.Scope = "read"
	case "Bearer viewer":
		who.User, who.Role = "vera", "viewer"
	case "Bearer limited":
		return who, &fault.Error{Kind: fault.Limited, Detail: "too many wrong keys", Retry: 1500 * time.Millisecond}
	case "Bearer locked":
		return who, fault.Unavailablef(errors.New(secret), "the database is held")
	case "Bearer broken":
		return who, errors.New(secret)
	default:
		return who, fault.New(fault.Unauthorized, "the key is missing or unknown")
	}
	return who, nil
}

func open(t testing.TB) *db.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notes.db")
	o := db.Options{Zone: time.UTC, Now: func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }}
	dbtest.Create(t, path)
	d := assert.Value(db.Open(path, o))(t)
	t.Cleanup(func() {
		assert.NoError(t, d.Close())
	})
	return d
}

func start(t *testing.T) *server {
	t.Helper()
	s := &server{db: open(t)}
	n := &notes{db: s.db}
	endpoint := mcp.New(n.service(), mcp.Options{
		Version: "1.2.3", Log: s.log, Authenticate: authenticate,
		Origins: []string{"https://agents.example/"},
	})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "req-1")
		endpoint.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	s.url = web.URL + "/mcp"
	return s
}

// answer is an answer over HTTP.
type answer struct {
	status int
	header http.Header
	body   string
}

// send sends a request with the full key as JSON, unless headers say otherwise; a "" header is omitted.
func (s *server) send(t *testing.T, method, body string, headers map[string]string) answer {
	t.Helper()
	req := assert.Value(http.NewRequestWithContext(t.Context(), method, s.url, strings.NewReader(body)))(t)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer full")
	for k, v := range headers {
		switch {
		case v == "":
			req.Header.Del(k)
		case k == "Host":
			req.Host = v
		default:
			req.Header[http.CanonicalHeaderKey(k)] = strings.Split(v, "\n")
		}
	}
	resp := assert.Value(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	b := assert.Value(io.ReadAll(resp.Body))(t)
	return answer{status: resp.StatusCode, header: resp.Header, body: string(b)}
}

func (s *server) post(t *testing.T, body string, headers map[string]string) answer {
	t.Helper()
	return s.send(t, http.MethodPost, body, headers)
}

// reply is a JSON-RPC answer.
type reply struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

func (a answer) reply(t *testing.T) reply {
	t.Helper()
	var r reply
	err := json.Unmarshal([]byte(a.body), &r)
	assert.Must(t, err == nil, "%d, not JSON (%v): %s", a.status, err, a.body)
	assert.Must(t, r.JSONRPC == "2.0" && (r.Result == nil) != (r.Error == nil),
		"%d, not a JSON-RPC answer: %s", a.status, a.body)
	assert.Equal(t, a.header.Get("Content-Type"), "application/json", "Content-Type")
	return r
}

// called is the result of tools/call.
type called struct {
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    *bool           `json:"isError"`
	ResultType string          `json:"resultType"`
	Meta       map[string]any  `json:"_meta"`
}

func (a answer) called(t *testing.T) called {
	t.Helper()
	r := a.reply(t)
	assert.Must(t, r.Error == nil, "%d, an error in place of a result: %s", a.status, a.body)
	var c called
	assert.OK(t, json.Unmarshal(r.Result, &c))
	assert.Must(t, len(c.Content) == 1 && c.Content[0].Type == "text" && c.IsError != nil,
		"a result needs one text block and isError: %s", a.body)
	return c
}

// call makes the body of a tools/call.
func call(tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)
}

// audited counts the entries of the audit trail, to see whether something was written.
func (s *server) audited(t *testing.T) int64 {
	t.Helper()
	var n int64
	err := s.db.View(t.Context(), func(c *db.Conn) (err error) {
		n, _, err = db.One(c, db.Int, "SELECT count(*) FROM audit")
		return err
	})
	assert.OK(t, err)
	return n
}
