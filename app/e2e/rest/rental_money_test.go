package rest

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"quartermaster/app/apptest"
	"quartermaster/rental"
	"quartermaster/schema/assert"
	"strings"
	"testing"
)

// landlord has two houses, a lease that paid, a ticket, two lines of the bank and the year 2025 closed.
func landlord(t *testing.T) *apptest.Rental {
	t.Helper()
	l := apptest.NewRental(t)
	l.Load("properties", "name\nMill\n")
	l.Load("units", "property,name\nHouse,A\nMill,B\n")
	l.Load("tenants", "name,email\nAda Brandt,ada@example.org\n")
	l.Load("leases", "property,unit,start_date,tenant,rent_cents\nHouse,A,2026-01-01,Ada Brandt,95000\n")
	l.Rental("bank", "account", "Rent", "--iban", "DE89 3704 0044 0532 0130 00", "--collects")
	v := l.Person("rental", "ann", "admin")
	apptest.StatusIs(t, v.Upload("/do/import_bank", nil, "file", "a.sta", ":20:X\n:25:DE89370400440532013000\n:60F:C261101USD0,00\n"+
		":61:261103C950,00NTRFNONREF\n:86:166?20Rent?31DE1?32BRANDT ADA\n:61:261105D34,00NTRFNONREF\n:86:166?20Drain?31DE7?32Novak Plumbing\n:61:251230D12,00NTRFNONREF\n"+
		":86:166?20Fee\n:62F:C261106USD904,00\n-\n"), http.StatusSeeOther)
	l.Rental("bank", "book", "1=1")
	l.Rental("ticket", "create", "House/A", "--title", "Drain")
	l.Rental("close-year", "2025", "--yes")
	return l
}

// TestExpensesOverHTTP enters expenses as a program does, and each that cannot be is refused by its field.
func TestExpensesOverHTTP(t *testing.T) {
	t.Parallel()
	l := landlord(t)
	for _, c := range []struct {
		body   string
		status int
		says   string
	}{
		{`{}`, 422, "category"},
		{`{"category":"repairs"}`, 422, "amount_cents"},
		{`{"category":"repairs","amount_cents":0}`, 422, "0 is not an expense"},
		{`{"category":"repairs","amount_cents":1.5}`, 422, "amount_cents"},
		{`{"category":"repairs","amount_cents":99999999999999}`, 422, "amount_cents"},
		{`{"category":"moat","amount_cents":1}`, 422, `\"moat\" is not a category; choose one of advertising`},
		{`{"category":"repairs","amount_cents":1,"day":"2026-02-30"}`, 422, "day"},
		{`{"category":"repairs","amount_cents":1,"day":"2025-12-31"}`, 422, "2025, which is closed; the first open day is 2026-01-01"},
		{`{"category":"repairs","amount_cents":1,"property":"Castle"}`, 404, "Castle"},
		{`{"category":"repairs","amount_cents":1,"property":"Mill","unit":"House/A"}`, 422, "belongs to another house, House"},
		{`{"category":"repairs","amount_cents":1,"unit":"Z"}`, 422, "Property/Unit"},
		{`{"category":"repairs","amount_cents":1,"ticket_id":9}`, 404, "ticket 9"},
		{`{"category":"repairs","amount_cents":1,"ticket_id":1,"property":"Mill"}`, 422, "ticket 1 is of House / A"},
		{`{"category":"repairs","line_id":9}`, 404, "bank line 9"},
		{`{"category":"repairs","line_id":1}`, 409, "bank line 1 is booked already by payment 1; free it first"},
		{`{"category":"repairs","line_id":2,"amount_cents":3000}`, 422, "split the line first"},
		{`{"category":"repairs","amount_cents":1,"colour":"red"}`, 422, "colour"},
	} {
		a := l.Post("rental", "/api/expenses", c.body)
		assert.That(t, a.Status == c.status && strings.Contains(a.Body, c.says), "%s: %d %s", c.body, a.Status, a.Body)
	}
	viewer := l.Key("rental", "vic", "viewer", "read")
	a := l.Do("rental", "POST", "/api/expenses", viewer, `{"category":"repairs","amount_cents":1}`)
	assert.That(t, a.Status == http.StatusForbidden, "a viewer: %d %s", a.Status, a.Body)
	for body, want := range map[string]string{
		`{"category":"Bank Fees","line_id":3}`:                       "Fee 2026-01-01 1200 bank_fees",
		`{"category":"repairs","line_id":2,"ticket_id":1}`:           "House A 2026-11-05 3400 repairs",
		`{"category":"capital","amount_cents":-5,"property":"Mill"}`: "Mill 2026-11-20 -5 capital",
	} {
		var e rental.Expense
		a := l.Post("rental", "/api/expenses", body)
		a.JSON(t, &e)
		var got []string
		if e.Property == nil {
			got = append(got, "Fee")
		} else {
			got = append(got, *e.Property)
		}
		if e.Unit != nil {
			got = append(got, *e.Unit)
		}
		got = append(got, e.Day.String(), fmt.Sprint(e.AmountCents), e.Category)
		assert.That(t, a.Status == http.StatusCreated && strings.Join(got, " ") == want,
			"%s: %d %s, want %s", body, a.Status, a.Body, want)
	}
	for query, want := range map[string]string{
		"": "3 4595", "?property=Mill": "1 -5", "?property=1&category=repairs": "1 3400", "?year=2025": "0 0", "?year=2026&limit=1": "3 4595",
	} {
		var list rental.Expenses
		a := l.Get("rental", "/api/expenses"+query)
		a.JSON(t, &list)
		if got := fmt.Sprint(list.Total, " ", list.SumCents); a.Status != http.StatusOK || got != want || (list.Next != nil) != strings.Contains(query, "limit") {
			t.Errorf("%s: %d %s, want %s", query, a.Status, a.Body, want)
		}
	}
	for query, says := range map[string]string{"?property=Castle": "Castle", "?category=moat": "not a category", "?year=12": "year", "?after=x": "after", "?limit=0": "limit"} {
		if a := l.Get("rental", "/api/expenses"+query); a.Status != http.StatusUnprocessableEntity && a.Status != http.StatusNotFound || !strings.Contains(a.Body, says) {
			t.Errorf("%s: %d %s", query, a.Status, a.Body)
		}
	}
	l.Sound()
}

