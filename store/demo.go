package store

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// demoSeed makes the demo's choices the same each time, except for keys and codes, which are random.
const demoSeed = 20261120

var (
	demoBuyers = []string{
		"Ada Moreau", "Ben Okafor", "Chiara Conti", "Dmitri Volkov", "Elena Ruiz", "Farid Haddad", "Greta Lind", "Hugo Martin",
		"Ines Sousa", "Jonas Weber", "Keiko Tanaka", "Liam Byrne", "Maja Novak", "Noor Rahman", "Oscar Nilsson", "Priya Nair",
	}
	demoFirst = strings.Fields("Alba Bruno Carla Dieter Emma Felix Gwen Henrik Iris Julien Karin Luca Mona Nils Olga Pedro " +
		"Rosa Sami Tessa Viktor")
	demoLast = strings.Fields("Adler Berg Costa Dubois Eklund Ferrari Garnier Holm Ivanov Jensen Keller Lopez Marek Nowak " +
		"Olsen Petit Rossi Silva Turner Vogel Wagner Young Ziegler")
)

const (
	demoDays   = 730          // since the first order
	demoYear   = 365          // days of an annual license
	demoFailed = demoYear + 1 // days since the first payment of a subscription whose renewal failed yesterday
	demoRenews = demoYear - 1 // of one that renews tomorrow
	demoBack   = 1000         // cents of an order given back

	demoRegulars = 40 // the latest buyers, who buy again
)

// demoShop is a demo while it is filled.
type demoShop struct {
	*Service
	tx       *db.Tx
	pick     *rand.Rand
	today    exact.Day
	products []Product
	codes    [][]byte            // digests of those of a batch
	began    map[int]OrderDetail // the first orders of two subscriptions, by days ago
	buyers   int
	n        int // orders so far
	euros    int // ninths of an order in euros that is to come
	orders   []OrderDetail
}

// demo fills an empty store with a believable small shop: four products, two years of growing sales in two currencies,
// refunds, two batches of codes, licenses in every state, a dispute and subscriptions, one of which failed to renew. It
// emits nothing: a demo has no receivers.
func (s *Service) demo(ctx context.Context, today exact.Day) error {
	return db.Exec(ctx, s.db, db.CLI("store"), func(tx *db.Tx) error {
		// #nosec G404 -- a demo that is the same every time; keys and codes are made elsewhere
		shop := demoShop{Service: s, tx: tx, today: today, pick: rand.New(rand.NewPCG(demoSeed, 1)),
			began: map[int]OrderDetail{}}
		for _, step := range []func() error{shop.goods, shop.batches, shop.sales, shop.states, shop.imported, shop.trouble} {
			if err := step(); err != nil {
				return err
			}
		}
		shop.settle()
		return tx.Audit("demo.filled", "store", map[string]int{"orders": len(shop.orders)})
	})
}

func (d *demoShop) goods() error {
	seats, year := int64(3), int64(demoYear)
	d.products = []Product{
		{SKU: "PLUGIN", Name: "Tape Echo plugin", Kind: kindLicense, PriceCents: 4900, ActivationLimit: &seats,
			Tiers: []string{"basic", "pro"}, Active: true, OfflineDays: 30},
		{SKU: "APP-YEAR", Name: "Invoice Desk, one year", Kind: kindLicense, PriceCents: 3900, ActivationLimit: &seats,
			LicenseDays: &year, Active: true, OfflineDays: 30},
		{SKU: "EBOOK", Name: "Mixing at Home, e-book", Kind: kindOther, PriceCents: 1900, Active: true, OfflineDays: 30},
		{SKU: "DRUMS", Name: "Attic Drums, samples", Kind: kindOther, PriceCents: 2900, Active: true, OfflineDays: 30},
	}
	for i, p := range d.products {
		if _, err := products.Put(d.tx, p, func(string) bool { return true }); err != nil {
			return err
		}
		stored, err := findProduct(&d.tx.Conn, p.SKU)
		if err != nil {
			return err
		}
		d.products[i] = stored
	}
	return nil
}

