package store

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// orderTable is `import store orders`: history, known by provider and provider_ref.
// Licenses are issued; order.paid is emitted only if the import says so.
func (s *Service) orderTable() schema.Table {
	t := schema.Table{
		Name: "orders", About: "Orders, known by their provider and its reference; rows with the same ones are lines of one " +
			"order. New orders issue licenses and send no events " +
			"unless asked. In an existing order buyer and amounts can be corrected, but not what its licenses were issued for.",
		Options: []string{"emit"},
		Row: func(f *schema.Form) schema.Put {
			r := bindOrderRow(f)
			return func(tx *db.Tx) (schema.Outcome, error) { return putOrder(tx, []orderRow{r}) }
		},
		Load: func(ctx context.Context, d *db.DB, who db.Caller, lines []schema.Line, o schema.LoadOptions) (schema.Loaded,
			error) {
			return s.On(d).loadOrders(ctx, who, lines, o)
		},
		Together: []string{"provider", "provider_ref"},
		Foresee:  foreseeLicenses,
		Export: func(c *db.Conn, emit func(cells ...string) error) error {
			return eachOrder(c, func(o Order) (bool, error) { return true, exportOrder(c, o, emit) },
				selectOrder+" WHERE o.status <> 'void' ORDER BY o.id, i.line")
		},
	}
	return t
}

// foreseeLicenses says how many licenses a file's orders would issue.
func foreseeLicenses(ctx context.Context, d *db.DB, _ db.Caller, store func() error) (schema.Foreseen, error) {
	return foreseeMore(ctx, d, store, "SELECT count(*) FROM store_licenses", func(n int64) string {
		return "this file would issue " + exact.Plural(n, "license", "licenses")
	})
}

// foreseeMore stores a file's rows, and says by how much the count rose.
func foreseeMore(ctx context.Context, d *db.DB, store func() error, query string, say func(n int64) string) (
	f schema.Foreseen, err error) {
	count := func() (n int64, err error) {
		err = d.View(ctx, func(c *db.Conn) error {
			n, _, err = db.One(c, db.Int, query)
			return err
		})
		return n, err
	}
	before, err := count()
	if err != nil {
		return f, err
	}
	if err := store(); err != nil {
		return f, err
	}
	after, err := count()
	if more := after - before; err == nil && more > 0 {
		f.Text = func(schema.Money) string { return say(more) }
	}
	return f, err
}

// exportOrder writes an order's lines.
func exportOrder(c *db.Conn, o Order, emit func(cells ...string) error) error {
	refunds, err := refundsOf(c, o)
	if err != nil {
		return err
	}
	for _, cells := range o.Cells(refunds.String()) {
		if err := emit(cells...); err != nil {
			return err
		}
	}
	return nil
}

// Cells are the order's lines as rows of its table; the first has the values of the whole order.
func (o Order) Cells(refunds string) (rows [][]string) {
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	discount, tax := n(o.DiscountCents), n(o.TaxCents)
	for _, i := range o.Items {
		rows = append(rows, []string{o.Provider, o.ProviderRef, o.Customer.Email, o.Customer.Name, i.SKU,
			schema.Cell(i.Tier), n(i.Qty), n(i.UnitCents), discount, tax, o.Currency, o.PaidAt.String(), refunds})
		discount, tax, refunds = "0", "0", ""
	}
	return rows
}

// orderRow is one line of history.
type orderRow struct {
	number           int // in the file
	provider, ref    string
	email, name      string
	sku, tier        string
	qty              int64
	unit             *int64 // nil is the product's price
	discount, tax    int64
	currency, paidAt string
	refunds          refunds
	emit             bool
	given            func(column string) bool
}

func bindOrderRow(f *schema.Form) orderRow {
	r := orderRow{qty: 1, given: f.Given, emit: f.Options.Emit}
	var refunded string
	f.Text(&r.provider, "provider",
		"the payment provider, [a-z0-9_-]{1,32}", schema.Required, schema.Most(32), schema.Example("stripe"))
	f.Text(&r.ref, "provider_ref",
		"the provider's id of the payment", schema.Required, schema.Most(200), schema.Example("pi_3PqX2L"))
	f.Text(&r.email, "email", "the buyer's address; needed for a new order", schema.Most(254),
		schema.Example("ann@example.com"))
	f.Text(&r.name, "name", "the buyer's name", schema.Most(200), schema.Example("Ann Lee"))
	f.Text(&r.sku, "sku", "the product; needed for a new order", schema.Most(200), schema.NewBy("save_product"),
		schema.Example("PLUGIN"))
	f.Text(&r.tier, "tier", "one of the product's tiers", schema.Most(200))
	f.Int(&r.qty, "qty", "how many units", schema.Range(1, maxQty))
	f.IntPtr(&r.unit, "unit_cents", "the price of a unit; empty is the product's", schema.Range(0, maxPrice))
	f.Int(&r.discount, "discount_cents", "the discount on the whole order", schema.Range(0, maxPrice))
	f.Int(&r.tax, "tax_cents", "the tax on the whole order", schema.Range(0, maxPrice))
	f.Text(&r.currency, "currency", "ISO 4217; empty is the shop's", schema.Most(3), schema.Example("USD"))
	f.Text(&r.paidAt, "paid_at", "when it was paid, as YYYY-MM-DDTHH:MM:SSZ or YYYY-MM-DD; empty is now", schema.Most(40),
		schema.Example("2026-11-20T21:05:00Z"))
	f.Text(&refunded, "refunds",
		"refunds as DAY=CENTS, separated by |", schema.Most(4000), schema.Example("2026-11-25=1900"))
	var err error
	if r.refunds, err = readRefunds(refunded); err != nil {
		f.Refuse("refunds", "%s", err)
	}
	return r
}

