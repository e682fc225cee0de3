package store

import (
	"context"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// OpenBuyer finds the license of a buyer who shows its key, or the reference of an order
// together with its address: then the order's first license. A pair or key that does not
// fit is refused as not found, without saying which half; it counts as a miss of
// CheckLicense's.
func (s *Service) OpenBuyer(ctx context.Context, licenseKey, orderRef, email, remote string) (int64, error) {
	id, err := db.Read(ctx, s.db, func(c *db.Conn) (int64, error) {
		if licenseKey != "" {
			id, _, err := db.One(c, db.Int, "SELECT id FROM store_licenses WHERE key_hash = ?", digest(licenseKey, keyLength))
			return id, err
		}
		id, _, err := db.One(c, db.Int, `SELECT ifnull(min(l.id), 0) FROM store_orders o CROSS JOIN store_customers c ON c.id = o.customer_id
			CROSS JOIN store_licenses l ON l.order_id = o.id WHERE o.order_ref = ? AND c.email = ?`, readRef(orderRef), fold(email))
		if err != nil || id != 0 {
			return id, err
		}
		id, _, err = db.One(c, db.Int, `SELECT ifnull(min(l.id), 0) FROM store_orders o CROSS JOIN store_customers c ON c.id = o.customer_id
			CROSS JOIN store_licenses l ON l.subscription_id = o.subscription_id WHERE o.order_ref = ? AND c.email = ?`, readRef(orderRef), fold(email))
		return id, err
	})
	if err != nil || id != 0 {
		return id, err
	}
	if err := s.missed(remote); err != nil {
		return 0, err
	}
	return 0, fault.NotFoundf("no license was found for what you typed; look at the receipt or the mail that the shop sent you")
}

// readRef reads an order_ref as forgivingly as a key.
func readRef(written string) string {
	if len(written) > 4 && (written[:4] == "ORD-" || written[:4] == "ord-") {
		written = written[4:]
	}
	canonical, _ := read(written, refLength)
	return "ORD-" + canonical
}

// Mine is what a buyer sees of the license that is open.
type Mine struct {
	License     License      `json:"license" about:"the key in full"`
	Product     string       `json:"product"`
	Activations []Activation `json:"activations"`
	Order       Order        `json:"order"`
	Others      []License    `json:"others" about:"the other licenses of the order, keys masked"`
}

// Mine returns the license of a buyer's session. It reads nothing but that license and its
// order.
func (s *Service) Mine(ctx context.Context, who db.Caller) (Mine, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (m Mine, err error) {
		if m.License, err = findLicense(c, who.Subject); err != nil {
			return m, err
		}
		d, err := findOrder(c, m.License.OrderRef)
		if err != nil {
			return m, err
		}
		m.Order = d.Order
		m.Product = m.License.SKU
		for _, i := range d.Items {
			if i.SKU == m.License.SKU {
				m.Product = i.Name
			}
		}
		for _, l := range d.Licenses {
			if l.ID != m.License.ID {
				m.Others = append(m.Others, l.masked())
			}
		}
		m.Activations, err = db.All(c, scanActivation, "SELECT "+activationColumns+" FROM store_activations WHERE license_id = ? ORDER BY id DESC", who.Subject)
		m.License = s.memory.uses.onLicense(ctx, m.License)
		s.memory.uses.onSeats(ctx, m.Activations)
		return m, err
	})
}

// releaseWait is how long after a buyer gave a seat up the same machine's next seat can
// be given up by the buyer's page again.
const releaseWait = exact.Instant(60 * 60)

