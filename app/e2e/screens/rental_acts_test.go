package screens

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestRefusedReportIsSentOnce: a tenant's refused report comes back with the key of its form, so a second click on
// Send makes one report.
func TestRefusedReportIsSentOnce(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	v := h.as(asTenantA, "rental")
	form := sentBy(t, v.Get("/portal/report"), "/portal/do/report_problem", "title", "The window leaks")
	v.Head = map[string]string{"Referer": v.Base + "/portal/report"}
	refused := v.Upload("/portal/do/report_problem", single(form), "photo", "note.txt", "not a picture")
	assert.Must(t, refused.Status == http.StatusUnprocessableEntity && refused.Field("idempotency_key") != "",
		"%d, and the form that came back has the key %q", refused.Status, refused.Field("idempotency_key"))
	again := single(sentBy(t, refused, "/portal/do/report_problem"))
	first := v.Upload("/portal/do/report_problem", again, "photo", "leak.png", "\x89PNG\r\n\x1a\n")
	second := v.Upload("/portal/do/report_problem", again, "photo", "leak.png", "\x89PNG\r\n\x1a\n")
	if to := second.Header.Get("Location"); to == "" || to != first.Header.Get("Location") {
		t.Errorf("the second click leads to %q, the first to %q", to, first.Header.Get("Location"))
	}
	n := strings.Count(v.Get("/portal").Body, ">The window leaks<")
	assert.That(t, n == 1, "the problem is reported %d times", n)
}

// TestTheSecondOfTwoStaysOnTheList: two people press the button of one row. The second is told so on the list, which has
// no such button any more.
func TestTheSecondOfTwoStaysOnTheList(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	v := h.as(asAdmin, "rental")
	v.Head = map[string]string{"Referer": v.Base + "/bank"}
	book := func() apptest.Sheet {
		return v.Post("/do/book_lines", "lines.0.line_id", "1", "lines.0.lease_id", "2", "then", "/bank")
	}
	status(t, book(), http.StatusSeeOther)
	got := status(t, book(), http.StatusConflict)
	said := apptest.Text(got.First("main"))
	assert.That(t, strings.Contains(said, "is booked already") && strings.Contains(said, "3 bank lines are free"),
		"the second of two is told %s", said)
}

// TestATenantsPagesLeadOn: a receipt leads back to the tenant's first page, and a choice that begins with a usual
// answer has no empty one beside it.
func TestATenantsPagesLeadOn(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	v := h.as(asTenantA, "rental")
	_, receipt, found := strings.Cut(v.Get("/portal").Body, `href="/portal/receipts/`)
	receipt, _, _ = strings.Cut(receipt, `"`)
	assert.Must(t, found, "the tenant has no receipt")
	assert.Contains(t, v.Get("/portal/receipts/"+receipt).Body, `href="/portal">Back</a>`, "a receipt")
	_, priority, _ := strings.Cut(v.Get("/portal/report").Body, `name="priority"`)
	priority, _, _ = strings.Cut(priority, "</select>")
	assert.That(t, strings.Contains(priority, `"medium" selected`) && !strings.Contains(priority, `value=""`),
		"how soon is chosen of %s", priority)
}

// single is a form's first values, without the photo, which Upload adds.
func single(form url.Values) map[string]string {
	one := map[string]string{}
	for name, values := range form {
		if name != "photo" {
			one[name] = values[0]
		}
	}
	return one
}

// TestMarkedLeasesAreTakenOver: two leases are taken over, then a third on another day. The first two are not marked
// again, and stay as they were although their amounts stand in their rows.
func TestMarkedLeasesAreTakenOver(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Load("units", "property,name\nHouse,A\nHouse,B\nHouse,C\n")
	l.Load("tenants", "name\nAda Brandt\n")
	l.Load("leases", "property,unit,start_date,tenant,rent_cents,opening_day,opening_balance_cents\n"+
		"House,A,2024-03-01,Ada Brandt,90000,2026-10-01,35000\nHouse,B,2024-03-01,Ada Brandt,90000,2026-10-01,1000\n"+
		"House,C,2024-03-01,Ada Brandt,90000,,\n")
	v := l.Person("rental", "ann", "admin")
	openings := apptest.StatusIs(t, v.Get("/opening"), http.StatusOK)
	assert.Lacks(t, openings.Body, " checked", "a lease that was taken over is marked again")
	send := []string{"day", "2026-11-01", "leases.0.balance", "350.00", "leases.0.deposit", "0.00",
		"leases.1.balance", "10.00", "leases.1.deposit", "0.00", "leases.2.balance", "20"}
	none := v.Post("/do/set_opening", send...)
	said := apptest.Text(none.Doc)
	assert.That(t, none.Status == http.StatusUnprocessableEntity && strings.Contains(said, "Mark at least one row."),
		"%d %s", none.Status, said)
	asked := v.Post("/do/set_opening", append(send, "leases.2.lease_id", "3")...)
	assert.Contains(t, apptest.Text(asked.Doc), "Then House / C owes 920.00 USD.")
	apptest.StatusIs(t, v.Post("/do/set_opening", append(send, "leases.2.lease_id", "3", "confirm", "yes")...),
		http.StatusSeeOther)
	for _, unit := range []string{"House/A", "House/B"} {
		assert.Contains(t, l.Rental("ledger", unit, "--json"), `"opening_day":"2026-10-01"`, "%s", unit)
	}
	both := apptest.Text(v.Post("/do/set_opening", "day", "2026-10-01", "leases.0.lease_id", "1", "leases.1.lease_id",
		"2").Doc)
	assert.Contains(t, both, "House / A; House / B.", "the question names no lease")
}

