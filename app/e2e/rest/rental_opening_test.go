package rest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/rental"
	"quartermaster/schema/assert"
)

// TestLeasesAreTakenOver takes over leases on 1 November by each interface: the preview of a file of leases, which
// shows what it would post; its date field; the page of opening balances; the command.
func TestLeasesAreTakenOver(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Load("units", "property,name\nHouse,A\nHouse,B\nHouse,C\n")
	l.Load("tenants", "name,email\nAda Brandt,ada@example.org\n")
	file := "property,unit,start_date,tenant,rent_cents,due_day\nHouse,A,2024-03-01,Ada Brandt,90000,1\n"
	_, said, errs := l.Pipe(file, "import", "rental", "leases", "-", "--dry-run", "--json", "--timezone", "UTC")
	var dry struct {
		Notes     []string
		WouldPost rental.WouldPost `json:"would_post"`
	}
	if err := json.Unmarshal([]byte(said), &dry); err != nil || dry.WouldPost != (rental.WouldPost{Leases: 1, Charges: 33, AmountCents: 2_970_000, OverdueCents: 2_970_000}) {
		t.Fatalf("%s %s %v", said, errs, err)
	}
	const text = "This file would post 33 charges, 29,700.00 USD, of it 29,700.00 USD overdue"
	assert.That(t, len(dry.Notes) == 1 && dry.Notes[0] == text && !strings.Contains(said, `"charge:`), "%s", said)

	v := l.Person("rental", "ann", "admin")
	sent := v.Upload("/import/leases", nil, "file", "leases.csv", file)
	preview := apptest.StatusIs(t, v.Get(sent.Header.Get("Location")), http.StatusOK)
	page := apptest.Text(preview.Doc)
	assert.Must(t, strings.Contains(page, text) && strings.Contains(page, "Take these leases over from"), "%.3000s", page)
	fields := formAround(preview, "follows")
	query := sent.Header.Get("Location")
	query = query[:strings.Index(query, "?")+1]
	for i := 0; i < len(fields); i += 2 {
		value := fields[i+1]
		if strings.HasSuffix(fields[i], ".value") {
			value = "2026-11-01"
		}
		query += fields[i] + "=" + value + "&"
	}
	again := apptest.StatusIs(t, v.Get(query), http.StatusOK)
	page = apptest.Text(again.Doc)
	assert.Must(t, strings.Contains(page, "would post 1 charge, 900.00 USD"), "%.3000s", page)
	write := formAround(again, "")
	apptest.StatusIs(t, v.Post("/import/leases", write...), http.StatusSeeOther)
	if got := l.Rental("ledger", "House/A", "--json"); !strings.Contains(got, `"opening_day":"2026-11-01"`) || !strings.Contains(got, `"balance_cents":90000`) {
		t.Errorf("%s", got)
	}

	l.Load("leases", "property,unit,start_date,tenant,rent_cents,due_day\nHouse,B,2024-03-01,Ada Brandt,90000,1\nHouse,C,2024-03-01,Ada Brandt,90000,1\n")
	l.Rental("arrears")
	openings := apptest.StatusIs(t, v.Get("/opening"), http.StatusOK)
	post := []string{"day", "2026-11-01", "leases.0.balance", "", "leases.0.deposit", "",
		"leases.1.lease_id", "2", "leases.1.balance", "350", "leases.1.deposit", "1.800,00", "leases.2.balance", "", "leases.2.deposit", ""}
	asked := apptest.StatusIs(t, v.Post("/do/set_opening", post...), http.StatusOK)
	if page := apptest.Text(asked.Doc); !strings.Contains(page, "32 charges due before the day are withdrawn, 28,800.00 USD. Then House / B owes 1,250.00 USD.") {
		t.Fatalf("%s", page)
	}
	apptest.StatusIs(t, v.Post("/do/set_opening", append(post, "confirm", "yes")...), http.StatusSeeOther)
	var led rental.Ledger
	if err := json.Unmarshal([]byte(l.Rental("ledger", "#2", "--json")), &led); err != nil || led.Totals.BalanceCents != 125_000 || led.Totals.DepositHeldCents != 180_000 {
		t.Errorf("%+v %v", led.Totals, err)
	}
	page = apptest.Text(apptest.StatusIs(t, v.Get("/leases/2"), http.StatusOK).Doc)
	assert.That(t, strings.Contains(page, "Balance on 2026-11-01") && strings.Contains(page, "Taken over on"), "%s", page)
	_, token, _ := strings.Cut(l.Rental("tenant", "invite", "1"), "/portal/welcome/")
	tenant := l.Visitor("rental")
	apptest.StatusIs(t, tenant.Post("/portal/welcome/"+strings.Fields(token)[0]), http.StatusSeeOther)
	home := apptest.StatusIs(t, tenant.Get("/portal"), http.StatusOK)
	assert.That(t, strings.Contains(home.Body, "Taken over") && !strings.Contains(home.Body, "/portal/receipts/"),
		"a deposit that was taken over has a receipt, as if it had come: %s", apptest.Text(home.Doc))
	assert.That(t, !strings.Contains(l.Rental("ledger", "#3", "--json"), "opening") && openings.Doc != nil,
		"an unmarked lease was taken over")
	got := l.Rental("set-opening", "House/C", "--paid-up-to", "2026-10-31", "--balance-cents", "-20000", "--yes", "--json")
	assert.That(t, strings.Contains(got, `"balance_cents":70000`), "%s", got)
	l.Refuses(1, []string{"2026-10-31 and 2026-11-30"}, "set-opening", "House/C", "--paid-up-to", "2026-11-10", "--yes")
	if got := export(l, "leases"); !strings.Contains(got, "House,B,2024-03-01,Ada Brandt,,90000,monthly,1,0,actual,2026-11-01,35000,180000\n") {
		t.Errorf("%s", got)
	}
	l.MustCLI("doctor", "--timezone", "UTC")
}

// formAround returns the fields, as names and values, of the form with the input's id, or, for "", of the first import
// form.
func formAround(s apptest.Sheet, id string) (fields []string) {
	s.Each(func(n *html.Node) {
		if n.Data != "form" || fields != nil {
			return
		}
		var found []string
		is := id == "" && strings.HasPrefix(apptest.Attr(n, "action"), "/import/") && apptest.Attr(n, "method") == "post"
		for d := range n.Descendants() {
			if d.Data == "input" {
				found = append(found, apptest.Attr(d, "name"), apptest.Attr(d, "value"))
				is = is || id != "" && apptest.Attr(d, "id") == id
			}
		}
		if is {
			fields = found
		}
	})
	return fields
}
