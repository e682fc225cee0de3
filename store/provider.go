package store

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// ProviderSet says whether a provider's signing secret is stored; it is not shown again.
type ProviderSet struct {
	Provider  string `json:"provider" enum:"stripe,lemonsqueezy,polar"`
	SecretSet bool   `json:"secret_set"`
}

// setProviderSecret stores the secret with which a provider signs. It applies from the next request on, in a running
// server too. Refused: an empty secret.
func setProviderSecret(tx *db.Tx, provider, secret string) (ProviderSet, error) {
	t, _ := tillOf(provider)
	secret = strings.TrimSpace(secret)
	if secret == "" {
		return ProviderSet{}, fault.Fieldf("secret", "secret is empty: give the endpoint's signing secret from the "+
			"provider, %s", t.hint)
	}
	if err := schema.CheckText("secret", secret, 200); err != nil {
		return ProviderSet{}, err
	}
	set := ProviderSet{Provider: provider, SecretSet: true}
	tx.Do(
		"INSERT INTO store_providers (provider, secret) VALUES (?, ?) ON CONFLICT (provider) DO UPDATE SET secret = "+
			"excluded.secret", provider, secret)
	return set, tx.Audit("provider.secret", "provider:"+provider, set)
}

// unsetProvider removes a provider's secret: from the next request on its events are refused.
// Refused: one without a secret, as not found.
func unsetProvider(tx *db.Tx, provider string) (ProviderSet, error) {
	set := ProviderSet{Provider: provider}
	removed, err := tx.Exec("DELETE FROM store_providers WHERE provider = ?", provider)
	if err == nil && removed == 0 {
		err = fault.NotFoundf("no secret of %s is set", schema.Quote(provider))
	}
	if err != nil {
		return set, err
	}
	return set, tx.Audit("provider.secret", "provider:"+provider, set)
}

func providerSecret(c *db.Conn, provider string) (string, error) {
	secret, _, err := db.One(c, db.Text, "SELECT secret FROM store_providers WHERE provider = ?", provider)
	return secret, err
}

// mapped are the tills and exporters whose names for products are mapped to ours.
var mapped = []string{stripe, lemonSqueezy, polar, "gumroad", "edd", "keygen"}

// Link is what a provider's name for a product means: a payment link, a variant, a product.
type Link struct {
	Provider     string  `json:"provider" enum:"stripe,lemonsqueezy,polar,gumroad,edd,keygen"`
	Link         string  `json:"payment_link" about:"the provider's id of what is sold: of stripe a payment link, of lemonsqueezy a variant's id, of polar a product's or a benefit's id, of the others the product's name or id as their export has it"`
	SKU          string  `json:"sku"`
	Tier         *string `json:"tier"`
	TheirProduct *int64  `json:"their_product_id" about:"the product's number there, where it is another than that; null is none"`
}

// Mapped is a mapping, and how many payments it booked that waited for it.
type Mapped struct {
	Link
	Booked int `json:"booked" about:"payments that waited for this product and are booked now"`
}

// mapProvider maps a provider's name for a product to ours, for payments and imports that do not name ours, and books
// the payments that wait for it. A mapped name is mapped again; its product's number stays unless another is given.
// Refused: a payment link's address, an unknown sku, an unknown tier.
func mapProvider(tx *db.Tx, l Link) (m Mapped, err error) {
	if l.Provider == stripe && strings.Contains(l.Link, "/") {
		return m, fault.Fieldf("payment_link", "payment_link: %s is not the id of a payment link; Stripe shows it "+
			"as plink_...", schema.Quote(l.Link))
	}
	if m.Link, err = mapLink(tx, l); err != nil {
		return m, err
	}
	waiting, err := db.All(&tx.Conn, scanUnbooked, selectUnbooked+
		" WHERE provider = ? AND their_product = ? AND body IS NOT NULL ORDER BY provider_ref, refund", l.Provider, l.Link)
	if err != nil {
		return m, err
	}
	for _, u := range waiting {
		got, err := retry(tx, u)
		if err != nil {
			return m, err
		}
		if got.Booked {
			m.Booked++
		}
	}
	return m, nil
}

// mapLink stores a mapping; the one that was stored last is the newest of its product.
func mapLink(tx *db.Tx, l Link) (Link, error) {
	p, err := findProduct(&tx.Conn, l.SKU)
	if err != nil {
		return l, err
	}
	if err := p.takesTier(schema.Cell(l.Tier)); err != nil {
		return l, err
	}
	tx.Do(`INSERT INTO store_links (provider, link, product_id, tier, their_product, mapped_at) VALUES (?1, ?2,
		?3, ?4, ?5, max(?6, ifnull((SELECT max(mapped_at) + 1 FROM store_links), 0)))
		ON CONFLICT (provider, link) DO UPDATE SET product_id = excluded.product_id, tier = excluded.tier,
			their_product = ifnull(excluded.their_product, their_product), mapped_at = excluded.mapped_at`,
		l.Provider, l.Link, p.id, l.Tier, l.TheirProduct, tx.Now())
	if l, _, err = findLink(&tx.Conn, l.Provider, l.Link); err != nil {
		return l, err
	}
	return l, tx.Audit("provider.link", "provider:"+l.Provider, l)
}

const selectLink = "SELECT k.provider, k.link, p.sku, k.tier, k.their_product FROM store_links k JOIN store_products " +
	"p ON p.id = k.product_id"

func scanLink(r *db.Row) Link {
	return Link{Provider: r.Text(), Link: r.Text(), SKU: r.Text(), Tier: r.TextPtr(), TheirProduct: r.IntPtr()}
}

