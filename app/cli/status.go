package cli

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"quartermaster/app/server"
	"quartermaster/maintenance"
	"quartermaster/rental"
	"quartermaster/reorder"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/store"
)

// Status is a summary of all four services.
type Status struct {
	Store       StoreStatus       `json:"store"`
	Maintenance MaintenanceStatus `json:"maintenance"`
	Rental      RentalStatus      `json:"rental"`
	Reorder     ReorderStatus     `json:"reorder"`
}

// StoreStatus is the store owner's summary.
type StoreStatus struct {
	store.Stats
	Unbooked int64 `json:"unbooked_payments"`
}

// MaintenanceStatus counts the jobs, plans and parts that need attention.
type MaintenanceStatus struct {
	Open       int64 `json:"open"`
	InProgress int64 `json:"in_progress"`
	Overdue    int64 `json:"overdue" about:"jobs whose due day has passed"`
	PMOverdue  int64 `json:"pm_overdue"`
	PMDueSoon  int64 `json:"pm_due_soon"`
	LowStock   int64 `json:"low_stock"`
}

// RentalStatus is arrears and vacancies.
type RentalStatus struct {
	ArrearsCents int64 `json:"arrears_cents"`
	Behind       int64 `json:"leases_behind"`
	Vacant       int64 `json:"vacant_units"`
	Occupied     int64 `json:"occupied_units"`
	OpenTickets  int64 `json:"open_tickets"`
}

// ReorderStatus is what must be bought.
type ReorderStatus struct {
	reorder.Counts
	EstCostCents int64 `json:"est_cost_cents" about:"of what is suggested for below and near"`
}

func (p *program) statusCommand() *cobra.Command {
	asCSV := false
	cmd := p.jsonFlag(&cobra.Command{
		Use:     "status",
		Short:   "Show all four services at a glance",
		Example: "  quartermaster status\n  quartermaster status --json\n  quartermaster status --csv",
		Args:    noArgs,
		RunE: p.run(func(ctx context.Context, _ []string) error {
			return p.withDB(func(d *db.DB) error {
				s, err := statusOf(ctx, server.NewServices(d))
				if err != nil {
					return err
				}
				currency, err := db.Read(ctx, d, (*db.Conn).Currency)
				if err != nil {
					return err
				}
				if asCSV {
					return s.csv(p.Stdout, currency.Code)
				}
				return p.print(s, func(w io.Writer) { s.text(w, currency) })
			})
		}),
	})
	cmd.Flags().BoolVar(&asCSV, "csv", false, "print CSV, one figure a row")
	return cmd
}

// csv writes a row for each figure; amounts have their currency.
func (s Status) csv(w io.Writer, currency string) error {
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	m, l := s.Maintenance, s.Store.Licenses
	rows := [][]string{
		{"service", "figure", "value", "currency"},
		{"store", "orders_paid", n(s.Store.OrdersPaid), ""}, {"store", "orders_refunded", n(s.Store.OrdersRefunded), ""},
		{"store", "customers", n(s.Store.Customers), ""}, {"store", "licenses_active", n(l.Active), ""},
		{"store", "unbooked_payments", n(s.Store.Unbooked), ""},
	}
	for _, r := range s.Store.Revenue {
		rows = append(rows, []string{"store", "net_cents", n(r.NetCents), r.Currency})
	}
	rows = append(rows,
		[]string{"maintenance", "open", n(m.Open), ""}, []string{"maintenance", "in_progress", n(m.InProgress), ""},
		[]string{"maintenance", "overdue", n(m.Overdue), ""}, []string{"maintenance", "pm_overdue", n(m.PMOverdue), ""},
		[]string{"maintenance", "pm_due_soon", n(m.PMDueSoon), ""}, []string{"maintenance", "low_stock", n(m.LowStock), ""},
		[]string{"rental", "arrears_cents", n(s.Rental.ArrearsCents), currency},
		[]string{"rental", "leases_behind", n(s.Rental.Behind), ""},
		[]string{"rental", "vacant_units", n(s.Rental.Vacant), ""}, []string{"rental", "occupied_units", n(s.Rental.Occupied),
			""},
		[]string{"rental", "open_tickets", n(s.Rental.OpenTickets), ""},
		[]string{"reorder", "below", n(s.Reorder.Below), ""}, []string{"reorder", "near", n(s.Reorder.Near), ""},
		[]string{"reorder", "healthy", n(s.Reorder.Healthy), ""},
		[]string{"reorder", "est_cost_cents", n(s.Reorder.EstCostCents), currency},
	)
	return csv.NewWriter(w).WriteAll(rows)
}

