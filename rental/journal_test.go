package rental

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rsc.io/qr"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// hledgerProgram is set by .ci/journal, which checks these tests' journals of more properties with hledger.
var (
	hledgerProgram = flag.String("hledger", "", "check journals with this program")
	zbarProgram    = flag.String("zbarimg", "", "read payment codes with this program")
	journalHouses  = flag.Int("houses", 30, "how many random houses journals are written of")
)

// balances are the sums of a journal's accounts. It first checks that each entry adds up to 0, that dates rise, and
// that every account is declared.
func balances(t *testing.T, text string) map[string]int64 {
	t.Helper()
	sums, declared := map[string]int64{}, map[string]bool{}
	var day string
	for _, entry := range strings.Split(text, "\n\n") {
		var total int64
		for line := range strings.SplitSeq(strings.TrimSpace(entry), "\n") {
			switch name, is := strings.CutPrefix(line, "account "); {
			case is:
				declared[name] = true
			case strings.HasPrefix(line, "    "):
				account, amount, found := strings.Cut(strings.TrimSpace(line), "  ")
				cents, err := exact.ParseCents(strings.TrimSuffix(strings.TrimPrefix(amount, "-"), " EUR"))
				if strings.HasPrefix(amount, "-") {
					cents = -cents
				}
				assert.Must(t, found && err == nil && declared[account], "%q: %v", line, err)
				sums[account] += cents
				total += cents
			case line >= "1" && line < "3":
				assert.Must(t, line[:10] >= day, "%s comes after %s", line, day)
				day = line[:10]
			}
		}
		assert.Must(t, total == 0, "%s\nadds up to %d", entry, total)
	}
	return sums
}

// under sums the accounts below a name.
func under(sums map[string]int64, name string) (cents int64) {
	for account, n := range sums {
		if account == name || strings.HasPrefix(account, name+":") {
			cents += n
		}
	}
	return cents
}

// byHledger are the sums by hledger, after its own strict checks.
func byHledger(t *testing.T, text string) map[string]int64 {
	t.Helper()
	file := filepath.Join(t.TempDir(), "year.journal")
	assert.OK(t, os.WriteFile(file, []byte(text), 0o600))
	if out, err := exec.Command(*hledgerProgram, "-f", file, "check", "--strict", "ordereddates").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.Command(*hledgerProgram, "-f", file, "balance", "--flat", "--no-total", "-O", "csv").Output()
	assert.OK(t, err)
	rows := assert.Value(csv.NewReader(bytes.NewReader(out)).ReadAll())(t)
	sums := map[string]int64{}
	for _, row := range rows[1:] {
		amount := strings.TrimSuffix(row[1], " EUR")
		cents, err := exact.ParseCents(strings.TrimPrefix(amount, "-"))
		assert.OK(t, err, "%q", row)
		if strings.HasPrefix(amount, "-") {
			cents = -cents
		}
		sums[row[0]] = cents
	}
	return sums
}

// TestPaymentCodesAreRead draws codes and, if zbarimg is installed, reads them back, byte for byte.
func TestPaymentCodesAreRead(t *testing.T) {
	a := BankAccount{IBAN: new(iban), BIC: new("COBADEFFXXX"), Currency: "EUR"}
	for i, holder := range []string{"Helen Moreau", "Jürgen Müller & Söhne", "Élodie Noël", strings.Repeat("ü", 70), strings.Repeat("€", 70)} {
		a.Holder = &holder
		code := paymentCode(a, int64(1+i*12_345_678), PaymentReference(int64(4+i)))
		drawn, err := qr.Encode(code, qr.M)
		assert.Must(t, err == nil && len(code) <= maxCodeBytes, "%d bytes: %v", len(code), err)
		if *zbarProgram == "" {
			continue
		}
		file := filepath.Join(t.TempDir(), "code.png")
		assert.OK(t, os.WriteFile(file, drawn.PNG(), 0o600))
		read, err := exec.Command(*zbarProgram, "-q", "--raw", "-Sbinary", file).Output()
		assert.That(t, err == nil && string(read) == code, "%v: %q, read as %q", err, code, read)
	}
}

func (h *fixture) journal(year int64) map[string]int64 {
	h.T.Helper()
	var b bytes.Buffer
	h.Must(h.Journal(ctx, &b, year))
	t := h.T.(*testing.T)
	sums := balances(t, b.String())
	if *hledgerProgram == "" {
		return sums
	}
	theirs := byHledger(t, b.String())
	for account, cents := range sums {
		assert.That(t, theirs[account] == cents, "%s is %d, and %d by hledger", account, cents, theirs[account])
	}
	return theirs
}

// TestAJournal is the journal of the contract's seventh example.
func TestAJournal(t *testing.T) {
	h, _, _ := harbour(t)
	sums := h.journal(2025)
	if got := under(sums, "income") + under(sums, "expenses") - under(sums, "expenses:capital"); got != -1_440_500 || under(sums, "assets") != 1_240_500 {
		t.Errorf("%d and %d of %v", got, under(sums, "assets"), sums)
	}
	assert.Equal(t, sums["expenses:repairs:Harbour House:1A"], 34_000, "%v", sums)
}

