package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"quartermaster/app/server"
	"quartermaster/reorder"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

func (p *program) reorderCommand() *cobra.Command {
	return group("reorder", "What to buy: the report, stock counts, purchase orders, settings", "",
		p.reorderReportCommand(), p.reorderAdjustCommand(), p.reorderSettingsCommand(), p.purchaseCommand())
}

// withReorder runs do with the reorder service and with whom the command acts as.
func (p *program) withReorder(ctx context.Context, do func(*reorder.Service, db.Caller) error) error {
	return p.withDB(func(d *db.DB) error {
		who, err := p.actor(ctx, d, "reorder")
		if err != nil {
			return err
		}
		return do(server.NewServices(d).Reorder, who)
	})
}

// reportStatuses are what a report may be narrowed to.
var reportStatuses = []string{reorder.Below, reorder.Near, reorder.Healthy, reorder.Flagged, reorder.All}

func (p *program) reorderReportCommand() *cobra.Command {
	var status string
	cmd := p.jsonFlag(&cobra.Command{
		Use:   "report [--status STATUS]",
		Short: "Show what to buy, most urgent first",
		Example: `  quartermaster reorder report
  quartermaster reorder report --status all --json`,
		Args: noArgs,
		RunE: p.run(func(ctx context.Context, _ []string) error {
			if err := oneOf("--status", status, reportStatuses...); err != nil {
				return err
			}
			return p.withReorder(ctx, func(s *reorder.Service, _ db.Caller) error {
				report, _, err := s.Report(ctx, reorder.ReportQuery{Status: status})
				if err != nil {
					return err
				}
				return p.print(report, func(w io.Writer) { p.tellReport(w, report) })
			})
		}),
	})
	cmd.Flags().StringVar(&status, "status", reorder.Flagged, "below, near, healthy, flagged (below and near) or all")
	complete(cmd, "status", reportStatuses)
	return cmd
}

func (p *program) tellReport(w io.Writer, report reorder.Report) {
	columns(w, []string{"SKU", "NAME", "STATUS", "STOCK", "ON ORDER", "REORDER AT", "DAYS LEFT", "RUNS OUT", "BUY", "COST", "SUPPLIER"},
		report.SKUs, func(r reorder.Row) []string {
			days, runsOut := "", ""
			if r.DaysOfStock != nil {
				days = r.DaysOfStock.String()
			}
			if r.StockoutDate != nil {
				runsOut = r.StockoutDate.String()
			}
			return []string{r.SKU, r.Name, r.Status, r.CurrentStock.String(), r.OnOrder.String(), r.ReorderPoint.String(), days, runsOut,
				strconv.FormatInt(r.SuggestedQty, 10), money(r.EstCostCents), r.Supplier}
		})
	p.notice(fmt.Sprintf("%s: %d below, %d near, %d healthy; what is shown costs %s",
		report.Today, report.Counts.Below, report.Counts.Near, report.Counts.Healthy, money(report.EstCostCents)))
}

// money writes cents, never negative, as an amount with two decimals.
func money(cents int64) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

func (p *program) reorderAdjustCommand() *cobra.Command {
	var set, delta milliFlag
	var reason string
	cmd := p.jsonFlag(p.acting(&cobra.Command{
		Use:   "adjust SKU --set N | --delta N [--reason TEXT]",
		Short: "Set a SKU's stock to a counted figure, or add or remove some",
		Example: `  quartermaster reorder adjust TEA-1 --set 18 --reason "stock count"
  quartermaster reorder adjust TEA-1 --delta -2.5 --reason broken --as alice`,
		Args: cobra.ExactArgs(1),
		RunE: p.run(func(ctx context.Context, args []string) error {
			if (set.n == nil) == (delta.n == nil) {
				return usagef("--set and --delta: give one of them, --set for a counted figure or --delta to add or remove")
			}
			return p.withReorder(ctx, func(s *reorder.Service, who db.Caller) error {
				a, err := s.Adjust(ctx, who, reorder.Adjustment{SKU: args[0], SetTo: set.n, Delta: delta.n, Reason: reason})
				if err != nil {
					return err
				}
				return p.print(a, func(w io.Writer) {
					fmt.Fprintf(w, "%s: %s, it was %s; %s\n", a.SKU, a.CurrentStock, a.PreviousStock, a.Status)
				})
			})
		}),
		ValidArgsFunction: cobra.NoFileCompletions,
	}))
	f := cmd.Flags()
	f.Var(&set, "set", "the counted figure")
	f.Var(&delta, "delta", "what is added, or with a minus removed")
	f.StringVar(&reason, "reason", "", "why, for the audit trail")
	return cmd
}

// milliFlag is a quantity with at most three decimals; nil until it is given.
type milliFlag struct{ n *exact.Milli }

func (f *milliFlag) String() string {
	if f.n == nil {
		return ""
	}
	return f.n.String()
}

func (f *milliFlag) Type() string { return "N" }

func (f *milliFlag) Set(s string) error {
	n, err := exact.ParseMilli(s)
	if err != nil {
		return err
	}
	f.n = &n
	return nil
}

func (p *program) reorderSettingsCommand() *cobra.Command {
	var window, cover int64
	cmd := p.jsonFlag(p.acting(&cobra.Command{
		Use:   "settings [--window N] [--cover N]",
		Short: "Show the forecast's settings, or change them",
		Long: `Show the settings of the forecast, or change them: over how many days demand is
averaged, and how many days an order should last beyond lead time and safety stock.
Every SKU is judged anew, without an alarm.`,
		Example: `  quartermaster reorder settings
  quartermaster reorder settings --window 60 --cover 14`,
		Args: noArgs,
	}))
	cmd.RunE = p.run(func(ctx context.Context, _ []string) error {
		var change reorder.SettingsChange
		if cmd.Flags().Changed("window") {
			change.ForecastWindowDays = &window
		}
		if cmd.Flags().Changed("cover") {
			change.TargetCoverDays = &cover
		}
		return p.withReorder(ctx, func(s *reorder.Service, who db.Caller) error {
			var set reorder.Settings
			var err error
			if change == (reorder.SettingsChange{}) {
				set, err = s.Settings(ctx)
			} else {
				set, err = s.ChangeSettings(ctx, who, change)
			}
			if err != nil {
				return err
			}
			return p.print(set, func(w io.Writer) {
				fmt.Fprintf(w, "forecast window: %d days\ntarget cover: %d days\n", set.ForecastWindowDays, set.TargetCoverDays)
			})
		})
	})
	cmd.Flags().Int64Var(&window, "window", 0, "over how many days demand is averaged, 1 to 365")
	cmd.Flags().Int64Var(&cover, "cover", 0, "how many days an order should last, 1 to 365")
	return cmd
}
