package reorder

import (
	"context"
	"math"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// Filters of a report beside a single status.
const (
	Flagged = "flagged" // below and near
	All     = "all"
)

// Report says what to buy, most urgent first: by status, then by days of cover, fewest first, then by SKU in byte
// order.
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

// ReportQuery restricts a report: to a status, Flagged or All, and to a supplier unless "".
type ReportQuery struct{ Status, Supplier string }

func (q ReportQuery) wantsStatus(status string) bool {
	return q.Status == status || q.Status == All || q.Status == Flagged && status != Healthy
}

// Report computes the report of today.
func (s *Service) Report(ctx context.Context, q ReportQuery) (rep Report, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		k, err := rank(c)
		if err != nil {
			return err
		}
		sums := k.sums(q)
		rep = Report{
			Today: k.h.today, ForecastWindowDays: k.h.window, TargetCoverDays: k.h.cover,
			Counts: sums.counts, EstCostCents: sums.all.cents(),
		}
		rep.SKUs, err = k.rows(c, k.entries(q))
		return err
	})
	return rep, err
}

// urgency is a status' place among them all, most urgent first.
func urgency(status string) int8 { return int8(slices.Index(statuses, status)) } // #nosec G115 -- one of three

// addCents adds two costs, neither negative; what no int64 holds is its largest.
func addCents(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
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
		Name: "reorder_report", Says: "What to buy now",
		Example: "reorder report\nreorder report --status all --json",
		Print:   schema.Printed(printReport), Did: schema.Said(didReport),
		About: "What to buy: the SKUs at or near their reorder point, most urgent first, with suggested quantities and " +
			"their cost.",
		AgentAbout: "What to buy now, most urgent first. reorder_point = avg_daily_demand x (lead + safety days); " +
			"below: stock <= it, near: <= 1.25 x it. suggested_qty covers lead + safety + target_cover_days, less stock and " +
			"on order, in whole packs. " +
			"Sums are over all that match, on the first page; by_supplier says what to order from whom.",
		Response: sampleReport(), AgentResponse: sampleAgentReport(),
		Bind: func(f *schema.Form) schema.Handler {
			if f.Surface() == schema.Tool {
				return s.bindAgentReport(f)
			}
			q := ReportQuery{Status: Flagged}
			f.Enum(&q.Status, "status", "which SKUs; flagged (the default) is below and near",
				append(slices.Clone(statuses), Flagged, All))
			return func(ctx context.Context, _ db.Caller) (any, error) {
				rep, err := s.Report(ctx, q)
				return rep, err
			}
		},
	}
}
