package rental

import (
	"fmt"
	"io"
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/fault"
)

func exampleYear() YearReport {
	sums := YearSums{ReceivedCents: 1_632_500, ByType: []TypeIncome{{rent, 1_475_000, 50_000}, {lateFee, 2500, 0}},
		AdvanceCents: 95_000, IncomeCents: 1_622_500,
		Spent: []CategorySpent{{"insurance", 82_000}, {"repairs", 34_000}, {"utilities", 66_000}}, SpentCents: 182_000,
		ResultCents: 1_440_500, CapitalCents: 200_000,
		Deposits: YearDeposits{ReceivedCents: 60_000, UsedCents: 50_000, ReturnedCents: 10_000}}
	return YearReport{Year: 2025, Closed: true,
		Properties: []PropertyYear{{PropertyID: new(int64(1)), Property: new("Harbour House"), YearSums: sums,
			Units: []YearUnit{{"1A", 1_140_000, 34_000, 1_106_000}, {"2A", 482_500, 0, 482_500}}}}, Totals: sums}
}

func (s *Service) yearReport() schema.Op {
	return schema.Op{
		Name: "year_report",
		About: "The report of a year: what came in by type of charge, what was spent by category, the result, and the " +
			"deposits that are held; by house and unit.",
		Response: exampleYear(), Refuses: []fault.Kind{fault.NotFound},
		Bind: schema.Does2(func(f *schema.Form, year *int64, property *string) {
			if f.Surface() == schema.REST {
				f.Int(year, "year", "the calendar year", schema.InPath("year"), schema.Range(1900, 9999), schema.Example(2025))
			} else {
				bindClosing(f, year)
			}
			bindRef(f, property, "property", "only this house, by id or name", lookupProperty, propertyChoices)
		}, s.YearReport),
		Print: schema.Printed(printYear), Example: "rental year 2025\nrental year 2025 --property 'Harbour House' --json",
	}
}

// YearRow is one figure of a year in its file: of a property, or of a unit.
type YearRow struct {
	Year                          int64
	Property, Unit, Section, Item string
	Cents                         int64
}

// Cells is the figure as a row of the file.
func (r YearRow) Cells() []string {
	return []string{strconv.FormatInt(r.Year, 10), r.Property, r.Unit, r.Section, r.Item, strconv.FormatInt(r.Cents, 10)}
}

// YearColumns are the columns of Cells.
var YearColumns = []string{"year", "property", "unit", "section", "item", "amount_cents"}

// Rows are the figures of a year that are not 0.
func (y YearReport) Rows() (all []YearRow) {
	for _, p := range y.Properties {
		add := func(unit, section, item string, cents int64) {
			if cents != 0 {
				all = append(all, YearRow{y.Year, set(p.Property), unit, section, item, cents})
			}
		}
		add("", "received", "", p.ReceivedCents)
		for _, t := range p.ByType {
			add("", "income", t.Type, t.ReceivedCents)
			add("", "from_deposits", t.Type, t.FromDepositsCents)
		}
		add("", "advance", "", p.AdvanceCents)
		add("", "credit_returned", "", p.CreditReturnedCents)
		add("", "returned", "", p.ReturnedCents)
		add("", "income", "", p.IncomeCents)
		for _, s := range p.Spent {
			add("", "spent", s.Category, s.AmountCents)
		}
		add("", "spent", "", p.SpentCents)
		add("", "result", "", p.ResultCents)
		add("", capital, "", p.CapitalCents)
		d := p.Deposits
		add("", "deposits", "held_before", d.HeldBeforeCents)
		add("", "deposits", "taken_over", d.TakenOverCents)
		add("", "deposits", "received", d.ReceivedCents)
		add("", "deposits", "used", d.UsedCents)
		add("", "deposits", "returned", d.ReturnedCents)
		add("", "deposits", "held_after", d.HeldAfterCents)
		for _, u := range p.Units {
			add(u.Unit, "income", "", u.IncomeCents)
			add(u.Unit, "spent", "", u.SpentCents)
			add(u.Unit, "result", "", u.ResultCents)
		}
	}
	return all
}

func printYear(w io.Writer, y YearReport) {
	schema.Tabulate(w, "PROPERTY|UNIT|SECTION|ITEM|AMOUNT", y.Rows(), func(r YearRow) []any {
		return []any{r.Property, r.Unit, r.Section, r.Item, plain(r.Cents)}
	})
	state := "open"
	if y.Closed {
		state = "closed"
	}
	t := y.Totals
	fmt.Fprintf(w, "%d (%s): income %s, spent %s, result %s, capital %s, deposits held %s\n", y.Year, state,
		plain(t.IncomeCents), plain(t.SpentCents),
		plain(t.ResultCents), plain(t.CapitalCents), plain(t.Deposits.HeldAfterCents))
}
