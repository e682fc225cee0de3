package reorder

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// ShortRow is what of a SKU's row identifies it and decides what to do.
type ShortRow struct {
	SKU          string      `json:"sku"`
	Status       string      `json:"status" enum:"below,near,healthy"`
	CurrentStock exact.Milli `json:"current_stock"`
	SuggestedQty int64       `json:"suggested_qty"`
}

func (r Row) short() ShortRow {
	return ShortRow{SKU: r.SKU, Status: r.Status, CurrentStock: r.CurrentStock, SuggestedQty: r.SuggestedQty}
}

// anyCase finds a supplier by its name in any case. Refused: a name that no SKU and no
// record has, with those that there are.
func anyCase(c *db.Conn, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	names, err := supplierNames(c)
	if err != nil || slices.Contains(names, name) {
		return name, err
	}
	for _, n := range names {
		if folded(n) == folded(name) {
			return n, nil
		}
	}
	return "", fault.Fieldf("supplier", "supplier: there is no supplier %s; %s", schema.Quote(name), schema.ThereAre(name, names))
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

// AgentQuery asks for a page of the report: behind the SKU After, with short rows or in
// full, and as long as was asked for or as fits.
type AgentQuery struct {
	ReportQuery
	After        string
	Limit        int64
	Short, Asked bool
}

// AgentReport is the report as agents get it: a page of its rows, and sums over all.
type AgentReport struct {
	Today              exact.Day                   `json:"today"`
	ForecastWindowDays int64                       `json:"forecast_window_days"`
	TargetCoverDays    int64                       `json:"target_cover_days"`
	Counts             Counts                      `json:"counts" about:"over all active SKUs"`
	EstCostCents       int64                       `json:"est_cost_cents" about:"over all rows that match, not only those shown"`
	ByStatus           []StatusSum                 `json:"by_status"`
	BySupplier         []SupplierSum               `json:"by_supplier" about:"most cost first"`
	Suppliers          int                         `json:"suppliers" about:"how many there are in by_supplier in all"`
	SKUs               []schema.Row[Row, ShortRow] `json:"skus"`
	Total              int                         `json:"total" about:"rows that match"`
	Shown              int                         `json:"shown" about:"rows given"`
	Next               *string                     `json:"next" about:"give it as after; null at the end"`
}

// StatusSum adds up the rows of a status.
type StatusSum struct {
	Status       string `json:"status" enum:"below,near,healthy"`
	SKUs         int64  `json:"skus"`
	EstCostCents int64  `json:"est_cost_cents"`
}

// SupplierSum adds up the rows of a supplier.
type SupplierSum struct {
	Supplier     string `json:"supplier"`
	SKUs         int64  `json:"skus"`
	ToOrder      int64  `json:"to_order" about:"SKUs with a suggested quantity"`
	EstCostCents int64  `json:"est_cost_cents"`
}

// AgentReport computes the report of today for agents.
func (s *Service) AgentReport(ctx context.Context, q AgentQuery) (rep AgentReport, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		k, err := rank(c)
		if err != nil {
			return err
		}
		if q.Supplier, err = anyCase(c, q.Supplier); err != nil {
			return err
		}
		rep, err = k.agentReport(c, q)
		return err
	})
	return rep, err
}

// agentReport is a page of the report with the sums of all that match.
func (k *ranking) agentReport(c *db.Conn, q AgentQuery) (AgentReport, error) {
	sums, entries := k.sums(q.ReportQuery), k.entries(q.ReportQuery)
	rep := AgentReport{
		Today: k.h.today, ForecastWindowDays: k.h.window, TargetCoverDays: k.h.cover,
		Counts: sums.counts, EstCostCents: sums.all.cents(), ByStatus: sums.byStatus, Total: len(entries),
		BySupplier: sums.bySupplier, Suppliers: len(sums.bySupplier),
	}
	limit, from := int(q.Limit), 0
	if q.After != "" {
		if from = place(entries, q.After) + 1; from == 0 {
			return rep, fault.Fieldf("after", "after: %s is not in the report any more; ask for the report from its beginning", schema.Quote(q.After))
		}
	}
	if rep.Suppliers > suppliersAtOnce { // whole while they are few
		first := min((from+limit-1)/limit*suppliersAtOnce, rep.Suppliers)
		rep.BySupplier = rep.BySupplier[first:min(first+suppliersAtOnce, rep.Suppliers)]
	}
	page, err := k.rows(c, entries[from:min(from+limit, len(entries))])
	if err != nil {
		return rep, err
	}
	rep.SKUs = schema.Fit(page, q.Short, Row.short, q.Asked, schema.AnswerBytes*2/3)
	if rep.Shown = len(rep.SKUs); from+rep.Shown < len(entries) {
		rep.Next = &page[rep.Shown-1].SKU
	}
	return rep, nil
}

