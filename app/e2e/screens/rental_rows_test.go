package screens

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestARowOfArrears: a refused amount is told once, in its row; a payment without a method is by bank transfer, and
// by what the lease's last one was. A late fee says how many it charges at once.
func TestARowOfArrears(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Load("units", "property,name\nHouse,A\n")
	l.Load("tenants", "name\nAda Brandt\n")
	l.Load("leases", "property,unit,start_date,tenant,rent_cents\nHouse,A,2026-01-01,Ada Brandt,90000\n")
	v := l.Person("rental", "ann", "admin")
	fee := []string{"property_id", "1", "grace_days", "5", "from", "2026-10-01"}
	v.Post("/do/set_late_fee", append(fee, "amount", "5")...)
	if said := apptest.Text(v.Get("/arrears").Doc); !strings.Contains(said, "2 late fees are charged at once.") ||
		!strings.Contains(said, "Late fee for rent due 1 Oct 2026") || strings.Contains(said, "Late fee, Late fee") {
		t.Errorf("%s", said)
	}
	v.Post("/do/set_late_fee", append(fee, "amount", "0")...)
	assert.Contains(t, apptest.Text(v.Get("/arrears").Doc), "2 late fees are withdrawn.")
	const path = "/do/receive_payment"
	row := sentBy(t, v.Get("/arrears"), path, "amount", "0")
	v.Head = map[string]string{"Referer": v.Base + "/arrears"}
	refused := apptest.StatusIs(t, post(v, path, row), http.StatusUnprocessableEntity)
	const why = "0.00 is out of range; enter an amount from 0.01 to 10,000,000,000.00"
	if n := strings.Count(apptest.Text(refused.Doc), why); n != 1 || apptestAlert(refused) == "" {
		t.Errorf("the refusal is told %d times, the alert %q: %s", n, apptestAlert(refused), apptest.Text(refused.Doc))
	}
	for _, pay := range []struct{ method, is string }{{"", "Bank transfer"}, {"cash", "Cash"}, {"", "Cash"}} {
		apptest.StatusIs(t, v.Post(path, "lease_id", "1", "amount", "10.01", "method", pay.method), http.StatusSeeOther)
		list := apptest.Text(v.Get("/leases/1").Doc)
		if _, payments, _ := strings.Cut(list, "Came in"); !strings.Contains(payments[:min(len(payments), 200)], pay.is) {
			t.Errorf("after a payment by %q the last is not by %s: %.300s", pay.method, pay.is, payments)
		}
	}
}

// TestAFormThatWasDoneIsSentWithOtherValues: after Back a person changes the amount and sends the form once more. It
// is said what happened, in words of the page; sent again it is another payment.
func TestAFormThatWasDoneIsSentWithOtherValues(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Load("units", "property,name\nHouse,A\n")
	l.Load("tenants", "name\nAda Brandt\n")
	l.Load("leases", "property,unit,start_date,tenant,rent_cents\nHouse,A,2026-01-01,Ada Brandt,90000\n")
	v := l.Person("rental", "ann", "admin")
	charge := []string{"lease_id", "1", "type", "other", "due_date", "2026-11-01", "label", "Key", "amount", "5"}
	apptest.StatusIs(t, v.Post("/do/add_charge", charge...), http.StatusSeeOther)
	again := apptestAlert(apptest.StatusIs(t, v.Post("/do/add_charge", charge...), http.StatusConflict))
	assert.Contains(t, again, `"Key", due 1 Nov 2026, is charged already, 5.00. Give another label`)
	const path = "/do/receive_payment"
	form := sentBy(t, v.Get(path+"?lease_id=1&amount=20"), path)
	apptest.StatusIs(t, post(v, path, form), http.StatusSeeOther)
	form.Set("amount", "30")
	twice := apptest.StatusIs(t, post(v, path, form), http.StatusConflict)
	said := apptestAlert(twice)
	assert.That(t, strings.Contains(said, "This form was sent before with other values") &&
		!strings.Contains(said, "Key") && !strings.Contains(said, "Go to the field"), "%s", said)
	apptest.StatusIs(t, post(v, path, sentBy(t, twice, path)), http.StatusSeeOther)
	assert.Contains(t, apptest.Text(v.Get("/leases/1").Doc), "Paid50.00 USD")
}

// TestAChangeOfTheRentIsTakenBack: Undo gives the day the rent that it had before, or none.
func TestAChangeOfTheRentIsTakenBack(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Load("units", "property,name\nHouse,A\n")
	l.Load("tenants", "name\nAda Brandt\n")
	l.Load("leases", "property,unit,start_date,tenant,rent_cents\nHouse,A,2026-01-01,Ada Brandt,90000\n")
	v := l.Person("rental", "ann", "admin")
	const path = "/do/set_rent"
	set := func(rent string) apptest.Sheet {
		apptest.StatusIs(t, v.Post(path, "lease_id", "1", "from", "2027-01-01", "rent", rent), http.StatusSeeOther)
		return v.Get("/leases/1")
	}
	undo := func(from apptest.Sheet) string {
		apptest.StatusIs(t, post(v, path, sentBy(t, from, path)), http.StatusSeeOther)
		return apptest.Text(v.Get("/leases/1").Doc)
	}
	assert.Lacks(t, undo(set("950")), "From 1 Jan 2027", "a new change")
	set("95")
	assert.Contains(t, undo(set("950")), "From 1 Jan 202795.00 USD", "a replaced change")
}

