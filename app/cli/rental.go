package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"quartermaster/app/server"
	"quartermaster/rental"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

func (p *program) rentalCommand() *cobra.Command {
	return group("rental", "What leases owe: further charges, payments taken back, leases that end early", "",
		p.rentalChargeCommand(), p.rentalReverseCommand(), p.rentalEndCommand())
}

// withRental runs do with the rental service and with whom the command acts as.
func (p *program) withRental(ctx context.Context, do func(*rental.Service, db.Caller) error) error {
	return p.withDB(func(d *db.DB) error {
		who, err := p.actor(ctx, d, "rental")
		if err != nil {
			return err
		}
		return do(server.NewServices(d).Rental, who)
	})
}

func (p *program) rentalChargeCommand() *cobra.Command {
	var n rental.NewCharge
	var due string
	cmd := p.jsonFlag(p.acting(&cobra.Command{
		Use:   "charge LEASE_ID --type TYPE --amount CENTS --due DAY --label TEXT",
		Short: "Charge a lease for something besides its rent",
		Long: `Charge a lease for something besides its rent, which is posted by itself: a deposit, a
late fee, a repair. One of the same type, day and label is charged once.`,
		Example: `  quartermaster rental charge 4 --type late_fee --amount 2500 --due 2026-12-01 --label "Late fee for November"
  quartermaster rental charge 4 --type deposit --amount 190000 --due 2026-12-01 --label Deposit --as alice --json`,
		Args: cobra.ExactArgs(1),
		RunE: p.run(func(ctx context.Context, args []string) error {
			lease, err := idArg("LEASE_ID", args[0])
			if err != nil {
				return err
			}
			if err := oneOf("--type", n.Type, rental.SingleTypes...); err != nil {
				return err
			}
			if n.DueDate, err = dayFlag("--due", due); err != nil {
				return err
			}
			return p.withRental(ctx, func(s *rental.Service, who db.Caller) error {
				made, err := s.AddCharge(ctx, who, lease, n)
				if err != nil {
					return err
				}
				return p.print(made, func(w io.Writer) {
					fmt.Fprintf(w, "lease %d is charged %s\n%s", made.LeaseID, chargeLine(made.Charge), owes(made.LeaseID, made.Totals))
				})
			})
		}),
		ValidArgsFunction: cobra.NoFileCompletions,
	}))
	f := cmd.Flags()
	f.StringVar(&n.Type, "type", "", "deposit, late_fee, utility, repair or other")
	f.Int64Var(&n.AmountCents, "amount", 0, "how much, in cents")
	f.StringVar(&due, "due", "", "the day on which it is due, past or future")
	f.StringVar(&n.Label, "label", "", "what it is for, as the ledger shows it")
	for _, flag := range []string{"type", "amount", "due", "label"} {
		require(cmd, flag)
	}
	complete(cmd, "type", rental.SingleTypes)
	return cmd
}

func (p *program) rentalReverseCommand() *cobra.Command {
	var reason string
	cmd := p.jsonFlag(p.acting(&cobra.Command{
		Use:   "reverse-payment PAYMENT_ID --reason TEXT",
		Short: "Take a payment back: its charge is unpaid again",
		Long: `Take a payment back that bounced or was recorded by mistake: its charge is unpaid again.
The payment is kept, voided, with the reason. The answer to a payment, its event and the
audit trail tell its id.`,
		Example: `  quartermaster rental reverse-payment 9 --reason "the check bounced"`,
		Args:    cobra.ExactArgs(1),
		RunE: p.run(func(ctx context.Context, args []string) error {
			payment, err := idArg("PAYMENT_ID", args[0])
			if err != nil {
				return err
			}
			return p.withRental(ctx, func(s *rental.Service, who db.Caller) error {
				r, err := s.ReversePayment(ctx, who, payment, reason)
				if err != nil {
					return err
				}
				return p.print(r, func(w io.Writer) {
					fmt.Fprintf(w, "payment %d is reversed; unpaid again: %s\n%s", r.PaymentID, chargeLine(r.Charge), owes(r.LeaseID, r.Totals))
				})
			})
		}),
		ValidArgsFunction: cobra.NoFileCompletions,
	}))
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the audit trail")
	require(cmd, "reason")
	return cmd
}

func (p *program) rentalEndCommand() *cobra.Command {
	var date string
	cmd := p.jsonFlag(p.acting(&cobra.Command{
		Use:   "end-lease LEASE_ID --date DAY",
		Short: "End a lease earlier than was agreed",
		Long: `Make a day, which may lie in the past, the last one of a lease. Unpaid rent for later
periods is withdrawn and the period that the day cuts short is charged by its days; other
charges stay. Refused while rent that would have to go or to change is paid: reverse that
payment first. To let a lease run longer, import it with a later end_date.`,
		Example: `  quartermaster rental end-lease 4 --date 2026-12-14`,
		Args:    cobra.ExactArgs(1),
		RunE: p.run(func(ctx context.Context, args []string) error {
			lease, err := idArg("LEASE_ID", args[0])
			if err != nil {
				return err
			}
			last, err := dayFlag("--date", date)
			if err != nil {
				return err
			}
			return p.withRental(ctx, func(s *rental.Service, who db.Caller) error {
				done, err := s.EndLease(ctx, who, lease, last)
				if err != nil {
					return err
				}
				return p.print(done, func(w io.Writer) { tellEnding(w, done) })
			})
		}),
		ValidArgsFunction: cobra.NoFileCompletions,
	}))
	cmd.Flags().StringVar(&date, "date", "", "the lease's last day")
	require(cmd, "date")
	return cmd
}

func tellEnding(w io.Writer, done rental.Ending) {
	fmt.Fprintf(w, "the last day of lease %d is %s\n", done.Lease.ID, done.Lease.EndDate)
	for _, c := range done.Withdrawn {
		fmt.Fprintf(w, "withdrawn: %s\n", chargeLine(c))
	}
	if done.Cut != nil {
		fmt.Fprintf(w, "cut short: %s\n", chargeLine(*done.Cut))
	}
	fmt.Fprint(w, owes(done.Lease.ID, done.Totals))
}

// chargeLine is a charge for people: what it is for, when it is due, how much, and the
// id by which it is paid.
func chargeLine(c rental.Charge) string {
	return fmt.Sprintf("%s, due %s, %s (charge %d)", c.Label, c.DueDate, money(c.AmountCents), c.ID)
}

func owes(lease int64, t rental.Totals) string {
	return fmt.Sprintf("lease %d owes %s\n", lease, money(t.BalanceCents))
}

// dayFlag reads a flag's day; what is no calendar day is wrong usage.
func dayFlag(flag, text string) (exact.Day, error) {
	day, ok := exact.ParseDay(text)
	if !ok {
		return 0, usagef("%s: %q is not a calendar day; give YYYY-MM-DD", flag, text)
	}
	return day, nil
}