// putOrder stores the lines of one payment. An order's value that a later line leaves blank is taken from above.
func putOrder(tx *db.Tx, rows []orderRow) (o schema.Outcome, err error) {
	head, err := gatherRows(rows)
	if err != nil {
		return o, err
	}
	if err := checkProvider(head.provider); err != nil {
		return o, err
	}
	d, found, err := findPayment(&tx.Conn, head.provider, head.ref)
	switch {
	case err != nil:
		return o, err
	case found:
		return head.correct(tx, d, rows)
	}
	v, err := head.sale(tx, rows)
	if err != nil {
		return o, err
	}
	v.unmailed, v.history = true, !head.emit // an import sends no mail
	if d, err = book(tx, v, head.emit); err != nil {
		return o, err
	}
	o.New = true
	return o, head.refunds.apply(tx, d, head.emit)
}

// gatherRows returns the order of the rows: the first row's values, with the discount and the tax added up and the
// refunds of all. Rows that contradict each other are refused.
func gatherRows(rows []orderRow) (orderRow, error) {
	head := rows[0]
	head.discount, head.tax, head.refunds = 0, 0, nil
	for _, r := range rows {
		head.discount += r.discount
		head.tax += r.tax
		head.refunds = append(head.refunds, r.refunds...)
		for _, column := range []struct{ name, first, here string }{
			{"email", strings.ToLower(head.email), strings.ToLower(r.email)}, {"currency", strings.ToUpper(head.currency),
				strings.ToUpper(r.currency)},
			{"paid_at", head.paidAt, r.paidAt},
		} {
			if column.here != "" && column.here != column.first {
				return head, fault.Conflictf("%s: the rows of %s %s have %s and %s; rows of one order must agree",
					column.name, head.provider, head.ref, schema.Quote(column.first), schema.Quote(column.here))
			}
		}
		head.name = cmp.Or(head.name, r.name)
	}
	return head, nil
}

// sale makes the rows a new order.
func (r orderRow) sale(tx *db.Tx, rows []orderRow) (v sale, err error) {
	v = sale{name: r.name, rename: true, discount: r.discount, tax: r.tax, provider: r.provider, ref: r.ref}
	if v.email, err = foldEmail(r.email); err != nil {
		return v, err
	}
	var lines []NewLine
	for _, r := range rows {
		lines = append(lines, NewLine{SKU: r.sku, Tier: r.tier, Qty: r.qty, Unit: r.unit})
	}
	if v.lines, err = resolveAll(&tx.Conn, lines); err != nil {
		return v, err
	}
	if v.currency, err = r.inCurrency(tx); err != nil {
		return v, err
	}
	v.paidAt, err = r.paid(tx)
	return v, err
}

func (r orderRow) inCurrency(tx *db.Tx) (string, error) {
	if r.currency != "" {
		return checkCurrency(r.currency)
	}
	set, err := settings(&tx.Conn)
	return set.Currency, err
}

// paid parses paid_at: an instant, or a day, which is its first instant in the shop's zone. It is between 1970 and a
// day from now.
func (r orderRow) paid(tx *db.Tx) (exact.Instant, error) {
	if r.paidAt == "" {
		return tx.Now(), nil
	}
	at, ok := exact.ParseInstant(r.paidAt)
	if day, isDay := exact.ParseDay(r.paidAt); isDay {
		at, ok = exact.InstantOf(day.Time(tx.Zone())), true
	}
	const day = 24 * 60 * 60
	if !ok || at < 0 || at > tx.Now()+day {
		return 0, fault.Fieldf("paid_at", "paid_at: %s is not allowed; it takes a past time, as YYYY-MM-DDTHH:MM:SSZ or "+
			"YYYY-MM-DD", schema.Quote(r.paidAt))
	}
	return at, nil
}