// TestABankLineFromBeforeATakeOver is to be ignored, and not to be booked; an expense of another amount than its line
// is refused without the line's number, and a choice of charges has their days in words.
func TestABankLineFromBeforeATakeOver(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Load("units", "property,name\nHouse,A\n")
	l.Load("tenants", "name\nAda Brandt\n")
	l.Load("leases", "property,unit,start_date,tenant,rent_cents,opening_day,opening_balance_cents\n"+
		"House,A,2024-03-01,Ada Brandt,90000,2026-10-01,35000\n")
	v := l.Person("rental", "ann", "admin")
	apptest.StatusIs(t, v.Post("/do/save_bank_account", "name", "Rent"), http.StatusSeeOther)
	file := "Datum;Betrag;Name;Text\n02.09.2026;900,00;Ada Brandt;Miete\n03.10.2026;-45,00;Roof Ltd;Gutter\n"
	apptest.StatusIs(t, v.Upload("/do/import_bank", map[string]string{"account": "1"}, "file", "lines.csv", file),
		http.StatusSeeOther)
	bank := v.Get("/bank")
	assert.Lacks(t, bank.Body, `action="/do/book_lines"`,
		"a line from before the take-over can be booked: %s", apptest.Text(bank.Doc))
	assert.Contains(t, bank.Body, `<option value="free" selected>`, "the list of free lines")
	apptest.StatusIs(t, post(v, "/do/ignore_lines", sentBy(t, bank, "/do/ignore_lines")), http.StatusSeeOther)
	undo := sentBy(t, v.Get("/bank"), "/do/free_line")
	assert.That(t, undo.Get("line_id") == "1", "an ignored line is freed by %v", undo)
	assert.Contains(t, apptest.Text(v.Get("/bank/1").Doc), "in the balance that was taken over")
	wrong := apptestAlert(v.Post("/do/add_expense", "line_id", "2", "category", "repairs", "amount", "54"))
	assert.Contains(t, wrong, "The bank's line is 45.00, not 54.00; split the line first")
	form := v.Get("/do/record_payment?lease_id=1").Body
	assert.That(t, !strings.Contains(form, "2026-10-01") && strings.Contains(form, "Balance on 1 Oct 2026"),
		"the charges to choose from have days of programs")
}

// TestAChangedRowHasItsName: the preview of a file names the rows that change, and its end counts what was written.
func TestAChangedRowHasItsName(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	const tenants = "name,email,phone\nAda Brandt,ada@example.org,1\nBen Okafor,ben@example.org,2\n"
	l.Load("tenants", tenants)
	v := l.Person("rental", "ann", "admin")
	const roll = "Objekt;Wohnung;Mieter;Miete;Mietbeginn;Bezahlt bis\nHaus;EG;Ada Brandt;850,00;01.03.2024;31.10.2026\n"
	rolled := v.Get(v.Upload("/import/rent-roll", nil, "file", "r.csv", roll).Header.Get("Location"))
	said := apptest.Text(rolled.Doc)
	assert.That(t, strings.Contains(said, "paid_up_to as DD.MM.YYYY, start_date as") &&
		!strings.Contains(said, "Ignored columns"), "%.800s", said)
	rolled = v.Get(v.Upload("/import/rent-roll", nil, "file", "r.csv", strings.Replace(roll, "01.03.", "15.03.",
		1)).Header.Get("Location"))
	if said := apptest.Text(rolled.Doc); !strings.Contains(said, "No period of Haus / EG (Ada Brandt) ends on "+
		"31 Oct 2026; the nearest end on 14 Oct 2026 and 14 Nov 2026") {
		t.Errorf("%.800s", said)
	}
	const path = "/import/tenants"
	shown := v.Get(v.Upload(path, nil, "file", "t.csv", strings.Replace(tenants, ",2", ",3", 1)).Header.Get("Location"))
	assert.Contains(t, strings.Join(strings.Fields(apptest.Text(shown.Doc)), " "), "3PhoneBen Okafor, ben@example.org",
		"the changed row has no name")
	done := ended(t, v, post(v, path, sentBy(t, shown, path)))
	assert.That(t, strings.Contains(done,
		"1 row of t.csv was imported into tenants. 0 of 2 rows are new, 1 changed, 1 the same"), "%s", done)
}

// TestWhatIsTakenOverStays: the question before leases are taken over stands over the page, so that leaving it
// keeps what was typed; a wrong amount is told in its row.
func TestWhatIsTakenOverStays(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Load("units", "property,name\nHouse,A\n")
	l.Load("tenants", "name\nAda Brandt\n")
	l.Load("leases", "property,unit,start_date,tenant,rent_cents\nHouse,A,2024-03-01,Ada Brandt,90000\n")
	v := l.Person("rental", "ann", "admin")
	v.Head = map[string]string{"Referer": v.Base + "/opening"}
	wrong := apptest.Text(v.Post("/do/set_opening", "day", "2026-11-01", "leases.0.lease_id", "1", "leases.0.balance",
		"1o", "then", "/opening").Doc)
	assert.That(t, strings.Count(wrong, "with at most 2 decimals, for example 1234.56.") == 1,
		"the refusal of a cell is not told once, with its example: %s", wrong)
	b := owner(t, l.Fixture, 360, 740)
	b.visit(l.URL("rental", "/opening"))
	b.fill("leases.0.balance", "350.00")
	b.fill("day", "2026-11-01")
	b.press("Take the marked over")
	b.see("Then House / A owes")
	keep := b.locate("button", "Keep it")
	b.must(chromedp.Do(b.ctx, chromedp.MouseClickXY(keep.X, keep.Y)))
	b.await("the question stays", `!document.querySelector("dialog")`)
	if typed := b.field("leases.0.balance"); typed != "350.00" || b.at() != "/opening" {
		t.Errorf("after leaving the question at %s the field has %q", b.at(), typed)
	}
}
