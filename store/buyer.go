package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/limit"
	visit "quartermaster/schema/session"
)

// A buyer's session is for one license, whose key was entered; for one order, whose reference and address were; or for
// all of a customer, after a mailed link. Its subject is the license's id, the order's with a minus, or that of
// OfCustomer in package session.

// OpenBuyer returns the subject of a session for a buyer with a license key, or with an order's reference and its
// address. A wrong key or pair is refused as not found, without saying which half is wrong. Wrong keys count like
// CheckLicense's. Pairs can be guessed: per network address, and per order, 20 attempts are allowed in 10 minutes,
// including right ones.
func (s *Service) OpenBuyer(ctx context.Context, licenseKey, orderRef, email, remote string) (int64, error) {
	if licenseKey == "" {
		return s.openOrder(ctx, readRef(orderRef), fold(email), limit.AddressOf(remote))
	}
	id, err := db.Read(ctx, s.db, func(c *db.Conn) (int64, error) {
		return licenseByText(c, licenseKey)
	})
	if err != nil || id != 0 {
		return id, err
	}
	if err := s.missed(remote); err != nil {
		return 0, err
	}
	return 0, noPurchase()
}

func (s *Service) openOrder(ctx context.Context, ref, email string, from limit.Address) (int64, error) {
	if wait := s.memory.pairs.Add(from, s.db.Now()); wait > 0 {
		return 0, tooManyPairs(wait)
	}
	type order struct {
		id  int64
		his bool
	}
	o, err := db.Read(ctx, s.db, func(c *db.Conn) (order, error) {
		o, _, err := db.One(c, func(r *db.Row) order { return order{r.Int(), r.Bool()} }, `SELECT o.id, c.email = ?2
			FROM store_orders o
			CROSS JOIN store_customers c ON c.id = o.customer_id WHERE o.order_ref = ?1`, ref, email)
		return o, err
	})
	if err != nil {
		return 0, err
	}
	if o.id == 0 {
		return 0, noPurchase()
	}
	if wait := s.memory.guesses.Add(o.id, s.db.Now()); wait > 0 {
		return 0, tooManyPairs(wait)
	}
	if !o.his {
		return 0, noPurchase()
	}
	return -o.id, nil
}

func noPurchase() error {
	return fault.NotFoundf("nothing was found; compare with the receipt or e-mail from the shop")
}

func tooManyPairs(wait time.Duration) error {
	return &fault.Error{Kind: fault.Limited, Retry: wait, Detail: "too many order references and addresses were tried; " +
		"wait " +
		exact.Plural(int((wait+time.Minute-1)/time.Minute), "minute", "minutes") + ", or type the license key"}
}

// noRef is readRef's result for a text that is no order_ref.
const noRef = "ORD-"

// readRef reads an order_ref as forgivingly as a key.
func readRef(written string) string {
	if len(written) > 4 && (written[:4] == "ORD-" || written[:4] == "ord-") {
		written = written[4:]
	}
	canonical, _ := read(written, refLength)
	return noRef + canonical
}

// Mine is a buyer's view: the order, and the licenses of their session.
type Mine struct {
	Order    Order       `json:"order" about:"of a customer's session the newest"`
	Orders   []Order     `json:"orders,omitempty" about:"all of a customer's session, or of the order's subscription, the newest first"`
	Licenses []MyLicense `json:"licenses" about:"keys in full: the license whose key was shown, all of the order, or all of the customer"`
	Others   []License   `json:"others" about:"the other licenses of the order, keys masked"`
	Notes    []MyNote    `json:"notes" about:"what the shop says of the products of paid orders"`

	Subscriptions []Subscription `json:"-"` // of the orders
}

// addSubscription adds the subscription of an order, each once.
func (m *Mine) addSubscription(c *db.Conn, id int64) error {
	if id == 0 || slices.ContainsFunc(m.Subscriptions, func(x Subscription) bool { return x.ID == id }) {
		return nil
	}
	x, found, err := db.One(c, scanSubscription, selectSubscription+" WHERE s.id = ?", id)
	if found {
		m.Subscriptions = append(m.Subscriptions, x)
	}
	return err
}

// MyNote is the shop's note on a product for its buyers.
type MyNote struct {
	Product string `json:"product"`
	Note    string `json:"note"`
}

