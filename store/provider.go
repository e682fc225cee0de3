package store

import (
	"context"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// stripe is the provider whose webhook is understood.
const stripe = "stripe"

// ProviderSet says that a provider's signing secret is stored; it is not told again.
type ProviderSet struct {
	Provider  string `json:"provider" enum:"stripe"`
	SecretSet bool   `json:"secret_set"`
}

// SetProviderSecret stores the secret with which a provider signs what it sends. It
// holds from the next request on, in a running server too. Refused: a provider other
// than stripe, an empty secret.
func (s *Service) SetProviderSecret(ctx context.Context, who db.Caller, provider, secret string) (ProviderSet, error) {
	if err := knownProvider(provider); err != nil {
		return ProviderSet{}, err
	}
	secret = strings.TrimSpace(secret)
	if secret == "" {
		return ProviderSet{}, fault.Fieldf("secret", "secret is empty: give the signing secret that the provider shows for the endpoint, whsec_...")
	}
	if err := schema.CheckText("secret", secret, 200); err != nil {
		return ProviderSet{}, err
	}
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (ProviderSet, error) {
		set := ProviderSet{Provider: provider, SecretSet: true}
		_, err := tx.Exec("INSERT INTO store_providers (provider, secret) VALUES (?, ?) ON CONFLICT (provider) DO UPDATE SET secret = excluded.secret", provider, secret)
		if err != nil {
			return set, err
		}
		return set, tx.Audit("provider.secret", "provider:"+provider, set)
	})
}

func knownProvider(provider string) error {
	if provider != stripe {
		return fault.Fieldf("provider", "provider: %s is not allowed; it takes stripe", schema.Quote(provider))
	}
	return nil
}

func providerSecret(c *db.Conn, provider string) (string, error) {
	secret, _, err := db.One(c, db.Text, "SELECT secret FROM store_providers WHERE provider = ?", provider)
	return secret, err
}

// mapped are the tills and exporters whose names for products are mapped to ours.
var mapped = []string{stripe, "lemonsqueezy", "polar", "gumroad", "edd", "keygen"}

// Link is what a provider's name for a product means: a payment link, a variant, a product.
type Link struct {
	Provider     string  `json:"provider" enum:"stripe,lemonsqueezy,polar,gumroad,edd,keygen"`
	Link         string  `json:"payment_link" about:"the provider's name for what is sold: of stripe a payment link, of lemonsqueezy a variant's id, of polar a product's or a benefit's id, of the others the product's name or id as their export has it"`
	SKU          string  `json:"sku"`
	Tier         *string `json:"tier"`
	TheirProduct *int64  `json:"their_product_id" about:"the product's number there, where it is another than that; null is none"`
}

// MapLink says which product a provider's name for one means, for payments and imports that do not say
// it themselves. A name that is mapped already is mapped anew; its product's number stays unless another
// is given. Refused: another provider, an empty name, an unknown sku, a tier that it does not have.
func (s *Service) MapLink(ctx context.Context, who db.Caller, l Link) (Link, error) {
	if !slices.Contains(mapped, l.Provider) {
		return Link{}, fault.Fieldf("provider", "provider: %s is not allowed; it takes one of %s", schema.Quote(l.Provider), strings.Join(mapped, ", "))
	}
	l.Link = strings.TrimSpace(l.Link)
	switch {
	case l.Provider == stripe && (l.Link == "" || strings.Contains(l.Link, "/")):
		return Link{}, fault.Fieldf("payment_link", "payment_link: %s is no payment link's id; Stripe shows it as plink_...", schema.Quote(l.Link))
	case l.Link == "":
		return Link{}, fault.Fieldf("payment_link", "payment_link is empty: give the variant's or product's id, or its name, as %s has it", l.Provider)
	}
	if err := schema.CheckText("payment_link", l.Link, 200); err != nil {
		return Link{}, err
	}
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Link, error) {
		p, err := findProduct(&tx.Conn, l.SKU)
		if err != nil {
			return l, err
		}
		if err := p.takesTier(textOr(l.Tier, "")); err != nil {
			return l, err
		}
		_, err = tx.Exec(`INSERT INTO store_links (provider, link, product_id, tier, their_product, mapped_at) VALUES (?1, ?2, ?3, ?4, ?5, max(?6, ifnull((SELECT max(mapped_at) + 1 FROM store_links), 0)))
			ON CONFLICT (provider, link) DO UPDATE SET product_id = excluded.product_id, tier = excluded.tier,
				their_product = ifnull(excluded.their_product, their_product), mapped_at = excluded.mapped_at`,
			l.Provider, l.Link, p.id, l.Tier, l.TheirProduct, tx.Now())
		if err != nil {
			return l, err
		}
		if l, _, err = findLink(&tx.Conn, l.Provider, l.Link); err != nil {
			return l, err
		}
		return l, tx.Audit("provider.link", "provider:"+l.Provider, l)
	})
}

func findLink(c *db.Conn, provider, link string) (Link, bool, error) {
	return db.One(c, func(r *db.Row) Link {
		return Link{Provider: provider, Link: link, SKU: r.Text(), Tier: r.TextPtr(), TheirProduct: r.IntPtr()}
	}, "SELECT p.sku, k.tier, k.their_product FROM store_links k JOIN store_products p ON p.id = k.product_id WHERE k.provider = ? AND k.link = ?", provider, link)
}
