package reorder

import (
	"context"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// SKU is one article of the catalogue.
type SKU struct {
	Code            string        `json:"sku"`
	Name            string        `json:"name"`
	Supplier        string        `json:"supplier"`
	SupplierSKU     string        `json:"supplier_sku" about:"the supplier's own code for it"`
	Barcode         string        `json:"barcode"`
	Unit            string        `json:"unit"`
	UnitCostCents   int64         `json:"unit_cost_cents"`
	CurrentStock    exact.Milli   `json:"current_stock"`
	OnOrder         exact.Milli   `json:"on_order" about:"not yet received of ordered and partial purchase orders"`
	LeadTimeDays    int64         `json:"lead_time_days"`
	SafetyStockDays int64         `json:"safety_stock_days"`
	PackSize        int64         `json:"pack_size" about:"units in a pack; only whole packs are suggested"`
	MOQ             exact.Milli   `json:"moq" about:"least quantity of an order"`
	Active          bool          `json:"active"`
	CreatedAt       exact.Instant `json:"created_at"`
	UpdatedAt       exact.Instant `json:"updated_at"`
}

// record is a SKU as it is stored: with the sums of its sales and its flag.
type record struct {
	id int64
	SKU
	sold      exact.Milli // in the standing window
	soldYear  exact.Milli // in the 365 days to the standing day
	firstSold exact.Day   // or never
	lastSold  exact.Day   // or neverYet
	isBelow   bool        // as it was last judged
	judgedOn  exact.Day
}

// skuNumbers and skuTexts are the columns of a SKU that people set, with their values: one
// list for INSERT, UPDATE and scan.
const (
	skuNumbers = "active, lead_time_days, safety_stock_days, pack_size, moq, unit_cost_cents"
	skuTexts   = "name, supplier, supplier_sku, barcode, unit"

	skuSets db.Columns = skuNumbers + ", " + skuTexts
)

func (rec *record) sets() []any {
	return []any{rec.Active, rec.LeadTimeDays, rec.SafetyStockDays, rec.PackSize, rec.MOQ, rec.UnitCostCents,
		rec.Name, rec.Supplier, rec.SupplierSKU, rec.Barcode, rec.Unit}
}

// columns lists the numbers first, so that a list that drops most rows need not read
// their texts.
const columns = "id, current_stock, on_order, sold, sold_year, ifnull(first_sold, 2932897), ifnull(last_sold, -719163), is_below, judged_on, created_at, updated_at, " +
	skuNumbers + ", sku, " + skuTexts

// The statements spell never and neverYet out.
var _, _ = [1]struct{}{}[never-2932897], [1]struct{}{}[neverYet+719163]

func scan(r *db.Row) record {
	rec := scanNumbers(r)
	rec.scanTexts(r)
	return rec
}

func scanNumbers(r *db.Row) (rec record) {
	rec.id, rec.CurrentStock, rec.OnOrder = r.Int(), r.Milli(), r.Milli()
	rec.sold, rec.soldYear, rec.firstSold, rec.lastSold = r.Milli(), r.Milli(), r.Day(), r.Day()
	rec.isBelow, rec.judgedOn = r.Bool(), r.Day()
	rec.CreatedAt, rec.UpdatedAt = r.Instant(), r.Instant()
	rec.Active, rec.LeadTimeDays, rec.SafetyStockDays = r.Bool(), r.Int(), r.Int()
	rec.PackSize, rec.MOQ, rec.UnitCostCents = r.Int(), r.Milli(), r.Int()
	return rec
}

func (rec *record) scanTexts(r *db.Row) {
	rec.scanNames(r)
	rec.scanRest(r)
}

// scanNames reads what a search looks at, scanRest what is left.
func (rec *record) scanNames(r *db.Row) { rec.Code, rec.Name = r.Text(), r.Text() }

func (rec *record) scanRest(r *db.Row) {
	rec.Supplier = r.Text()
	rec.SupplierSKU, rec.Barcode, rec.Unit = r.Text(), r.Text(), r.Text()
}

// lookUp returns the SKU by its code, if there is one.
func lookUp(c *db.Conn, sku string) (rec record, found bool, err error) {
	return db.One(c, scan, "SELECT "+columns+" FROM skus WHERE sku = ?", sku)
}

// find returns the SKU by its code, or refuses: there is none.
func find(c *db.Conn, sku string) (record, error) {
	rec, found, err := lookUp(c, sku)
	if err == nil && !found {
		err = fault.NotFoundf("no SKU %s in the catalogue; SKUs are case-sensitive, and GET /api/skus or list_products lists them", schema.Quote(sku))
	}
	return rec, err
}

func (rec record) basis() basis {
	return basis{
		stock: rec.CurrentStock, onOrder: rec.OnOrder, sold: rec.sold, firstSold: rec.firstSold,
		lead: rec.LeadTimeDays, safety: rec.SafetyStockDays, pack: rec.PackSize, moq: rec.MOQ, unitCost: rec.UnitCostCents,
	}
}

// judge decides anew whether the SKU is below.
func (rec *record) judge(h horizon) {
	rec.isBelow, rec.judgedOn = rec.basis().status(h) == Below, h.today
}

// crossed reports whether a change took the SKU from not-below to below. Days that
// pass can only lift a SKU off its reorder point, as its sales leave the window; so a
// flag of an earlier day is looked at again as of today, and a SKU that had recovered
// by itself gives its alarm again. An inactive SKU gives none, nor does one that the
// change made active.
func crossed(was, now record, h horizon) bool {
	if !was.Active || !now.Active || !now.isBelow {
		return false
	}
	return !was.isBelow || was.judgedOn != h.today && was.basis().status(h) != Below
}

// save stores what a change made of a SKU's stock, sales, times or on-order quantity:
// the one path of them all. It judges the SKU anew and fires sku.reorder_point when it
// came to be below. The caller writes the audit entry of its act.
func save(tx *db.Tx, h horizon, was record, now *record, why cause) (fired bool, err error) {
	now.judge(h)
	if _, err := tx.Exec(`UPDATE skus SET current_stock = ?, on_order = ?, sold = ?, sold_year = ?,
		first_sold = nullif(?, 2932897), last_sold = nullif(?, -719163),
		is_below = ?, judged_on = ?, updated_at = ? WHERE id = ?`,
		now.CurrentStock, now.OnOrder, now.sold, now.soldYear,
		now.firstSold, now.lastSold, now.isBelow, now.judgedOn, now.UpdatedAt, now.id); err != nil {
		return false, err
	}
	if err := noteMovement(tx, was, *now, why); err != nil {
		return false, err
	}
	if !crossed(was, *now, h) {
		return false, nil
	}
	return true, tx.Emit(crossing.Name, alarm(*now, h))
}

// move is the guarded way to another stock and on-order quantity, for a count as for
// a receipt. It refuses a stock below 0 or above 10^9 units.
func move(tx *db.Tx, h horizon, rec *record, stock, onOrder exact.Milli, why cause) (fired bool, err error) {
	switch {
	case stock < 0:
		return false, fault.Invalidf("the stock of %s would be %s: stock is never negative (it is %s now)", rec.Code, stock, rec.CurrentStock)
	case stock > maxQty:
		return false, fault.Invalidf("the stock of %s would be %s: at most %s is kept", rec.Code, stock, maxQty)
	case onOrder > maxDayTotal:
		return false, fault.Invalidf("%s of %s would be on order: at most %s is kept", onOrder, rec.Code, maxDayTotal)
	}
	was := *rec
	rec.CurrentStock, rec.OnOrder, rec.UpdatedAt = stock, onOrder, tx.Now()
	return save(tx, h, was, rec, why)
}

// nearest adds the nearest SKUs to the refusal of one that there is none of.
func (s *Service) nearest(ctx context.Context, err error, sku string) error {
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	var names []string
	if failed := s.db.View(ctx, func(c *db.Conn) (err error) {
		names, err = skuNames(c)
		return err
	}); failed != nil {
		return failed
	}
	if near := schema.Nearest(sku, names, 3); len(near) > 0 {
		return fault.NotFoundf("%s; the nearest are %s", err.Error(), strings.Join(near, ", "))
	}
	return err
}

func skuNames(c *db.Conn) ([]string, error) {
	return db.All(c, db.Text, "SELECT sku FROM skus ORDER BY sku")
}