// addNotes adds the notes of an order's products, each product once; for a session by a license key only those of its
// product.
func (m *Mine) addNotes(c *db.Conn, d OrderDetail) error {
	if d.Status != statusPaid {
		return nil
	}
	for _, i := range d.Items {
		mine := len(m.Others) == 0 || slices.ContainsFunc(m.Licenses, func(l MyLicense) bool { return l.SKU == i.SKU })
		p, _, err := lookUpProduct(c, i.SKU)
		if err != nil {
			return err
		}
		n := MyNote{Product: i.Name, Note: strings.TrimSpace(p.Note)}
		if mine && n.Note != "" && !slices.Contains(m.Notes, n) {
			m.Notes = append(m.Notes, n)
		}
	}
	return nil
}

// MyLicense is a license with its product's name and its seats.
type MyLicense struct {
	License
	Product     string       `json:"product"`
	Activations []Activation `json:"activations"`
	Offline     bool         `json:"offline" about:"whether license files for offline machines are possible"`
}

// Mine returns the data of a buyer's session. It reads only that order, or that customer's, and the licenses.
func (s *Service) Mine(ctx context.Context, who db.Caller) (Mine, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (m Mine, err error) {
		orders, err := ordersOfBuyer(c, who.Subject)
		if err != nil {
			return m, err
		}
		m.Order = orders[0].Order
		_, all := visit.CustomerOf(who.Subject)
		for _, d := range orders {
			if all || len(orders) > 1 {
				m.Orders = append(m.Orders, d.Order)
			}
			s.memory.uses.onLicenses(d.Licenses)
			for _, l := range d.Licenses {
				if !isOf(who.Subject, l) {
					m.Others = append(m.Others, l.masked())
					continue
				}
				mine := MyLicense{License: l, Product: d.nameOf(l.SKU)}
				if mine.Activations, mine.Offline, err = s.seatsOf(c, l); err != nil {
					return m, err
				}
				m.Licenses = append(m.Licenses, mine)
			}
		}
		for _, d := range orders {
			if err := m.addNotes(c, d); err != nil {
				return m, err
			}
			if err := m.addSubscription(c, d.subscription); err != nil {
				return m, err
			}
		}
		return m, nil
	})
}

// seatsOf reads a license's seats, and whether files for machines are available.
func (s *Service) seatsOf(c *db.Conn, l License) (seats []Activation, offline bool, err error) {
	seats, err = allSeats(c, l.ID)
	if err != nil {
		return nil, false, err
	}
	s.memory.uses.onSeats(seats)
	offline, err = offersFiles(c, l)
	return seats, offline, err
}

// MyOrder returns an order of a buyer's session, by default the newest. Another customer's is not found.
func (s *Service) MyOrder(ctx context.Context, who db.Caller, ref string) (Order, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Order, error) {
		orders, err := ordersOfBuyer(c, who.Subject)
		for _, d := range orders {
			if ref == "" || d.OrderRef == ref {
				return d.Order, nil
			}
		}
		if err == nil {
			err = fault.NotFoundf("there is no such order")
		}
		return Order{}, err
	})
}

// mostMine is the largest number of a customer's orders on one page.
const mostMine = 500

// ordersOfBuyer are the orders of a buyer's session, newest first, with their licenses, keys in full: a customer's, or
// an order and those of its subscription. Each license is with one order only.
func ordersOfBuyer(c *db.Conn, subject int64) (all []OrderDetail, err error) {
	var opened OrderDetail
	customer, is := visit.CustomerOf(subject)
	if !is {
		if opened, err = orderOfBuyer(c, subject); err != nil || opened.subscription == 0 {
			return []OrderDetail{opened}, err
		}
		customer = opened.Customer.ID
	}
	ids, err := db.All(c, db.Int, `SELECT id FROM store_orders WHERE customer_id = ?1 AND (?2 = 0 OR subscription_id = ?2)
		ORDER BY id DESC LIMIT ?3`, customer, opened.subscription, mostMine)
	for _, id := range ids {
		d, err := orderByID(c, id)
		if err != nil {
			return nil, err
		}
		if id == opened.id {
			d.Licenses = opened.Licenses
		} else if opened.id != 0 || d.renewal {
			d.Licenses = nil
		}
		all = append(all, d)
	}
	if err == nil && len(all) == 0 {
		err = noPurchase()
	}
	return all, err
}

// orderOfBuyer is the order that a buyer's session is about, with its licenses, keys in full.
func orderOfBuyer(c *db.Conn, subject int64) (OrderDetail, error) {
	if subject < 0 {
		return orderByID(c, -subject)
	}
	l, err := findLicense(c, subject)
	if err != nil {
		return OrderDetail{}, err
	}
	return findOrder(c, l.OrderRef)
}

// isOf reports whether the session includes the license.
func isOf(subject int64, l License) bool {
	_, all := visit.CustomerOf(subject)
	return subject < 0 || all || l.ID == subject
}

