package rest

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// rentalTables are in the order of import.
var rentalTables = []string{"properties", "units", "tenants", "leases", "charges", "payments", "tickets"}

// TestRentalImportRefusals: bad input is refused by line and name, the good rows are stored, and nothing of a refused
// row is written.
func TestRentalImportRefusals(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Load("units", "property,name,market_rent_cents,notes\nHouse,U1,,\nHouse,U2,95000,Balcony\n")
	l.Load("tenants", "name,email,phone\nAda,ada@example.org,\nBen,,123\n")
	l.Load("leases", "property,unit,start_date,tenant,end_date,rent_cents,due_day\nHouse,U1,2026-09-01,Ada,2026-12-31,100000,1\n")
	l.Ledger(1)
	l.Pay(1, "2026-09-01", "")
	l.Rental("charge", "1", "--type", "repair", "--amount", "5000", "--due", "2026-11-20", "--label", "Window")
	l.Rental("charge", "1", "--type", "deposit", "--amount", "5000", "--due", "2026-09-01", "--label", "Deposit")
	l.Pay(1, "2026-11-20", "")
	before := tables(l)
	for _, c := range []struct{ table, columns, row, says string }{
		{"leases", "property,unit,start_date,tenant,rent_cents", "House,U1,2026-11-20,Ben,1", "lease 1 from 2026-09-01, until 2026-12-31; two leases may not cover the same day"},
		{"leases", "property,unit,start_date,tenant,rent_cents,end_date", "House,U1,2026-08-01,Ben,1,2026-09-01", "two leases may not cover the same day of one unit"},
		{"leases", "property,unit,start_date,tenant,rent_cents", "House,U1,2026-08-01,Ben,1", "two leases may not cover the same day of one unit"},
		{"leases", "property,unit,start_date,tenant,rent_cents", "House,U1,2026-12-31,Ben,1", "two leases may not cover the same day of one unit"},
		{"leases", "property,unit,start_date,tenant,rent_cents,end_date", "House,U2,2026-11-20,Ben,1,2026-11-19", "end_date: 2026-11-19 lies before start_date 2026-11-20"},
		{"leases", "property,unit,start_date,tenant,rent_cents,due_day", "House,U2,2026-11-20,Ben,1,0", "due_day: 0 is out of range; it takes a whole number from 1 to 31"},
		{"leases", "property,unit,start_date,tenant,rent_cents,due_day", "House,U2,2026-11-20,Ben,1,32", "due_day: 32 is out of range; it takes a whole number from 1 to 31"},
		{"leases", "property,unit,start_date,tenant,rent_cents,due_day", "House,U2,2026-11-20,Ben,1,first", "due_day"},
		{"leases", "property,unit,start_date,tenant,rent_cents", "House,U2,2026-11-20,Ben,1000000000001", "rent_cents: 1000000000001 is out of range"},
		{"leases", "property,unit,start_date,tenant,rent_cents", "House,U2,2026-11-20,Ben,-1", "rent_cents: -1 is out of range"},
		{"leases", "property,unit,start_date,tenant,rent_cents", "House,U2,2026-11-20,Ben,950.00", "without a decimal point"},
		{"leases", "property,unit,start_date,tenant,rent_cents,deposit_cents", "House,U2,2026-11-20,Ben,1,99999999999999999999", "deposit_cents"},
		{"leases", "property,unit,start_date,tenant,rent_cents,frequency", "House,U2,2026-11-20,Ben,1,daily", "weekly, fortnightly, monthly, quarterly, yearly"},
		{"leases", "property,unit,start_date,tenant,rent_cents,proration", "House,U2,2026-11-20,Ben,1,half", "actual, none"},
		{"leases", "property,unit,start_date,tenant,rent_cents", "House,U2,2026-02-29,Ben,1", "start_date"},
		{"leases", "property,unit,start_date,tenant,rent_cents", "House,U2,0026-01-01,Ben,1", "start_date: 0026-01-01 is out of range"},
		{"leases", "property,unit,start_date,tenant,rent_cents", "House,U9,2026-11-20,Ben,1", `no unit named "U9"`},
		{"leases", "property,unit,start_date,tenant,rent_cents", "Castle,U2,2026-11-20,Ben,1", `no property named "Castle"`},
		{"leases", "property,unit,start_date,tenant,rent_cents", "House,U2,2026-11-20,Cem,1", `no tenant named "Cem"`},
		{"leases", "property,unit,start_date,rent_cents", "House,U2,2026-11-20,1", "tenant is missing"},
		{"leases", "property,unit,start_date,tenant", "House,U2,2026-11-20,Ben", "rent_cents is missing"},
		{"leases", "property,unit,start_date,end_date", "House,U1,2026-09-01,2026-11-30", "rental end-lease 1 --date DAY"},
		{"leases", "property,unit,start_date,frequency", "House,U1,2026-09-01,weekly", "frequency: the lease has posted charges"},
		{"leases", "property,unit,start_date,due_day", "House,U1,2026-09-01,5", "due_day: the lease has posted charges"},
		{"charges", "property,unit,lease_start,type,due_date,label,amount_cents", "House,U2,2026-09-01,repair,2026-11-20,Window,5", "no lease of the unit"},
		{"charges", "property,unit,lease_start,type,due_date,label,amount_cents", "House,U1,2026-09-01,fine,2026-11-20,Noise,5", "rent, deposit, late_fee, utility, repair, other"},
		{"charges", "property,unit,lease_start,type,due_date,label,amount_cents", "House,U1,2026-09-01,repair,2026-11-20,Window,6", "is paid, so it stays 5000"},
		{"charges", "property,unit,lease_start,type,due_date,label,amount_cents", "House,U1,2026-09-01,rent,2026-10-01,1-31 October 2026,1", "a posted charge never changes"},
		{"charges", "property,unit,lease_start,type,due_date,label,amount_cents", "House,U1,2026-09-01,rent,2026-12-01,1-31 December 2026,100000", "in the future"},
		{"charges", "property,unit,lease_start,type,due_date,label,amount_cents", "House,U1,2026-09-01,other,2026-11-20,,5", "label is missing"},
		{"charges", "property,unit,lease_start,type,due_date,label", "House,U1,2026-09-01,other,2026-11-20,Key", "amount_cents is missing"},
		{"payments", "property,unit,lease_start,type,due_date,method,paid_date", "House,U1,2026-09-01,rent,2026-09-01,cash,2026-09-01", "was paid already, on 2026-11-20"},
		{"payments", "property,unit,lease_start,type,due_date,method,paid_date", "House,U1,2026-09-01,rent,2026-12-01,cash,2026-09-01", "no rent charge of the lease is due on 2026-12-01"},
		{"payments", "property,unit,lease_start,type,due_date,method,paid_date", "House,U2,2026-09-01,rent,2026-09-01,cash,2026-09-01", "no lease of the unit"},
		{"units", "property,name,market_rent_cents", "House,U3,1e3", "market_rent_cents"},
		{"units", "property,name", "House,", "name is missing"},
		{"tenants", "name", strings.Repeat("é", 201), "name"},
		{"properties", "name", " ", "name is missing"},
		{"tickets", "property,unit,title,status", "House,U1,Tap,done", "open, in_progress, resolved"},
		{"tickets", "property,unit,title,priority", "House,U1,Tap,asap", "low, medium, high, urgent"},
		{"tickets", "title", "Tap", "property and unit are missing"},
		{"tickets", "id,property,unit,title", "x,House,U1,Tap", "id"},
	} {
		refused := l.Try(c.table, c.columns+"\n"+c.row+"\n")
		assert.That(t, len(refused) == 1 && strings.HasPrefix(refused[0], "2: ") && strings.Contains(refused[0], c.says),
			"%s %s: %q, want %q", c.table, c.row, refused, c.says)
	}
	after := tables(l)
	assert.That(t, after == before, "refused rows changed\n%s\nto\n%s", before, after)

	// Good rows between bad ones are stored.
	refused := l.Try("leases", "property,unit,start_date,tenant,end_date,rent_cents,due_day\nHouse,U2,2026-01-01,Ben,2026-03-31,1,0\n"+
		"House,U2,2026-04-01,Ben,2026-04-30,1,1\nHouse,U2,2026-04-30,Ben,2026-05-31,1,1\nHouse,U2,2026-05-01,Ben,2026-05-31,1,31\n")
	assert.That(t, len(refused) == 2 && strings.HasPrefix(refused[0], "2: due_day") &&
		strings.HasPrefix(refused[1], "4: the unit is let"), "refused %q", refused)
	a := l.Get("rental", "/api/leases?status=ended")
	assert.That(t, strings.Count(a.Body, `"unit":"U2"`) == 2, "the good rows: %s", a.Body)
	code, out, errs := l.Pipe("property,unit,start_date,rent\nHouse,U2,2026-11-20,1\n", "import", "rental", "leases", "-")
	assert.That(t, code == 1 && out == "" && strings.Contains(errs, `"rent"`),
		"an unknown column: exit %d %q %s", code, out, errs)
	l.Sound()
}

