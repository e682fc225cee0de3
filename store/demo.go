package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// demoSeed makes the demo's choices the same each time, except for keys and codes, which are random.
const demoSeed = 20261120

var demoBuyers = []string{
	"Ada Moreau", "Ben Okafor", "Chiara Conti", "Dmitri Volkov", "Elena Ruiz", "Farid Haddad", "Greta Lind", "Hugo Martin",
	"Ines Sousa", "Jonas Weber", "Keiko Tanaka", "Liam Byrne", "Maja Novak", "Noor Rahman", "Oscar Nilsson", "Priya Nair",
}

// demo fills an empty store with a believable small shop: three products, forty orders in two currencies, two batches
// of codes, licenses in every state, a dispute and a failed renewal. It emits nothing: a demo has no receivers.
func (s *Service) demo(ctx context.Context, today exact.Day) error {
	return db.Exec(ctx, s.db, db.CLI("store"), func(tx *db.Tx) error {
		// #nosec G404 -- a demo that is the same every time; keys and codes are made elsewhere
		pick := rand.New(rand.NewPCG(demoSeed, 1))
		products, err := demoProducts(tx)
		if err != nil {
			return err
		}
		orders, err := demoOrders(tx, products, today, pick)
		if err != nil {
			return err
		}
		if err := demoStates(tx, orders, pick); err != nil {
			return err
		}
		if err := s.demoImport(tx, orders); err != nil {
			return err
		}
		if err := demoTrouble(tx, orders); err != nil {
			return err
		}
		return demoCodes(tx, products[0])
	})
}

func demoProducts(tx *db.Tx) ([]Product, error) {
	seats, year := int64(3), int64(365)
	list := []Product{
		{SKU: "PLUGIN", Name: "Tape Echo plugin", Kind: kindLicense, PriceCents: 4900, ActivationLimit: &seats,
			Tiers: []string{"basic", "pro"}, Active: true, OfflineDays: 30},
		{SKU: "APP-YEAR", Name: "Invoice Desk, one year", Kind: kindLicense, PriceCents: 3900, ActivationLimit: &seats,
			LicenseDays: &year, Active: true, OfflineDays: 30},
		{SKU: "EBOOK", Name: "Mixing at Home, e-book", Kind: kindOther, PriceCents: 1900, Active: true, OfflineDays: 30},
	}
	for i, p := range list {
		if _, err := products.Put(tx, p, func(string) bool { return true }); err != nil {
			return nil, err
		}
		stored, err := findProduct(&tx.Conn, p.SKU)
		if err != nil {
			return nil, err
		}
		list[i] = stored
	}
	return list, nil
}

const (
	demoOrderCount = 40
	demoOfMonth    = 24 // of them within the last 30 days
)

func demoOrders(tx *db.Tx, products []Product, today exact.Day, pick *rand.Rand) ([]OrderDetail, error) {
	orders := make([]OrderDetail, 0, demoOrderCount)
	for n := range demoOrderCount {
		p := products[pick.IntN(len(products))]
		name := demoBuyers[pick.IntN(len(demoBuyers))]
		day := today - demoDays(n, pick.IntN(10))
		v := sale{
			lines: []line{{product: p, licensed: p.Kind == kindLicense, qty: 1 + int64(pick.IntN(10)/9), unit: p.PriceCents}},
			email: demoAddress(name), name: name, rename: true, currency: "USD", provider: stripe,
			ref:    fmt.Sprintf("pi_demo_%04d", n+1),
			paidAt: min(exact.InstantOf(day.Time(tx.Zone()))+exact.Instant(8*3600+pick.IntN(10*3600)), tx.Now()),
		}
		if pick.IntN(3) == 0 {
			v.currency = "EUR"
		}
		if pick.IntN(4) == 0 {
			v.provider, v.ref = "paypal", fmt.Sprintf("PAY-DEMO-%04d", n+1)
		}
		if len(p.Tiers) > 0 {
			v.lines[0].tier = p.Tiers[pick.IntN(len(p.Tiers))]
		}
		if pick.IntN(5) == 0 {
			v.discount = subtotal(v.lines) / 10
		}
		d, err := book(tx, v, false)
		if err != nil {
			return nil, err
		}
		orders = append(orders, d)
	}
	return orders, nil
}

