package reorder

import (
	"context"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
	"quartermaster/schema/record"
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
	MOQ             exact.Milli   `json:"moq" about:"minimum quantity of an order"`
	Active          bool          `json:"active"`
	CreatedAt       exact.Instant `json:"created_at"`
	UpdatedAt       exact.Instant `json:"updated_at"`
}

// article is a SKU as it is stored: with the sums of its sales and its flag.
type article struct {
	id int64
	SKU
	sold      exact.Milli // in the standing window
	soldYear  exact.Milli // in the 365 days to the standing day
	firstSold exact.Day   // or never
	lastSold  exact.Day   // or neverYet
	isBelow   bool        // as it was last judged
	judgedOn  exact.Day
}

// ofSupplier is the lead time of a row that says none: its supplier's, which putSKU asks for.
const ofSupplier = -1

// articles are the SKUs. What save writes is only read by From.
var articles = record.New("sku", "skus",
	record.ID(func(k *article) *int64 { return &k.id }),
	record.Text("sku", func(k *article) *string { return &k.Code }, "the SKU, case-sensitive",
		schema.Required, schema.Most(maxCode), schema.Example(sample.Code)).Key(),
	record.Text("name", func(k *article) *string { return &k.Name }, "its name; empty is the SKU",
		schema.Most(maxName)).Else(func(k *article) { *k = newArticle(k.Code) }),
	record.Text("supplier", func(k *article) *string { return &k.Supplier }, "who delivers it", schema.Most(maxName),
		schema.Choices(SupplierChoices), schema.Any, schema.NewBy("save_supplier")),
	record.Text("supplier_sku", func(k *article) *string { return &k.SupplierSKU }, "the supplier's own code",
		schema.Most(maxName)),
	record.Text("barcode", func(k *article) *string { return &k.Barcode }, "its barcode", schema.Most(maxName)),
	record.Text("unit", func(k *article) *string { return &k.Unit }, "what one of it is: piece, kg", schema.Most(maxName)),
	record.Int("unit_cost_cents", func(k *article) *int64 { return &k.UnitCostCents }, "unit cost in cents",
		schema.Range(0, maxUnitCost)),
	record.Milli("current_stock", func(k *article) *exact.Milli { return &k.CurrentStock }, "how much is there",
		schema.Range(0, int64(maxQty/1000))),
	record.Int("lead_time_days", func(k *article) *int64 { return &k.LeadTimeDays }, "").
		Field(func(f *schema.Form, k *article, _ ...schema.Opt) bool {
			var days *int64
			f.IntPtr(&days, "lead_time_days", "days from order to delivery; empty is the supplier's, or 7",
				schema.Range(0, maxDays))
			if k.LeadTimeDays = ofSupplier; days != nil {
				k.LeadTimeDays = *days
			}
			return f.Given("lead_time_days")
		}),
	record.Int("safety_stock_days", func(k *article) *int64 { return &k.SafetyStockDays },
		"days of demand kept for safety", schema.Range(0, maxDays)),
	record.Int("pack_size", func(k *article) *int64 { return &k.PackSize }, "units in a pack", schema.Range(1, maxPack)),
	record.Milli("moq", func(k *article) *exact.Milli { return &k.MOQ }, "minimum quantity of an order",
		schema.Range(0, int64(maxQty/1000))),
	record.Of("active", func(k *article) *bool { return &k.Active }, record.Truth("1", "0"),
		"1, or 0 for a SKU that is no longer reordered", schema.Help("Off for a SKU that is no longer reordered.")),
	record.Milli("on_order", func(k *article) *exact.Milli { return &k.OnOrder }, "").From("on_order"),
	record.Milli("sold", func(k *article) *exact.Milli { return &k.sold }, "").From("sold"),
	record.Milli("sold_year", func(k *article) *exact.Milli { return &k.soldYear }, "").From("sold_year"),
	record.Day("first_sold", func(k *article) *exact.Day { return &k.firstSold }, "").From("ifnull(first_sold, 2932897)"),
	record.Day("last_sold", func(k *article) *exact.Day { return &k.lastSold }, "").From("ifnull(last_sold, -719163)"),
	record.Of("is_below", func(k *article) *bool { return &k.isBelow }, record.Truth("1", "0"), "").Once(),
	record.Day("judged_on", func(k *article) *exact.Day { return &k.judgedOn }, "").Once(),
	record.Moment("created_at", func(k *article) *exact.Instant { return &k.CreatedAt }).Once(),
	record.Moment("updated_at", func(k *article) *exact.Instant { return &k.UpdatedAt }),
).Empties().Sorted("sku")

// The statements spell never and neverYet out.
var _, _ = [1]struct{}{}[never-2932897], [1]struct{}{}[neverYet+719163]

// newArticle is a SKU with its defaults. Its name is its code.
func newArticle(code string) article {
	return article{firstSold: never, lastSold: neverYet,
		SKU: SKU{Code: code, Name: code, LeadTimeDays: ofSupplier, SafetyStockDays: 3, PackSize: 1, Active: true}}
}

// lookUp returns the SKU by its code, if there is one.
func lookUp(c *db.Conn, sku string) (rec article, found bool, err error) {
	return articles.One(c, "WHERE sku = ?", sku)
}