// licensesOfBuyer are the licenses that a buyer's session is about.
func licensesOfBuyer(c *db.Conn, subject int64) (mine []License, err error) {
	orders, err := ordersOfBuyer(c, subject)
	for _, d := range orders {
		for _, l := range d.Licenses {
			if isOf(subject, l) {
				mine = append(mine, l)
			}
		}
	}
	return mine, err
}

// nameOf is what a product was called when the order was made; its SKU where the order lacks it.
func (o Order) nameOf(sku string) string {
	for _, i := range o.Items {
		if i.SKU == sku {
			return i.Name
		}
	}
	return sku
}

// releaseWait is how long after a release by the buyer's page the same machine's next seat cannot be released there.
const releaseWait = exact.Instant(60 * 60)

// releaseMySeat releases a seat of a license of the buyer's session, once per seat and hour, so that one license is not
// shared. A seat that the license does not have is refused as not found.
func releaseMySeat(tx *db.Tx, seat int64) (License, error) {
	mine, err := licensesOfBuyer(&tx.Conn, tx.Who().Subject)
	if err != nil {
		return License{}, err
	}
	l, a, err := seatOf(&tx.Conn, mine, seat)
	if err != nil {
		return l, err
	}
	last, _, err := db.One(&tx.Conn, db.Int, "SELECT at FROM store_releases WHERE license_id = ? AND fingerprint = ?",
		l.ID, a.Fingerprint)
	if err != nil {
		return l, err
	}
	if wait := exact.Instant(last) + releaseWait - tx.Now(); last != 0 && wait > 0 {
		return l, &fault.Error{
			Kind: fault.Limited, Retry: time.Duration(wait) * time.Second,
			Detail: "this seat was released within the last hour; try again in " + exact.Plural(int(wait+59)/60, "minute",
				"minutes"),
		}
	}
	tx.Do("INSERT OR REPLACE INTO store_releases (license_id, fingerprint, at) VALUES (?, ?, ?)", l.ID,
		a.Fingerprint, tx.Now())
	if err := giveUp(tx, l, a); err != nil {
		return l, err
	}
	return findLicense(&tx.Conn, l.ID)
}

// seatOf finds a seat of the licenses that a buyer's session is about.
func seatOf(c *db.Conn, mine []License, seat int64) (License, Activation, error) {
	for _, l := range mine {
		a, found, err := activations.One(c, "WHERE license_id = ? AND id = ?", l.ID, seat)
		if err != nil || found {
			return l, a, err
		}
	}
	return License{}, Activation{}, fault.NotFoundf("there is no such seat")
}

// BuyerOps are the acts of a buyer, below /my.
func (s *Service) BuyerOps() []schema.Op {
	release := schema.Op{
		Name: "release_seat", About: "Release a seat for another machine. Each seat can be released once an hour.",
		Writes: true, Destructive: true, Response: exampleLicense(), Refuses: []fault.Kind{fault.NotFound, fault.Limited},
		Leads: func(any) string { return "/my" },
		Did:   func(any, schema.Money) string { return "The seat is released; another machine can use it." },
		Will:  willRelease,
		Bind: schema.Writes(s.db, func(f *schema.Form, seat *int64) {
			f.ID(seat, "activation_id", "the seat", schema.Required, schema.Label("Seat"), schema.Example(31),
				schema.ChoicesFor(mySeatChoices))
		}, releaseMySeat),
	}
	redeem := s.redeemCode()
	redeem.Public, redeem.Credential = false, false
	redeem.About = "Redeem a code."
	redeem.Leads = func(any) string { return "/my" }
	redeem.Did = schema.Said(func(r Redeemed) string {
		return "The code is redeemed for " + r.Order.Items[0].Name + ", order " + r.Order.OrderRef + "."
	})
	redeem.Bind = func(f *schema.Form) schema.Handler {
		var written, email, name, remote string
		f.Text(&written, "code",
			"the redeem code; case and separators do not matter", schema.Required, schema.Most(200), schema.Label("Code"),
			schema.Example("7Q4Z-J0M3-RT9W-XYAB"))
		f.Text(&email, "email",
			"your e-mail address (default: that of this license)", schema.Most(254), schema.Label("E-mail"),
			schema.Example("ann@example.com"))
		f.Text(&name, "name", "your name", schema.Most(200), schema.Example("Ann Lee"))
		f.Remote(&remote)
		return func(ctx context.Context, who db.Caller) (any, error) {
			if email == "" && who.Subject == 0 {
				return nil, fault.Fieldf("email", "email is missing: give an address such as ann@example.com")
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
	return []schema.Op{release, redeem, s.myLicenseFile()}
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
