package rest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// rentalHook is a real receiver of the rental service's events, with its secret.
type rentalHook struct {
	*apptest.Receiver
	secret string
}

// receive adds a receiver of the named events, or of all.
func receive(l *apptest.Rental, events ...string) rentalHook {
	l.T.Helper()
	h := rentalHook{Receiver: apptest.Receive(l.T)}
	args := []string{"webhook", "add", "--service", "rental", "--url", h.URL, "--json"}
	for _, e := range events {
		args = append(args, "--event", e)
	}
	var made struct{ Secret string }
	apptest.Answer{Body: l.MustCLI(args...)}.JSON(l.T, &made)
	h.secret = made.Secret
	return h
}

// told is an event as a receiver reads it.
type told struct {
	ID, Event, Service string
	CreatedAt          string `json:"created_at"`
	Data               json.RawMessage
}

func (e told) read(t testing.TB, v any) {
	t.Helper()
	assert.OK(t, json.Unmarshal(e.Data, v), "in %s", e.Data)
}

// event waits for the next delivery and checks its headers and both signatures.
func eventOf(l *apptest.Rental, h rentalHook) (e told) {
	l.T.Helper()
	d := h.Next(l.T)
	apptest.Answer{Body: d.Body}.JSON(l.T, &e)
	mac := hmac.New(sha256.New, []byte(h.secret))
	mac.Write([]byte(d.Body))
	for name, want := range map[string]string{
		"X-Rental-Event": e.Event, "X-Rental-Signature": "sha256=" + hex.EncodeToString(mac.Sum(nil)), "Content-Type": "application/json", "Webhook-Id": e.ID,
	} {
		assert.Equal(l.T, d.Header.Get(name), want, "%s", name)
	}
	verifier := assert.Value(standardwebhooks.NewWebhook(h.secret))(l.T)
	// The library uses the real time; the shop uses the test's clock.
	assert.NoError(l.T, verifier.VerifyIgnoringTimestamp([]byte(d.Body), d.Header), "the public library")
	assert.That(l.T, e.Service == "rental" && strings.HasPrefix(e.ID, "evt_") &&
		e.CreatedAt == l.Clock.Now().UTC().Format("2006-01-02T15:04:05Z"), "the envelope of %s", d.Body)
	return e
}

// delivered waits until no delivery is pending and checks how many came.
func delivered(l *apptest.Rental, h rentalHook, want int) {
	l.T.Helper()
	apptest.Await(l.T, "every delivery to end", func() bool {
		out := l.MustCLI("webhook", "deliveries", "--service", "rental", "--limit", "1000", "--json")
		return !strings.Contains(out, `"pending"`) && !strings.Contains(out, `"sending"`)
	})
	assert.Equal(l.T, len(h.All()), want, "deliveries came")
}

// TestRentalEventsFromEveryEntryPoint: REST, agents and the command line send the same events, with the data of their
// own answer.
func TestRentalEventsFromEveryEntryPoint(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t, "--webhook-allow-private")
	all, moves := receive(l), receive(l, "maintenance.status_changed")
	id := l.Lease("start_date=2026-09-01")
	l.Ledger(id)
	expect := func(event, data string) {
		t.Helper()
		e := eventOf(l, all)
		assert.That(t, e.Event == event && string(e.Data) == data, "%s %s\nwant %s %s", e.Event, e.Data, event, data)
	}
	// A payment over REST.
	a := l.Post("rental", "/api/leases/1/payments", `{"charge_id":1,"method":"card"}`)
	about := `"lease_id":1,"unit":"U1","property":"House","tenant":"Tenant U1",`
	expect("payment.recorded", strings.Replace(a.Body, `"charge":`, about+`"charge":`, 1))
	// A payment at the command line.
	l.Load("payments", "property,unit,lease_start,type,due_date,method,paid_date\nHouse,U1,2026-09-01,rent,2026-10-01,cash,2026-10-02\n")
	c := l.Ledger(id).Charges[1]
	assert.Must(t, c.Paid, "%+v", c)
	var ledger struct {
		Charges []json.RawMessage
		Totals  json.RawMessage
	}
	l.Get("rental", "/api/leases/1/ledger").JSON(t, &ledger)
	expect("payment.recorded", fmt.Sprintf(`{"payment_id":2,%s"charge":%s,"totals":%s,"amount_cents":100000,"allocations":[{"charge_id":2,`+
		`"label":"1-31 October 2026","amount_cents":100000}],"credit_cents":0}`, about, ledger.Charges[1], ledger.Totals))

	// Tickets over REST, by an agent, at the command line.
	a = l.Post("rental", "/api/maintenance", `{"unit_id":1,"title":"Tap drips","priority":"high"}`)
	expect("maintenance.created", a.Body)
	_, refusal := l.Tool("rental", "create_ticket", `{"unit_id":1,"title":"Door squeaks","description":"At night."}`)
	assert.Must(t, refusal == "", "%v", refusal)
	expect("maintenance.created", l.Ticket(2))
	l.Load("tickets", "id,property,unit,title,priority,status\n,House,U1,Lamp is out,low,\n,House,U1,Mended long ago,low,resolved\n,House,U1,Half done,low,in_progress\n")
	expect("maintenance.created", l.Ticket(3)) // the other two are history
	var sources []string
	for n := 1; n <= 4; n++ {
		var k struct{ Source string }
		apptest.Answer{Body: l.Ticket(n)}.JSON(t, &k)
		sources = append(sources, k.Source)
	}
	assert.EqualSlices(t, sources, []string{"api", "agent", "cli", "cli"}, "sources")

	moved := func(n int, from, to string) {
		t.Helper()
		want := strings.TrimSuffix(l.Ticket(n), "}") + fmt.Sprintf(`,"from":%q,"to":%q}`, from, to)
		expect("maintenance.status_changed", want)
		e := eventOf(l, moves)
		assert.That(t, string(e.Data) == want, "the receiver of moves got %s", e.Data)
	}
	l.Post("rental", "/api/maintenance/1/status", `{"status":"in_progress"}`)
	moved(1, "open", "in_progress")
	_, refusal = l.Tool("rental", "advance_ticket", `{"ticket_id":1,"status":"resolved"}`)
	assert.Must(t, refusal == "", "%v", refusal)
	moved(1, "in_progress", "resolved")
	l.Load("tickets", "id,status\n1,open\n")
	moved(1, "resolved", "open")
	l.Post("rental", "/api/maintenance/5/status", `{"status":"open"}`)
	moved(5, "in_progress", "open")

	// Refusals, and operations beside payments and tickets, send no event.
	for _, path := range []string{"/api/leases/1/payments", "/api/maintenance/1/status", "/api/maintenance"} {
		a := l.Post("rental", path, `{"charge_id":1,"status":"resolved","unit_id":1}`)
		assert.That(t, a.Status >= 400, "%s: %d", path, a.Status)
	}
	l.Rental("charge", "1", "--type", "repair", "--amount", "5", "--due", "2026-11-20", "--label", "Key")
	l.Rental("reverse-payment", "2", "--reason", "typo")
	l.Rental("end-lease", "1", "--date", "2026-11-30")
	delivered(l, all, 9)
	delivered(l, moves, 4)
	l.Sound()
}