// TestFormsSpeakOfTheStored: the form of a late fee begins with the stored one and speaks of amounts; a first day is
// asked for before anything is said of it; the rent's form begins with today's rent and the next period; questions and
// messages about a payment name its lease, and its reversal leads back to the list.
func TestFormsSpeakOfTheStored(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Load("units", "property,name\nHouse,A\nHouse,B\n")
	l.Load("tenants", "name\nAda Brandt\n")
	l.Load("leases", "property,unit,start_date,tenant,rent_cents\nHouse,A,2026-01-01,Ada Brandt,90000\n"+
		"House,B,2096-01-01,Ada Brandt,50000\n")
	v := l.Person("rental", "ann", "admin")
	fee := []string{"property_id", "1", "grace_days", "5", "from", "2030-01-01"}
	said := apptest.Text(v.Post("/do/set_late_fee", append(fee, "amount", "25", "percent", "3")...).Doc)
	assert.That(t, strings.Contains(said, "Enter an amount or a percent, not both; 0 means no late fee") &&
		!strings.Contains(strings.ToLower(said), "cents"), "%s", said)
	apptest.StatusIs(t, v.Post("/do/set_late_fee", append(fee, "amount", "25")...), http.StatusSeeOther)
	form := v.Get(linked(t, v.Get("/properties/1"), "Late fee"))
	assert.That(t, form.Field("grace_days") == "5" && form.Field("amount") == "25.00",
		"the late fee's form begins with %q days and %q", form.Field("grace_days"), form.Field("amount"))
	first := apptest.Text(v.Get(linked(t, v.Get("/leases/2"), "Change the first day")).Doc)
	assert.That(t, !strings.Contains(first, "will begin") && strings.Contains(first, "Change the first day"), "%s", first)
	asked := apptest.Text(v.Post("/do/set_first_day", "lease_id", "2", "date", "2096-02-01").Doc)
	assert.Contains(t, asked, "Change the first day of House / B (Ada Brandt)?")
	rent := v.Get(linked(t, v.Get("/leases/1"), "Set rent"))
	assert.That(t, rent.Field("rent") == "900.00" && strings.HasSuffix(rent.Field("from"), "-01"),
		"the rent's form begins with %q from %q", rent.Field("rent"), rent.Field("from"))
	ends := apptest.Text(v.Post("/do/end_lease", "lease_id", "1", "date", "2030-01-31").Doc)
	assert.Contains(t, ends, "End the lease of House / A (Ada Brandt)?")
	much := apptest.Text(v.Post("/do/receive_payment", "lease_id", "1", "amount", "9000000").Doc)
	assert.Contains(t, much, "Record 9,000,000.00 USD for House / A (Ada Brandt)?")
	apptest.StatusIs(t, v.Post("/do/receive_payment", "lease_id", "1", "amount", "400", "then", "/arrears"),
		http.StatusSeeOther)
	list := v.Get("/arrears")
	assert.Contains(t, apptest.Text(list.Doc), "House / A (Ada Brandt) owes ")
	assert.Equal(t, sentBy(t, list, "/do/reverse_payment").Get("then"), "/arrears", "Reverse it leads to")
}

// linked is where the link or button with the text leads.
func linked(t *testing.T, page apptest.Sheet, text string) (to string) {
	t.Helper()
	page.Each(func(n *html.Node) {
		if n.Data == "a" && strings.TrimSpace(rawText(n)) == text && to == "" {
			to = apptest.Attr(n, "href")
		}
	})
	assert.Must(t, to != "", "no link %q: %.1500s", text, apptest.Text(page.Doc))
	return to
}

// TestLettersToAllInArrears prints a letter to each tenant who is behind and matches the list's filters, one to a
// sheet; none to a forgotten one.
func TestLettersToAllInArrears(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Load("units", "property,name\nHouse,A\nHouse,B\nHouse,C\n")
	l.Load("tenants", "name\nAda Brandt\nBen Okafor\nCy Ott\n")
	l.Load("leases", "property,unit,start_date,end_date,tenant,rent_cents\nHouse,A,2026-01-01,,Ada Brandt,90000\n"+
		"House,B,2026-01-01,,Ben Okafor,50000\nHouse,C,2026-01-01,2026-01-31,Cy Ott,50000\n")
	v := l.Person("rental", "ann", "admin")
	v.Post("/do/forget_tenant", "tenant_id", "3", "confirm", "yes")
	letters := apptest.StatusIs(t, v.Get(linked(t, v.Get("/arrears"), "Print 2 letters")), http.StatusOK)
	n := strings.Count(letters.Body, `class="paper letter"`)
	assert.That(t, n == 2 && !strings.Contains(letters.Body, "forgotten"), "%d letters: %s", n, apptest.Text(letters.Doc))
	one := apptest.Text(v.Get("/arrears/letters?q=okafor").Doc)
	assert.That(t, strings.Contains(one, "Ben Okafor") && !strings.Contains(one, "Ada Brandt"),
		"the letters to those that match: %s", one)
	assert.Lacks(t, apptest.Text(v.Get("/arrears?q=okafor").Doc), "Print ",
		"one tenant matches, who has a letter of their own")
}