// suppliersAtOnce is how many suppliers an agent gets at once, so that an answer stays
// below 50 KB.
const suppliersAtOnce = 200

func sampleAgentReport() AgentReport {
	row := rowOf(sample, sampleDay)
	return AgentReport{
		Today: sampleDay.today, ForecastWindowDays: sampleDay.window, TargetCoverDays: sampleDay.cover,
		Counts: Counts{Below: 1, Near: 2, Healthy: 27}, EstCostCents: row.EstCostCents,
		ByStatus: []StatusSum{{Below, 1, row.EstCostCents}}, BySupplier: []SupplierSum{{sample.Supplier, 1, 1, row.EstCostCents}}, Suppliers: 1,
		SKUs: schema.Rows([]Row{row}, false, Row.short), Total: 1, Shown: 1,
	}
}

func (s *Service) reorderReportTool() schema.Op {
	return schema.Op{
		Name: "reorder_report",
		About: "What to buy now, most urgent first (below, near; fewest days of stock first). reorder_point = avg_daily_demand x (lead + safety days); " +
			"below: stock <= reorder_point, near: <= 1.25 x it. suggested_qty covers lead + safety + target_cover_days, less stock and on order, in whole packs. " +
			"Sums are over all that match, by_supplier says what to order from whom.",
		Response: sampleAgentReport(),
		Bind: func(f *schema.Form) schema.Handler {
			q := AgentQuery{ReportQuery: ReportQuery{Status: Flagged}}
			var status string
			f.Enum(&status, "status", "only this status; below and near without it", statuses)
			f.Text(&q.Supplier, "supplier", "only this supplier's, in any case", schema.Most(maxName), schema.Example(sample.Supplier))
			q.Asked = f.Limit(&q.Limit)
			f.Text(&q.After, "after", "the next of the answer before", schema.Most(maxCode))
			f.Short(&q.Short)
			if status != "" {
				q.Status = status
			}
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.AgentReport(ctx, q) }
		},
	}
}

// Products is a page of active SKUs with their figures, in the byte order of the SKUs.
type Products struct {
	Products []schema.Row[Row, ShortRow] `json:"products"`
	Total    int                         `json:"total" about:"all that match"`
	Shown    int                         `json:"shown" about:"rows given"`
	Next     *string                     `json:"next" about:"give it as after; null at the end"`
}

// ProductQuery narrows the list. Status "" is any; BelowReorder keeps only what is at
// or under its reorder point; Supplier is a name in any case; Q is looked for in SKU and
// name, in any case, anywhere.
type ProductQuery struct {
	Status, Supplier, Q, After string
	BelowReorder, Short, Asked bool
	Limit                      int64
}

// Products lists active SKUs with their figures.
func (s *Service) Products(ctx context.Context, q ProductQuery) (all Products, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		k, err := rank(c)
		if err != nil {
			return err
		}
		if q.Supplier, err = anyCase(c, q.Supplier); err != nil {
			return err
		}
		var found map[int64]bool
		if q.Q != "" {
			if found, err = mentioning(c, q.Q, false); err != nil {
				return err
			}
		}
		entries := k.where(func(e *entry) bool {
			return (q.Q == "" || found[e.id]) && e.status != inactive && (q.Status == "" || q.Status == statuses[e.status]) &&
				(!q.BelowReorder || statuses[e.status] == Below) && (q.Supplier == "" || q.Supplier == e.supplier)
		})
		slices.SortFunc(entries, byCode)
		all.Total = len(entries)
		from := sort.Search(len(entries), func(i int) bool { return entries[i].code > q.After })
		entries = entries[from:]
		rows, err := k.rows(c, entries[:min(len(entries), int(q.Limit))])
		if err != nil {
			return err
		}
		all.Products = schema.Fit(rows, q.Short, Row.short, q.Asked, schema.AnswerBytes)
		if all.Shown = len(all.Products); all.Shown < len(entries) {
			all.Next = &rows[all.Shown-1].SKU
		}
		return nil
	})
	return all, err
}