func statusOf(ctx context.Context, all *server.Services) (s Status, err error) {
	if s.Store.Stats, err = all.Store.Stats(ctx); err != nil {
		return s, err
	}
	if s.Store.Unbooked, err = all.Store.CountUnbooked(ctx); err != nil {
		return s, err
	}
	if s.Maintenance, err = maintenanceStatus(ctx, all.Maintenance); err != nil {
		return s, err
	}
	if s.Rental, err = rentalStatus(ctx, all.Rental); err != nil {
		return s, err
	}
	report, err := all.Reorder.Report(ctx, reorder.ReportQuery{Status: "flagged"})
	s.Reorder = ReorderStatus{Counts: report.Counts, EstCostCents: report.EstCostCents}
	return s, err
}

func maintenanceStatus(ctx context.Context, m *maintenance.Service) (s MaintenanceStatus, err error) {
	overdue := true
	for _, count := range []struct {
		into   *int64
		filter maintenance.Filter
	}{
		{&s.Open, maintenance.Filter{Status: "open", Cursor: schema.First(1)}},
		{&s.InProgress, maintenance.Filter{Status: "in-progress", Cursor: schema.First(1)}},
		{&s.Overdue, maintenance.Filter{Overdue: &overdue, Cursor: schema.First(1)}},
	} {
		found, err := m.WorkOrders(ctx, count.filter)
		if err != nil {
			return s, err
		}
		*count.into = found.Total
	}
	due, err := m.PMDue(ctx, "")
	if err != nil {
		return s, err
	}
	for _, row := range due.PMDue {
		switch row.DueStatus {
		case "overdue":
			s.PMOverdue++
		case "due-soon":
			s.PMDueSoon++
		}
	}
	low := true
	s.LowStock, err = m.CountParts(ctx, maintenance.PartFilter{LowStock: &low})
	return s, err
}

func rentalStatus(ctx context.Context, r *rental.Service) (s RentalStatus, err error) {
	who := db.CLI("rental")
	arrears, err := r.Arrears(ctx, who)
	if err != nil {
		return s, err
	}
	behind := map[int64]bool{}
	for _, a := range arrears.Arrears {
		behind[a.LeaseID] = true
	}
	s.ArrearsCents, s.Behind = arrears.TotalCents, int64(len(behind))
	for status, n := range map[string]*int64{"vacant": &s.Vacant, "occupied": &s.Occupied} {
		if *n, err = r.CountUnits(ctx, rental.UnitFilter{Status: status}); err != nil {
			return s, err
		}
	}
	tickets, err := r.Tickets(ctx, rental.TicketFilter{})
	for _, k := range tickets.Tickets {
		if k.Status != "resolved" {
			s.OpenTickets++
		}
	}
	return s, err
}

func (s Status) text(w io.Writer, c exact.Currency) {
	revenue := schema.Map(s.Store.Revenue, func(r store.Revenue) string {
		return exact.CurrencyOf(r.Currency).Format(r.NetCents)
	})
	if len(revenue) == 0 {
		revenue = append(revenue, "nothing sold yet")
	}
	lines := [][]any{
		{"store", fmt.Sprintf("%s net, %d orders paid, %d licenses active, %d payments that could not be booked",
			strings.Join(revenue, " and "), s.Store.OrdersPaid, s.Store.Licenses.Active, s.Store.Unbooked)},
		{"maintenance",
			fmt.Sprintf("%d jobs open, %d in progress, %d past their day; plans: %d overdue, %d due soon; %d parts low",
				s.Maintenance.Open, s.Maintenance.InProgress, s.Maintenance.Overdue, s.Maintenance.PMOverdue,
				s.Maintenance.PMDueSoon, s.Maintenance.LowStock)},
		{"rental", fmt.Sprintf("%s behind over %d leases; %d of %d units vacant; %d tickets open",
			c.Format(s.Rental.ArrearsCents), s.Rental.Behind, s.Rental.Vacant, s.Rental.Vacant+s.Rental.Occupied,
			s.Rental.OpenTickets)},
		{"reorder", fmt.Sprintf("%d below their reorder point, %d near it; to order now: %s",
			s.Reorder.Below, s.Reorder.Near, c.Format(s.Reorder.EstCostCents))},
	}
	schema.Tabulate(w, "SERVICE|NOW", lines, func(l []any) []any { return l })
}
