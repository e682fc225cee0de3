package reorder

import (
	"quartermaster/schema"
	"quartermaster/schema/exact"
)

// Alarm is the data of sku.reorder_point: the SKU's figures right after the change.
type Alarm struct {
	SKU          string         `json:"sku"`
	Name         string         `json:"name"`
	Supplier     string         `json:"supplier"`
	Status       string         `json:"status" enum:"below,near,healthy"`
	CurrentStock exact.Milli    `json:"current_stock"`
	ReorderPoint exact.Decimal  `json:"reorder_point"`
	DaysOfStock  *exact.Decimal `json:"days_of_stock" about:"null without demand"`
	OnOrder      exact.Milli    `json:"on_order"`
	SuggestedQty int64          `json:"suggested_qty"`
	EstCostCents int64          `json:"est_cost_cents"`
}

// EventSubject is the SKU: an upload concerns many, and receivers with several simultaneous deliveries get those of one
// SKU in order.
func (a Alarm) EventSubject() string { return "sku:" + a.SKU }

// crossing is the service's one event.
var crossing = schema.Event{
	Name: "sku.reorder_point",
	About: "A change took a SKU to or below its reorder point. " +
		"It does not fire again while the SKU stays below.",
	Data: alarm(sample, sampleDay),
}

func alarm(rec article, h horizon) Alarm {
	f := forecast(rec.basis(), h)
	return Alarm{
		SKU: rec.Code, Name: rec.Name, Supplier: rec.Supplier, Status: f.status,
		CurrentStock: rec.CurrentStock, ReorderPoint: f.point, DaysOfStock: f.daysLeft,
		OnOrder: rec.OnOrder, SuggestedQty: f.suggested, EstCostCents: f.cost,
	}
}

// sample is the SKU of the documents' examples, seen on sampleDay.
var (
	sampleDay = horizon{today: exact.DateOf(2026, 11, 20), window: 30, cover: 30}
	sample    = article{
		SKU: SKU{
			Code: "TEA-GREEN-100", Name: "Green tea, 100 g", Supplier: "Leaf & Co", SupplierSKU: "LC-0107",
			Barcode: "4006381333931",
			Unit:    "bag", UnitCostCents: 320, CurrentStock: 18_000, OnOrder: 0, LeadTimeDays: 7, SafetyStockDays: 3,
			PackSize: 12, MOQ: 24_000, Active: true, CreatedAt: 1_780_000_000, UpdatedAt: 1_795_208_700,
		},
		sold: 63_000, firstSold: exact.DateOf(2026, 1, 5), isBelow: true, judgedOn: exact.DateOf(2026, 11, 20),
	}
)