// batches mints two batches of codes, which are not shown; those of one are void.
func (d *demoShop) batches() error {
	p := d.products[0]
	for _, batch := range []struct {
		name  string
		count int
	}{{"newsletter", 20}, {"launch", 50}} {
		b, err := ensureBatch(d.tx, batch.name, p, p.Tiers[0])
		if err != nil {
			return err
		}
		d.codes = make([][]byte, batch.count)
		for i := range d.codes {
			d.codes[i] = digest(newCode(), codeLength)
		}
		storeCodes(d.tx, b.id, d.codes)
	}
	_, err := void(d.tx, "newsletter")
	return err
}

// sales books each day's orders, the first day first: more from year to year, fewer on a weekend and in summer.
func (d *demoShop) sales() error {
	weekday := [7]float64{.6, 1.15, 1.2, 1.1, 1.05, 1.1, .8}
	month := [12]float64{.95, .95, 1.1, 1, 1.1, .95, .8, .8, 1.1, 1.05, 1.15, 1.1}
	due := 0.
	for ago := demoDays; ago > 0; ago-- {
		day := d.today - exact.Day(ago) // #nosec G115 -- at most demoDays
		midnight, at := exact.InstantOf(day.Time(d.tx.Zone())), day.Time(time.UTC)
		usual := .1 + .5*(1-float64(ago)/demoDays) + 2*math.Exp(-float64(ago)/60)
		due += usual * weekday[at.Weekday()] * month[at.Month()-1] * (.5 + d.pick.Float64())
		if ago < 60 {
			due = max(due, 1)
		}
		var times []exact.Instant
		for ; due >= 1; due-- {
			times = append(times, midnight+exact.Instant(7*3600+d.pick.IntN(15*3600)))
		}
		slices.Sort(times)
		for i, at := range times {
			currency := ""
			if i == 0 && ago < 60 { // no day of the charts is empty
				currency = "USD"
			}
			if _, err := d.sell(at, nil, currency); err != nil {
				return err
			}
		}
		if err := d.eventsOf(ago, midnight+22*3600); err != nil {
			return err
		}
	}
	midnight := exact.InstantOf(d.today.Time(d.tx.Zone()))
	for i, currency := range []string{"USD", "EUR", "USD"} { // at any hour of today
		at := midnight + (d.tx.Now()-midnight)*exact.Instant(i+1)/4
		if _, err := d.sell(at, &d.products[[]int{0, 2, 1}[i]], currency); err != nil {
			return err
		}
	}
	return nil
}

// eventsOf is what happens at the end of a day besides sales: some codes are redeemed, two subscriptions begin.
func (d *demoShop) eventsOf(ago int, at exact.Instant) (err error) {
	if ago%4 == 2 && ago < 24 {
		name := demoBuyers[ago/4]
		_, _, err = spend(d.tx, d.codes[ago/4], demoAddress(name), name, at)
	}
	if ago == demoFailed || ago == demoRenews {
		d.began[ago], err = d.sell(at, &d.products[1], "USD")
	}
	return err
}

// sell books the next order, of the product if it is given. PayPal takes every fifth, and today's annual license.
func (d *demoShop) sell(at exact.Instant, p *Product, currency string) (OrderDetail, error) {
	d.n++
	d.euros += 2
	name := d.buyer()
	v := sale{email: demoAddress(name), name: name, rename: true, currency: currency, provider: stripe,
		ref: fmt.Sprintf("pi_demo_%04d", d.n), paidAt: at}
	if currency == "" {
		v.currency = "USD"
		if d.euros >= 9 {
			v.currency, d.euros = "EUR", d.euros-9
		}
	}
	several, reduced := d.pick.IntN(12) == 11, d.pick.IntN(6) == 0
	if p != nil {
		several, reduced = false, false
	} else {
		p = &d.products[[]int{0, 1, 0, 2, 1, 3, 0, 1, 2, 0, 3}[d.pick.IntN(11)]]
	}
	if currency == "" && d.n%5 == 3 || d.today == at.Day(d.tx.Zone()) && p.LicenseDays != nil {
		v.provider, v.ref = "paypal", fmt.Sprintf("PAY-DEMO-%04d", d.n)
	}
	l := line{product: *p, licensed: p.Kind == kindLicense, qty: 1, unit: p.PriceCents}
	if several {
		l.qty = 2
	}
	if len(p.Tiers) > 0 {
		l.tier = p.Tiers[d.pick.IntN(len(p.Tiers))]
	}
	if v.lines = []line{l}; reduced {
		v.discount = subtotal(v.lines) / 10
	}
	o, err := book(d.tx, v, false)
	d.orders = append(d.orders, o)
	return o, err
}

