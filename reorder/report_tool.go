package reorder

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// AgentRow is a SKU of the report with its open drafts and deliveries.
type AgentRow struct {
	Row
	InDrafts exact.Milli `json:"in_drafts" about:"of it in drafts of purchase orders, which are not on order yet"`
	Expected *exact.Day  `json:"expected" about:"the first day on which some of what is ordered is expected"`
}

// ShortNeed is what of a row says what to buy.
type ShortNeed struct {
	SKU          string `json:"sku"`
	Name         string `json:"name"`
	Supplier     string `json:"supplier"`
	Status       string `json:"status" enum:"below,near,healthy"`
	SuggestedQty int64  `json:"suggested_qty"`
	EstCostCents int64  `json:"est_cost_cents"`
}

func (r AgentRow) short() ShortNeed {
	return ShortNeed{r.SKU, r.Name, r.Supplier, r.Status, r.SuggestedQty, r.EstCostCents}
}

// AgentQuery requests a page of the report: after the SKU After, with short or full rows, of the requested or a fitting
// length. Status "" is below and near. Sort is one of reportSorts.
type AgentQuery struct {
	ReportQuery
	After, Sort  string
	Limit        int64
	Short, Asked bool
}

var reportSorts = []string{"urgency", "cost", "stock"}

// AgentReport is the report as agents get it: a page of its rows; on the first page also the
// sums over all that match.
type AgentReport struct {
	Today              exact.Day                         `json:"today"`
	ForecastWindowDays int64                             `json:"forecast_window_days"`
	TargetCoverDays    int64                             `json:"target_cover_days"`
	Counts             *Counts                           `json:"counts,omitempty" about:"on the first page: active SKUs of the supplier and status that were asked for"`
	EstCostCents       *int64                            `json:"est_cost_cents,omitempty" about:"on the first page: over all rows that match"`
	ByStatus           []StatusSum                       `json:"by_status,omitempty"`
	BySupplier         []SupplierSum                     `json:"by_supplier,omitempty" about:"most cost first: on the first page 20 and those of the rows, then those of the rows"`
	Suppliers          int                               `json:"suppliers,omitempty" about:"how many there are in all, on the first page"`
	SKUs               []schema.Row[AgentRow, ShortNeed] `json:"skus"`
	Total              int                               `json:"total" about:"rows that match"`
	Shown              int                               `json:"shown" about:"rows given"`
	Next               *string                           `json:"next" about:"pass it as after; null at the end"`
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

	MinOrderCents     int64 `json:"min_order_cents" about:"the minimum total of an order"`
	BelowMinimumCents int64 `json:"below_minimum_cents" about:"by how much what is to order is below it"`
}

// suppliersAtOnce is how many suppliers the first page has at least.
const suppliersAtOnce = 20

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

// agentReport is a page of the report, the first one with the sums of all that match.
func (k *ranking) agentReport(c *db.Conn, q AgentQuery) (AgentReport, error) {
	asked := q.ReportQuery
	asked.Status = cmp.Or(asked.Status, Flagged)
	entries := k.entries(asked)
	switch q.Sort {
	case "cost":
		slices.SortStableFunc(entries, func(a, b *entry) int { return cmp.Compare(b.cost, a.cost) })
	case "stock":
		slices.SortStableFunc(entries, func(a, b *entry) int { return cmp.Compare(a.stock, b.stock) })
	}
	rep := AgentReport{Today: k.h.today, ForecastWindowDays: k.h.window, TargetCoverDays: k.h.cover, Total: len(entries)}
	from := 0
	if q.After != "" {
		if from = place(entries, q.After) + 1; from == 0 {
			return rep, fault.Fieldf("after", "after: %s is no longer in the report; ask for it from its beginning",
				schema.Quote(q.After))
		}
	}
	page, err := k.agentRows(c, entries[from:min(from+int(q.Limit), len(entries))])
	if err != nil {
		return rep, err
	}
	rep.SKUs = schema.Fit(page, q.Short, AgentRow.short, q.Asked, schema.AnswerBytes*2/3)
	if rep.Shown = len(rep.SKUs); from+rep.Shown < len(entries) {
		rep.Next = &page[rep.Shown-1].SKU
	}
	return rep, k.addSums(c, &rep, q, asked, page[:rep.Shown])
}

