package rental

import (
	"fmt"
	"math"
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

func bindLeaseID(f *schema.Form, p *int64) {
	f.ID(p, "lease_id", "the lease", schema.Required, schema.Example(4), schema.Positional("LEASE_ID"),
		schema.Lookup(lookupLease), schema.Choices(leaseChoices))
}

func bindAmount(f *schema.Form, p **int64, about string, opts ...schema.Opt) {
	f.IntPtr(p, "amount_cents", about, append([]schema.Opt{schema.Range(1, maxCents)}, opts...)...)
}

func (s *Service) receivePayment() schema.Op {
	return schema.Op{
		Name: "receive_payment", Writes: true, Creates: true,
		About:    "Record one payment of a lease. It pays what is due, the oldest first; the rest becomes credit.",
		Response: examplePayment(),
		Refuses:  []fault.Kind{fault.NotFound},
		Bind: schema.Writes(s.db, func(f *schema.Form, p *ReceiptRequest) {
			bindLeaseID(f, &p.LeaseID)
			f.Int(&p.AmountCents, "amount_cents", "how much came in, in cents", schema.Required, schema.Range(1, maxCents),
				schema.Example(95_000))
			bindMethod(f, &p.Method)
			bindPaidDate(f, &p.PaidDate, "when it was paid; an invalid day counts as today")
		}, receive),
		Example: "rental receive 'Harbour House/2A' --amount-cents 120000 --method transfer",
		Did:     schema.SaidIn(didPay), Leads: leadsPayment, Undo: undoPayment, Doubt: doubtPayment,
	}
}

func leadsPayment(a any) string { return leasePath(a.(Payment).LeaseID) }

func (s *Service) reversePayment() schema.Op {
	return schema.Op{
		Name: "reverse_payment", Writes: true, Destructive: true,
		About: "Reverse a payment that bounced or was recorded by mistake. What it had paid is open again; the payment " +
			"stays, with the reason. " +
			"The answer to a payment and its event give its id.",
		Response: Reversal{PaymentID: 9, LeaseID: 4, Reason: "the check bounced", Charge: new(exampleCharge()),
			Totals: exampleOwed, Allocations: exampleAllocations()},
		Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: schema.Writes3(s.db, func(f *schema.Form, payment *int64, reason *string, day **exact.Day) {
			f.ID(payment, "payment_id", "the payment", schema.Required, schema.Positional("PAYMENT_ID"), schema.Example(9),
				schema.Choices(paymentChoices))
			f.Text(reason, "reason",
				"why, for the history", schema.Required, schema.Most(maxText), schema.Example("the check bounced"))
			f.DayPtr(day, "day", "when it was reversed, for the year's figures (default: today)", schema.Today)
		}, reversePayment),
		Example: `rental reverse-payment 9 --reason "the check bounced"`,
		Print:   schema.Printed(printReversal),
		Did: schema.SaidIn(func(r Reversal, m schema.Money) string {
			return fmt.Sprintf("Payment %d is reversed. The lease owes %s.", r.PaymentID, m(r.Totals.BalanceCents))
		}),
		Thing: func(a any) string { return "payment " + strconv.FormatInt(a.(Reversal).PaymentID, 10) },
		Will: schema.SaidIn(func(r Reversal, m schema.Money) string {
			what := "It paid no charge."
			if n := len(r.Allocations); n == 1 {
				what = r.Allocations[0].Label + " is unpaid again."
			} else if n > 1 {
				what = fmt.Sprintf("%d charges are unpaid again.", n)
			}
			return fmt.Sprintf("Payment %d will be reversed. %s Then the lease owes %s.", r.PaymentID, what,
				m(r.Totals.BalanceCents))
		}),
		Leads: func(a any) string { return leasePath(a.(Reversal).LeaseID) },
	}
}

func (s *Service) addCharge() schema.Op {
	return schema.Op{
		Name: "add_charge", Writes: true, Creates: true,
		About: "Charge a lease for a deposit, a late fee, a repair. Rent is posted automatically. " +
			"The same type, day and label is charged only once.",
		Response: Charged{LeaseID: 4, Charge: exampleFee(), Totals: exampleOwed},
		Refuses:  []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: schema.Writes2(s.db, func(f *schema.Form, lease *int64, n *NewCharge) {
			bindLeaseID(f, lease)
			f.Enum(&n.Type, "type", "what it is for", SingleTypes, schema.Required, schema.Example("repair"))
			within, most := schema.Range(0, maxCents), schema.Most(maxName)
			if f.Surface() == schema.Command { // there what is wrong with a value is no wrong usage
				within, most = schema.Range(math.MinInt64, math.MaxInt64), schema.Most(maxText)
			}
			f.Int(&n.AmountCents, "amount_cents", "how much, in cents", schema.Required, within, schema.Flag("amount"),
				schema.Example(2500))
			f.Day(&n.DueDate, "due_date", "the day on which it is due, past or future", schema.Required, schema.Flag("due"),
				schema.Example("2026-12-01"), schema.Today)
			f.Text(&n.Label, "label", "what it is for, as the ledger shows it", schema.Required, most, schema.Example("New key"))
		}, addCharge),
		Example: `rental charge 4 --type late_fee --amount-cents 2500 --due 2026-12-01 --label "Late fee for November"` +
			"\n" +
			`rental charge 4 --type deposit --amount-cents 190000 --due 2026-12-01 --label Deposit --as alice --json`,
		Print: schema.Printed(printCharged),
		Did: schema.SaidIn(func(c Charged, m schema.Money) string {
			return fmt.Sprintf("%s is charged: %s, due %s. The lease owes %s.", m(c.Charge.AmountCents), c.Charge.Label,
				c.Charge.DueDate, m(c.Totals.BalanceCents))
		}),
		Leads: func(a any) string { return leasePath(a.(Charged).LeaseID) },
		Undo: func(a any) *schema.Undo {
			return &schema.Undo{Op: "void_charge", Label: "Void it",
				Fields: map[string]string{"charge_id": strconv.FormatInt(a.(Charged).Charge.ID, 10),
					"reason": "charged by mistake"}}
		},
	}
}

func exampleFee() Charge {
	c := Charge{ID: 42, Type: "repair", Label: "New key", DueDate: exampleDay("2026-12-01"), AmountCents: 2500,
		BalanceCents: 2500}
	c.Period = c.DueDate.Month()
	return c
}

func (s *Service) voidCharge() schema.Op {
	return schema.Op{
		Name: "void_charge", Writes: true, Destructive: true,
		About: "Void a charge that is not rent and has no payment. The history keeps it with the reason; it may be " +
			"charged again.",
		Response: Voided{LeaseID: 4, Charge: exampleFee(), Reason: "charged twice", Totals: exampleOwed},
		Refuses:  []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: schema.Writes2(s.db, func(f *schema.Form, charge *int64, reason *string) {
			f.ID(charge, "charge_id", "the charge", schema.Required, schema.Positional("CHARGE_ID"), schema.Example(42),
				schema.Label("Charge"), schema.Choices(chargeChoices))
			f.Text(reason, "reason",
				"why, for the history", schema.Required, schema.Most(maxText), schema.Example("charged twice"))
		}, voidCharge),
		Example: `rental void-charge 42 --reason "charged twice"`,
		Did: schema.SaidIn(func(v Voided, m schema.Money) string {
			return fmt.Sprintf("%s of %s is void. The lease owes %s.", v.Charge.Label, m(v.Charge.AmountCents),
				m(v.Totals.BalanceCents))
		}),
		Thing: func(a any) string { return a.(Voided).Charge.Label },
		Will: schema.SaidIn(func(v Voided, m schema.Money) string {
			return fmt.Sprintf("%s of %s, due %s, leaves the ledger. Then the lease owes %s.", v.Charge.Label,
				m(v.Charge.AmountCents), v.Charge.DueDate, m(v.Totals.BalanceCents))
		}),
		Leads: func(a any) string { return leasePath(a.(Voided).LeaseID) },
	}
}

func (s *Service) useDepositOp() schema.Op {
	return schema.Op{
		Name: "use_deposit", Writes: true, Destructive: true, About: "Pay a charge from a lease's deposit: an amount, or " +
			"as much as possible.",
		Response: examplePayment(), Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: schema.Writes3(s.db, func(f *schema.Form, charge *int64, amount **int64, day **exact.Day) {
			f.ID(charge, "charge_id",
				"the charge to pay, not a deposit", schema.Required, schema.Positional("CHARGE_ID"), schema.Example(41),
				schema.Label("Charge"), schema.Choices(chargeChoices))
			bindAmount(f, amount, "how much of the deposit (default: as much as possible)")
			f.DayPtr(day, "day", "when (default: today)", schema.Today)
		}, payFromDeposit),
		Example: "rental use-deposit 41",
		Did: schema.SaidIn(func(p Payment, m schema.Money) string {
			return fmt.Sprintf("%s of the deposit is used; %s is still held.", m(p.AmountCents), m(p.Totals.DepositHeldCents))
		}),
		Thing: func(a any) string { return "the deposit for " + a.(Payment).Allocations[0].Label },
		Will: schema.SaidIn(func(p Payment, m schema.Money) string {
			return fmt.Sprintf("%s of the deposit is used. Then %s is held, and the lease owes %s.", m(p.AmountCents),
				m(p.Totals.DepositHeldCents), m(p.Totals.BalanceCents))
		}),
		Leads: leadsPayment, Undo: undoPayment,
	}
}

func examplePayout(kind string) Payout {
	return Payout{ID: 2, LeaseID: 4, Kind: kind, Day: exampleDay("2026-11-20"), AmountCents: 40_000,
		Method: "bank_transfer", Totals: examplePaidUp}
}

func (s *Service) payoutOp(kind string) schema.Op {
	return schema.Op{
		Name: "return_" + kind, Writes: true, Destructive: true, Response: examplePayout(kind),
		About:   "Pay a lease's " + kind + " out, or a part of it.",
		Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: schema.Writes(s.db, func(f *schema.Form, p *PayoutRequest) {
			bindLeaseID(f, &p.LeaseID)
			bindAmount(f, &p.AmountCents, "how much, in cents (default: all of it)")
			f.DayPtr(&p.Day, "day", "when (default: today)", schema.Example("2026-11-20"), schema.Today)
			bindMethod(f, &p.Method)
		}, func(tx *db.Tx, p PayoutRequest) (Payout, error) { return payOut(tx, kind, p) }),
		Example: "rental return-" + kind + " 'Harbour House/2A' --amount-cents 40000 --method transfer",
		Did:     func(a any, m schema.Money) string { return m(a.(Payout).AmountCents) + " of " + kind + " is returned." },
		Will: schema.SaidIn(func(p Payout, m schema.Money) string {
			left := p.Totals.CreditCents
			if kind == "deposit" {
				left = p.Totals.DepositHeldCents
			}
			return fmt.Sprintf("%s of %s is returned; %s is left. The lease owes %s.", m(p.AmountCents), kind, m(left),
				m(p.Totals.BalanceCents))
		}),
		Thing: func(a any) string { return "the " + kind + " of " + leaseName(a.(Payout).Lease) },
		Leads: func(a any) string { return leasePath(a.(Payout).LeaseID) },
	}
}