// tables is everything that the service exports.
func tables(l *apptest.Rental) string {
	l.T.Helper()
	var b strings.Builder
	for _, table := range rentalTables {
		b.WriteString(export(l, table))
	}
	return b.String()
}

// TestTheSameFiguresEverywhere fills the demo's properties and compares sums over REST, by the agents' tools and in the
// CSV tables. It then imports the tables into another appliance, which reports the same.
func TestTheSameFiguresEverywhere(t *testing.T) {
	t.Parallel()
	l := &apptest.Rental{Fixture: apptest.StartFilled(t)}
	rest := figures(l)
	// The tool's list has the rows of REST's pages.
	var pages []json.RawMessage
	for after := ""; ; {
		var page struct {
			Leases []json.RawMessage
			Next   *int64
		}
		l.Get("rental", "/api/leases?limit=3"+after).JSON(t, &page)
		pages = append(pages, page.Leases...)
		if page.Next == nil {
			break
		}
		after = fmt.Sprintf("&after=%d", *page.Next)
	}
	var tool struct{ Leases []json.RawMessage }
	apptest.Answer{Body: l.Content("list_leases", `{"limit":200}`)}.JSON(t, &tool)
	assert.That(t, fmt.Sprintf("%s", pages) == fmt.Sprintf("%s", tool.Leases) && len(pages) == 16,
		"%d leases over REST, %d by the tool:\n%s\n%s", len(pages), len(tool.Leases), pages, tool.Leases)
	holdsAll(t, "arrears_report", l.Content("arrears_report", `{}`), l.Get("rental", "/api/arrears").Body)
	var sum apptest.Totals
	for id := 1; id <= len(pages); id++ {
		body := l.Get("rental", fmt.Sprintf("/api/leases/%d/ledger", id)).Body
		holdsAll(t, "lease_detail", l.Content("lease_detail", fmt.Sprintf(`{"lease_id":%d}`, id)), body)
		x := l.Ledger(id).Totals
		sum = apptest.Totals{Billed: sum.Billed + x.Billed, Paid: sum.Paid + x.Paid, Balance: sum.Balance + x.Balance}
		assert.That(t, x.Billed == x.Paid+x.Balance, "lease %d: %+v", id, x)
	}
	assert.That(t, sum == rest && rest.Billed != 0 && rest.Balance != 0,
		"the ledgers come to %+v, the tables to %+v", sum, rest)
	rollsAgree(l)

	other := &apptest.Rental{Fixture: apptest.Start(t)}
	for _, table := range rentalTables {
		other.Load(table, export(l, table))
	}
	got, want := tables(other), tables(l)
	assert.That(t, got == want, "after the move:\n%s\nbefore:\n%s", got, want)
	if got := figures(other); got != rest {
		t.Errorf("after the move %+v, before %+v", got, rest)
	}
	if got, want := other.Arrears(), l.Arrears(); got.Total != want.Total || got.Buckets != want.Buckets || len(got.Arrears) != len(want.Arrears) {
		t.Errorf("arrears after the move %+v, before %+v", got, want)
	}
	l.Sound()
	other.Sound()
}

