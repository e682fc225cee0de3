package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quartermaster/app/apptest"
	command "quartermaster/app/cli"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// loadWorker is a client that sends its errands one after another. Each errand writes its number and is sent until it
// is answered.
type loadWorker struct {
	kind    string
	service string
	path    string
	body    func(n int) string
	stored  string // a query of the stored numbers with their counts
	event   string // of an errand; "" when it has none
	mark    string // where the number is in the event's data, as SQL over data

	n    int  // the next errand; all before it were answered
	sent bool // sent, without an answer yet
}

// events is a query of the numbers of the errands that have an event.
func (a *loadWorker) events() string {
	return "SELECT " + a.mark + " AS n, count(*) FROM (SELECT CAST(body AS TEXT) -> 'data' AS data FROM events WHERE event = '" + a.event +
		"') WHERE n IS NOT NULL GROUP BY 1"
}

// load is a shop with a client for every kind of write.
type load struct {
	t       testing.TB
	dir     string
	path    string
	keys    map[string]string
	workers []*loadWorker
	client  *http.Client
	acks    atomic.Int64
	pulse   pulse
}

// pulse measures the longest time without an answered write.
type pulse struct {
	mu      sync.Mutex
	last    time.Time
	longest time.Duration
}

func (p *pulse) mark() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.longest, p.last = max(p.longest, now.Sub(p.last)), now
}

// restart returns the measurement and begins a new one.
func (p *pulse) restart() (longest time.Duration) {
	p.mark()
	p.mu.Lock()
	defer p.mu.Unlock()
	longest, p.longest = p.longest, 0
	return longest
}

