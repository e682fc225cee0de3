package rental

import (
	"fmt"
	"math/rand/v2"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// actOnLease is an action on one lease on one day: was is the account before it, try the copy to do it on.
type actOnLease struct {
	r     *rand.Rand
	today int
	lease int64
	was   *account
	try   *account
	*population
}

// acts are the possible actions on a lease. Each does the same to the reference, which decides whether it is allowed,
// and to the program.
var acts = []struct {
	name      string
	refusable bool
	do        func(tx *db.Tx, x *actOnLease) (ok bool, err error)
}{
	{"receive", false, receiveBoth}, {"receive again", false, receiveBoth}, {"receive more", false, receiveBoth},
	{"slip", false, slipBoth}, {"pay a part", true, payBoth}, {"pay another part", true, payBoth},
	{"reverse", true, reverseBoth}, {"charge", false, chargeBoth}, {"use deposit", true, useBoth},
	{"return credit", true, payOutBoth(true)}, {"return deposit", true, payOutBoth(false)}, {"void", true, voidBoth},
	{"rent", false, rentBoth}, {"recurring", false, recurringBoth}, {"stop recurring", true, stopBoth}, {"end", true, endBoth},
}

func (x *actOnLease) receipt() (money, ReceiptRequest) {
	m := money{day: x.today - x.r.IntN(25), cents: 1 + x.r.Int64N(400_000)}
	return m, ReceiptRequest{LeaseID: x.lease, AmountCents: m.cents, PaidDate: dayText(m.day), Method: "cash"}
}

func (x *actOnLease) last() *money { return &x.try.payments[len(x.try.payments)-1] }

func receiveBoth(tx *db.Tx, x *actOnLease) (bool, error) {
	m, request := x.receipt()
	ok := x.try.pay(x.today, -1, m)
	p, err := receive(tx, request)
	x.last().id = p.PaymentID
	return ok, err
}

// slipBoth records a payment and reverses it at once: nothing may change.
func slipBoth(tx *db.Tx, x *actOnLease) (bool, error) {
	_, request := x.receipt()
	if err := post(tx, x.lease); err != nil {
		return true, err
	}
	before, err := totalsOf(&tx.Conn, x.lease)
	if err != nil {
		return true, err
	}
	p, err := receive(tx, request)
	if err != nil {
		return true, err
	}
	ok := x.try.pay(x.today, -1, money{day: int(mustDay(request.PaidDate)), cents: request.AmountCents}) && x.try.reverse(x.today, len(x.try.payments)-1)
	done, err := reversePayment(tx, p.PaymentID, "a slip", nil)
	if err == nil && done.Totals != before {
		err = fmt.Errorf("lease %d: a payment and its reversal made %+v of %+v", x.lease, done.Totals, before)
	}
	return ok, err
}

func mustDay(text string) exact.Day {
	d, _ := exact.ParseDay(text)
	return d
}

// pick chooses one of the existing charges, usually an open one; -1 if there is none.
func (x *actOnLease) pick(rather func(i int) bool) int {
	var all, some []int
	for i, c := range x.was.charges {
		if c.gone {
			continue
		}
		all = append(all, i)
		if rather(i) {
			some = append(some, i)
		}
	}
	if len(some) > 0 && x.r.IntN(5) > 0 {
		all = some
	}
	if len(all) == 0 {
		return -1
	}
	return all[x.r.IntN(len(all))]
}

// id finds the program's charge, after posting, for one of the reference.
func (x *actOnLease) id(tx *db.Tx, charge int) (int64, error) {
	if err := post(tx, x.lease); err != nil {
		return 0, err
	}
	c := x.was.charges[charge]
	id, found, err := db.One(&tx.Conn, db.Int, "SELECT id FROM charges WHERE lease_id = ?1 AND type = ?2 AND due_date = ?3 AND (?2 = 'rent' OR label = ?4)", x.lease, c.typ, c.due, c.label)
	if err == nil && !found {
		err = fmt.Errorf("lease %d has no charge %+v", x.lease, c)
	}
	return id, err
}

func payBoth(tx *db.Tx, x *actOnLease) (bool, error) {
	charge := x.pick(func(i int) bool { return x.was.open(i) > 0 })
	if charge < 0 {
		return chargeBoth(tx, x)
	}
	id, err := x.id(tx, charge)
	if err != nil {
		return true, err
	}
	m, _ := x.receipt()
	m.cents = 1 + x.r.Int64N(max(1, x.was.open(charge)*6/5))
	ok := x.try.pay(x.today, charge, m)
	p, err := recordPayment(tx, PaymentRequest{LeaseID: x.lease, ChargeID: id, AmountCents: &m.cents, PaidDate: dayText(m.day)})
	if ok {
		x.last().id = p.PaymentID
	}
	return ok, err
}

func reverseBoth(tx *db.Tx, x *actOnLease) (bool, error) {
	if len(x.was.payments) == 0 {
		return receiveBoth(tx, x)
	}
	n := x.r.IntN(len(x.was.payments))
	if x.was.payments[n].id == 0 { // a mistake, reversed already
		return receiveBoth(tx, x)
	}
	_, err := reversePayment(tx, x.was.payments[n].id, "bounced", nil)
	return x.try.reverse(x.today, n), err
}

func chargeBoth(tx *db.Tx, x *actOnLease) (bool, error) {
	x.labels++
	c := item{typ: SingleTypes[x.r.IntN(5)], label: fmt.Sprint("No ", x.labels), due: x.today - 20 + x.r.IntN(40), cents: 1 + x.r.Int64N(90_000)}
	if x.r.IntN(3) == 0 {
		c.typ = "deposit"
	}
	_, err := addCharge(tx, x.lease, NewCharge{Type: c.typ, AmountCents: c.cents, DueDate: exact.Day(c.due), Label: c.label})
	return x.try.chargeFor(x.today, c), err
}

func useBoth(tx *db.Tx, x *actOnLease) (bool, error) {
	charge := x.pick(func(i int) bool { return x.was.open(i) > 0 && x.was.charges[i].typ != "deposit" })
	if charge < 0 {
		return chargeBoth(tx, x)
	}
	id, err := x.id(tx, charge)
	if err != nil {
		return true, err
	}
	var cents int64
	var amount *int64
	if x.r.IntN(2) == 0 {
		cents = 1 + x.r.Int64N(60_000)
		amount = &cents
	}
	ok := x.try.useDeposit(x.today, charge, cents)
	payment, err := useDeposit(tx, x.lease, id, amount, nil)
	if ok {
		x.last().id = payment
	}
	return ok, err
}

func payOutBoth(credit bool) func(*db.Tx, *actOnLease) (bool, error) {
	return func(tx *db.Tx, x *actOnLease) (bool, error) {
		request, cents := PayoutRequest{LeaseID: x.lease}, int64(0)
		if x.r.IntN(2) == 0 {
			cents = 1 + x.r.Int64N(50_000)
			request.AmountCents = &cents
		}
		if err := post(tx, x.lease); err != nil {
			return true, err
		}
		_, err := payOut(tx, map[bool]string{true: "credit", false: "deposit"}[credit], request)
		return x.try.payOut(x.today, credit, cents), err
	}
}

func voidBoth(tx *db.Tx, x *actOnLease) (bool, error) {
	charge := x.pick(func(i int) bool { return x.was.charges[i].typ != "rent" && x.was.paid(i) == 0 })
	if charge < 0 {
		return chargeBoth(tx, x)
	}
	id, err := x.id(tx, charge)
	if err != nil {
		return true, err
	}
	_, err = voidCharge(tx, id, "a mistake")
	return x.try.void(x.today, charge), err
}

func rentBoth(tx *db.Tx, x *actOnLease) (bool, error) {
	from, cents := x.today-10+x.r.IntN(90), x.r.Int64N(150_000)
	_, err := setRent(tx, x.lease, exact.Day(from), &cents)
	return x.try.setRent(from, cents), err
}

func recurringBoth(tx *db.Tx, x *actOnLease) (bool, error) {
	x.labels++
	r := repeat{typ: recurringTypes[x.r.IntN(3)], label: fmt.Sprint("Each ", x.labels), cents: 1 + x.r.Int64N(9_000), from: x.today - 40 + x.r.IntN(60), to: never}
	given := Recurring{LeaseID: x.lease, Type: r.typ, Label: r.label, AmountCents: r.cents, From: exact.Day(r.from)}
	if x.r.IntN(2) == 0 {
		r.to = r.from + x.r.IntN(90)
		given.To = new(exact.Day(r.to))
	}
	_, err := addRecurring(tx, given)
	return x.try.repeatCharge(x.today, r), err
}

func stopBoth(tx *db.Tx, x *actOnLease) (bool, error) {
	if len(x.was.recurring) == 0 {
		return recurringBoth(tx, x)
	}
	n, to := x.r.IntN(len(x.was.recurring)), x.today-40+x.r.IntN(80)
	r := x.was.recurring[n]
	id, _, err := db.One(&tx.Conn, db.Int, "SELECT id FROM recurring_charges WHERE lease_id = ? AND label = ?", x.lease, r.label)
	if err != nil {
		return true, err
	}
	_, err = stopRecurring(tx, id, exact.Day(to))
	return x.try.stopRepeat(x.today, n, to), err
}

func endBoth(tx *db.Tx, x *actOnLease) (bool, error) {
	last := x.today - 40 + x.r.IntN(100)
	_, err := endEarly(tx, x.lease, exact.Day(last))
	return x.try.finish(x.today, last), err
}
