package rental

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"slices"
	"strings"
	"testing"
)

// randomMonths is the number of months in TestRandomMonths; .ci/journal plays more.
var randomMonths = flag.Int("months", 40, "how many random months of payments are played")

// TestLinesAreMatched is the contract's third and fourth example.
func TestLinesAreMatched(t *testing.T) {
	h := open(t, "2026-11-22")
	h.bank()
	a, b := h.let("1Z", "Martin", "2026-11-01", 125_000), h.let("2Z", "Ada Brandt", "2026-11-01", 41_597)
	c, d := h.let("3Z", "John Smith", "2026-11-01", 95_000), h.let("4Z", "Smith John", "2026-11-01", 95_000)
	ref := strings.ToLower(SpacedReference(a))
	h.imports(mt940("0.00", "3592.97", "2026-11-02 +1250.00 XY|DE1|"+ref, "2026-11-02 +415.97 BRANDT ADA|DE2|", "2026-11-02 +950.00 John Smith|DE3|",
		"2026-11-02 +900.00 XY|DE4|"+PaymentReference(c)+" "+PaymentReference(d), "2026-11-02 +77.00 XY GmbH|DE5|"))
	want := []string{
		fmt.Sprintf("125000 certain payment %d", a), fmt.Sprintf("41597 certain payment %d", b), fmt.Sprintf("95000 proposed payment %d %d", c, d),
		fmt.Sprintf("90000 proposed payment %d %d", c, d), "7700 unknown ",
	}
	assert.EqualSlices(t, h.matches(), want)
	events := len(h.events())
	done := must(h, ann, bookLines, Bookings{Certain: true})
	assert.That(t, len(done.Lines) == 2 && len(h.events()) == events+2 && done.Lines[0].State == lineBooked,
		"%s", asJSON(t, done))
	// The third by a person; its account is known then.
	must(h, ann, bookLines, Bookings{Lines: []Booking{{LineID: 3, LeaseID: &c}}})
	_, err := do(h, ann, bookLines, Bookings{Lines: []Booking{{LineID: 3, LeaseID: &c}}})
	h.Refused(err, fault.Conflict, "booked already by payment 3")
	h.imports(mt940("3592.97", "4542.97", "2026-11-20 +950.00 John Smith|DE3|"))
	got := h.matches()
	assert.That(t, slices.Contains(got, fmt.Sprintf("95000 certain payment %d", c)), "%q", got)
	// Recorded by hand the day before: the line is that payment, and no second one is recorded.
	paid := must(h, ann, receive, ReceiptRequest{LeaseID: c, AmountCents: 95_000, Method: "bank_transfer", PaidDate: "2026-11-19"})
	got = h.matches()
	assert.That(t, slices.Contains(got, fmt.Sprintf("95000 certain link %d[%d]", c, paid.PaymentID)), "%q", got)
	events = len(h.events())
	must(h, ann, bookLines, Bookings{Certain: true})
	if l, err := findLineOf(h, 6); err != nil || l.State != lineLinked || len(h.events()) != events {
		t.Errorf("%v %v", l, err)
	}
	h.sound()

	// 500.00 and 450.00 by hand are one line.
	e := h.let("5Z", "Clara Wolff", "2026-11-01", 95_000)
	var by []int64
	for day, cents := range map[string]int64{"2026-11-03": 50_000, "2026-11-04": 45_000} {
		p := must(h, ann, receive, ReceiptRequest{LeaseID: e, AmountCents: cents, Method: "standing order", PaidDate: day})
		by = append(by, p.PaymentID)
	}
	slices.Sort(by)
	h.imports(mt940("4542.97", "5492.97", "2026-11-05 +950.00 Clara Wolff|DE6|"))
	if got := h.matches(); !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, fmt.Sprintf("95000 proposed link %d[", e)) }) {
		t.Errorf("%q", got)
	}
	// Two that are of its amount are proposed both.
	twice := make([]int64, 2)
	for i := range twice {
		p := must(h, ann, receive, ReceiptRequest{LeaseID: e, AmountCents: 95_000, Method: "check", PaidDate: "2026-11-06"})
		twice[i] = p.PaymentID
	}
	if got, want := h.matches(), fmt.Sprintf("95000 proposed link %d[%d] %d[%d]", e, twice[0], e, twice[1]); !slices.Contains(got, want) {
		t.Errorf("%q, not %s", got, want)
	}
	for _, id := range twice {
		must3(h, ann, reversePayment, id, "a mistake", nil)
	}
	// Cash of its amount is never certain: it came by another way.
	cash := must(h, ann, receive, ReceiptRequest{LeaseID: e, AmountCents: 95_000, Method: "cash", PaidDate: "2026-11-06"})
	if got, want := h.matches(), fmt.Sprintf("95000 proposed link %d[%d]", e, cash.PaymentID); !slices.Contains(got, want) {
		t.Errorf("%q, not %s", got, want)
	}
	must3(h, ann, reversePayment, cash.PaymentID, "a mistake", nil)
	h.Refused(refusal(h, ann, linked, Link{LineIDs: []int64{7}, PaymentIDs: by[:1]}), fault.Invalid, "both sums")
	must(h, ann, linked, Link{LineIDs: []int64{7}, PaymentIDs: by})

	// A return with a fee.
	h.imports(mt940("5492.97", "4539.97", "2026-11-21 -953.00 John Smith|DE3|Return"))
	h.Refused(refusal2(h, ann, bookReturn, 8, paid.PaymentID), fault.Invalid, "split the line first")
	h.Refused(refusal2(h, ann, splitLine, 8, []int64{-95_000, -400}), fault.Invalid, "add up")
	parts := must2(h, ann, splitLine, 8, []int64{-95_000, -300})
	assert.That(t, parts.Lines[0].State == lineSplit && *parts.Lines[1].Act == actReturn, "%s", asJSON(t, parts))
	before := h.ledger(c)
	must2(h, ann, bookReturn, parts.Lines[1].ID, paid.PaymentID)
	after := h.ledger(c)
	assert.That(t, after.Totals.CreditCents == before.Totals.CreditCents-95_000,
		"%s then %s", asJSON(t, before.Totals), asJSON(t, after.Totals))
	if l, _ := findLineOf(h, 6); l.State != lineReturned {
		t.Errorf("the line that was returned is %s: it would be booked again", l.State)
	}
	h.Refused(refusal2(h, ann, unsettle, 6, "x"), fault.Conflict, "is a return")
	h.Refused(refusal2(h, ann, unsettle, 8, "x"), fault.Conflict, "is returned")
	h.sound()

	// An account that paid two leases of a tenant: the exact amount tells which.
	first, garage := h.let("6Z", "Zoe Adler", "2026-11-01", 88_000), h.let("7Z", "Zoe Adler", "2026-11-01", 6_000)
	h.imports(mt940("0.00", "3.00", "2026-11-20 +2.00 Zoe Adler|DE9|"+PaymentReference(first), "2026-11-20 +1.00 Zoe Adler|DE9|"+PaymentReference(garage)))
	must(h, ann, bookLines, Bookings{Certain: true})
	h.imports(mt940("0.00", "59.00", "2026-11-21 +59.00 Zoe Adler|DE9|"))
	if got, want := h.matches(), fmt.Sprintf("5900 certain payment %d", garage); !slices.Contains(got, want) {
		t.Errorf("%q, not %s", got, want)
	}

	// Freeing undoes each kind.
	must2(h, ann, unsettle, 1, "another's")
	if l, _ := h.Ledger(ctx, viewer, a); l.Totals.BalanceCents != 125_000 {
		t.Errorf("%s", asJSON(t, l.Totals))
	}
	freed := must2(h, ann, unsettle, 7, "x")
	assert.That(t, freed.Lines[0].State == lineFree && len(freed.Lines[0].PaymentIDs) == 0, "%s", asJSON(t, freed))
	must2(h, ann, ignoreLines, []int64{5}, "my own")
	must2(h, ann, unsettle, 5, "x")
	// A payment reversed by hand frees its line.
	l, _ := findLineOf(h, 2)
	must3(h, ann, reversePayment, l.PaymentIDs[0], "a mistake", nil)
	l, _ = findLineOf(h, 2)
	assert.That(t, l.State == lineFree, "%s", l.State)
	h.sound()
}