// buyer is a customer who buys again, or a new one.
func (d *demoShop) buyer() string {
	i := d.buyers
	if i == 0 || d.pick.IntN(5) < 3 {
		d.buyers++
	} else {
		i -= 1 + d.pick.IntN(min(i, demoRegulars))
	}
	if i < len(demoBuyers) {
		return demoBuyers[i]
	}
	i -= len(demoBuyers)
	return demoFirst[i%len(demoFirst)] + " " + demoLast[i*7%len(demoLast)]
}

func demoAddress(name string) string {
	return strings.ToLower(strings.ReplaceAll(name, " ", ".")) + "@example.com"
}

// states refunds some orders, in full and in part, one of them today; it suspends and revokes a license, and gives
// others seats.
func (d *demoShop) states() error {
	states, today := []string{stateSuspended, stateRevoked, stateSuspended}, false
	for i, o := range slices.Backward(d.orders) {
		back, at, late := int64(0), o.PaidAt+3600, d.tx.Now()-o.PaidAt
		switch {
		case late < 2*day || o.id == d.began[demoRenews].id || o.id == d.began[demoFailed].id:
		case !today && o.Currency == "USD":
			back, at, today = demoBack, d.tx.Now(), true
		case i%50 == 20:
			back = demoBack
		case i%25 == 20:
			back = o.TotalCents
		}
		if back > 0 {
			if _, err := refundAt(d.tx, o, back, at, false); err != nil {
				return err
			}
		}
		for _, l := range o.Licenses {
			switch {
			case l.Status != stateActive || back == o.TotalCents:
			case i%40 == 7 && len(states) > 0:
				if err := decide(d.tx, l.ID, states[0]); err != nil {
					return err
				}
				states = states[1:]
			default:
				for n := range d.pick.IntN(4) {
					if err := d.seat(l.ID, n); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// imported gives the oldest valid annual license that was not paid at Stripe a key from another shop.
func (d *demoShop) imported() error {
	for _, o := range d.orders {
		o, err := orderByID(&d.tx.Conn, o.id)
		if err != nil {
			return err
		}
		if o.Provider == "paypal" && o.Items[0].SKU == d.products[1].SKU && o.Licenses[0].Status == stateActive {
			l := o.Licenses[0]
			r := &licenseRow{key: newUUID(), status: stateActive, limit: l.ownLimit}
			return (&licenseImport{Service: d.Service}).fill(d.tx, r, l.ID, originPlaced, l.ExpiresAt, l.CreatedAt)
		}
	}
	return nil
}

func (d *demoShop) seat(license int64, n int) error {
	l, err := findLicense(&d.tx.Conn, license)
	if err != nil {
		return err
	}
	label := [...]string{"laptop", "studio", "office"}[n]
	_, _, err = takeSeat(d.tx, l, fmt.Sprintf("demo-%016x", d.pick.Uint64()), label)
	return err
}

// settle makes the records as old as their orders, not as old as the demo.
func (d *demoShop) settle() {
	d.tx.Do("UPDATE store_orders SET created_at = paid_at")
	d.tx.Do("UPDATE store_batches SET created_at = ?", d.tx.Now()-60*day)
	d.tx.Do("UPDATE store_licenses SET created_at = (SELECT paid_at FROM store_orders o WHERE o.id = order_id)")
	d.tx.Do(`UPDATE store_activations SET created_at = paid, last_seen_at = max(paid, ?1 - id * 7919 % 259200)
		FROM (SELECT id AS of, created_at AS paid FROM store_licenses) WHERE of = license_id`, d.tx.Now())
	d.tx.Do(`UPDATE store_licenses SET last_checked_at =
		(SELECT max(last_seen_at) FROM store_activations WHERE license_id = store_licenses.id)`)
}
