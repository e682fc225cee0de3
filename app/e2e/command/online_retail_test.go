package command

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// retail is a real shop's sales imported into the real program, as docs/online-retail.md describes it.
type retail struct {
	dir, today string
	keys       map[string]string
	p          *apptest.Process
	skus       []map[string]string // the generated catalogue
	sales      []map[string]string
}

func TestOnlineRetail(t *testing.T) {
	t.Parallel()
	r := &retail{dir: t.TempDir(), today: time.Now().UTC().Format(time.DateOnly)}
	r.prepare(t)
	r.keys = apptest.Keys(t, r.dir)
	r.load(t)
	r.p = apptest.Serve(t, r.dir, "--timezone", "UTC", "--webhook-allow-private")
	rows := r.figures(t)
	r.agentsSeeTheSame(t, rows)
	r.alarm(t, rows)
	r.purchase(t)
	code, out, errs := apptest.Exec(t, r.dir, "doctor", "--timezone", "UTC")
	assert.That(t, code == 0, "doctor: exit %d: %s%s", code, out, errs)
	if now := time.Now().UTC().Format(time.DateOnly); now != r.today {
		t.Logf("midnight passed during the test: %s, then %s", r.today, now)
	}
}

func (r *retail) prepare(t *testing.T) {
	t.Helper()
	cmd := exec.Command("go", "run", "./testdata/online-retail", "-out", r.dir, "-today", r.today)
	cmd.Dir = "../../.."
	out, err := cmd.CombinedOutput()
	assert.OK(t, err, "%s", out)
	r.skus, r.sales = table(t, filepath.Join(r.dir, "skus.csv")), table(t, filepath.Join(r.dir, "sales.csv"))
}

func table(t *testing.T, path string) []map[string]string {
	t.Helper()
	f := assert.Value(os.Open(path))(t)
	defer f.Close()
	all := assert.Value(csv.NewReader(f).ReadAll())(t)
	var rows []map[string]string
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, c := range cells {
			row[all[0][i]] = c
		}
		rows = append(rows, row)
	}
	return rows
}

// load imports the whole catalogue, and the sales without returns.
func (r *retail) load(t *testing.T) {
	t.Helper()
	var did struct {
		Imported int
		Errors   []struct {
			Line   int
			Reason string
		}
	}
	code, out, errs := apptest.Exec(t, r.dir, "import", "reorder", "skus", "skus.csv", "--json")
	if err := json.Unmarshal([]byte(out), &did); err != nil || code != 0 || did.Imported != len(r.skus) || len(did.Errors) != 0 {
		t.Fatalf("import skus: exit %d: %s%s", code, out, errs)
	}
	code, out, errs = apptest.Exec(t, r.dir, "import", "reorder", "sales", "sales.csv", "--json", "--timezone", "UTC")
	err := json.Unmarshal([]byte(out), &did)
	assert.Must(t, err == nil && code == 1, "import sales: exit %d, want 1 because of the returns: %s%s", code, out, errs)
	refused := map[int]string{}
	for _, e := range did.Errors {
		refused[e.Line] = e.Reason
	}
	for i, s := range r.sales {
		line := i + 2 // the header is line 1
		reason, no := refused[line]
		if back := strings.HasPrefix(s["qty"], "-"); back != no || no && !strings.Contains(reason, "qty") {
			t.Fatalf("line %d, qty %s: refused %v (%s)", line, s["qty"], no, reason)
		}
	}
	assert.That(t, did.Imported+len(did.Errors) == len(r.sales) && len(did.Errors) == 412,
		"%d imported, %d refused of %d", did.Imported, len(did.Errors), len(r.sales))
}