// TestBankSpeaksOfTheLine: a CSV without its account comes back with the only
// one chosen; a line from before a take-over is refused in words; freeing
// a line asks once; a split line says how its parts are written; a name in use is refused beside its field; a typed
// tenant who is missing begins the form of a new one; and a lease from the past without a payment leads on to its
// take-over.
func TestBankSpeaksOfTheLine(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Load("units", "property,name\nHouse,A\nHouse,B\n")
	l.Load("tenants", "name\nAda Brandt\nBen Okafor\n")
	l.Load("leases", "property,unit,start_date,tenant,rent_cents,opening_day,opening_balance_cents\n"+
		"House,A,2024-03-01,Ada Brandt,90000,2026-10-01,35000\nHouse,B,2024-03-01,Ben Okafor,90000,,\n")
	v := l.Person("rental", "ann", "admin")
	apptest.StatusIs(t, v.Post("/do/save_bank_account", "name", "Rent"), http.StatusSeeOther)
	file := "Datum;Betrag;Name;Text\n02.09.2026;950,00;Somebody;Miete\n03.10.2026;90,00;Ada Brandt;Rest\n"
	asked := v.Upload("/do/import_bank", map[string]string{"preview": "yes"}, "file", "lines.csv", file)
	again := single(sentBy(t, asked, "/do/import_bank"))
	said := apptest.Text(asked.Doc)
	assert.Must(t, strings.Contains(said, "choose the account") && again["account"] == "1" &&
		strings.Contains(said, "Import a bank file"), "%d %s, the account is %q", asked.Status, said, again["account"])
	apptest.StatusIs(t, v.Upload("/do/import_bank", map[string]string{"account": "1"}, "file", "lines.csv", file),
		http.StatusSeeOther)
	early := apptest.Text(v.Post("/do/book_lines", "lines.0.line_id", "1", "lines.0.lease_id", "1").Doc)
	assert.Contains(t, early, "House / A (Ada Brandt) was taken over on 1 Oct 2026, and this line is from 2 Sep 2026")
	apptest.StatusIs(t, v.Post("/do/book_lines", "lines.0.line_id", "2", "lines.0.lease_id", "1"), http.StatusSeeOther)
	freed := apptest.Text(v.Get(linked(t, v.Get("/bank/2"), "Free")).Doc)
	assert.That(t, strings.Contains(freed, "Free the line of Ada Brandt, 3 Oct 2026?") &&
		strings.Contains(freed, "1 line is free again: 3 Oct 2026, 90.00 USD."), "%s", freed)
	split := apptest.Text(v.Get("/do/split_line?line_id=1").Doc)
	assert.Contains(t, split, "One amount on each line")
	named := v.Post("/do/rename_unit", "unit_id", "2", "name", "A")
	if said := apptest.Text(named.Doc); !strings.Contains(said, `Another unit is called "A".`) ||
		marked(named)["name"] == "" {
		t.Errorf("%s, marked %v", said, marked(named))
	}
	form := sentBy(t, v.Get("/do/save_lease"), "/do/save_lease", "tenant", "Cy Ott", "new", "tenant")
	assert.Equal(t, v.Get(post(v, "/do/save_lease", form).Header.Get("Location")).Field("name"), "Cy Ott",
		"the new tenant's form begins with")
	form = sentBy(t, v.Get("/do/save_lease"), "/do/save_lease", "tenant", "Ben Okafor", "new", "tenant")
	assert.Equal(t, v.Get(post(v, "/do/save_lease", form).Header.Get("Location")).Field("name"), "",
		"a new tenant begins with the name of another")
	linked(t, v.Get("/leases/2"), "Take the lease over")
	assert.Lacks(t, apptest.Text(v.Get("/leases/1").Doc), "Take the lease over",
		"a lease that was taken over is offered it again")
}

// TestSigningOutSaysHowToComeBack: the portal says before the button what signing in again needs. Of several devices it
// names the one in hand.
func TestSigningOutSaysHowToComeBack(t *testing.T) {
	t.Parallel()
	home := openDemo(t).as(asTenantA, "rental").Get("/portal")
	assert.Equal(t, strings.Count(home.Body, "<small>this device</small>"), 1, "devices are this one")
	says := strings.Index(home.Body, "To sign in again you need the code from your letter.")
	if out := strings.LastIndex(home.Body, "Sign out"); says < 0 || says > out {
		t.Errorf("what signing in again needs is at %d, the way out at %d: %s", says, out, apptest.Text(home.Doc))
	}
}
