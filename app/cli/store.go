package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"quartermaster/app/server"
	"quartermaster/schema/db"
	"quartermaster/store"
)

func (p *program) storeCommand() *cobra.Command {
	return group("store", "Run the store: orders, licenses, codes, payment providers, settings", "",
		p.storeOrderCommand(), p.licenseCommand(), p.codesCommand(), p.providerCommand(), p.storeSettingsCommand())
}

// withStore runs do with the store and with whom the command acts as.
func (p *program) withStore(ctx context.Context, do func(*store.Service, db.Caller) error) error {
	return p.withDB(func(d *db.DB) error {
		who, err := p.actor(ctx, d, "store")
		if err != nil {
			return err
		}
		return do(server.NewServices(d).Store, who)
	})
}

func (p *program) storeOrderCommand() *cobra.Command {
	return group("order", "Record and refund orders", "",
		p.recordCommand(), p.refundCommand())
}

func (p *program) recordCommand() *cobra.Command {
	var n store.NewOrder
	var total int64
	cmd := p.jsonFlag(p.acting(&cobra.Command{
		Use:   "record",
		Short: "Record a paid order, and issue its licenses",
		Long: `Record a paid order and issue one license per licensed unit; order.paid is fired. The
same --provider and --provider-ref recorded twice is one order.`,
		Example: `  quartermaster store order record --email ann@example.org --sku PLUGIN
  quartermaster store order record --email ann@example.org --sku PLUGIN --tier pro --qty 2 --total 9800 --currency EUR --provider paypal --provider-ref 8XY12345`,
		Args: noArgs,
	}))
	f := cmd.Flags()
	f.StringVar(&n.Email, "email", "", "the buyer's address (required)")
	f.StringVar(&n.Name, "name", "", "the buyer's name")
	f.StringVar(&n.SKU, "sku", "", "what was bought (required)")
	f.StringVar(&n.Tier, "tier", "", "one of the product's tiers")
	f.Int64Var(&n.Qty, "qty", 1, "how many")
	f.Int64Var(&total, "total", 0, "what was paid in all, in cents (default: the product's price for each)")
	f.StringVar(&n.Currency, "currency", "", "ISO 4217 (default: the shop's)")
	f.StringVar(&n.Provider, "provider", "", "who took the payment (default manual)")
	f.StringVar(&n.ProviderRef, "provider-ref", "", "the payment's reference there (default: the order's own)")
	require(cmd, "email")
	require(cmd, "sku")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("total") {
			n.Total = &total
		}
		if cmd.Flags().Changed("qty") && n.Qty < 1 {
			return usagef("--qty: %d is not a number of at least 1", n.Qty)
		}
		return p.run(func(ctx context.Context, _ []string) error {
			return p.withStore(ctx, func(s *store.Service, who db.Caller) error {
				made, err := s.RecordOrder(ctx, who, n)
				if err != nil {
					return err
				}
				return p.print(made, func(w io.Writer) {
					was := ""
					if made.AlreadyRecorded {
						was = ", on record already: nothing was done"
					}
					fmt.Fprintf(w, "%s: %s %s%s\n", made.OrderRef, money(made.TotalCents), made.Currency, was)
					for _, l := range made.Licenses {
						fmt.Fprintln(w, l.Key)
					}
				})
			})
		})(cmd, args)
	}
	return cmd
}

func (p *program) refundCommand() *cobra.Command {
	var amount int64
	cmd := p.jsonFlag(p.acting(&cobra.Command{
		Use:   "refund ORDER_REF",
		Short: "Refund an order in full, or by an amount",
		Long: `Refund an order in full, which revokes its licenses, or by --amount, which leaves them.
Never more than was paid.`,
		Example: `  quartermaster store order refund ORD-0123456789
  quartermaster store order refund ORD-0123456789 --amount 500`,
		Args: cobra.ExactArgs(1),
	}))
	cmd.Flags().Int64Var(&amount, "amount", 0, "cents to give back (default: all that is left)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var part *int64
		if cmd.Flags().Changed("amount") {
			part = &amount
		}
		return p.run(func(ctx context.Context, args []string) error {
			return p.withStore(ctx, func(s *store.Service, who db.Caller) error {
				o, err := s.RefundOrder(ctx, who, args[0], part)
				if err != nil {
					return err
				}
				return p.print(o, func(w io.Writer) {
					fmt.Fprintf(w, "%s: %s, %s of %s %s refunded\n", o.OrderRef, o.Status, money(o.RefundedCents), money(o.TotalCents), o.Currency)
				})
			})
		})(cmd, args)
	}
	return cmd
}

func (p *program) licenseCommand() *cobra.Command {
	var acts []*cobra.Command
	for _, act := range []struct {
		name, short string
		do          func(*store.Service, context.Context, db.Caller, int64) (store.License, error)
	}{
		{"suspend", "Suspend a license; resume lifts it", (*store.Service).SuspendLicense},
		{"resume", "Lift a license's suspension", (*store.Service).ResumeLicense},
		{"revoke", "Revoke a license for good", (*store.Service).RevokeLicense},
	} {
		acts = append(acts, p.jsonFlag(p.acting(&cobra.Command{
			Use: act.name + " ID", Short: act.short, Args: cobra.ExactArgs(1),
			Example: "  quartermaster store license " + act.name + " 12",
			RunE: p.run(func(ctx context.Context, args []string) error {
				id, err := idArg("ID", args[0])
				if err != nil {
					return err
				}
				return p.withStore(ctx, func(s *store.Service, who db.Caller) error {
					l, err := act.do(s, ctx, who, id)
					if err != nil {
						return err
					}
					return p.print(l, func(w io.Writer) { fmt.Fprintf(w, "license %d: %s\n", l.ID, l.Status) })
				})
			}),
		})))
	}
	return group("license", "Suspend, resume and revoke licenses", "", acts...)
}

