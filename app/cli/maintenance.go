package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"quartermaster/app/server"
	"quartermaster/maintenance"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

func (p *program) maintenanceCommand() *cobra.Command {
	return group("maintenance", "Run the workshop: labor rate, assets, parts, photos, services done, bulk moves", "",
		p.laborRateCommand(), p.assetStatusCommand(), p.usePartCommand(), p.photoCommand(), p.pmDoneCommand(), p.moveCommand())
}

// withMaintenance runs do with the maintenance service and with whom the command acts as.
func (p *program) withMaintenance(ctx context.Context, do func(*maintenance.Service, db.Caller) error) error {
	return p.withDB(func(d *db.DB) error {
		who, err := p.actor(ctx, d, "maintenance")
		if err != nil {
			return err
		}
		return do(server.NewServices(d).Maintenance, who)
	})
}

func (p *program) laborRateCommand() *cobra.Command {
	return p.jsonFlag(p.acting(&cobra.Command{
		Use:   "labor-rate CENTS_PER_HOUR",
		Short: "Set what an hour of labor costs, in cents",
		Long: `Set what an hour of labor costs, in cents. Work orders that are open or in progress cost
it from now on; those that are done or cancelled keep the rate of the day they were closed.`,
		Example: "  quartermaster maintenance labor-rate 5400",
		Args:    cobra.ExactArgs(1),
		RunE: p.run(func(ctx context.Context, args []string) error {
			cents, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || cents < 0 {
				return usagef("CENTS_PER_HOUR: %q is not a number of cents; give a whole number, 5400 for 54.00 an hour", args[0])
			}
			return p.withMaintenance(ctx, func(s *maintenance.Service, who db.Caller) error {
				rate, err := s.SetLaborRate(ctx, who, cents)
				if err != nil {
					return err
				}
				return p.print(rate, func(w io.Writer) {
					fmt.Fprintf(w, "an hour of labor: %s, it was %s\n", money(rate.CentsPerHour), money(rate.Previous))
				})
			})
		}),
		ValidArgsFunction: cobra.NoFileCompletions,
	}))
}

func (p *program) assetStatusCommand() *cobra.Command {
	return p.jsonFlag(p.acting(&cobra.Command{
		Use:   "asset-status ID STATUS",
		Short: "Set an asset's status: operational, needs-attention, down or retired",
		Long: `Set an asset's status: operational, needs-attention, down or retired. A retired asset
leaves the list of what is due and takes no new work order.`,
		Example: `  quartermaster maintenance asset-status 3 down
  quartermaster maintenance asset-status 3 operational --as alice`,
		Args: cobra.ExactArgs(2),
		RunE: p.run(func(ctx context.Context, args []string) error {
			id, err := idArg("ID", args[0])
			if err != nil {
				return err
			}
			status, err := maintenance.ParseAssetStatus(args[1])
			if err != nil {
				return usageError{err}
			}
			return p.withMaintenance(ctx, func(s *maintenance.Service, who db.Caller) error {
				a, err := s.SetAssetStatus(ctx, who, id, status)
				if err != nil {
					return err
				}
				return p.print(a, func(w io.Writer) { fmt.Fprintf(w, "%d, %s: %s\n", a.ID, a.Name, a.Status) })
			})
		}),
		ValidArgsFunction: completeAt(1, maintenance.AssetStatuses()),
	}))
}

