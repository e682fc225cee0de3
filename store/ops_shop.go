package store

import (
	"context"
	"fmt"
	"io"
	"math"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

func (s *Service) setProvider() schema.Op {
	return schema.Op{
		Name: "set_provider", About: "Save the secret with which a provider signs its events. It applies at once.",
		Writes: true, Admin: true, Response: ProviderSet{Provider: stripe, SecretSet: true},
		Example: "store provider set stripe --secret whsec_...",
		Print:   schema.Printed(func(w io.Writer, p ProviderSet) { fmt.Fprintf(w, "%s: the secret is set\n", p.Provider) }),
		Did:     schema.Said(func(p ProviderSet) string { return fmt.Sprintf("The secret of %s is set.", titleOf(p.Provider)) }),
		Leads:   leadsToProviders,
		Bind: schema.Writes2(s.db, func(f *schema.Form, provider *string, secret *string) {
			bindTill(f, provider)
			f.Text(secret, "secret", "the endpoint's signing secret", schema.Required, schema.Secret, schema.Most(200),
				schema.Example("whsec_..."),
				schema.Help("The provider shows it when you enter the address of Payment providers, in Settings, there."))
		}, setProviderSecret),
	}
}

func (s *Service) unsetProvider() schema.Op {
	return schema.Op{
		Name: "unset_provider", About: "Remove a provider's secret. Its events are refused from then on.",
		Writes: true, Admin: true, Destructive: true, Response: ProviderSet{Provider: polar},
		Refuses: []fault.Kind{fault.NotFound},
		Example: "store provider unset polar",
		Print: schema.Printed(func(w io.Writer, p ProviderSet) {
			fmt.Fprintf(w, "%s: the secret is removed\n", p.Provider)
		}),
		Did: schema.Said(func(p ProviderSet) string { return fmt.Sprintf("The secret of %s is removed.", titleOf(p.Provider)) }),
		Will: schema.Said(func(p ProviderSet) string {
			return fmt.Sprintf("The secret of %s will be removed. Its events are refused from then on, and its payments are "+
				"not booked.", p.Provider)
		}),
		Leads: leadsToProviders,
		Bind:  schema.Writes(s.db, bindTill, unsetProvider),
	}
}

func leadsToProviders(any) string { return "/providers" }

func bindTill(f *schema.Form, provider *string) {
	f.Enum(provider, "provider", "the payment provider", tillNames(), schema.Required, schema.Positional("PROVIDER"))
}

func (s *Service) mapProvider() schema.Op {
	return schema.Op{
		Name: "map_provider", About: "Map a provider's payment link, variant or product name to a product, for payments " +
			"and imported licenses.",
		Writes: true, Admin: true, Response: Mapped{Link: Link{Provider: stripe, Link: "plink_1Abc", SKU: "PLUGIN",
			Tier: &exampleTier}, Booked: 1},
		Example: "store provider map stripe plink_1Abc PLUGIN --tier pro\nstore provider map lemonsqueezy 12345 PLUGIN " +
			"--their-product-id 678",
		Print: schema.Printed(func(w io.Writer, m Mapped) {
			fmt.Fprintf(w, "%s sells %s\n", m.Link.Link, m.SKU)
			if m.Booked > 0 {
				fmt.Fprintf(w, "booked: %s that waited for it\n", exact.Plural(m.Booked, "payment", "payments"))
			}
		}),
		Did: schema.Said(func(m Mapped) string {
			text := fmt.Sprintf("The name %s of %s means %s here.", m.Link.Link, m.Provider, m.SKU)
			if m.Provider == stripe {
				text = fmt.Sprintf("The payment link %s sells %s.", m.Link.Link, m.SKU)
			}
			if m.Booked > 0 {
				text += fmt.Sprintf(" Booked: %s that waited for it.", exact.Plural(m.Booked, "payment", "payments"))
			}
			return text
		}),
		Leads: leadsToProviders,
		Bind: schema.Writes(s.db, func(f *schema.Form, l *Link) {
			var tier string
			f.Enum(&l.Provider, "provider", "the payment provider", mapped, schema.Required, schema.Positional("PROVIDER"))
			f.Text(&l.Link, "payment_link", "the id of a payment link, variant or product there, or a product's name",
				schema.Required, schema.Most(200), schema.Positional("PAYMENT_LINK"), schema.Label("Name there"),
				schema.Example("plink_1Abc"))
			f.Text(&l.SKU, "sku", "the product that it means", schema.Required, schema.Most(200), schema.Positional("SKU"),
				schema.Label("Product"), schema.Choices(anyProduct), schema.Example("PLUGIN"))
			f.Text(&tier, "tier", "one of the product's tiers", schema.Most(200), schema.Example("pro"))
			f.IntPtr(&l.TheirProduct, "their_product_id", "the product's number there, beside a variant's",
				schema.Range(1, math.MaxInt64), schema.Label("Product number there"), schema.Rare, schema.Example(678))
			l.Tier = db.NullText(tier)
		}, mapProvider),
	}
}

func (s *Service) listProviders() schema.Op {
	return schema.Op{
		Name: "list_providers",
		About: "The supported payment providers: the address for their events, which events to choose, " +
			"whether the secret is set, what arrived last, and which products are mapped.",
		Response: TillList{Providers: []Till{exampleTill()}}, Example: "store provider list",
		Print: schema.Printed(func(w io.Writer, l TillList) {
			schema.Tabulate(w, "PROVIDER|SECRET|ADDRESS|LAST EVENT|MAPPED|UNMAPPED", l.Providers, func(t Till) []any {
				last := ""
				if t.LastAt != nil {
					last = t.LastAt.String()
				}
				return []any{t.Provider, map[bool]string{true: "set", false: "not set"}[t.SecretSet], t.Address, last,
					len(t.Products), len(t.Unmapped)}
			})
		}),
		Bind: schema.Asks(s.Tills),
	}
}

func (s *Service) retryPayment() schema.Op {
	ref := exampleRef
	return schema.Op{
		Name: "retry_payment", About: "Book a payment that could not be booked, after its cause is fixed.",
		Writes: true, Response: Retried{Provider: stripe, ProviderRef: "pi_3Abc", Booked: true, OrderRef: &ref,
			Detail: "recorded as order " + exampleRef},
		Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Example: "store provider retry stripe pi_3Abc",
		Print: schema.Printed(func(w io.Writer, r Retried) {
			fmt.Fprintf(w, "%s %s: %s\n", r.Provider, r.ProviderRef, r.Detail)
		}),
		Did: schema.Said(func(r Retried) string {
			if r.Booked {
				return fmt.Sprintf("The payment %s is settled: %s.", r.ProviderRef, r.Detail)
			}
			return fmt.Sprintf("Nothing changed: %s.", r.Detail)
		}),
		Leads: schema.Of(func(r Retried) string {
			if r.OrderRef != nil {
				return orderLeads(*r.OrderRef)
			}
			return "/unbooked"
		}),
		Bind: schema.Writes2(s.db, bindPayment, retryPayment),
	}
}

// bindPayment binds what names a payment that could not be booked.
func bindPayment(f *schema.Form, provider, ref *string) {
	f.Text(provider, "provider",
		"the payment provider", schema.Required, schema.Most(32), schema.Positional("PROVIDER"), schema.Example(stripe))
	f.Text(ref, "provider_ref", "the payment's name there", schema.Required, schema.Most(200),
		schema.Positional("PAYMENT"), schema.Label("Payment"), schema.Example("pi_3Abc"))
}

func (s *Service) dismissPayment() schema.Op {
	return schema.Op{
		Name: "dismiss_payment", About: "Dismiss a payment that could not be booked and does not concern the store.",
		Writes: true, Destructive: true, Response: Dismissed{Provider: stripe, ProviderRef: "pi_3Abc",
			Reason: "its metadata has no sku"}, Refuses: []fault.Kind{fault.NotFound},
		Example: "store provider dismiss stripe pi_3Abc",
		Print: schema.Printed(func(w io.Writer, d Dismissed) {
			fmt.Fprintf(w, "%s %s: dismissed (%s)\n", d.Provider, d.ProviderRef, d.Reason)
		}),
		Did: schema.Said(func(d Dismissed) string {
			return fmt.Sprintf("The payment %s of %s is dismissed.", d.ProviderRef, d.Provider)
		}),
		Will: schema.Said(func(d Dismissed) string {
			return fmt.Sprintf("The payment %s of %s will be dismissed without an order. It could not be booked: %s.",
				d.ProviderRef, d.Provider, d.Reason)
		}),
		Bind: schema.Writes2(s.db, bindPayment, dismissPayment),
	}
}

func (s *Service) listUnbooked() schema.Op {
	email, cents, currency := "ann@example.com", int64(4900), "USD"
	example := Unbooked{
		Provider: stripe, Ref: "pi_3Abc", Event: "evt_1Abc", Cause: causeNoProduct, Reason: "its metadata has no sku",
		At:         exampleInstant,
		BuyerEmail: &email, AmountCents: &cents, Currency: &currency,
	}
	example.Remedy = example.whatToDo()
	return schema.Op{
		Name: "list_unbooked", About: "Payments that could not be booked, oldest first, each with how to fix it.",
		Response: UnbookedList{Payments: []Unbooked{example}},
		Example:  "store unbooked",
		Print: schema.Printed(func(w io.Writer, l UnbookedList) {
			for _, u := range l.Payments {
				fmt.Fprintf(w, "%s %s %s\n", u.At, inKind(u.Refund), u.Remedy)
			}
		}),
		Bind: schema.Asks(s.Unbooked),
	}
}

func inKind(refund bool) string {
	if refund {
		return "refund"
	}
	return "payment"
}

// CurrencyOp sets the whole shop's currency: the pages of every service have it, the command is the store's.
func (s *Service) CurrencyOp() schema.Op {
	return schema.Op{
		Name: "set_currency", About: "Set the shop's currency. Existing orders keep theirs.",
		Writes: true, Admin: true, Whole: true, Response: Settings{Currency: "EUR"},
		Example: "store settings --currency EUR",
		Print:   schema.Printed(func(w io.Writer, set Settings) { fmt.Fprintf(w, "currency: %s\n", set.Currency) }),
		Did:     schema.Said(func(set Settings) string { return fmt.Sprintf("The shop's currency is %s.", set.Currency) }),
		Leads:   func(any) string { return "/settings" },
		Bind: func(f *schema.Form) schema.Handler {
			var currency string
			var opts []schema.Opt
			if f.Surface() == schema.Page {
				opts = append(opts, schema.Required)
			}
			f.Text(&currency, "currency", "the currency of new orders, rents and costs (ISO 4217)",
				append(opts, schema.Most(200), schema.Example("EUR"), schema.Choices(schema.Currencies), schema.Any,
					schema.Help("New orders, rents and costs are in it."))...)
			given := f.Given("currency")
			return func(ctx context.Context, who db.Caller) (any, error) {
				if !given {
					return s.Settings(ctx)
				}
				return s.SetCurrency(ctx, who, currency)
			}
		},
	}
}