func (p *program) codesCommand() *cobra.Command {
	return group("codes", "Void redeem codes", "",
		p.jsonFlag(p.acting(&cobra.Command{
			Use:     "void BATCH",
			Short:   "Void the codes of a batch that are unused",
			Example: "  quartermaster store codes void launch-2026",
			Args:    cobra.ExactArgs(1),
			RunE: p.run(func(ctx context.Context, args []string) error {
				return p.withStore(ctx, func(s *store.Service, who db.Caller) error {
					v, err := s.VoidBatch(ctx, who, args[0])
					if err != nil {
						return err
					}
					return p.print(v, func(w io.Writer) { fmt.Fprintf(w, "batch %s: %d codes voided\n", v.Batch.Batch, v.Voided) })
				})
			}),
		})))
}

func (p *program) providerCommand() *cobra.Command {
	return group("provider", "Set up who sends payments in", "",
		p.providerSetCommand(), p.providerMapCommand(), p.providerDismissCommand())
}

func (p *program) providerSetCommand() *cobra.Command {
	var secret string
	cmd := p.jsonFlag(p.acting(&cobra.Command{
		Use:     "set PROVIDER",
		Short:   "Store the secret with which a provider signs; it holds at once",
		Example: "  quartermaster store provider set stripe --secret whsec_...",
		Args:    cobra.ExactArgs(1),
		RunE: p.run(func(ctx context.Context, args []string) error {
			if err := oneOf("PROVIDER", args[0], "stripe"); err != nil {
				return err
			}
			return p.withStore(ctx, func(s *store.Service, who db.Caller) error {
				set, err := s.SetProviderSecret(ctx, who, args[0], secret)
				if err != nil {
					return err
				}
				return p.print(set, func(w io.Writer) { fmt.Fprintf(w, "%s: the secret is set\n", set.Provider) })
			})
		}),
	}))
	cmd.Flags().StringVar(&secret, "secret", "", "the endpoint's signing secret (required)")
	require(cmd, "secret")
	return cmd
}

func (p *program) providerMapCommand() *cobra.Command {
	var tier string
	cmd := p.jsonFlag(p.acting(&cobra.Command{
		Use:     "map PROVIDER PAYMENT_LINK SKU",
		Short:   "Say which product a payment link sells",
		Example: "  quartermaster store provider map stripe plink_1Abc PLUGIN --tier pro",
		Args:    cobra.ExactArgs(3),
		RunE: p.run(func(ctx context.Context, args []string) error {
			if err := oneOf("PROVIDER", args[0], "stripe"); err != nil {
				return err
			}
			return p.withStore(ctx, func(s *store.Service, who db.Caller) error {
				l, err := s.MapLink(ctx, who, args[0], args[1], args[2], tier)
				if err != nil {
					return err
				}
				return p.print(l, func(w io.Writer) { fmt.Fprintf(w, "%s sells %s\n", l.Link, l.SKU) })
			})
		}),
	}))
	cmd.Flags().StringVar(&tier, "tier", "", "one of the product's tiers")
	return cmd
}

func (p *program) providerDismissCommand() *cobra.Command {
	return p.jsonFlag(p.acting(&cobra.Command{
		Use:     "dismiss PROVIDER PAYMENT",
		Short:   "Take a payment that could not be booked off doctor's list",
		Long:    "Take a payment that could not be booked, and has nothing to do with the store, off doctor's list.",
		Example: "  quartermaster store provider dismiss stripe pi_3Abc",
		Args:    cobra.ExactArgs(2),
		RunE: p.run(func(ctx context.Context, args []string) error {
			return p.withStore(ctx, func(s *store.Service, who db.Caller) error {
				d, err := s.DismissPayment(ctx, who, args[0], args[1])
				if err != nil {
					return err
				}
				return p.print(d, func(w io.Writer) { fmt.Fprintf(w, "%s %s: dismissed (%s)\n", d.Provider, d.ProviderRef, d.Reason) })
			})
		}),
	}))
}

func (p *program) storeSettingsCommand() *cobra.Command {
	var currency string
	cmd := p.jsonFlag(p.acting(&cobra.Command{
		Use:     "settings",
		Short:   "Show or change the store's settings",
		Example: "  quartermaster store settings --currency EUR",
		Args:    noArgs,
	}))
	cmd.Flags().StringVar(&currency, "currency", "", "the shop's default currency (ISO 4217)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return p.run(func(ctx context.Context, _ []string) error {
			return p.withStore(ctx, func(s *store.Service, who db.Caller) error {
				set, err := s.Settings(ctx)
				if cmd.Flags().Changed("currency") {
					set, err = s.SetCurrency(ctx, who, currency)
				}
				if err != nil {
					return err
				}
				return p.print(set, func(w io.Writer) { fmt.Fprintf(w, "currency: %s\n", set.Currency) })
			})
		})(cmd, args)
	}
	return cmd
}