func (s *Service) listProducts() schema.Op {
	return schema.Op{
		Name: "list_products",
		About: "Active products with their forecast figures, in the order of the SKUs. below_reorder true keeps only stock at or under the reorder point; " +
			"near is up to a quarter above it. days_of_stock = stock / avg_daily_demand, null without demand.",
		Response: Products{Products: schema.Rows([]Row{rowOf(sample, sampleDay)}, false, Row.short), Total: 1, Shown: 1},
		Bind: func(f *schema.Form) schema.Handler {
			var q ProductQuery
			f.Enum(&q.Status, "status", "only this status", statuses)
			f.Bool(&q.BelowReorder, "below_reorder", "true: only stock at or under the reorder point, never the near band", schema.Example(true))
			f.Text(&q.Supplier, "supplier", "only this supplier's, in any case", schema.Most(maxName), schema.Example(sample.Supplier))
			f.Text(&q.Q, "q", "text to look for in SKU and name, in any case", schema.Most(maxName), schema.Example("tea"))
			q.Asked = f.Limit(&q.Limit)
			f.Text(&q.After, "after", "the next of the answer before", schema.Most(maxCode))
			f.Short(&q.Short)
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.Products(ctx, q) }
		},
	}
}

// byWeek adds days up by the Monday that their week begins on.
func byWeek(days []Sold) []Sold {
	weeks := []Sold{}
	for _, d := range days {
		monday := d.Date - (d.Date%7+7+3)%7 // day 0, 1970-01-01, was a Thursday
		if n := len(weeks); n > 0 && weeks[n-1].Date == monday {
			weeks[n-1].Qty += d.Qty
			continue
		}
		weeks = append(weeks, Sold{monday, d.Qty})
	}
	return weeks
}

// errorsTold is how many refused rows an agent is told the reasons of.
const errorsTold = 100

// afterUpload tells an agent what became of its rows: nothing stored is a refusal; of a
// part it says which rows to send again.
func (done Ingested) afterUpload() (Ingested, error) {
	switch {
	case done.Imported == 0 && done.Skipped == 0:
		return done, fault.Fieldf("rows", "rows is empty: nothing is stored; %s", wantsRow)
	case done.Skipped == 0:
		return done, nil
	case done.Imported == 0:
		const most = 10
		var why []string
		for _, e := range done.Errors[:min(most, len(done.Errors))] {
			why = append(why, fmt.Sprintf("row %d: %s", e.Row, e.Reason))
		}
		if len(done.Errors) > most {
			why = append(why, fmt.Sprintf("and %d more", len(done.Errors)-most))
		}
		return done, fault.Fieldf("rows", "rows: nothing is stored, all %d rows are refused; %s", done.Skipped, strings.Join(why, "; "))
	}
	done.SendAgain = "Send only these rows again, mended: " + positions(done.Errors) + ". The others are stored; sending them again would count them twice."
	if len(done.Errors) > errorsTold {
		done.Errors = done.Errors[:errorsTold]
		done.SendAgain += fmt.Sprintf(" errors tells the first %d.", errorsTold)
	}
	return done, nil
}

// positions lists the rows' positions, runs of them as 3-7.
func positions(errors []RowError) string {
	var list []string
	for i := 0; i < len(errors); i++ {
		from := i
		for i+1 < len(errors) && errors[i+1].Row == errors[i].Row+1 {
			i++
		}
		text := strconv.Itoa(errors[from].Row)
		if i > from {
			text += "-" + strconv.Itoa(errors[i].Row)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}
