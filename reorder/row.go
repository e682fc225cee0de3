package reorder

import (
	"strconv"

	"quartermaster/schema/exact"
	"quartermaster/schema/strict"
)

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

// appendJSON writes the row as encoding/json would, in 0.7 µs instead of 4.1 (BenchmarkOwn): a report may have a
// hundred thousand of them.
func (r *Row) appendJSON(b []byte) []byte {
	b = strict.AppendText(append(b, `{"sku":`...), r.SKU)
	b = strict.AppendText(append(b, `,"name":`...), r.Name)
	b = r.CurrentStock.Append(append(b, `,"current_stock":`...))
	b = strconv.AppendInt(append(b, `,"lead_time_days":`...), r.LeadTimeDays, 10)
	b = strconv.AppendInt(append(b, `,"safety_stock_days":`...), r.SafetyStockDays, 10)
	b = r.AvgDailyDemand.Append(append(b, `,"avg_daily_demand":`...))
	b = r.ReorderPoint.Append(append(b, `,"reorder_point":`...))
	b = append(b, `,"days_of_stock":`...)
	if r.DaysOfStock == nil {
		b = append(b, "null"...)
	} else {
		b = r.DaysOfStock.Append(b)
	}
	b = strconv.AppendInt(append(b, `,"suggested_qty":`...), r.SuggestedQty, 10)
	b = strconv.AppendInt(append(b, `,"est_cost_cents":`...), r.EstCostCents, 10)
	b = strict.AppendText(append(b, `,"status":`...), r.Status)
	b = strict.AppendText(append(b, `,"supplier":`...), r.Supplier)
	b = strict.AppendText(append(b, `,"unit":`...), r.Unit)
	b = r.SoldInWindow.Append(append(b, `,"sold_in_window":`...))
	b = strconv.AppendInt(append(b, `,"demand_days":`...), r.DemandDays, 10)
	b = r.OnOrder.Append(append(b, `,"on_order":`...))
	b = r.Need.Append(append(b, `,"need":`...))
	b = append(b, `,"stockout_date":`...)
	if r.StockoutDate == nil {
		return append(b, "null}"...)
	}
	b = r.StockoutDate.Append(append(b, '"'))
	return append(b, `"}`...)
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