// TestJournalsOfRandomProperties: the journal's accounts of each property and year equal its annual statement.
func TestJournalsOfRandomProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	h := open(t, "2026-03-01")
	h.bank()
	names := []string{"Haus: %d", "Haus; %d", "Mill  Lane\t%d", "Quay (%d)", "%d"}
	for i := range *journalHouses {
		h.randomHouse(r, fmt.Sprintf(names[i%len(names)], i/len(names)))
	}
	must(h, boss, closeYear, 2024)
	before := asJSON(t, h.year(2024))
	for _, m := range h.Texts("SELECT id FROM payments WHERE paid_date < 20089 AND voided_at IS NULL AND method <> 'deposit' AND id % 7 = 0") {
		var id int64
		_, _ = fmt.Sscan(m, &id)
		_, _ = do3(h, ann, reversePayment, id, "bounced", nil) // some paid a deposit that is gone
	}
	now := asJSON(t, h.year(2024))
	assert.That(t, now == before, "2024 changed:\n%s\nwas\n%s", now, before)
	h.sound()
	for year := int64(2024); year <= 2026; year++ {
		h.yearIsItsJournal(year)
	}
}

func (h *fixture) randomHouse(r *rand.Rand, name string) {
	h.T.Helper()
	h.Must(h.row("properties", "name="+strings.Join(strings.Fields(name), " ")))
	name = strings.Join(strings.Fields(name), " ")
	for u := range 2 {
		unit := fmt.Sprintf("U:%d", u)
		h.Must(h.row("units", "property="+name, "unit="+unit, "name="+unit))
		_ = h.row("tenants", "name=T "+name+unit)
		start := exact.Month(2024*12 + r.IntN(12)).First()
		h.Must(h.row("leases", "property="+name, "unit="+unit, "tenant=T "+name+unit, "start_date="+start.String(), fmt.Sprintf("rent_cents=%d", 20_000+r.IntN(9)*1000)))
		lease := h.Number("SELECT max(id) FROM leases")
		if r.IntN(2) == 0 {
			due := start + exact.Day(r.IntN(500))
			must2(h, ann, addCharge, lease, NewCharge{Type: "deposit", AmountCents: 30_000, DueDate: due, Label: "Deposit"})
		}
		for range 4 + r.IntN(8) {
			h.pay(lease, 1000+r.Int64N(60_000), (start + exact.Day(r.IntN(700))).String())
		}
		l := h.ledger(lease)
		for _, c := range l.Charges {
			if r.IntN(5) == 0 && c.Type == rent && !c.Paid {
				_, _ = do3(h, ann, payFromDeposit, c.ID, nil, new(start+exact.Day(r.IntN(700)))) // refused without a deposit
				break
			}
		}
		if r.IntN(3) == 0 {
			_, _ = do(h, ann, returnCredit, PayoutRequest{LeaseID: lease, Day: new(start + exact.Day(r.IntN(700)))})
		}
		if r.IntN(3) == 0 {
			_, _ = do(h, ann, returnDeposit, PayoutRequest{LeaseID: lease, Day: new(start + exact.Day(r.IntN(700)))})
		}
	}
	for range r.IntN(5) {
		n := NewExpense{Property: name, Category: expenseCategories[r.IntN(len(expenseCategories))], AmountCents: new(int64(r.IntN(40_000) - 5_000)),
			Day: new(exact.DateOf(2024, 1, 1) + exact.Day(r.IntN(790)))}
		if *n.AmountCents == 0 {
			continue
		}
		if r.IntN(3) == 0 {
			n.Unit = "U:0"
		}
		if r.IntN(6) == 0 {
			n.Property, n.Unit = "", ""
		}
		e := must(h, ann, addExpense, n)
		if r.IntN(5) == 0 {
			must3(h, ann, reverseExpense, e.ID, "x", nil)
		}
	}
}

func (h *fixture) yearIsItsJournal(year int64) {
	h.T.Helper()
	sums, y := h.journal(year), h.year(year)
	var j journal
	h.Must(h.DB.View(ctx, func(c *db.Conn) error { return j.names(c) }))
	houses := map[string][3]int64{} // income, spent, held
	for account, cents := range sums {
		parts := strings.Split(account, ":")
		at := 2 // income:TYPE:HOUSE, expenses:CATEGORY:HOUSE, liabilities:deposits:HOUSE
		if parts[0] == "assets" || parts[0] == "equity" || parts[1] == capital {
			continue
		}
		house := ""
		if len(parts) > at {
			house = parts[at]
		}
		x := houses[house]
		x[map[string]int{"income": 0, "expenses": 1, "liabilities": 2}[parts[0]]] += cents
		houses[house] = x
	}
	for _, p := range y.Properties {
		name := ""
		if p.PropertyID != nil {
			name = j.houses[*p.PropertyID]
		}
		want := [3]int64{-p.IncomeCents, p.SpentCents, p.Deposits.HeldBeforeCents - p.Deposits.HeldAfterCents}
		assert.That(h.T, houses[name] == want, "%d, %s: the journal has %v, the year %v", year, name, houses[name], want)
	}
}