// demoDays is how many days ago an order was: the first annual licenses have ended, and the last month has an order on
// most days, including today.
func demoDays(n, loose int) exact.Day {
	if n >= demoOrderCount-demoOfMonth {
		return exact.Day((demoOrderCount - 1 - n) * 5 / 4) // #nosec G115 -- below 30
	}
	before := demoOrderCount - demoOfMonth - 1 - n // the 30 days before, then one every 70 days
	if before < 9 {
		return exact.Day(31 + before*3) // #nosec G115 -- below 60
	}
	return exact.Day(60 + (before-8)*70 + loose) // #nosec G115 -- below 600
}

func demoAddress(name string) string {
	return strings.ToLower(strings.ReplaceAll(name, " ", ".")) + "@example.com"
}

// demoStates refunds two orders, one in part, suspends and revokes a license, and gives some of the others seats.
func demoStates(tx *db.Tx, orders []OrderDetail, pick *rand.Rand) error {
	for i, part := range []int64{1, 3} {
		d := orders[len(orders)-5*(i+1)]
		if _, err := refundTo(tx, d, d.TotalCents/part, false); err != nil {
			return err
		}
	}
	states := []string{stateSuspended, stateRevoked}
	for i := len(orders) - 1; i >= 0; i-- {
		d, err := findOrder(&tx.Conn, orders[i].OrderRef)
		if err != nil {
			return err
		}
		for _, l := range d.Licenses {
			if l.Status != stateActive {
				continue
			}
			if len(states) > 0 {
				if err := decide(tx, l.ID, states[0]); err != nil {
					return err
				}
				states = states[1:]
				continue
			}
			for n := range pick.IntN(3) {
				if err := demoSeat(tx, l.ID, n, pick); err != nil {
					return err
				}
			}
		}
	}
	return tx.Audit("demo.filled", "store", map[string]int{"orders": len(orders)})
}

// demoImport gives the oldest valid license that was not paid at Stripe a key from another shop.
func (s *Service) demoImport(tx *db.Tx, orders []OrderDetail) error {
	for _, o := range orders {
		d, err := findOrder(&tx.Conn, o.OrderRef)
		if err != nil {
			return err
		}
		if d.Provider != stripe && len(d.Licenses) > 0 && d.Licenses[0].Status == stateActive {
			l := d.Licenses[0]
			r := &licenseRow{key: newUUID(), status: stateActive, limit: l.ownLimit}
			return (&licenseImport{Service: s}).fill(tx, r, l.ID, originPlaced, l.ExpiresAt, l.CreatedAt)
		}
	}
	return nil
}

func demoSeat(tx *db.Tx, license int64, n int, pick *rand.Rand) error {
	l, err := findLicense(&tx.Conn, license)
	if err != nil {
		return err
	}
	label := [...]string{"laptop", "studio", "office"}[n]
	_, _, err = takeSeat(tx, l, fmt.Sprintf("demo-%016x", pick.Uint64()), label)
	return err
}

// demoCodes mints two batches; some codes of one are redeemed, the other's are void. They are not shown.
func demoCodes(tx *db.Tx, p Product) error {
	for _, batch := range []struct {
		name     string
		count    int
		redeemed int
		void     bool
	}{{"launch", 50, 6, false}, {"newsletter", 20, 0, true}} {
		b, err := ensureBatch(tx, batch.name, p, p.Tiers[0])
		if err != nil {
			return err
		}
		digests := make([][]byte, batch.count)
		for i := range digests {
			digests[i] = digest(newCode(), codeLength)
		}
		storeCodes(tx, b.id, digests)
		for i := range batch.redeemed {
			name := demoBuyers[i]
			if _, _, err := spend(tx, digests[i], demoAddress(name), name, tx.Now()-exact.Instant((2+4*i)*24*3600)); err != nil {
				return err
			}
		}
		if !batch.void {
			continue
		}
		if _, err := void(tx, batch.name); err != nil {
			return err
		}
	}
	return nil
}