// completeAt lets the shell complete the argument at a place from a list.
func completeAt(place int, values []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == place {
			return values, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

func (p *program) usePartCommand() *cobra.Command {
	return p.jsonFlag(p.acting(&cobra.Command{
		Use:   "use-part WORK_ORDER_ID PART_NUMBER QTY",
		Short: "Take a part from stock for a work order, at its unit cost of today",
		Long: `Take a part from stock for a work order, at its unit cost of today. More than there is
in stock is refused, and so is an order that is done or cancelled.`,
		Example: `  quartermaster maintenance use-part 12 6204-2RS 2
  quartermaster maintenance use-part 12 OIL-5W30 4.5 --as alice`,
		Args: cobra.ExactArgs(3),
		RunE: p.run(func(ctx context.Context, args []string) error {
			id, err := idArg("WORK_ORDER_ID", args[0])
			if err != nil {
				return err
			}
			qty, err := exact.ParseMilli(args[2])
			if err != nil {
				return usagef("QTY: %q: %w; give a number above 0 with at most 3 decimals", args[2], err)
			}
			return p.withMaintenance(ctx, func(s *maintenance.Service, who db.Caller) error {
				used, err := s.UsePart(ctx, who, id, args[1], qty)
				if err != nil {
					return err
				}
				return p.print(used, func(w io.Writer) { tellUsed(w, used) })
			})
		}),
		ValidArgsFunction: cobra.NoFileCompletions,
	}))
}

func tellUsed(w io.Writer, u maintenance.Used) {
	low := ""
	if u.Part.LowStock {
		low = ", which is low"
	}
	fmt.Fprintf(w, "%s of %s on work order %d: %s, the order now costs %s; %s left in stock%s\n",
		u.Use.Qty, u.Use.PartNumber, u.WorkOrder.ID, money(u.Use.CostCents), money(u.WorkOrder.TotalCostCents), u.Part.Quantity, low)
}

func (p *program) pmDoneCommand() *cobra.Command {
	var date string
	cmd := p.jsonFlag(p.acting(&cobra.Command{
		Use:   "pm-done PM_ID [--date DAY]",
		Short: "Record that a planned service was done, and restart its plan",
		Long: `Record that a planned service was done without a work order, today or on an earlier day,
and restart its plan. A job that was opened with the plan's pm_id does that by itself when
it is done.`,
		Example: `  quartermaster maintenance pm-done 3
  quartermaster maintenance pm-done 3 --date 2026-11-18 --json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
	}))
	cmd.RunE = p.run(func(ctx context.Context, args []string) error {
		id, err := idArg("PM_ID", args[0])
		if err != nil {
			return err
		}
		var day *exact.Day
		if cmd.Flags().Changed("date") {
			d, ok := exact.ParseDay(date)
			if !ok {
				return usagef("--date: %q is not a calendar day; give YYYY-MM-DD", date)
			}
			day = &d
		}
		return p.withMaintenance(ctx, func(s *maintenance.Service, who db.Caller) error {
			row, err := s.MarkDone(ctx, who, id, day)
			if err != nil {
				return err
			}
			return p.print(row, func(w io.Writer) { tellPlan(w, row) })
		})
	})
	cmd.Flags().StringVar(&date, "date", "", "when it was done, YYYY-MM-DD; today when left out, never in the future")
	return cmd
}

func tellPlan(w io.Writer, r maintenance.PMDueRow) {
	next := "at a date not yet known"
	if r.NextDue != nil {
		next = r.NextDue.String()
	}
	fmt.Fprintf(w, "%s, %s: done %s, next due %s (%s)\n", r.Asset, r.Title, r.LastDoneDate, next, r.DueStatus)
}

func (p *program) moveCommand() *cobra.Command {
	var resolution string
	cmd := p.jsonFlag(p.acting(&cobra.Command{
		Use:   "move STATUS ID... [--resolution TEXT]",
		Short: "Move many work orders, each by itself",
		Long: `Move many work orders to a status, each by itself: one that may not move is named with
the reason on stderr, the others are moved, and the exit code is 1. Each move is held to
the same rules as any other, and fires the same events.`,
		Example: `  quartermaster maintenance move in-progress 12 14
  quartermaster maintenance move done 12 14 --resolution "Filters changed" --as alice`,
		Args: cobra.MinimumNArgs(2),
		RunE: p.run(func(ctx context.Context, args []string) error {
			status, err := maintenance.ParseOrderStatus(args[0])
			if err != nil {
				return usageError{err}
			}
			ids := make([]int64, len(args)-1)
			for i, arg := range args[1:] {
				if ids[i], err = idArg("ID", arg); err != nil {
					return err
				}
			}
			return p.withMaintenance(ctx, func(s *maintenance.Service, who db.Caller) error {
				done, err := s.MoveWorkOrders(ctx, who, status, ids, resolution)
				if err != nil {
					return err
				}
				return p.tellMoved(done, len(ids))
			})
		}),
		ValidArgsFunction: completeAt(0, maintenance.OrderStatuses()),
	}))
	cmd.Flags().StringVar(&resolution, "resolution", "", "what was done; needed for done")
	return cmd
}

// tellMoved tells order by order what a bulk change did; any that was refused fails it.
func (p *program) tellMoved(done maintenance.Moved, asked int) error {
	for _, r := range done.Refused {
		p.notice(fmt.Sprintf("work order %d: %s", r.ID, r.Reason))
	}
	err := p.print(done, func(w io.Writer) {
		for _, wo := range done.Moved {
			fmt.Fprintf(w, "%d: %s\n", wo.ID, wo.Status)
		}
	})
	if err == nil && len(done.Refused) > 0 {
		err = fmt.Errorf("%d of %d work orders were refused", len(done.Refused), asked)
	}
	return err
}
