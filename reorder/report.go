package reorder

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// What a report may be narrowed to, beside a single status.
const (
	Flagged = "flagged" // below and near
	All     = "all"
)

// Report says what to buy, most urgent first: by status, then by days of cover, fewest
// first, then by SKU in byte order.
type Report struct {
	Today              exact.Day `json:"today"`
	ForecastWindowDays int64     `json:"forecast_window_days"`
	TargetCoverDays    int64     `json:"target_cover_days"`
	Counts             Counts    `json:"counts" about:"over all active SKUs"`
	EstCostCents       int64     `json:"est_cost_cents" about:"over the rows given"`
	SKUs               []Row     `json:"skus"`
}

// Counts is how many active SKUs are in each status.
type Counts struct {
	Below   int64 `json:"below"`
	Near    int64 `json:"near"`
	Healthy int64 `json:"healthy"`
}

// ReportQuery narrows a report: to a status, Flagged or All, to a supplier unless "",
// and to the first rows unless Limit is 0.
type ReportQuery struct {
	Status, Supplier string
	Limit            int64
}

func (q ReportQuery) wants(status string) bool {
	return q.Status == status || q.Status == All || q.Status == Flagged && status != Healthy
}

// Report computes the report of today. total is how many rows there are without the
// limit.
func (s *Service) Report(ctx context.Context, q ReportQuery) (rep Report, total int, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		h, d, err := asOfToday(c)
		if err != nil {
			return err
		}
		rep, total, err = report(c, h, d, q)
		return err
	})
	return rep, total, err
}

func report(c *db.Conn, h horizon, d windowDelta, q ReportQuery) (Report, int, error) {
	rep := Report{Today: h.today, ForecastWindowDays: h.window, TargetCoverDays: h.cover, SKUs: []Row{}}
	if q.Status == All { // growing so long a list would take twice the memory
		n, _, err := db.One(c, db.Int, "SELECT count(*) FROM skus WHERE active = 1")
		if err != nil {
			return rep, 0, err
		}
		rep.SKUs = make([]Row, 0, n)
	}
	counts := map[string]*int64{Below: &rep.Counts.Below, Near: &rep.Counts.Near, Healthy: &rep.Counts.Healthy}
	err := db.Each(c, func(r *db.Row) error {
		rec := scanNumbers(r)
		rec.sold += d[rec.id]
		status := rec.basis().status(h)
		*counts[status]++
		if !q.wants(status) {
			return nil
		}
		rec.scanTexts(r)
		if q.Supplier == "" || rec.Supplier == q.Supplier {
			rep.SKUs = append(rep.SKUs, rowOf(rec, h))
		}
		return nil
	}, "SELECT "+columns+" FROM skus WHERE active = 1")
	if err != nil {
		return rep, 0, err
	}
	slices.SortFunc(rep.SKUs, moreUrgent)
	total := len(rep.SKUs)
	if q.Limit > 0 && int64(total) > q.Limit {
		rep.SKUs = rep.SKUs[:q.Limit]
	}
	for i := range rep.SKUs {
		rep.EstCostCents = addCents(rep.EstCostCents, rep.SKUs[i].EstCostCents)
	}
	return rep, total, nil
}

func moreUrgent(a, b Row) int {
	return cmp.Or(
		cmp.Compare(urgency(a.Status), urgency(b.Status)),
		coverCompare(a.CurrentStock, a.SoldInWindow, a.DemandDays, b.CurrentStock, b.SoldInWindow, b.DemandDays),
		strings.Compare(a.SKU, b.SKU))
}

func urgency(status string) int { return slices.Index(statuses, status) }

// addCents adds two costs, neither negative; what no int64 holds is its largest.
func addCents(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// quickReport is a report that writes its own JSON, which equals encoding/json's.
type quickReport struct{ Report }

// AppendJSON appends the report as JSON.
func (r quickReport) AppendJSON(b []byte) []byte {
	b = slices.Grow(b, 256+400*len(r.SKUs))
	b = r.Today.Append(append(b, `{"today":"`...))
	b = strconv.AppendInt(append(b, `","forecast_window_days":`...), r.ForecastWindowDays, 10)
	b = strconv.AppendInt(append(b, `,"target_cover_days":`...), r.TargetCoverDays, 10)
	b = strconv.AppendInt(append(b, `,"counts":{"below":`...), r.Counts.Below, 10)
	b = strconv.AppendInt(append(b, `,"near":`...), r.Counts.Near, 10)
	b = strconv.AppendInt(append(b, `,"healthy":`...), r.Counts.Healthy, 10)
	b = strconv.AppendInt(append(b, `},"est_cost_cents":`...), r.EstCostCents, 10)
	b = append(b, `,"skus":[`...)
	for i := range r.SKUs {
		if i > 0 {
			b = append(b, ',')
		}
		b = r.SKUs[i].appendJSON(b)
	}
	return append(b, `]}`...)
}

func sampleReport() Report {
	row := rowOf(sample, sampleDay)
	return Report{
		Today: sampleDay.today, ForecastWindowDays: sampleDay.window, TargetCoverDays: sampleDay.cover,
		Counts: Counts{Below: 1, Near: 2, Healthy: 27}, EstCostCents: row.EstCostCents, SKUs: []Row{row},
	}
}

func (s *Service) reorderReport() schema.Op {
	return schema.Op{
		Name:    "reorder_report",
		Example: "reorder report\nreorder report --status all --json", Print: printReport, Did: didReport,
		About:    "What to buy: the SKUs at or near their reorder point, most urgent first, with suggested quantities and their cost.",
		Response: sampleReport(),
		Bind: func(f *schema.Form) schema.Handler {
			q := ReportQuery{Status: Flagged}
			f.Enum(&q.Status, "status", "which SKUs; flagged is below and near", append(slices.Clone(statuses), Flagged, All))
			return func(ctx context.Context, _ db.Caller) (any, error) {
				rep, _, err := s.Report(ctx, q)
				return quickReport{rep}, err
			}
		},
	}
}
