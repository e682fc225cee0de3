package reorder

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

func sampleSupplier() Supplier {
	lead := int64(7)
	return Supplier{
		Name: sample.Supplier, Email: "orders@leaf.example", Phone: "+49 40 123456",
		Address: "Harbour Street 1\n20457 Hamburg", LeadTimeDays: &lead,
		MinOrderCents: 40_000, Notes: "Orders by Thursday.", SKUs: 11, CreatedAt: sample.CreatedAt,
		UpdatedAt: sample.UpdatedAt,
	}
}

func (s *Service) saveSupplierOp() schema.Op {
	op := supplierTable().Save(s.db, schema.Op{
		Rare:       []string{"address", "min_order_cents"},
		Name:       "save_supplier",
		Keys:       []string{"name"},
		About:      "Create or change a supplier's record: only the given fields; an empty one becomes its default.",
		Idempotent: true, Response: sampleSupplier(),
		Example: `reorder suppliers save "Leaf & Co" --email orders@leaf.example --lead-time-days 7 --min-order-cents 40000`,
		Print:   schema.Printed(printSupplier),
		Did:     schema.Said(func(x Supplier) string { return fmt.Sprintf("Supplier %s is saved.", x.Name) }),
		Leads:   func(answer any) string { return supplierPage(answer.(Supplier).Name) },
	})
	op.Bind = record.Saves(s.db, suppliers, suppliers.Put, func(c *db.Conn, now Supplier, _ int64) (Supplier, error) {
		return findSupplier(c, now.Name)
	})
	return op
}

func printSupplier(w io.Writer, one Supplier) {
	fmt.Fprintln(w, one.Name)
	for _, row := range [][2]string{
		{"e-mail", one.Email}, {"phone", one.Phone}, {"address", one.Address}, {"lead time", schema.Cell(one.LeadTimeDays)},
		{"minimum order", amount(one.MinOrderCents)}, {"SKUs", strconv.FormatInt(one.SKUs, 10)}, {"notes", one.Notes},
	} {
		if row[1] != "" {
			fmt.Fprintf(w, "%-12s %s\n", row[0], row[1])
		}
	}
}

func (s *Service) listSuppliers() schema.Op {
	return schema.Op{
		Name: "list_suppliers", About: "Suppliers with a record, by name.",
		Response: Suppliers{Suppliers: []Supplier{sampleSupplier()}, Total: 1},
		Example:  "reorder suppliers list",
		Bind: schema.Reads(func(f *schema.Form, q *SupplierQuery) {
			f.Text(&q.Q, "q", "text to look for in name, e-mail and notes", schema.Most(maxName), schema.Label("Search"))
			paging(f, &q.Limit, &q.After, maxName)
		}, s.Suppliers),
		Print: func(w io.Writer, answer any) {
			schema.Tabulate(w, "NAME|E-MAIL|PHONE|LEAD TIME|MINIMUM ORDER|SKUS", answer.(Suppliers).Suppliers,
				func(one Supplier) []any {
					return []any{one.Name, one.Email, one.Phone, schema.Cell(one.LeadTimeDays), amount(one.MinOrderCents),
						strconv.FormatInt(one.SKUs, 10)}
				})
		},
	}
}

func (s *Service) supplierDetail() schema.Op {
	return schema.Op{
		Name: "supplier_detail", About: "One supplier's record.", Response: sampleSupplier(),
		Refuses: []fault.Kind{fault.NotFound},
		Example: `reorder suppliers show "Leaf & Co"`,
		Bind: schema.Reads(func(f *schema.Form, name *string) {
			f.Text(name, "name", "the supplier", schema.Required, schema.Most(maxName), schema.Choices(anySupply),
				schema.Example(sample.Supplier))
		}, s.Supplier),
		Print: schema.Printed(printSupplier),
	}
}

func (s *Service) setForecast() schema.Op {
	return schema.Op{
		Name: "set_forecast",
		About: "Set over how many days demand is averaged, how many days an order should last beyond lead time and safety " +
			"stock, and whether the average leaves out days without stock. " +
			"Every SKU is recalculated, without alarms.",
		Writes: true, Idempotent: true, Response: Settings{ForecastWindowDays: 30, TargetCoverDays: 30},
		Example: "reorder settings\nreorder settings --window 60 --cover 14",
		Fill: func(c *db.Conn, _ map[string]string) (map[string]string, bool, error) {
			set, err := settingsOf(c)
			return map[string]string{"forecast_window_days": strconv.FormatInt(set.ForecastWindowDays, 10),
				"target_cover_days":            strconv.FormatInt(set.TargetCoverDays, 10),
				"leave_out_days_without_stock": map[bool]string{true: "yes", false: "no"}[set.LeaveOutEmpty]}, true, err
		},
		Bind: func(f *schema.Form) schema.Handler {
			var change SettingsChange
			f.IntPtr(&change.ForecastWindowDays, "forecast_window_days", "days over which demand is averaged, 1 to 365",
				schema.Flag("window"), schema.Example(60))
			f.IntPtr(&change.TargetCoverDays, "target_cover_days", "how many days an order should last, 1 to 365",
				schema.Flag("cover"), schema.Example(14))
			empty := ""
			if f.Enum(&empty, "leave_out_days_without_stock",
				"whether the average leaves out the days on which a SKU had no stock: yes or no", []string{"yes", "no"},
				schema.Flag("leave-out-empty")) {
				leave := empty == "yes"
				change.LeaveOutEmpty = &leave
			}
			return func(ctx context.Context, who db.Caller) (any, error) {
				if change == (SettingsChange{}) {
					return s.Settings(ctx)
				}
				return s.ChangeSettings(ctx, who, change)
			}
		},
		Print: schema.Printed(func(w io.Writer, set Settings) {
			fmt.Fprintf(w, "forecast window: %d days\ntarget cover: %d days\n", set.ForecastWindowDays, set.TargetCoverDays)
			if set.LeaveOutEmpty {
				fmt.Fprintln(w, "days without stock are left out")
			}
		}),
		Did: schema.Said(func(set Settings) string {
			text := fmt.Sprintf("Demand is averaged over %s, and an order lasts %d.",
				exact.Plural(set.ForecastWindowDays, "day", "days"), set.TargetCoverDays)
			if set.LeaveOutEmpty {
				text += " Days without stock are left out."
			}
			return text
		}),
	}
}

func printReport(w io.Writer, report Report) {
	schema.Tabulate(w, "SKU|NAME|STATUS|STOCK|ON ORDER|REORDER AT|DAYS LEFT|RUNS OUT|BUY|COST|SUPPLIER",
		report.SKUs, func(r Row) []any {
			days := ""
			if r.DaysOfStock != nil {
				days = r.DaysOfStock.String()
			}
			return []any{r.SKU, r.Name, r.Status, r.CurrentStock.String(), r.OnOrder.String(), r.ReorderPoint.String(), days,
				schema.Cell(r.StockoutDate),
				strconv.FormatInt(r.SuggestedQty, 10), amount(r.EstCostCents), r.Supplier}
		})
}

func didReport(report Report) string {
	return fmt.Sprintf("%s: %d below, %d near, %d healthy; what is shown costs %s",
		report.Today, report.Counts.Below, report.Counts.Near, report.Counts.Healthy, amount(report.EstCostCents))
}

// parseSaleKey reads DAY SKU, the next of a page of sales.
func parseSaleKey(text string) (day exact.Day, sku string, ok bool) {
	if len(text) < 12 || text[10] != ' ' {
		return 0, "", false
	}
	day, ok = exact.ParseDay(text[:10])
	return day, text[11:], ok
}