// figures compares every SKU's row of the report with an independent calculation in exact fractions, and returns the
// rows.
func (r *retail) figures(t *testing.T) []map[string]any {
	t.Helper()
	status, body := apptest.Ask(t, r.p, "GET", "reorder", "/api/reorder-report?status=all", r.keys["reorder"], "")
	assert.Must(t, status == 200, "%v", body)
	var rep struct {
		Today  string
		Counts map[string]int
		Cost   int64 `json:"est_cost_cents"`
		SKUs   []map[string]any
	}
	dec := json.NewDecoder(strings.NewReader(body))
	dec.UseNumber()
	assert.OK(t, dec.Decode(&rep))
	wants := r.reference(t, rep.Today)
	counts, cost := map[string]int{"below": 0, "near": 0, "healthy": 0}, int64(0)
	for _, row := range rep.SKUs {
		sku := fmt.Sprint(row["sku"])
		want, ok := wants[sku]
		assert.Must(t, ok, "%s is in the report twice, or is not active", sku)
		delete(wants, sku)
		for field, v := range want {
			assert.Equal(t, fmt.Sprint(row[field]), v, "%s: %s", sku, field)
		}
		counts[want["status"]]++
		n, _ := row["est_cost_cents"].(json.Number)
		c, _ := n.Int64()
		cost += c
	}
	for sku := range wants {
		t.Errorf("%s is not in the report", sku)
	}
	assert.That(t, fmt.Sprint(rep.Counts) == fmt.Sprint(counts) && rep.Cost == cost,
		"counts %v, cost %d; want %v, %d", rep.Counts, rep.Cost, counts, cost)
	assert.That(t, counts["below"] != 0 && counts["near"] != 0 && counts["healthy"] != 0,
		"the data shows too little: %v", counts)
	return rep.SKUs
}

// tool calls a tool of the real program.
func (r *retail) tool(t *testing.T, name, arguments string) map[string]any {
	t.Helper()
	_, body := apptest.Ask(t, r.p, "POST", "reorder", "/mcp", r.keys["reorder"],
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":`+arguments+`}}`)
	var m struct {
		Result struct {
			StructuredContent map[string]any
			IsError           bool
		}
	}
	dec := json.NewDecoder(strings.NewReader(body))
	dec.UseNumber()
	err := dec.Decode(&m)
	assert.Must(t, err == nil && !m.Result.IsError && m.Result.StructuredContent != nil, "%s: %v in %s", name, err, body)
	return m.Result.StructuredContent
}

func (r *retail) agentsSeeTheSame(t *testing.T, rows []map[string]any) {
	t.Helper()
	got, _ := r.tool(t, "reorder_report", `{"limit":200}`)["skus"].([]any)
	assert.Must(t, len(got) == 200, "%d rows over the agent endpoint, want 200", len(got))
	for i, row := range got {
		of, _ := row.(map[string]any)
		delete(of, "in_drafts") // only the agents' rows have it
		delete(of, "expected")
		assert.That(t, fmt.Sprint(row) == fmt.Sprint(rows[i]), "row %d: an agent sees %v, REST %v", i, row, rows[i])
	}
}

// alarm makes an agent count stock until a SKU crosses its reorder point, with a receiver that accepts the first alarm
// and misses the second.
func (r *retail) alarm(t *testing.T, rows []map[string]any) {
	t.Helper()
	receiver := apptest.Receive(t)
	var hook struct {
		ID     int64
		Secret string
	}
	code, out, errs := apptest.Exec(t, r.dir, "webhook", "add", "--service", "reorder", "--url", receiver.URL, "--json")
	err := json.Unmarshal([]byte(out), &hook)
	assert.Must(t, err == nil && code == 0, "webhook add: exit %d: %s%s", code, out, errs)
	var healthy []string
	for _, row := range rows {
		if row["status"] == "healthy" && row["days_of_stock"] != nil {
			healthy = append(healthy, fmt.Sprint(row["sku"]))
		}
	}
	first := r.tool(t, "adjust_stock", `{"sku":"`+healthy[0]+`","set_to":0,"reason":"stock count"}`)
	assert.Must(t, first["crossed"] == true && first["status"] == "below", "the count did not cross: %v", first)
	d := receiver.Next(t)
	verify(t, d, hook.Secret, healthy[0])
	r.tool(t, "adjust_stock", `{"sku":"`+healthy[0]+`","set_to":0}`) // still below: no second alarm

	receiver.Answer(http.StatusInternalServerError)
	r.tool(t, "adjust_stock", `{"sku":"`+healthy[1]+`","set_to":0}`)
	missed := receiver.Next(t)
	verify(t, missed, hook.Secret, healthy[1])
	apptest.Await(t, "the failure in the delivery log", func() bool {
		_, out, _ := apptest.Exec(t, r.dir, "webhook", "deliveries", "--failed", "--json")
		return strings.Contains(out, `"state":"failed"`)
	})
	receiver.Answer(http.StatusNoContent)
	code, out, errs = apptest.Exec(t, r.dir, "webhook", "resend", "--failed", "--webhook-allow-private")
	assert.Must(t, code == 0 && strings.Contains(out, "204"), "resend: exit %d: %s%s", code, out, errs)
	again := receiver.Next(t)
	verify(t, again, hook.Secret, healthy[1])
	assert.That(t, again.Body == missed.Body && again.Header.Get("Webhook-Id") == missed.Header.Get("Webhook-Id"),
		"resent %s, missed %s", again.Body, missed.Body)
	assert.Equal(t, len(receiver.All()), 3, "requests came")
}

func verify(t *testing.T, d apptest.Delivered, secret, sku string) {
	t.Helper()
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(d.Body))
	got, want := d.Header.Get("X-Reorder-Signature"), "sha256="+hex.EncodeToString(mac.Sum(nil))
	assert.That(t, got == want, "signature %s, want %s", got, want)
	hook := assert.Value(standardwebhooks.NewWebhook(secret))(t)
	assert.NoError(t, hook.Verify([]byte(d.Body), d.Header), "the public library")
	var e struct {
		Event string
		Data  struct{ SKU, Status string }
	}
	if err := json.Unmarshal([]byte(d.Body), &e); err != nil || e.Event != "sku.reorder_point" || d.Header.Get("X-Reorder-Event") != e.Event || e.Data.SKU != sku || e.Data.Status != "below" {
		t.Errorf("event %s (%v), want the alarm of %s", d.Body, err, sku)
	}
}