// ReleaseMySeat gives up a seat of the license of a buyer's session, once a seat and
// hour, so that one license is not passed around. A seat that the license does not have
// is refused as not found.
func (s *Service) ReleaseMySeat(ctx context.Context, who db.Caller, seat int64) (License, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (License, error) {
		l, err := findLicense(&tx.Conn, who.Subject)
		if err != nil {
			return l, err
		}
		a, found, err := db.One(&tx.Conn, scanActivation,
			"SELECT "+activationColumns+" FROM store_activations WHERE license_id = ? AND id = ?", l.ID, seat)
		if err == nil && !found {
			err = fault.NotFoundf("there is no such seat")
		}
		if err != nil {
			return l, err
		}
		last, _, err := db.One(&tx.Conn, db.Int, "SELECT at FROM store_releases WHERE license_id = ? AND fingerprint = ?", l.ID, a.Fingerprint)
		if err != nil {
			return l, err
		}
		if wait := exact.Instant(last) + releaseWait - tx.Now(); last != 0 && wait > 0 {
			return l, &fault.Error{
				Kind: fault.Limited, Retry: time.Duration(wait) * time.Second,
				Detail: "this seat was released within the last hour; it can be released again in " + countOf(int(wait+59)/60, "minute"),
			}
		}
		if _, err := tx.Exec("INSERT OR REPLACE INTO store_releases (license_id, fingerprint, at) VALUES (?, ?, ?)", l.ID, a.Fingerprint, tx.Now()); err != nil {
			return l, err
		}
		if err := giveUp(tx, l, a); err != nil {
			return l, err
		}
		return findLicense(&tx.Conn, l.ID)
	})
}

// BuyerOps are the acts of a buyer, below /my.
func (s *Service) BuyerOps() []schema.Op {
	release := schema.Op{
		Name: "release_seat", About: "Release a seat, so that another machine can take it. Once a seat and hour.",
		Writes: true, Destructive: true, Response: exampleLicense(), Refuses: []fault.Kind{fault.NotFound, fault.Limited},
		Leads: func(any) string { return "/my" },
		Did:   func(any, schema.Money) string { return "The seat is released; another machine can take it." },
		Will: func(answer any, _ schema.Money) string {
			l, _ := answer.(License)
			return "The machine will have to be activated again, and " + countOf(int(l.ActivationCount), "seat") + " of your license will be taken."
		},
		Bind: func(f *schema.Form) schema.Handler {
			var seat int64
			f.ID(&seat, "activation_id", "the seat", schema.Required, schema.Label("Seat"), schema.Example(31))
			return func(ctx context.Context, who db.Caller) (any, error) { return s.ReleaseMySeat(ctx, who, seat) }
		},
	}
	redeem := s.redeemCode()
	redeem.Public, redeem.Credential = false, false
	redeem.About = "Turn a redeem code into its license."
	redeem.Leads = func(any) string { return "/my" }
	redeem.Did = func(answer any, _ schema.Money) string {
		r, _ := answer.(Redeemed)
		if r.License == nil {
			return "The code is redeemed: " + r.Order.Items[0].Name + ", order " + r.Order.OrderRef + "."
		}
		return "The code is redeemed. Your license key: " + r.License.Key
	}
	redeem.Bind = func(f *schema.Form) schema.Handler {
		var written, email, name, remote string
		f.Text(&written, "code", "the redeem code; in any case, separators do not matter", schema.Required, schema.Most(200), schema.Label("Code"), schema.Example("7Q4Z-J0M3-RT9W-XYAB"))
		f.Text(&email, "email", "your address; the one of this license unless you type another", schema.Most(254), schema.Label("E-mail"), schema.Example("ann@example.com"))
		f.Text(&name, "name", "your name", schema.Most(200), schema.Example("Ann Lee"))
		f.Remote(&remote)
		return func(ctx context.Context, who db.Caller) (any, error) {
			if email == "" && who.Subject == 0 {
				return nil, fault.Fieldf("email", "email is missing: an address such as ann@example.com is needed")
			}
			if email == "" {
				m, err := s.Mine(ctx, who)
				if err != nil {
					return nil, err
				}
				email = m.Order.Customer.Email
			}
			return s.redeemAs(ctx, who, written, email, name, remote)
		}
	}
	return []schema.Op{release, redeem}
}

// RedeemOps is redeeming by the holder of a code, without a session: POST /my/redeem.
func (s *Service) RedeemOps() []schema.Op {
	op := s.BuyerOps()[1]
	bind := op.Bind
	op.Route, op.Public = "POST /my/redeem", true
	op.Bind = func(f *schema.Form) schema.Handler {
		handle := bind(f)
		return func(ctx context.Context, _ db.Caller) (any, error) {
			return handle(ctx, db.Caller{Service: "store", User: "buyer", Role: "member", Scope: "full", Via: "buyer"})
		}
	}
	return []schema.Op{op}
}
