package reorder

import (
	"context"
	"math/rand/v2"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// demoSKU is an article of the demo shop: a tea and coffee shop with four suppliers.
type demoSKU struct {
	code, name, supplier, unit string
	cost, lead, pack, moq      int64
	demand                     int64 // thousandths sold on an average day
	cover                      int64 // stock in per cent of the reorder point
	state                      string
}

const (
	leaf    = "Leaf & Co"
	roast   = "Harbour Roasters"
	pottery = "Kiln Street Pottery"
	paper   = "Paper & Tin"
)

var demoSKUs = []demoSKU{
	{"TEA-ASSAM-250", "Assam, broken leaf, 250 g", leaf, "bag", 410, 10, 12, 24, 2600, 310, ""},
	{"TEA-BREAKFAST-50", "English breakfast, 50 bags", leaf, "box", 265, 10, 12, 24, 6200, 88, ""},
	{"TEA-CHAI-100", "Masala chai, 100 g", leaf, "bag", 295, 10, 12, 12, 2100, 118, ""},
	{"TEA-DARJ-100", "Darjeeling first flush, 100 g", leaf, "bag", 720, 14, 6, 12, 1300, 64, ""},
	{"TEA-EARLGREY-100", "Earl Grey, 100 g", leaf, "bag", 330, 10, 12, 24, 4800, 41, ""},
	{"TEA-GREEN-100", "Green tea, 100 g", leaf, "bag", 320, 10, 12, 24, 3400, 92, ""},
	{"TEA-JASMINE-100", "Jasmine, 100 g", leaf, "bag", 355, 10, 12, 12, 1700, 205, ""},
	{"TEA-LOOSE-MINT", "Peppermint, loose", leaf, "kg", 1890, 10, 1, 5, 740, 122, ""},
	{"TEA-OOLONG-100", "Oolong, 100 g", leaf, "bag", 540, 14, 6, 6, 620, 380, ""},
	{"TEA-ROOIBOS-100", "Rooibos, 100 g", leaf, "bag", 280, 10, 12, 24, 2900, 116, "crosses"},
	{"TEA-WHITE-50", "White peony, 50 g", leaf, "bag", 690, 14, 6, 6, 350, 900, "dead"},
	{"COF-BRAZIL-1000", "Brazil Santos, beans, 1 kg", roast, "bag", 1240, 5, 6, 6, 1900, 290, ""},
	{"COF-COLOMBIA-250", "Colombia Huila, beans, 250 g", roast, "bag", 480, 5, 8, 16, 5400, 57, ""},
	{"COF-DECAF-250", "Decaf, beans, 250 g", roast, "bag", 510, 5, 8, 8, 1600, 240, ""},
	{"COF-ESPRESSO-1000", "House espresso, beans, 1 kg", roast, "bag", 1180, 5, 6, 12, 4300, 121, ""},
	{"COF-ETHIOPIA-250", "Ethiopia Guji, beans, 250 g", roast, "bag", 560, 5, 8, 8, 3100, 83, ""},
	{"COF-FILTER-500", "Filter blend, ground, 500 g", roast, "bag", 690, 5, 6, 12, 3800, 260, ""},
	{"COF-KENYA-250", "Kenya AA, beans, 250 g", roast, "bag", 640, 5, 8, 8, 1200, 350, ""},
	{"COF-LOOSE-HOUSE", "House blend, loose", roast, "kg", 1090, 5, 5, 10, 2350, 119, ""},
	{"COF-XMAS-250", "Christmas roast, 250 g", roast, "bag", 530, 5, 8, 8, 1500, 0, "inactive"},
	{"CUP-ESPRESSO", "Espresso cup, white", pottery, "piece", 390, 28, 6, 12, 900, 150, ""},
	{"CUP-LATTE", "Latte bowl, blue", pottery, "piece", 620, 28, 6, 12, 700, 71, ""},
	{"CUP-MUG-GREEN", "Mug, green glaze", pottery, "piece", 540, 28, 6, 12, 1100, 230, ""},
	{"CUP-MUG-SAND", "Mug, sand glaze", pottery, "piece", 540, 28, 6, 12, 1250, 114, ""},
	{"POT-CAST-800", "Cast iron teapot, 0.8 l", pottery, "piece", 2480, 35, 2, 2, 180, 260, ""},
	{"POT-GLASS-1200", "Glass teapot, 1.2 l", pottery, "piece", 1690, 28, 4, 4, 320, 95, ""},
	{"POT-STONE-600", "Stoneware pot, 0.6 l, old glaze", pottery, "piece", 1320, 28, 4, 4, 210, 0, "inactive"},
	{"ACC-FILTER-PAPER", "Paper filters, size 4, 100", paper, "box", 145, 4, 20, 40, 5100, 76, ""},
	{"ACC-GIFT-BOX", "Gift box, medium", paper, "piece", 95, 4, 25, 50, 4400, 330, ""},
	{"ACC-INFUSER", "Tea infuser, steel", paper, "piece", 240, 4, 10, 10, 1450, 124, ""},
	{"ACC-SPOON-TEA", "Measuring spoon for tea", paper, "piece", 180, 4, 10, 10, 240, 700, "dead"},
	{"ACC-TIN-100", "Tea tin, 100 g", paper, "piece", 210, 4, 24, 24, 2700, 210, ""},
}

// demoSuppliers are the suppliers' records; the lead time applies to new SKUs.
var demoSuppliers = []Supplier{
	demoSupplier(leaf, "orders@leaf-and-co.example", "555 0142", 10, 40_000),
	demoSupplier(roast, "trade@harbour-roasters.example", "555 0117", 5, 25_000),
	demoSupplier(pottery, "hello@kilnstreet.example", "555 0163", 28, 60_000),
	demoSupplier(paper, "sales@paper-and-tin.example", "555 0128", 4, 0),
}

func demoSupplier(name, email, phone string, lead, least int64) Supplier {
	return Supplier{Name: name, Email: email, Phone: phone, LeadTimeDays: &lead, MinOrderCents: least}
}

// demo fills an empty database with the shop: 120 days of sales up to yesterday, SKUs in every status, an open order
// and a draft. It uses the ordinary guarded functions. SKUs become active only after their sales and stock are stored,
// so that there is one alarm and not a flood.
func (s *Service) demo(ctx context.Context, today exact.Day) error {
	who := db.CLI("reorder")
	if err := db.Exec(ctx, s.db, who, demoCatalogue); err != nil {
		return err
	}
	if _, err := s.LoadSales(ctx, who, demoSales(today), schema.LoadOptions{Columns: []string{"channel"}}); err != nil {
		return err
	}
	if err := db.Exec(ctx, s.db, who, demoStock); err != nil {
		return err
	}
	return s.demoActs(ctx, who, today)
}

func demoCatalogue(tx *db.Tx) error {
	for _, k := range demoSuppliers {
		if _, err := suppliers.Create(tx, &k); err != nil {
			return err
		}
	}
	for _, d := range demoSKUs {
		k := newArticle(d.code)
		k.Name, k.Supplier, k.Unit, k.UnitCostCents = d.name, d.supplier, d.unit, d.cost
		k.LeadTimeDays, k.PackSize, k.MOQ, k.Active = d.lead, d.pack, exact.Milli(1000*d.moq), false
		if _, err := createSKU(tx, k); err != nil {
			return err
		}
	}
	return nil
}

// demoStock sets each SKU's stock for its intended status.
func demoStock(tx *db.Tx) error {
	h, err := rollToToday(tx)
	if err != nil {
		return err
	}
	for _, d := range demoSKUs {
		rec, err := find(&tx.Conn, d.code)
		if err != nil {
			return err
		}
		b := rec.basis()
		point := b.point().DivRound(b.demandDays(h))
		if d.state == "dead" {
			point = d.demand * (b.lead + b.safety)
		}
		rec.CurrentStock, rec.Active = exact.Milli(demoQty(d, point*d.cover/100)), d.state != "inactive"
		given := func(column string) bool { return column == "current_stock" || column == "active" }
		if _, err := putSKU(tx, rec, given); err != nil {
			return err
		}
		if err := demoHistory(tx, d, rec, h.today); err != nil {
			return err
		}
	}
	return nil
}

// demoActs are the shop's later events: an open order, a draft, a breakage.
func (s *Service) demoActs(ctx context.Context, who db.Caller, today exact.Day) error {
	expected := today + 3
	if _, err := s.CreateOrder(ctx, who, NewOrder{Supplier: roast, ExpectedDate: &expected, Order: true, Lines: []NewLine{
		{SKU: "COF-COLOMBIA-250", Qty: 160_000}, {SKU: "COF-ETHIOPIA-250", Qty: 64_000},
	}}); err != nil {
		return err
	}
	if _, err := s.CreateOrder(ctx, who, NewOrder{Supplier: pottery, Lines: []NewLine{
		{SKU: "CUP-LATTE", Qty: 36_000}, {SKU: "POT-GLASS-1200", Qty: 12_000},
	}}); err != nil {
		return err
	}
	for _, d := range demoSKUs {
		if d.state != "crosses" {
			continue
		}
		p, err := s.Product(ctx, d.code, 1)
		if err != nil {
			return err
		}
		damp := p.CurrentStock*3/4/1000*1000 - p.CurrentStock
		if _, err := s.Adjust(ctx, who, Adjustment{SKU: d.code, Delta: &damp, Reason: "a carton was damp"}); err != nil {
			return err
		}
	}
	return nil
}

// demoSales is 120 days of sales with the rhythm of a week, always the same.
func demoSales(today exact.Day) []schema.Line {
	// In per cent of an average day, from a Thursday on, as day 0 (1970-01-01) was one.
	week := [7]int64{95, 125, 170, 40, 80, 90, 100}
	r := rand.New(rand.NewPCG(1, 2026)) // #nosec G404 -- a demo that is the same every time holds no secret
	var lines []schema.Line
	for day := today - 120; day < today; day++ {
		for i, d := range demoSKUs {
			if d.state == "dead" && day > today-50 || d.state == "inactive" && day > today-20 {
				continue
			}
			// A dead one's later days are drawn and left out: the others' sales do not depend on them.
			qty := demoQty(d, d.demand*week[(day%7+7)%7]/100*(60+r.Int64N(81))/100+r.Int64N(1000))
			if qty > 0 && (d.state != "dead" || day <= today-100) {
				lines = append(lines,
					schema.Line{Number: len(lines) + 2, Cells: []string{day.String(), d.code, exact.Milli(qty).String(),
						[]string{"", "web", ""}[i%3]}})
			}
		}
	}
	return lines
}

// demoQty rounds a quantity to its unit: whole pieces, or 50 g of loose goods.
func demoQty(d demoSKU, thousandths int64) int64 {
	least := int64(1000)
	if d.unit == "kg" {
		least = 50
	}
	return thousandths / least * least
}
