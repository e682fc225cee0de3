package rental

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// maxBooked is how many lines are settled at once.
const maxBooked = 2000

// exampleBankLines are what the documents show of a bank's lines.
func exampleBankLines() BankLines {
	l := BankLine{ID: 61, Account: "Rent account", Day: exampleDay("2026-11-03"), AmountCents: 125_000,
		PayerName: "E. Martin", PayerAccount: "FR7630006000011234567890189",
		Text: "November", Reference: "RF10L000004", BankReference: "2026110312", State: lineFree, Match: new(certain),
		Act: new(actPayment), ParentID: new(int64(60)),
		PaymentIDs: []int64{9}, PayoutIDs: []int64{3}, ExpenseIDs: []int64{2}, Reason: new("own money"),
		BookedOn: new(exampleDay("2027-01-01")),
		Candidates: []BankCandidate{{LeaseID: new(int64(4)), ExpenseID: new(int64(2)), PayoutID: new(int64(3)),
			Lease: "Harbour House / 2A, E. Martin", PaymentIDs: []int64{9},
			Evidence: []string{"it has the reference RF10L000004"}}}}
	return BankLines{Lines: []BankLine{l}, Next: new(int64(61)), Total: 73}
}

// bankOp is what the operations on lines have in common.
func bankOp(op schema.Op) schema.Op {
	op.Writes, op.Response = true, exampleBankLines()
	op.Refuses = []fault.Kind{fault.NotFound, fault.Conflict}
	if op.Leads == nil {
		op.Leads = func(any) string { return "/bank" }
	}
	return op
}

// bindLine binds the one line of an operation.
func bindLine(f *schema.Form, p *int64) {
	f.ID(p, "line_id", "the bank's line", schema.Required, schema.Positional("LINE"), schema.Example(61),
		schema.Choices(lineChoices))
}

// didLines says how many lines an operation settled.
func didLines(one, many string) func(any, schema.Money) string {
	return schema.Said(func(done BankLines) string { return exact.Plural(len(done.Lines), one, many) })
}

func bindLines(f *schema.Form, p *[]int64) {
	f.IDs(p, "line_id", "the bank's lines", maxBooked, schema.Required, schema.Positional("LINE"),
		schema.Example([]int64{61}))
}

func (s *Service) bookLines() schema.Op {
	return bankOp(schema.Op{
		Name: "book_lines",
		About: "Book bank lines as payments of leases, each on its day, or link them with recorded payments. " +
			"A line without a lease is booked by its match. certain books all certain lines.",
		Bind: func(f *schema.Form) schema.Handler {
			var b Bookings
			opts := []schema.Opt{schema.Flag("line"), schema.Written(writtenBooking)}
			if f.Surface() == schema.Command {
				opts = append(opts, schema.Positional("LINE=LEASE"))
			}
			f.Objects("lines", "the lines", maxBooked, func(f *schema.Form) {
				var one Booking
				var lease int64
				f.ID(&one.LineID, "line_id", "the bank's line", schema.Required, schema.Example(61), schema.Choices(lineChoices))
				f.ID(&lease, "lease_id",
					"the lease that paid (default: the matched one)", schema.Example(4), schema.Lookup(lookupLease),
					schema.Choices(leaseChoices))
				f.IDs(&one.PaymentIDs, "payment_id", "the recorded payments to link with", 20, schema.Example([]int64{9}))
				one.LeaseID = db.NullID(lease)
				b.Lines = append(b.Lines, one)
			}, opts...)
			f.Bool(&b.Certain, "certain", "all lines that are certain")
			missing := "lines is missing: name lines, or pass certain for all certain ones"
			if f.Surface() == schema.Page {
				var marked []int64
				f.IDs(&marked, "line_id", "the marked lines", maxBooked)
				f.Text(&b.Match, "match", "instead of lines: all certain ones that match these filters",
					schema.Label("All that match"))
				for _, id := range marked {
					b.Lines = append(b.Lines, Booking{LineID: id})
				}
				missing = "mark at least one line"
			}
			if !f.Describing() && len(b.Lines) == 0 && !b.Certain && b.Match == "" {
				f.Refuse("lines", "%s", missing)
			}
			return func(ctx context.Context, who db.Caller) (any, error) {
				return db.Update(ctx, s.db, who, func(tx *db.Tx) (BankLines, error) { return bookLines(tx, b) })
			}
		},
		Example: "rental bank book --certain\nrental bank book 61=4 62=\"Harbour House/2A\"",
		Did: schema.SaidIn(func(done BankLines, m schema.Money) string {
			var sum int64
			moved := ""
			for _, l := range done.Lines {
				if sum += l.AmountCents; l.BookedOn != nil {
					moved = fmt.Sprintf(" Those of a closed year are dated %s, the first open day.", l.BookedOn)
				}
			}
			if len(done.Lines) == 0 {
				return "No certain line is left to book; somebody may have booked them meanwhile."
			}
			return fmt.Sprintf("%s, %s.%s", exact.Plural(len(done.Lines), "line is booked", "lines are booked"), m(sum), moved)
		}),
		Undo: freeAgain,
	})
}

