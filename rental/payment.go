package rental

import (
	"context"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// methods are the ways of paying; the last takes in whatever is not among the others.
var methods = []string{"cash", "bank_transfer", "card", "check", "direct_debit", "online", otherMethod}

const otherMethod = "other"

// methodOf reads how a charge was paid, in any case: transfer and cheque are
// bank_transfer and check, anything unknown is other.
func methodOf(said string) string {
	switch m := strings.ToLower(strings.TrimSpace(said)); {
	case m == "transfer":
		return "bank_transfer"
	case m == "cheque":
		return "check"
	case slices.Contains(methods, m):
		return m
	}
	return otherMethod
}

// PaymentRequest asks to record that one charge of a lease was paid in full. Method
// and PaidDate are never refused: an unknown method is other, and what is not a real
// calendar day is today.
type PaymentRequest struct {
	LeaseID  int64
	ChargeID int64
	Method   string
	PaidDate string
}

// Payment is what recording one gives.
type Payment struct {
	PaymentID int64  `json:"payment_id"`
	Charge    Charge `json:"charge"`
	Totals    Totals `json:"totals"`
}

// PaymentEvent is the data of payment.recorded.
type PaymentEvent struct {
	PaymentID int64  `json:"payment_id"`
	LeaseID   int64  `json:"lease_id"`
	Unit      string `json:"unit"`
	Property  string `json:"property"`
	Tenant    string `json:"tenant"`
	Charge    Charge `json:"charge"`
	Totals    Totals `json:"totals"`
}

// RecordPayment marks a charge as paid, and emits payment.recorded. What is due of the
// lease is posted first, so that the totals are those of its ledger. An unknown lease
// is not found, a charge that is not the lease's is invalid, and a charge that is paid
// already is a conflict: of two that race, one wins.
func (s *Service) RecordPayment(ctx context.Context, who db.Caller, p PaymentRequest) (Payment, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Payment, error) {
		l, err := findLease(&tx.Conn, p.LeaseID)
		if err != nil {
			return Payment{}, err
		}
		if err := post(tx, l.ID); err != nil {
			return Payment{}, err
		}
		c, err := findCharge(&tx.Conn, l.ID, p.ChargeID)
		if err != nil {
			return Payment{}, err
		}
		return pay(tx, l, c, p.Method, p.PaidDate)
	})
}

// findCharge gives a charge of the lease; any other is invalid.
func findCharge(c *db.Conn, lease, id int64) (Charge, error) {
	charge, found, err := db.One(c, scanCharge, "SELECT "+chargeColumns+" FROM charges c WHERE c.id = ? AND c.lease_id = ?", id, lease)
	if err == nil && !found {
		err = fault.Invalidf("charge_id: %d is not a charge of lease %d; its ledger lists its charges", id, lease)
	}
	return charge, err
}

// pay records the payment of a charge of the lease and emits its event.
func pay(tx *db.Tx, l Lease, c Charge, method, paidDate string) (Payment, error) {
	done, err := settle(tx, l.ID, c, method, paidDate)
	if err != nil {
		return Payment{}, err
	}
	if done.Totals, err = totalsOf(&tx.Conn, l.ID); err != nil {
		return Payment{}, err
	}
	return done, tx.Emit("payment.recorded", PaymentEvent{PaymentID: done.PaymentID, LeaseID: l.ID, Unit: l.Unit,
		Property: l.Property, Tenant: l.Tenant, Charge: done.Charge, Totals: done.Totals})
}

// settle marks the charge as paid and keeps the payment; a paid one is a conflict.
func settle(tx *db.Tx, lease int64, c Charge, method, paidDate string) (Payment, error) {
	if c.Paid {
		return Payment{}, fault.Conflictf("charge %d (%s) was paid already, on %s", c.ID, c.Label, c.PaidDate)
	}
	on, ok := exact.ParseDay(strings.TrimSpace(paidDate))
	if !ok {
		if err := tx.CheckClock(); err != nil {
			return Payment{}, err
		}
		on = tx.Today()
	}
	how := methodOf(method)
	_, err := tx.Exec("UPDATE charges SET paid_date = ?, method = ? WHERE id = ?", on, how, c.ID)
	if err != nil {
		return Payment{}, err
	}
	c.Paid, c.PaidDate, c.Method = true, &on, &how
	id, err := tx.Insert("INSERT INTO payments (lease_id, charge_id, amount_cents, method, paid_date, recorded_at) VALUES (?, ?, ?, ?, ?, ?)",
		lease, c.ID, c.AmountCents, how, on, tx.Now())
	if err != nil {
		return Payment{}, err
	}
	type changes struct {
		LeaseID     int64     `json:"lease_id"`
		ChargeID    int64     `json:"charge_id"`
		Label       string    `json:"label"`
		AmountCents int64     `json:"amount_cents"`
		Method      string    `json:"method"`
		PaidDate    exact.Day `json:"paid_date"`
	}
	err = tx.Audit("payment.recorded", subject("payment", id), changes{lease, c.ID, c.Label, c.AmountCents, how, on})
	return Payment{PaymentID: id, Charge: c}, err
}