func findLink(c *db.Conn, provider, link string) (Link, bool, error) {
	return db.One(c, scanLink, selectLink+" WHERE k.provider = ? AND k.link = ?", provider, link)
}

// titleOf is a provider's own name: Stripe for stripe.
func titleOf(provider string) string {
	for _, t := range tills() {
		if t.name == provider {
			return t.title
		}
	}
	return provider
}

// Till is a provider as its page shows it.
type Till struct {
	Provider  string          `json:"provider" enum:"stripe,lemonsqueezy,polar"`
	Title     string          `json:"title"`
	Address   string          `json:"address" about:"where it is to send its events"`
	Events    []string        `json:"events" about:"what it is to send"`
	SecretSet bool            `json:"secret_set"`
	LastAt    *exact.Instant  `json:"last_at" about:"when its last good event came"`
	LastEvent *string         `json:"last_event" about:"which it was, since the server started"`
	RefusedAt *exact.Instant  `json:"refused_at" about:"when one was last refused, since the server started"`
	Refused   *string         `json:"refused" about:"why it was"`
	TestAt    *exact.Instant  `json:"test_at" about:"when an event of its test mode was last ignored, since the server started"`
	Products  []Link          `json:"products" about:"what its names for products sell here, the newest first"`
	Unmapped  []UnmappedTheir `json:"unmapped" about:"bought products that are not mapped yet"`
	Notes     []string        `json:"notes"`
}

// UnmappedTheir is a provider's name for a product that payments wait for.
type UnmappedTheir struct {
	TheirProduct string  `json:"their_product"`
	TheirName    *string `json:"their_name"`
	Payments     int64   `json:"payments"`
}

// TillList is every till.
type TillList struct {
	Providers []Till `json:"providers"`
}

// Tills tells how the providers whose events are understood are set up, and what they sent last.
func (s *Service) Tills(ctx context.Context) (TillList, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (list TillList, err error) {
		base, err := c.Setting(db.SettingAddress + ".store")
		if err != nil {
			return list, err
		}
		for _, t := range tills() {
			x := Till{Provider: t.name, Title: t.title, Address: base + "/providers/" + t.name + "/webhook", Events: t.events,
				Notes: t.notes}
			if x.Notes == nil {
				x.Notes = []string{}
			}
			s.memory.tills.onto(&x)
			if err := x.load(c); err != nil {
				return list, err
			}
			list.Providers = append(list.Providers, x)
		}
		return list, nil
	})
}

func (x *Till) load(c *db.Conn) error {
	secret, err := providerSecret(c, x.Provider)
	if err != nil {
		return err
	}
	x.SecretSet = secret != ""
	if x.LastAt == nil {
		if x.LastAt, _, err = db.One(c, (*db.Row).InstantPtr, "SELECT max(at) FROM store_provider_events WHERE provider = ?",
			x.Provider); err != nil {
			return err
		}
	}
	if x.Products, err = db.All(c, scanLink, selectLink+" WHERE k.provider = ? ORDER BY k.mapped_at DESC, k.link",
		x.Provider); err != nil {
		return err
	}
	x.Unmapped, err = db.All(c, func(r *db.Row) UnmappedTheir {
		return UnmappedTheir{TheirProduct: r.Text(), TheirName: r.TextPtr(), Payments: r.Int()}
	}, "SELECT their_product, max(their_name), count(*) FROM store_unbooked WHERE provider = ? AND cause = "+
		"'unknown_product' AND their_product IS NOT NULL "+
		"GROUP BY 1 ORDER BY 1", x.Provider)
	return err
}

// lastEvents are what providers sent last. What was refused, and what is not used, is written
// nowhere else.
type lastEvents struct {
	mu sync.Mutex
	by map[string]Till
}

func (l *lastEvents) set(provider string, change func(*Till)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string]Till{}
	}
	t := l.by[provider]
	change(&t)
	l.by[provider] = t
}

func (l *lastEvents) good(provider string, at exact.Instant, e incoming) {
	kind := e.kind
	if len(kind) > 100 {
		kind = kind[:100]
	}
	l.set(provider, func(t *Till) {
		t.LastAt, t.LastEvent = &at, &kind
		if e.test {
			t.TestAt = &at
		}
	})
}

func (l *lastEvents) refused(provider string, at exact.Instant, why string) {
	l.set(provider, func(t *Till) { t.RefusedAt, t.Refused = &at, &why })
}

func (l *lastEvents) onto(x *Till) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.by[x.Provider]
	x.LastAt, x.LastEvent, x.RefusedAt, x.Refused, x.TestAt = t.LastAt, t.LastEvent, t.RefusedAt, t.Refused, t.TestAt
}

// exampleTill stands in the documents.
func exampleTill() Till {
	kind, product := "order_created", int64(98765)
	name := "Echo Pro (EU)"
	return Till{
		Provider: lemonSqueezy, Title: "Lemon Squeezy", Address: "https://shop.example.com/providers/lemonsqueezy/webhook",
		Events: lemonSqueezyTill().events, SecretSet: true, LastAt: &exampleInstant, LastEvent: &kind,
		Notes:    lemonSqueezyTill().notes,
		Products: []Link{{Provider: lemonSqueezy, Link: "12345", TheirProduct: &product, SKU: "PLUGIN", Tier: &exampleTier}},
		Unmapped: []UnmappedTheir{{TheirProduct: strconv.Itoa(12346), TheirName: &name, Payments: 2}},
	}
}