func findLineOf(h *fixture, id int64) (l BankLine, err error) {
	err = h.DB.View(ctx, func(c *db.Conn) error {
		l, err = lineRows.ByID(c, id)
		return err
	})
	return l, err
}

// TestRandomMonths plays months of known payments through overlapping files. A certain match is never another lease's,
// every line is stored once, and the booked sum equals the settled lines.
func TestRandomMonths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{"Ada Brandt", "Jörg Müller", "John Smith", "Clara Wolff", "Anna Berg", "Tom Berg"}
	for month := range *randomMonths {
		t.Run(fmt.Sprint(month), func(t *testing.T) { // with its file
			playMonth(t, r, names, month)
		})
	}
}

func playMonth(t *testing.T, r *rand.Rand, names []string, month int) {
	t.Helper()
	h := open(t, "2026-11-22")
	h.bank()
	var leases []int64
	for i, name := range names {
		leases = append(leases, h.let(fmt.Sprintf("%dZ", i+1), name, "2026-10-01", 50_000+r.IntN(3)*10_000))
	}
	var lines []string
	var owner []int64
	for range 12 {
		i := r.IntN(len(names))
		text := []string{"", PaymentReference(leases[i]), "Rent"}[r.IntN(3)]
		payer := []string{names[i], strings.ToUpper(names[i]), "Somebody Else"}[r.IntN(3)]
		cents := []int64{50_000, 60_000, 70_000, 12_345}[r.IntN(4)]
		lines = append(lines, fmt.Sprintf("2026-11-%02d +%d.%02d %s|DE%d|%s", 1+r.IntN(20), cents/100, cents%100, payer, i, text))
		owner = append(owner, leases[i])
	}
	closing := exact.CurrencyOf("EUR").Plain(partSum(lines))
	h.imports(mt940("0.00", exact.CurrencyOf("EUR").Plain(partSum(lines[:7])), lines[:7]...))
	h.imports(mt940("0.00", closing, lines...))
	h.imports(mt940("0.00", closing, lines...))
	list := assert.Value(h.BankLines(ctx, viewer, LineFilter{}))(h.T)
	assert.Must(t, list.Total == int64(len(lines)), "month %d: %d lines kept of %d", month, list.Total, len(lines))
	for _, l := range list.Lines {
		if set(l.Match) != certain {
			continue
		}
		mine := false // of equal lines, either may be meant
		for i := range lines {
			mine = mine || owner[i] == *l.Candidates[0].LeaseID && strings.Contains(lines[i], "|"+l.PayerAccount+"|")
		}
		assert.Must(t, mine, "month %d: %s is certain for a wrong lease", month, asJSON(t, l))
	}
	must(h, ann, bookLines, Bookings{Certain: true})
	var booked, received int64
	settled := assert.Value(h.BankLines(ctx, viewer, LineFilter{State: lineBooked}))(h.T)
	for _, l := range settled.Lines {
		booked += l.AmountCents
	}
	h.Must(h.DB.View(ctx, func(c *db.Conn) (err error) {
		received, _, err = db.One(c, db.Int, "SELECT coalesce(sum(amount_cents), 0) FROM payments")
		return err
	}))
	assert.Must(t, booked == received, "month %d: lines over %d are booked, and %d received", month, booked, received)
	h.sound()
}

func partSum(lines []string) (sum int64) {
	for _, l := range lines {
		n, _ := exact.ParseCents(strings.TrimPrefix(strings.Fields(l)[1], "+"))
		sum += n
	}
	return sum
}