func (s *Service) recordPayment() schema.Op {
	return schema.Op{
		Route: "POST /api/leases/:id/payments", Writes: true, Creates: true,
		About:    "Record the payment of one charge, in full.",
		Response: Payment{PaymentID: 9, Charge: examplePaid(), Totals: exampleSettled},
		Refuses:  []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: func(f *schema.Form) schema.Handler {
			var p PaymentRequest
			f.ID(&p.LeaseID, "lease_id", "the lease", schema.InPath("id"), schema.Example(4))
			f.Int(&p.ChargeID, "charge_id", "the charge that was paid, one of this lease's", schema.Required, schema.Example(41))
			f.Loose(&p.Method, "method", "how: "+strings.Join(methods, ", ")+"; transfer and cheque are read as bank_transfer and check, anything else is other",
				schema.Example("bank_transfer"))
			f.Loose(&p.PaidDate, "paid_date", "when, as YYYY-MM-DD, past or future; anything that is no calendar day is today",
				schema.Example("2026-11-20"))
			return func(ctx context.Context, who db.Caller) (any, error) { return s.RecordPayment(ctx, who, p) }
		},
	}
}

// Reversal is what taking a payment back gives: the charge is unpaid again.
type Reversal struct {
	PaymentID int64  `json:"payment_id"`
	LeaseID   int64  `json:"lease_id"`
	Reason    string `json:"reason"`
	Charge    Charge `json:"charge"`
	Totals    Totals `json:"totals"`
}

// ReversePayment takes a payment back: its charge is unpaid again, and the payment
// stays, voided, with the reason, which is needed. An unknown payment is not found, a
// voided one a conflict.
func (s *Service) ReversePayment(ctx context.Context, who db.Caller, payment int64, reason string) (Reversal, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Reversal, error) {
		reason, err := checkText("reason", reason, maxText)
		if err != nil {
			return Reversal{}, err
		}
		type stored struct {
			lease    int64
			charge   *int64
			voidedAt *exact.Instant
		}
		p, found, err := db.One(&tx.Conn, func(r *db.Row) stored { return stored{r.Int(), r.IntPtr(), r.InstantPtr()} },
			"SELECT lease_id, charge_id, voided_at FROM payments WHERE id = ?", payment)
		switch {
		case err != nil:
			return Reversal{}, err
		case !found:
			return Reversal{}, fault.NotFoundf("there is no payment %d", payment)
		case p.voidedAt != nil:
			return Reversal{}, fault.Conflictf("payment %d was reversed already, at %s", payment, p.voidedAt)
		}
		if err := reverse(tx, payment, *p.charge, reason); err != nil {
			return Reversal{}, err
		}
		if err := post(tx, p.lease); err != nil {
			return Reversal{}, err
		}
		done := Reversal{PaymentID: payment, LeaseID: p.lease, Reason: reason}
		if done.Charge, err = findCharge(&tx.Conn, p.lease, *p.charge); err != nil {
			return Reversal{}, err
		}
		done.Totals, err = totalsOf(&tx.Conn, p.lease)
		return done, err
	})
}

func reverse(tx *db.Tx, payment, charge int64, reason string) error {
	if _, err := tx.Exec("UPDATE payments SET voided_at = ?, void_reason = ? WHERE id = ?", tx.Now(), reason, payment); err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE charges SET paid_date = NULL, method = NULL WHERE id = ?", charge); err != nil {
		return err
	}
	return tx.Audit("payment.reversed", subject("payment", payment), map[string]any{"charge_id": charge, "reason": reason})
}