// freeAgain frees the one line that was settled.
func freeAgain(a any) *schema.Undo {
	lines := a.(BankLines).Lines
	if len(lines) != 1 {
		return nil
	}
	return &schema.Undo{Op: "free_line", Label: "Free it", Fields: map[string]string{
		"line_id": strconv.FormatInt(lines[0].ID, 10), "reason": "settled by mistake"}}
}

// writtenBooking reads LINE=LEASE, or a line alone.
func writtenBooking(text string) (map[string]string, error) {
	line, lease, found := strings.Cut(text, "=")
	cells := map[string]string{"line_id": strings.TrimSpace(line)}
	if found {
		cells["lease_id"] = strings.TrimSpace(lease)
	}
	return cells, nil
}

func (s *Service) linkLinesOp() schema.Op {
	return bankOp(schema.Op{
		Name:  "link_lines",
		About: "Link bank lines with recorded payments, expenses or payouts. Both sums must be equal; nothing is booked.",
		Bind: schema.Writes(s.db, func(f *schema.Form, k *Link) {
			bindLines(f, &k.LineIDs)
			f.IDs(&k.PaymentIDs, "payment_id", "the payments", 20, schema.Example([]int64{9}))
			f.IDs(&k.ExpenseIDs, "expense_id", "the expenses, instead of payments", 20)
			f.IDs(&k.PayoutIDs, "payout_id", "the payouts, instead of payments", 20)
		}, linked),
		Example: "rental bank link 61 --payment-id 9",
		Did:     didLines("line is linked.", "lines are linked."),
		Undo:    freeAgain,
	})
}

func (s *Service) splitLineOp() schema.Op {
	return bankOp(schema.Op{
		Name: "split_line",
		About: "Split a bank line into parts: one payment for two leases, a return with a fee. The parts have the line's " +
			"sign and sum.",
		Bind: schema.Writes2(s.db, func(f *schema.Form, line *int64, amounts *[]int64) {
			var texts []string
			bindLine(f, line)
			f.Texts(&texts, "amounts", "the parts, in cents", 50, 20, schema.Required, schema.Positional("CENTS"),
				schema.Help("One amount on each line; together they are the line's amount"), schema.Example([]string{"95000", "95000"}))
			*amounts = f.Cents("amounts", texts)
		}, splitLine),
		Example: "rental bank split 61 95000 95000",
		Did: func(a any, _ schema.Money) string {
			return fmt.Sprintf("The line has %d parts.", len(a.(BankLines).Lines)-1)
		},
	})
}

func (s *Service) bookReturn() schema.Op {
	return bankOp(schema.Op{
		Name: "book_return", Destructive: true,
		About: "Reverse a payment that the bank returned; the line is minus its amount. What it had paid is open again.",
		Bind: schema.Writes2(s.db, func(f *schema.Form, line, payment *int64) {
			bindLine(f, line)
			f.ID(payment, "payment_id", "the payment that was returned", schema.Required, schema.Positional("PAYMENT"),
				schema.Choices(paymentChoices),
				schema.Example(9))
		}, bookReturn),
		Example: "rental bank return 61 9",
		Did: func(a any, m schema.Money) string {
			return fmt.Sprintf("The payment of %s is reversed.", m(-a.(BankLines).Lines[0].AmountCents))
		},
		Will: func(a any, m schema.Money) string {
			l := a.(BankLines).Lines[0]
			return fmt.Sprintf("Payment %s of %s is reversed; what it had paid is open again.", joinIDs(l.PaymentIDs),
				m(-l.AmountCents))
		},
	})
}

func (s *Service) ignoreLines() schema.Op {
	return bankOp(schema.Op{
		Name:  "ignore_lines",
		About: "Settle bank lines that do not concern the houses, with a reason.",
		Bind: schema.Writes2(s.db, func(f *schema.Form, lines *[]int64, reason *string) {
			bindLines(f, lines)
			f.Text(reason, "reason", "why", schema.Required, schema.Most(maxText), schema.Example("my own money"))
		}, ignoreLines),
		Example: `rental bank ignore 61 62 --reason "my own money"`,
		Did:     didLines("line is ignored.", "lines are ignored."),
		Undo:    freeAgain,
	})
}

func (s *Service) freeLineOp() schema.Op {
	return bankOp(schema.Op{
		Name: "free_line", Destructive: true,
		About: "Undo the settling of a bank line: its booked payment is reversed, its link ends, its free parts are " +
			"joined again.",
		Bind: schema.Writes2(s.db, func(f *schema.Form, line *int64, reason *string) {
			bindLine(f, line)
			f.Text(reason, "reason", "why, for the history", schema.Required, schema.Most(maxText),
				schema.Example("another tenant's"))
		}, unsettle),
		Example: `rental bank free 61 --reason "another tenant's"`,
		Thing: func(a any) string {
			l := a.(BankLines).Lines[0]
			return "the line of " + strings.TrimSpace(l.PayerName+" ") + ", " + l.Day.Words()
		},
		Did: didLines("line is free again.", "lines are free again."),
		Will: func(a any, m schema.Money) string {
			all := a.(BankLines).Lines
			text := "1 line is free again:"
			if len(all) > 1 {
				text = fmt.Sprintf("%d lines are free again. The first is of", len(all))
			}
			return fmt.Sprintf("%s %s, %s. A payment or an expense that it booked is reversed.", text, all[0].Day,
				m(all[0].AmountCents))
		},
	})
}