// TestAYearOverHTTP reads a year as a program does and as files; what is only written is refused when it comes back.
func TestAYearOverHTTP(t *testing.T) {
	t.Parallel()
	l := landlord(t)
	l.Post("rental", "/api/expenses", `{"category":"repairs","line_id":2,"ticket_id":1}`)
	var y rental.YearReport
	l.Get("rental", "/api/years/2026").JSON(t, &y)
	assert.That(t, y.Year == 2026 && !y.Closed && len(y.Properties) == 1 && y.Totals.ReceivedCents == 95_000 &&
		y.Totals.SpentCents == 3400 && y.Totals.ResultCents == 91_600 && len(y.Properties[0].Units) == 1 &&
		y.Properties[0].Units[0].ResultCents == 91_600, "%+v", y)
	var closed, mill rental.YearReport
	l.Get("rental", "/api/years/2025").JSON(t, &closed)
	l.Get("rental", "/api/years/2026?property=Mill").JSON(t, &mill)
	assert.That(t, closed.Closed && len(closed.Properties) == 0 && len(mill.Properties) == 1 &&
		mill.Totals.ResultCents == 0, "%+v\n%+v", closed, mill)
	for path, want := range map[string]int{"/api/years/2026?property=Castle": 404, "/api/years/1": 422, "/api/years/next": 422, "/api/years": 404, "/api/years/2026?colour=red": 422} {
		a := l.Get("rental", path)
		assert.That(t, a.Status == want, "%s: %d %s, want %d", path, a.Status, a.Body, want)
	}
	assert.Equal(t, l.Do("rental", "GET", "/api/years/2026", "none", "").Status, http.StatusUnauthorized, "without a key")

	// The files: as the bank's page and the year's have them, and as commands write them.
	rows := func(text string) [][]string {
		t.Helper()
		all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		assert.OK(t, err, "in\n%s", text)
		return all
	}
	got, want := fmt.Sprint(rows(export(l,
		"bank-lines"))[1:]), "[[1 Rent 2026-11-03 95000 BRANDT ADA DE1 Rent   false  booked 1   ] "+
		"[2 Rent 2026-11-05 -3400 Novak Plumbing DE7 Drain   false  booked   1 ] "+
		"[3 Rent 2025-12-30 -1200   Fee   false  free    ]]"
	assert.That(t, got == want, "%s\nwant\n%s", got, want)
	year := rows(export(l, "year"))
	assert.That(t, len(year) >= 6 && strings.Join(year[1], ",") == "2026,House,,received,,95000", "%q", year)
	v := l.Person("rental", "bob", "member")
	for path, want := range map[string]string{"/years/2026?format=csv": "2026,House,,received,,95000", "/bank?format=csv": "3,Rent,2025-12-30,-1200,,,Fee"} {
		if got := v.Get(path); got.Status != http.StatusOK || !strings.Contains(got.Body, want) {
			t.Errorf("%s: %d %.300s", path, got.Status, got.Body)
		}
	}
	for _, table := range []string{"bank-lines", "year"} {
		code, _, errs := l.Pipe(export(l, table), "import", "rental", table, "-", "--timezone", "UTC")
		assert.That(t, code != 0 && strings.Contains(errs, table), "%s comes back: %d %s", table, code, errs)
	}
	l.Sound()
}
