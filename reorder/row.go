package reorder

import "quartermaster/schema/exact"

// Row is one SKU of the report: the same figures for people, agents and programs.
type Row struct {
	SKU             string         `json:"sku"`
	Name            string         `json:"name"`
	CurrentStock    exact.Milli    `json:"current_stock"`
	LeadTimeDays    int64          `json:"lead_time_days"`
	SafetyStockDays int64          `json:"safety_stock_days"`
	AvgDailyDemand  exact.Decimal  `json:"avg_daily_demand" about:"sold in the window / demand_days, 4 decimals"`
	ReorderPoint    exact.Decimal  `json:"reorder_point" about:"average daily demand x (lead time + safety stock), 2 decimals"`
	DaysOfStock     *exact.Decimal `json:"days_of_stock" about:"null without demand: the stock never runs out"`
	SuggestedQty    int64          `json:"suggested_qty" about:"whole packs; 0 when healthy or when enough is on order"`
	EstCostCents    int64          `json:"est_cost_cents"`
	Status          string         `json:"status" enum:"below,near,healthy"`
	Supplier        string         `json:"supplier"`
	Unit            string         `json:"unit"`
	SoldInWindow    exact.Milli    `json:"sold_in_window"`
	DemandDays      int64          `json:"demand_days"`
	OnOrder         exact.Milli    `json:"on_order"`
	Need            exact.Decimal  `json:"need" about:"what lead time, safety stock and target cover take, less stock and on order; 2 decimals"`
	StockoutDate    *exact.Day     `json:"stockout_date" about:"null without demand"`
}

// rowOf computes a SKU's row.
func rowOf(rec article, h horizon) Row {
	f := forecast(rec.basis(), h)
	return Row{
		SKU: rec.Code, Name: rec.Name, CurrentStock: rec.CurrentStock,
		LeadTimeDays: rec.LeadTimeDays, SafetyStockDays: rec.SafetyStockDays,
		AvgDailyDemand: f.average, ReorderPoint: f.point, DaysOfStock: f.daysLeft,
		SuggestedQty: f.suggested, EstCostCents: f.cost, Status: f.status,
		Supplier: rec.Supplier, Unit: rec.Unit, SoldInWindow: rec.sold, DemandDays: f.demandDays,
		OnOrder: rec.OnOrder, Need: f.need, StockoutDate: f.runsOut,
	}
}

// ShortRow is what of a SKU's row identifies it and decides what to do.
type ShortRow struct {
	SKU          string         `json:"sku"`
	Name         string         `json:"name"`
	Status       string         `json:"status" enum:"below,near,healthy"`
	CurrentStock exact.Milli    `json:"current_stock"`
	DaysOfStock  *exact.Decimal `json:"days_of_stock,omitempty"`
	SuggestedQty int64          `json:"suggested_qty,omitempty"`
}

func (r Row) short() ShortRow {
	return ShortRow{r.SKU, r.Name, r.Status, r.CurrentStock, r.DaysOfStock, r.SuggestedQty}
}