// find returns the SKU by its code, or refuses: there is none.
func find(c *db.Conn, sku string) (article, error) {
	rec, found, err := lookUp(c, sku)
	if err == nil && !found {
		err = fault.NotFoundf(
			"no SKU %s in the catalogue; SKUs are case-sensitive, and GET /api/skus or list_products lists them",
			schema.Quote(sku))
	}
	return rec, err
}

func (rec article) basis() basis {
	return basis{
		id: rec.id, stock: rec.CurrentStock, onOrder: rec.OnOrder, sold: rec.sold, firstSold: rec.firstSold,
		lead: rec.LeadTimeDays, safety: rec.SafetyStockDays, pack: rec.PackSize, moq: rec.MOQ, unitCost: rec.UnitCostCents,
	}
}

// judge updates whether the SKU is below.
func (rec *article) judge(h horizon) {
	rec.isBelow, rec.judgedOn = rec.basis().status(h) == Below, h.today
}

// crossed reports whether a change took the SKU from not-below to below. Passing days can only lift a SKU off its
// reorder point, as its sales leave the window. So a flag of an earlier day is computed again for today, and a SKU that
// had recovered raises its alarm again. An inactive SKU raises none, nor does one that the change made active.
func crossed(was, now article, h horizon) bool {
	if !was.Active || !now.Active || !now.isBelow {
		return false
	}
	return !was.isBelow || was.judgedOn != h.today && was.basis().status(h) != Below
}

// save stores a change of a SKU's stock, sales, times or on-order quantity, for all callers. It updates the status and
// fires sku.reorder_point if the SKU fell to its reorder point. The caller writes the audit entry.
func save(tx *db.Tx, h horizon, was article, now *article, why cause) (fired bool, err error) {
	now.judge(h)
	tx.Do(`UPDATE skus SET current_stock = ?, on_order = ?, sold = ?, sold_year = ?,
		first_sold = nullif(?, 2932897), last_sold = nullif(?, -719163),
		is_below = ?, judged_on = ?, updated_at = ? WHERE id = ?`,
		now.CurrentStock, now.OnOrder, now.sold, now.soldYear,
		now.firstSold, now.lastSold, now.isBelow, now.judgedOn, now.UpdatedAt, now.id)
	noteMovement(tx, was, *now, why)
	if !crossed(was, *now, h) {
		return false, nil
	}
	if err := tx.Emit(crossing.Name, alarm(*now, h)); err != nil {
		return true, err
	}
	return true, mail.Notify(tx, mail.Told{Notice: "alarms", Service: "reorder", Subject: subject(now.Code),
		Record: now.Code})
}

// move changes stock and on-order quantity, for a count as for a receipt. It refuses a stock below 0 or above 10^9
// units.
func move(tx *db.Tx, h horizon, rec *article, stock, onOrder exact.Milli, why cause) (fired bool, err error) {
	switch {
	case stock < 0:
		return false, fault.Invalidf("the stock of %s would be %s: stock is never negative (now %s)", rec.Code, stock,
			rec.CurrentStock)
	case stock > maxQty:
		return false, fault.Invalidf("the stock of %s would be %s: at most %s is allowed", rec.Code, stock, maxQty)
	case onOrder > maxDayTotal:
		return false, fault.Invalidf("%s of %s would be on order: at most %s is allowed", onOrder, rec.Code, maxDayTotal)
	}
	was := *rec
	rec.CurrentStock, rec.OnOrder, rec.UpdatedAt = stock, onOrder, tx.Now()
	return save(tx, h, was, rec, why)
}

// nearest adds the nearest SKUs to the refusal of an unknown one.
func (s *Service) nearest(ctx context.Context, err error, sku string) error {
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	var near []string
	if failed := s.db.View(ctx, func(c *db.Conn) (err error) {
		near, err = nearSKUs(c, sku, 3)
		return err
	}); failed != nil {
		return failed
	}
	if len(near) > 0 {
		return fault.NotFoundf("%s; the nearest are %s", err.Error(), strings.Join(near, ", "))
	}
	return err
}

// nearSKUs are at most most active SKUs, each with its name, that are really like a text: by
// their whole name, else by their code, else by words of their name.
func nearSKUs(c *db.Conn, asked string, most int) ([]string, error) {
	called := map[string]string{}
	var codes, names, whole []string
	err := db.Each(c, func(r *db.Row) error {
		code, name := r.Text(), r.Text()
		if strings.EqualFold(name, asked) && len(whole) < most {
			whole = append(whole, code+" ("+name+")")
		}
		if called[code] = code; name != code {
			called[code] += " (" + name + ")"
		}
		codes, names = append(codes, code), append(names, called[code])
		return nil
	}, "SELECT sku, name FROM skus WHERE active ORDER BY sku")
	if len(whole) > 0 {
		return whole, err
	}
	near := schema.Near(asked, codes, most)
	if len(near) == 0 {
		return schema.Near(asked, names, most), err
	}
	for i, code := range near {
		near[i] = called[code]
	}
	return near, err
}

func skuNames(c *db.Conn) ([]string, error) {
	return db.All(c, db.Text, "SELECT sku FROM skus ORDER BY sku")
}