// addSums adds the sums: on the first page all of them.
func (k *ranking) addSums(c *db.Conn, rep *AgentReport, q AgentQuery, asked ReportQuery, page []AgentRow) error {
	sums := k.sums(asked)
	first := 0
	if q.After == "" {
		first = suppliersAtOnce
		counts, cost := sums.counts, sums.all.cents()
		if q.Status != "" || q.Supplier != "" {
			counts = k.counts(q.ReportQuery)
		}
		rep.Counts, rep.EstCostCents, rep.ByStatus, rep.Suppliers = &counts, &cost, sums.byStatus, len(sums.bySupplier)
	}
	shown := map[string]bool{}
	for _, r := range page {
		shown[r.Supplier] = true
	}
	for i, of := range sums.bySupplier {
		if i >= first && !shown[of.Supplier] {
			continue
		}
		supplier, _, err := lookUpSupplier(c, of.Supplier)
		if err != nil {
			return err
		}
		if of.MinOrderCents = supplier.MinOrderCents; of.ToOrder > 0 {
			of.BelowMinimumCents = max(0, supplier.MinOrderCents-of.EstCostCents)
		}
		rep.BySupplier = append(rep.BySupplier, of)
	}
	return nil
}

// counts counts the active SKUs of the query by status; without a status, of all.
func (k *ranking) counts(q ReportQuery) Counts {
	q.Status = cmp.Or(q.Status, All)
	var n [inactive]int64
	for i := range k.all {
		if e := &k.all[i]; q.wants(e) {
			n[e.status]++
		}
	}
	return Counts{n[0], n[1], n[2]}
}

// agentRows are the entries' rows with what is in drafts and when something comes.
func (k *ranking) agentRows(c *db.Conn, entries []*entry) ([]AgentRow, error) {
	rows := make([]AgentRow, len(entries))
	if err := k.records(c, entries, func(i int, rec *article) { rows[i].Row = rowOf(*rec, k.h) }); err != nil {
		return nil, err
	}
	for i, e := range entries {
		all, err := outstandingOf(c, e.id)
		if err != nil {
			return nil, err
		}
		for _, o := range all {
			switch {
			case o.Status == Draft:
				rows[i].InDrafts += o.Qty
			case o.ExpectedDate != nil && (rows[i].Expected == nil || *o.ExpectedDate < *rows[i].Expected):
				rows[i].Expected = o.ExpectedDate
			}
		}
	}
	return rows, nil
}

func sampleAgentReport() AgentReport {
	row := AgentRow{Row: rowOf(sample, sampleDay), InDrafts: 12_000, Expected: &sampleExpected}
	return AgentReport{
		Today: sampleDay.today, ForecastWindowDays: sampleDay.window, TargetCoverDays: sampleDay.cover,
		Counts: &Counts{Below: 1, Near: 2, Healthy: 27}, EstCostCents: &row.EstCostCents, Suppliers: 1,
		ByStatus:   []StatusSum{{Below, 1, row.EstCostCents}},
		BySupplier: []SupplierSum{{sample.Supplier, 1, 1, row.EstCostCents, 40_000, 40_000 - row.EstCostCents}},
		SKUs:       schema.Rows([]AgentRow{row}, false, AgentRow.short), Total: 1, Shown: 1,
	}
}

func (s *Service) bindAgentReport(f *schema.Form) schema.Handler {
	q := AgentQuery{Sort: reportSorts[0]}
	f.Enum(&q.Status, "status", "only this status (default: below and near)", statuses)
	f.Text(&q.Supplier, "supplier", "only this supplier's", schema.Most(maxName), schema.Example(sample.Supplier),
		schema.Choices(SupplierChoices), schema.Any)
	f.Enum(&q.Sort, "sort", "most urgent, most cost or least stock first", reportSorts)
	q.Asked = f.Limit(&q.Limit)
	f.Text(&q.After, "after", "next of the previous page", schema.Most(maxCode))
	f.Short(&q.Short)
	q.Supplier = strings.TrimSpace(q.Supplier)
	return func(ctx context.Context, _ db.Caller) (any, error) { return s.AgentReport(ctx, q) }
}