// figures adds up the CSV tables: charged, paid, the rest.
func figures(l *apptest.Rental) (sum apptest.Totals) {
	l.T.Helper()
	l.Arrears() // posts due charges
	amounts := map[string]int64{}
	for _, row := range rows(l, "charges") {
		cents := assert.Value(strconv.ParseInt(row["amount_cents"], 10, 64))(l.T)
		amounts[fmt.Sprint(row["property"], row["unit"], row["lease_start"], row["type"], row["due_date"], row["label"])] = cents
		sum.Billed += cents
	}
	for _, row := range rows(l, "payments") {
		cents, ok := amounts[fmt.Sprint(row["property"], row["unit"], row["lease_start"], row["type"], row["due_date"], row["label"])]
		assert.Must(l.T, ok, "a payment of no charge: %v", row)
		sum.Paid += cents
	}
	sum.Balance = sum.Billed - sum.Paid
	return sum
}

// rows reads an export as an importer elsewhere would.
func rows(l *apptest.Rental, table string) (rows []map[string]string) {
	l.T.Helper()
	all := assert.Value(csv.NewReader(strings.NewReader(export(l, table))).ReadAll())(l.T)
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = cells[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// rollsAgree compares the rent roll of every month of two years with the tables.
func rollsAgree(l *apptest.Rental) {
	l.T.Helper()
	billed, received, amounts := map[string]int64{}, map[string]int64{}, map[string]int64{}
	key := func(row map[string]string) string {
		return fmt.Sprint(row["property"], row["unit"], row["lease_start"], row["type"], row["due_date"], row["label"])
	}
	for _, row := range rows(l, "charges") {
		cents, _ := strconv.ParseInt(row["amount_cents"], 10, 64)
		billed[row["due_date"][:7]] += cents
		amounts[key(row)] = cents
	}
	for _, row := range rows(l, "payments") {
		received[row["paid_date"][:7]] += amounts[key(row)]
	}
	months := 0
	for year := 2025; year <= 2026; year++ {
		for m := 1; m <= 12; m++ {
			month := fmt.Sprintf("%d-%02d", year, m)
			var roll struct {
				Totals struct {
					Billed      int64 `json:"billed_cents"`
					Collected   int64 `json:"collected_cents"`
					Outstanding int64 `json:"outstanding_cents"`
					Received    int64 `json:"received_cents"`
				}
			}
			apptest.Answer{Body: l.Content("rent_roll", `{"month":"`+month+`"}`)}.JSON(l.T, &roll)
			got := roll.Totals
			if got.Billed != billed[month] || got.Received != received[month] || got.Billed != got.Collected+got.Outstanding {
				l.T.Errorf("rent roll of %s: %+v, the tables say billed %d, received %d", month, got, billed[month], received[month])
			}
			if got.Billed > 0 {
				months++
			}
		}
	}
	assert.That(l.T, months >= 15, "only %d months with charges were compared", months)
}

// holdsAll compares a tool's answer with REST's: it has every member, with the same value, and perhaps more.
func holdsAll(t *testing.T, tool, got, rest string) {
	t.Helper()
	var agent, want map[string]json.RawMessage
	apptest.Answer{Body: got}.JSON(t, &agent)
	apptest.Answer{Body: rest}.JSON(t, &want)
	for name, v := range want {
		assert.That(t, string(agent[name]) == string(v), "%s: %s is %s\nREST %s", tool, name, agent[name], v)
	}
}
