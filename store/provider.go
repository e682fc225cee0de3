package store

import (
	"context"
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

// Link is what a provider's payment link sells.
type Link struct {
	Provider string  `json:"provider" enum:"stripe"`
	Link     string  `json:"payment_link"`
	SKU      string  `json:"sku"`
	Tier     *string `json:"tier"`
}

// MapLink says which product a payment link sells, for payments whose metadata does
// not. A link that is mapped already is mapped anew. Refused: a provider other than
// stripe, an empty link, an unknown sku, a tier that it does not have.
func (s *Service) MapLink(ctx context.Context, who db.Caller, provider, link, sku, tier string) (Link, error) {
	if err := knownProvider(provider); err != nil {
		return Link{}, err
	}
	link = strings.TrimSpace(link)
	if link == "" || strings.Contains(link, "/") {
		return Link{}, fault.Fieldf("payment_link", "payment_link: %s is no payment link's id; Stripe shows it as plink_...", schema.Quote(link))
	}
	if err := schema.CheckText("payment_link", link, 200); err != nil {
		return Link{}, err
	}
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Link, error) {
		l := Link{Provider: provider, Link: link, SKU: sku, Tier: db.NullText(tier)}
		p, err := findProduct(&tx.Conn, sku)
		if err != nil {
			return l, err
		}
		if err := p.takesTier(tier); err != nil {
			return l, err
		}
		_, err = tx.Exec(`INSERT INTO store_links (provider, link, product_id, tier) VALUES (?, ?, ?, ?)
			ON CONFLICT (provider, link) DO UPDATE SET product_id = excluded.product_id, tier = excluded.tier`, provider, link, p.id, l.Tier)
		if err != nil {
			return l, err
		}
		return l, tx.Audit("provider.link", "provider:"+provider, l)
	})
}

func findLink(c *db.Conn, provider, link string) (Link, bool, error) {
	return db.One(c, func(r *db.Row) Link {
		return Link{Provider: provider, Link: link, SKU: r.Text(), Tier: r.TextPtr()}
	}, "SELECT p.sku, k.tier FROM store_links k JOIN store_products p ON p.id = k.product_id WHERE k.provider = ? AND k.link = ?", provider, link)
}