// purchase makes draft orders per supplier from the report, then orders and receives one.
func (r *retail) purchase(t *testing.T) {
	t.Helper()
	po := func(args ...string) string {
		t.Helper()
		code, out, errs := apptest.Exec(t, r.dir, append([]string{"reorder", "po"}, args...)...)
		assert.Must(t, code == 0, "po %v: exit %d: %s%s", args, code, out, errs)
		return out
	}
	type order struct {
		Number, Supplier, Status string
		Lines                    []struct {
			SKU               string
			Ordered, Received json.Number
		}
	}
	po("suggest", "--timezone", "UTC")
	var list struct {
		Orders []order `json:"purchase_orders"`
	}
	assert.OK(t, json.Unmarshal([]byte(po("list", "--json")), &list))
	suppliers := map[string]bool{}
	for _, o := range list.Orders {
		assert.That(t, o.Status == "draft" && !suppliers[o.Supplier], "order %v: want one draft a supplier", o)
		suppliers[o.Supplier] = true
	}
	assert.Must(t, len(suppliers) >= 5, "orders for %v", suppliers)
	number := list.Orders[0].Number
	po("order", number)
	var before, after order
	assert.OK(t, json.Unmarshal([]byte(po("show", number, "--json")), &before))
	stock := func() string {
		row := r.tool(t, "product_detail", `{"sku":"`+before.Lines[0].SKU+`"}`)
		return fmt.Sprint(row["current_stock"], " ", row["on_order"])
	}
	was := stock()
	po("receive", number)
	assert.OK(t, json.Unmarshal([]byte(po("show", number, "--json")), &after))
	assert.That(t, after.Status == "received" && after.Lines[0].Received == after.Lines[0].Ordered,
		"after receiving: %v", after)
	now := stock()
	assert.That(t, strings.HasSuffix(now, " 0") && now != was, "stock and on order were %s, now %s", was, now)
}