// newLoad makes a shop in which every worker has well over a thousand errands.
func newLoad(t testing.TB) *load {
	t.Helper()
	l := &load{t: t, dir: t.TempDir(), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	l.path = filepath.Join(l.dir, "quartermaster.db")
	t.Cleanup(l.client.CloseIdleConnections)
	var made struct{ Keys map[string]string }
	assert.OK(t, json.Unmarshal([]byte(l.cli("", "init", "--json")), &made))
	l.keys = made.Keys
	for table, rows := range map[string]string{
		"reorder skus":       "sku,name,supplier,current_stock\nSOLD,Sold daily,S,1000000\nCOUNTED,Counted,S,7\n",
		"maintenance assets": "asset_tag,name\nLATHE,Lathe\nVAN,Van\n",
		"rental properties":  "name\nHouse\n",
		"store products":     "sku,name,kind,price_cents\nAPP,App,license,1000\n",
	} {
		l.cli(rows, append(append([]string{"import"}, strings.Fields(table)...), "-")...)
	}
	l.cli("asset_tag,name,unit,reading\nLATHE,hours,h,0\n", "import", "maintenance", "meters", "-")
	l.cli("property,name\nHouse,A\nHouse,B\n", "import", "rental", "units", "-")
	l.cli("name\nAnn\nBob\n", "import", "rental", "tenants", "-")
	l.cli("property,unit,start_date,tenant,rent_cents,frequency\nHouse,A,1906-01-05,Ann,100,weekly\nHouse,B,1906-01-05,Bob,100,weekly\n",
		"import", "rental", "leases", "-")
	l.cli("provider,provider_ref,email,sku,qty,unit_cents,paid_at\nmanual,1,ann@shop.example,APP,100,1000,2026-01-01T00:00:00Z\n",
		"import", "store", "orders", "-")
	return l
}

// try runs a command on the load's database inside this process.
func (l *load) try(stdin string, args ...string) (code int, stdout, stderr string) {
	l.t.Helper()
	var out, errs strings.Builder
	code = command.Run(context.Background(), command.Env{
		Args: append([]string{"--db", l.path, "--timezone", "UTC"}, args...), Stdin: strings.NewReader(stdin),
		Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" },
	})
	return code, out.String(), errs.String()
}

// cli is try for a command that must succeed; it returns stdout.
func (l *load) cli(stdin string, args ...string) string {
	l.t.Helper()
	code, out, errs := l.try(stdin, args...)
	assert.Must(l.t, code == 0, "%s: exit %d: %s%s", strings.Join(args, " "), code, out, errs)
	return out
}

// open makes the workers; p serves what they need.
func (l *load) open(p *apptest.Process) {
	l.t.Helper()
	first := map[int]int64{}
	for lease := 1; lease <= 2; lease++ {
		var ledger struct{ Charges []struct{ ID int64 } }
		l.get(p, "rental", fmt.Sprintf("/api/leases/%d/ledger", lease), &ledger)
		first[lease] = ledger.Charges[0].ID
	}
	var licenses struct {
		Licenses []struct {
			Key string `json:"license_key"`
		}
	}
	l.get(p, "store", "/api/licenses?limit=100", &licenses)
	var keys []string // many, since a license accepts 120 activations in ten minutes
	for _, one := range licenses.Licenses {
		keys = append(keys, one.Key)
	}
	l.workers = errands(first, keys, time.Now().UTC())
	for _, a := range l.workers {
		a.n = 1
	}
}

func (l *load) get(p *apptest.Process, service, path string, v any) {
	l.t.Helper()
	status, body := apptest.Ask(l.t, p, "GET", service, path, l.keys[service], "")
	err := json.Unmarshal([]byte(body), v)
	assert.Must(l.t, err == nil && status == 200, "%s: %d %s", path, status, body)
}

// errands are the workers of a shop whose leases' first charges and whose licenses are given.
func errands(first map[int]int64, licenses []string, today time.Time) []*loadWorker {
	var all []*loadWorker
	for k := 1; k <= 2; k++ {
		all = append(all, &loadWorker{
			kind: fmt.Sprintf("job %d", k), service: "maintenance", path: "/api/work-orders",
			body:   func(n int) string { return fmt.Sprintf(`{"asset_id":%d,"description":"job %d-%d"}`, k, k, n) },
			stored: fmt.Sprintf("SELECT CAST(substr(description, 7) AS INTEGER), count(*) FROM work_orders WHERE description LIKE 'job %d-%%' GROUP BY 1", k),
			event:  "workorder.created", mark: fmt.Sprintf("CASE WHEN data ->> 'description' LIKE 'job %d-%%' THEN CAST(substr(data ->> 'description', 7) AS INTEGER) END", k),
		}, &loadWorker{
			kind: fmt.Sprintf("payment %d", k), service: "rental", path: fmt.Sprintf("/api/leases/%d/payments", k),
			body:   func(n int) string { return fmt.Sprintf(`{"charge_id":%d,"method":"cash"}`, first[k]+int64(n)-1) },
			stored: fmt.Sprintf("SELECT a.charge_id - %d, count(*) FROM payments p JOIN allocations a ON a.payment_id = p.id WHERE p.lease_id = %d GROUP BY 1", first[k]-1, k),
			event:  "payment.recorded", mark: fmt.Sprintf("CASE WHEN data ->> 'lease_id' = %d THEN (data ->> '$.charge.id') - %d END", k, first[k]-1),
		})
	}
	return append(all, &loadWorker{
		kind: "reading", service: "maintenance", path: "/api/assets/1/readings",
		body:   func(n int) string { return fmt.Sprintf(`{"reading":%d}`, n) },
		stored: "SELECT value / 1000, count(*) FROM readings WHERE value > 0 GROUP BY 1",
		event:  "reading.recorded", mark: "data ->> 'reading'",
	}, &loadWorker{
		kind: "ticket", service: "rental", path: "/api/maintenance",
		body:   func(n int) string { return fmt.Sprintf(`{"unit_id":1,"title":"ticket %d"}`, n) },
		stored: "SELECT CAST(substr(title, 8) AS INTEGER), count(*) FROM tickets GROUP BY 1",
		event:  "maintenance.created", mark: "CAST(substr(data ->> 'title', 8) AS INTEGER)",
	}, &loadWorker{ // added up, so that a day that was sent twice shows
		kind: "sales", service: "reorder", path: "/api/sales-history",
		body: func(n int) string {
			return fmt.Sprintf(`{"rows":[{"sku":"SOLD","date":"%s","qty":1}]}`, today.AddDate(0, 0, -n).Format(time.DateOnly))
		},
		stored: fmt.Sprintf("SELECT %d - day, qty / 1000 FROM sales", today.Unix()/86400),
	}, &loadWorker{ // a count of 0 crosses the reorder point, every other count goes back over it
		kind: "stock", service: "reorder", path: "/mcp",
		body: func(n int) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"adjust_stock","arguments":{"sku":"COUNTED","set_to":%d}}}`, counted(n))
		},
	}, &loadWorker{
		kind: "codes", service: "store", path: "/api/redeem-codes",
		body: func(n int) string { return fmt.Sprintf(`{"sku":"APP","count":3,"batch":"b-%d"}`, n) },
		stored: `SELECT CAST(substr(batch, 3) AS INTEGER), CASE (SELECT count(*) FROM store_codes WHERE batch_id = b.id) WHEN 3 THEN 1 ELSE 2 END
			FROM store_batches b WHERE unused = 3`,
	}, &loadWorker{
		kind: "activation", service: "store", path: "/license/activate",
		body: func(n int) string {
			return fmt.Sprintf(`{"license_key":"%s","fingerprint":"fp-%d"}`, licenses[n%len(licenses)], n)
		},
		stored: "SELECT CAST(substr(fingerprint, 4) AS INTEGER), count(*) FROM store_activations GROUP BY 1",
		event:  "license.activated", mark: "CAST(substr(data ->> '$.activation.fingerprint', 4) AS INTEGER)",
	})
}

// counted is the stock of the n-th count: 0 every second time.
func counted(n int) int {
	if n%2 == 0 {
		return 0
	}
	return n
}

// send sends the worker's errand once. Only a complete answer counts.
func (l *load) send(p *apptest.Process, a *loadWorker) (status int, body string, err error) {
	n := a.n
	r, err := http.NewRequest("POST", p.URL(a.service, a.path), strings.NewReader(a.body(n)))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Authorization", "Bearer "+l.keys[a.service])
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Request-Id", fmt.Sprintf("%s.%d", strings.ReplaceAll(a.kind, " ", "-"), n))
	if strings.HasPrefix(a.path, "/api/") {
		r.Header.Set("Idempotency-Key", fmt.Sprintf("%s %d", a.kind, n))
	}
	a.sent = true
	resp, err := l.client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, "", err
	}
	if done := resp.StatusCode/100 == 2 && !strings.Contains(string(b), `"isError":true`); done {
		a.n, a.sent = n+1, false
		l.acks.Add(1)
		l.pulse.mark()
	}
	return resp.StatusCode, string(b), nil
}

// run lets every worker send its errands until stop is closed or the process is gone. An answer that is neither a
// success nor allowed by refused fails the test.
func (l *load) run(p *apptest.Process, stop <-chan struct{}, refused func(a *loadWorker, status int, body string)) *sync.WaitGroup {
	var group sync.WaitGroup
	for _, a := range l.workers {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				before := a.n
				status, body, err := l.send(p, a)
				switch {
				case err != nil:
					return
				case a.n != before:
				case refused != nil:
					refused(a, status, body)
				default:
					l.t.Errorf("%s %d: %d %s", a.kind, a.n, status, body)
					return
				}
			}
		})
	}
	return &group
}

// finish sends outstanding errands until they are answered.
func (l *load) finish(p *apptest.Process) {
	l.t.Helper()
	for _, a := range l.workers {
		if a.sent {
			status, body, err := l.send(p, a)
			assert.That(l.t, !a.sent, "%s %d sent again: %d %s %v", a.kind, a.n, status, body, err)
		}
	}
}

// holds compares the database at path with the workers' current state.
func (l *load) holds(path string) {
	l.t.Helper()
	for _, wrong := range l.wrong(path, func(a *loadWorker) (int, bool) { return a.n - 1, a.sent }) {
		l.t.Error(wrong)
	}
}

// wrong lists where the database at path differs from the answers. Each worker's errands 1 to answered must be there
// once, with their event, and nothing else except the errand under way.
func (l *load) wrong(path string, upTo func(a *loadWorker) (answered int, next bool)) (found []string) {
	d, err := db.Open(path, db.Options{Fatal: func(err error) { l.t.Error(err) }})
	if err != nil {
		return []string{err.Error()}
	}
	err = d.View(context.Background(), func(c *db.Conn) error {
		for _, a := range l.workers {
			answered, next := upTo(a)
			if a.kind == "stock" {
				found = append(found, wrongStock(c, answered, next)...)
				continue
			}
			found = append(found, once(c, a.kind, a.stored, answered, next)...)
			if a.event != "" {
				found = append(found, once(c, a.kind+"'s event", a.events(), answered, next)...)
			}
		}
		return nil
	})
	for _, err := range []error{err, d.Close()} {
		if err != nil {
			found = append(found, err.Error())
		}
	}
	return found
}

// once requires the query to return 1 to answered, each once, and perhaps the next.
func once(c *db.Conn, what, query string, answered int, next bool) (found []string) {
	have := map[int]int64{}
	if err := db.Each(c, func(r *db.Row) error { have[int(r.Int())] += r.Int(); return nil }, query); err != nil {
		return []string{what + ": " + err.Error()}
	}
	for n := 1; n <= answered; n++ {
		if have[n] != 1 {
			found = append(found, fmt.Sprintf("%s %d of %d was answered, and is there %d times", what, n, answered, have[n]))
		}
		delete(have, n)
	}
	for n, count := range have {
		if n != answered+1 || !next || count != 1 {
			found = append(found, fmt.Sprintf("%s %d is there %d times; %d were answered, another is under way: %v", what, n, count, answered, next))
		}
	}
	return found
}

// wrongStock compares the stock with the last count, or the one under way, and the alarms with the crossings.
func wrongStock(c *db.Conn, answered int, next bool) (found []string) {
	stock, _, err := db.One(c, db.Int, "SELECT current_stock / 1000 FROM skus WHERE sku = 'COUNTED'")
	alarms, _, err2 := db.One(c, db.Int, "SELECT count(*) FROM events WHERE event = 'sku.reorder_point' AND CAST(body AS TEXT) -> 'data' ->> 'sku' = 'COUNTED'")
	if err != nil || err2 != nil {
		return []string{fmt.Sprint("stock: ", err, err2)}
	}
	for _, n := range []int{answered, answered + 1} {
		if (n == answered || next) && (int(stock) == counted(n) || n == 0 && stock == 7) && int(alarms) == n/2 {
			return nil
		}
	}
	return []string{fmt.Sprintf("stock is %d with %d alarms after %d counts, another is under way: %v", stock, alarms, answered, next)}
}
