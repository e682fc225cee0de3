package rental

import (
	"fmt"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// PaymentRequest is a payment of one charge of a lease, by default of all that is open of it. Method and PaidDate are
// never refused: an unknown method is other, and an invalid date is today.
type PaymentRequest struct {
	LeaseID     int64
	ChargeID    int64
	AmountCents *int64
	Method      string
	PaidDate    string
}

// Payment is the result of recording one.
type Payment struct {
	PaymentID   int64        `json:"payment_id"`
	Charge      *Charge      `json:"charge" about:"the one charge that was paid; null when there are several or none"`
	Totals      Totals       `json:"totals"`
	AmountCents int64        `json:"amount_cents"`
	Allocations []Allocation `json:"allocations" about:"what it went to"`
	CreditCents int64        `json:"credit_cents" about:"the lease's credit then"`

	LeaseID int64  `json:"-"`
	Whose   string `json:"-"` // the lease's name
}

// PaymentEvent is the data of payment.recorded.
type PaymentEvent struct {
	PaymentID   int64        `json:"payment_id"`
	LeaseID     int64        `json:"lease_id"`
	Unit        string       `json:"unit"`
	Property    string       `json:"property"`
	Tenant      string       `json:"tenant"`
	Charge      *Charge      `json:"charge"`
	Totals      Totals       `json:"totals"`
	AmountCents int64        `json:"amount_cents"`
	Allocations []Allocation `json:"allocations"`
	CreditCents int64        `json:"credit_cents"`
}

// recordPayment records what was paid of a charge, and emits payment.recorded. What is due
// of the lease is posted first, so that the totals are those of its ledger. An unknown
// lease is not found, a charge that is not the lease's is invalid, and a charge that is
// paid already is a conflict: of two that race, one wins.
func recordPayment(tx *db.Tx, p PaymentRequest) (Payment, error) {
	l, err := postedLease(tx, p.LeaseID)
	if err != nil {
		return Payment{}, err
	}
	c, err := findCharge(&tx.Conn, l.ID, p.ChargeID)
	if err != nil {
		return Payment{}, err
	}
	done, err := pay(tx, l, c, p.AmountCents, p.Method, p.PaidDate)
	if err != nil {
		return done, err
	}
	return done, mailReceipt(tx, l, done.PaymentID)
}

// pay records a payment of a charge of the lease and emits its event.
func pay(tx *db.Tx, l Lease, c Charge, amount *int64, method, paidDate string) (Payment, error) {
	id, err := payCharge(tx, l.ID, c, amount, method, paidDate)
	if err != nil {
		return Payment{}, err
	}
	return emitPayment(tx, l, id)
}

// payCharge stores a payment of a charge; a paid one is a conflict, and more than its open amount is invalid.
func payCharge(tx *db.Tx, lease int64, c Charge, amount *int64, method, paidDate string) (payment int64, err error) {
	if c.Paid {
		return 0, fault.Conflictf("charge %d (%s) was paid already, on %s", c.ID, c.Label, c.PaidDate)
	}
	cents := schema.Or(amount, c.BalanceCents)
	switch {
	case cents > c.BalanceCents:
		return 0, fault.Fieldf("amount_cents",
			"amount_cents: %d is more than what is open of charge %d (%s): %d; on account of the lease more can be paid, as "+
				"credit",
			fault.Cents(cents), c.ID, c.Label, fault.Cents(c.BalanceCents))
	case cents < 1 && c.BalanceCents > 0:
		return 0, fault.Fieldf("amount_cents",
			"amount_cents: %d is out of range; it takes a whole number of cents from %d to %d, which is open of charge %d",
			fault.Cents(cents), fault.Cents(1), fault.Cents(c.BalanceCents), c.ID)
	}
	on, err := paidOn(tx, paidDate)
	if err != nil {
		return 0, err
	}
	by, err := methodFor(tx, lease, method)
	if err != nil {
		return 0, err
	}
	id, err := payParts(tx, nil, lease, cents, by, on, paidPart{c.ID, cents})
	if err != nil {
		return 0, err
	}
	return id, afterPayment(tx, lease, id)
}

// paidPart is what a payment pays of a charge.
type paidPart struct{ charge, cents int64 }

// payParts is insertPayment of a payment that pays parts of charges; the rest of it is credit.
func payParts(tx *db.Tx, number *int64, lease, cents int64, method string, on exact.Day, parts ...paidPart) (id int64,
	err error) {
	if id, err = insertPayment(tx, number, lease, cents, method, on); err != nil {
		return 0, err
	}
	for _, p := range parts {
		if err := allocate(tx, id, p.charge, p.cents); err != nil {
			return 0, err
		}
		if err := refreshFees(tx, p.charge); err != nil {
			return 0, err
		}
	}
	return id, nil
}

// paidOn parses the payment date: an invalid one is today.
func paidOn(tx *db.Tx, said string) (exact.Day, error) {
	if on, ok := exact.ParseDay(strings.TrimSpace(said)); ok {
		return on, nil
	}
	return tx.Today(), tx.CheckClock()
}

// methodFor is methodOf; a form that leaves it open means that of the lease's last payment, else a bank transfer.
func methodFor(tx *db.Tx, lease int64, said string) (string, error) {
	if said != "" || tx.Who().Via != "web" {
		return methodOf(said), nil
	}
	last, found, err := db.One(&tx.Conn, db.Text, `SELECT method FROM payments WHERE lease_id = ? AND voided_at IS NULL
		AND method NOT IN ('deposit', 'opening') ORDER BY paid_date DESC, id DESC LIMIT 1`, lease)
	if !found {
		last = "bank_transfer"
	}
	return last, err
}

// insertPayment stores a payment, all of it credit, with its imported number if there is one. None is dated in a closed
// year.
func insertPayment(tx *db.Tx, number *int64, lease, cents int64, method string, on exact.Day) (id int64, err error) {
	if method != byOpening { // whose entries are of the day before an open one
		field := "paid_date"
		if method == byDeposit {
			field = "day"
		}
		if err := mustBeOpen(&tx.Conn, field, on); err != nil {
			return 0, err
		}
	}
	return tx.Insert(
		"INSERT INTO payments (id, lease_id, amount_cents, credit_cents, method, paid_date, recorded_at) VALUES (?1, ?2, "+
			"?3, ?3, ?4, ?5, ?6)",
		number, lease, cents, method, on, tx.Now())
}

// afterPayment updates the lease after a payment and writes its audit entry.
func afterPayment(tx *db.Tx, lease, payment int64) error {
	if err := catchUp(tx, lease); err != nil {
		return err
	}
	m, err := payments.ByID(&tx.Conn, payment)
	if err != nil {
		return err
	}
	all, err := allocationsOf(&tx.Conn, payment)
	if err != nil {
		return err
	}
	type changes struct {
		LeaseID     int64        `json:"lease_id"`
		ChargeID    *int64       `json:"charge_id"`
		Label       string       `json:"label"`
		AmountCents int64        `json:"amount_cents"`
		Method      string       `json:"method"`
		PaidDate    exact.Day    `json:"paid_date"`
		Allocations []Allocation `json:"allocations,omitempty"`
	}
	entry := changes{LeaseID: lease, AmountCents: m.AmountCents, Method: m.Method, PaidDate: m.PaidDate}
	if len(all) == 1 {
		entry.ChargeID, entry.Label = &all[0].ChargeID, all[0].Label
	}
	if len(all) != 1 || all[0].AmountCents != m.AmountCents {
		entry.Allocations = all
	}
	action := "payment.recorded"
	if m.Method == byDeposit {
		action = "deposit.used"
	}
	return tx.Audit(action, db.Subject("payment", payment), entry)
}

// answer is the result of recording the payment, with the ledger's present totals.
func (m StoredPayment) answer(c *db.Conn) (done Payment, err error) {
	done = Payment{PaymentID: m.ID, AmountCents: m.AmountCents, LeaseID: m.LeaseID}
	if done.Allocations, err = allocationsOf(c, m.ID); err != nil {
		return done, err
	}
	if done.Totals, err = totalsOf(c, m.LeaseID); err != nil {
		return done, err
	}
	done.CreditCents = done.Totals.CreditCents
	if len(done.Allocations) == 1 {
		charge, err := findCharge(c, m.LeaseID, done.Allocations[0].ChargeID)
		if err != nil {
			return done, err
		}
		done.Charge = &charge
	}
	return done, nil
}

// emitPayment emits the event of a payment and gives its answer.
func emitPayment(tx *db.Tx, l Lease, payment int64) (Payment, error) {
	m, err := payments.ByID(&tx.Conn, payment)
	if err != nil {
		return Payment{}, err
	}
	done, err := m.answer(&tx.Conn)
	if err != nil {
		return Payment{}, err
	}
	if done.Whose = "the lease"; tx.Who().Via == "web" { // a list of many has many of them
		done.Whose = leaseName(l)
	}
	return done, tx.Emit("payment.recorded", PaymentEvent{PaymentID: m.ID, LeaseID: l.ID, Unit: l.Unit,
		Property: l.Property, Tenant: l.Tenant,
		Charge: done.Charge, Totals: done.Totals, AmountCents: m.AmountCents, Allocations: done.Allocations,
		CreditCents: done.CreditCents})
}

// StoredPayment is a payment as it is kept.
type StoredPayment struct {
	ID          int64          `json:"payment_id"`
	LeaseID     int64          `json:"lease_id"`
	AmountCents int64          `json:"amount_cents"`
	CreditCents int64          `json:"credit_cents" about:"what paid no charge"`
	Method      string         `json:"method" enum:"cash,bank_transfer,card,check,direct_debit,online,other,deposit,opening"`
	PaidDate    exact.Day      `json:"paid_date"`
	RecordedAt  exact.Instant  `json:"recorded_at"`
	VoidedAt    *exact.Instant `json:"voided_at"`
	VoidReason  *string        `json:"void_reason"`
}

const paymentColumns = "m.id, m.lease_id, m.amount_cents, m.credit_cents, m.method, m.paid_date, m.recorded_at, " +
	"m.voided_at, m.void_reason"

func scanPayment(r *db.Row) StoredPayment {
	return StoredPayment{ID: r.Int(), LeaseID: r.Int(), AmountCents: r.Int(), CreditCents: r.Int(), Method: r.Text(),
		PaidDate:   r.Day(),
		RecordedAt: r.Instant(), VoidedAt: r.InstantPtr(), VoidReason: r.TextPtr()}
}

var payments = record.Read("payment", "m", paymentColumns, "payments m", scanPayment)

// ReceiptRequest asks to record one payment of a lease, on account.
type ReceiptRequest struct {
	LeaseID     int64
	AmountCents int64
	Method      string
	PaidDate    string
}

// receive records one payment of a lease: it pays what is due, oldest first, the
// last one in part; the rest is the lease's credit.
func receive(tx *db.Tx, p ReceiptRequest) (Payment, error) {
	l, err := postedLease(tx, p.LeaseID)
	if err != nil {
		return Payment{}, err
	}
	if err := within("amount_cents", p.AmountCents, 1, maxCents); err != nil {
		return Payment{}, err
	}
	on, err := paidOn(tx, p.PaidDate)
	if err != nil {
		return Payment{}, err
	}
	by, err := methodFor(tx, l.ID, p.Method)
	if err != nil {
		return Payment{}, err
	}
	id, err := insertPayment(tx, nil, l.ID, p.AmountCents, by, on)
	if err != nil {
		return Payment{}, err
	}
	if _, err := spend(tx, l.ID, id, tx.Today()); err != nil {
		return Payment{}, err
	}
	if err := afterPayment(tx, l.ID, id); err != nil {
		return Payment{}, err
	}
	if err := mailReceipt(tx, l, id); err != nil {
		return Payment{}, err
	}
	return emitPayment(tx, l, id)
}

func (s *Service) recordPayment() schema.Op {
	return schema.Op{
		Name: "record_payment", Writes: true, Creates: true, Says: "Record a payment", KeyRequired: true,
		About: "Record payment of one charge, in full or in part.",
		AgentAbout: "Record payment: for a lease (it pays what is due, the oldest first; the rest is credit), or for one " +
			"charge (not more than is open). " +
			"The answer says what the lease owed before and owes after, and which charges were paid.",
		AgentResponse: exampleMoney(),
		Response:      examplePayment(),
		Refuses:       []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: schema.Agents(schema.Writes(s.db, bindMoney, recordMoney), schema.Writes(s.db, func(f *schema.Form,
			p *PaymentRequest) {
			f.ID(&p.LeaseID, "lease_id", "the lease", schema.Positional("LEASE_ID"), schema.InPath("id"), schema.Example(4),
				schema.Lookup(lookupLease), schema.Choices(leaseChoices))
			f.Int(&p.ChargeID, "charge_id", "the charge that was paid, one of this lease's", schema.Required, schema.Example(41),
				schema.Label("Charge"), schema.Choices(chargeChoices))
			f.IntPtr(&p.AmountCents, "amount_cents", "how much of the charge (default: all that is open)",
				schema.Range(0, maxCents), schema.Example(95_000))
			bindMethod(f, &p.Method)
			bindPaidDate(f, &p.PaidDate, "when it was paid, as YYYY-MM-DD; an invalid day counts as today")
		}, recordPayment)),
		Example: "rental pay 'Harbour House/2A' --charge-id 41 --amount-cents 50000",
		Did:     schema.SaidIn(didPay),
		Leads:   func(a any) string { return leasePath(a.(Payment).LeaseID) }, Undo: undoPayment,
	}
}

// bindMethod binds the payment method. A program's unknown one is never refused; a person's is.
func bindMethod(f *schema.Form, p *string) {
	if f.Surface() == schema.Page || f.Surface() == schema.Command {
		f.Enum(p, "method", "how it was paid: "+strings.Join(methods, ", "), methods, schema.Folded,
			schema.Alias("transfer", "bank_transfer"), schema.Alias("cheque", "check"), schema.Example("bank_transfer"),
			schema.Label("Paid by"), schema.None("As last time, else bank transfer"))
		return
	}
	f.Loose(p, "method", "how: "+strings.Join(methods, ", ")+
		"; transfer, wire and standing order are bank_transfer, cheque is check, anything else is other",
		schema.Example("bank_transfer"))
}

// bindPaidDate binds the payment date: a program's invalid one is today.
func bindPaidDate(f *schema.Form, p *string, about string) {
	if f.Surface() == schema.Page || f.Surface() == schema.Command {
		var day *exact.Day
		f.DayPtr(&day, "paid_date", "when it was paid (default: today)", schema.Example("2026-11-20"),
			schema.Label("Paid on"), schema.Today)
		if day != nil {
			*p = day.String()
		}
		return
	}
	f.Loose(p, "paid_date", about, schema.Example("2026-11-20"))
}

// doubtPayment asks before recording an amount of more than three times the open one.
func doubtPayment(answer any, m schema.Money) schema.Question {
	p := answer.(Payment)
	open := int64(0)
	for _, a := range p.Allocations {
		open += a.AmountCents
	}
	if open == 0 || p.AmountCents/3 < open || p.AmountCents <= 3*open {
		return schema.Question{}
	}
	return schema.Question{
		Title: "Record " + m(p.AmountCents) + " for " + p.Whose + "?", Button: "Record payment",
		Text: fmt.Sprintf("%s is open. %s would become credit of the lease.", m(open), m(p.CreditCents)),
	}
}

// EventSubject is the lease: receivers get its events in order.
func (e PaymentEvent) EventSubject() string { return db.Subject("lease", e.LeaseID) }
