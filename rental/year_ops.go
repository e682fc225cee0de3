package rental

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
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

// settingClosed stores the closed years with the time in seconds of each closing, oldest first: "2024@1735689600
// 2025@1767225600". All years up to the last one are closed.
const settingClosed = "closed_through"

type closing struct {
	year int64
	at   exact.Instant
}

func closings(c *db.Conn) (all []closing, err error) {
	kept, err := c.Setting(settingClosed)
	for one := range strings.FieldsSeq(kept) {
		year, at, _ := strings.Cut(one, "@")
		y, bad := strconv.ParseInt(year, 10, 64)
		t, wrong := strconv.ParseInt(at, 10, 64)
		if bad != nil || wrong != nil {
			return nil, fmt.Errorf("the setting %s is %q", settingClosed, kept)
		}
		all = append(all, closing{y, exact.Instant(t)})
	}
	return all, err
}

func keepClosings(tx *db.Tx, all []closing) error {
	texts := schema.Map(all, func(x closing) string { return fmt.Sprintf("%d@%d", x.year, int64(x.at)) })
	return tx.SetSetting(settingClosed, strings.Join(texts, " "))
}

// closedThrough is the last closed year; 0: none is.
func closedThrough(c *db.Conn) (int64, error) {
	all, err := closings(c)
	if err != nil || len(all) == 0 {
		return 0, err
	}
	return all[len(all)-1].year, nil
}

func yearOf(d exact.Day) int64 {
	y, _, _ := d.Date()
	return int64(y)
}

// openFrom is the first day on which money may be dated: the later of a day and the first day that is not closed.
func openFrom(c *db.Conn, day exact.Day) (exact.Day, error) {
	closed, err := closedThrough(c)
	if err != nil || closed == 0 {
		return day, err
	}
	first, _ := yearDays(closed + 1)
	return max(day, first), nil
}

func mustBeOpen(c *db.Conn, field string, day exact.Day) error {
	open, err := openFrom(c, day)
	if err == nil && open != day {
		err = fault.Fieldf(field, "%s: %s is in %d, which is closed; the first open day is %s", field, day, yearOf(day), open)
	}
	return err
}

// closeYear closes a past year, and all before it: no payment, payout, deposit use, expense or opening can be dated
// there any more. Due charges are posted first.
func closeYear(tx *db.Tx, year int64) (done YearReport, err error) {
	if year >= yearOf(tx.Today()) {
		return done, fault.Fieldf("year", "year: %d is not over; a year is closed from its next 1 January on", year)
	}
	all, err := closings(&tx.Conn)
	if err != nil {
		return done, err
	}
	if n := len(all); n > 0 && all[n-1].year >= year {
		return done, fault.Fieldf("year", "year: %d is closed already; all years up to %d are", year, all[n-1].year)
	}
	if err := tx.CheckClock(); err != nil {
		return done, err
	}
	if err := postAll(tx); err != nil {
		return done, err
	}
	if err := keepClosings(tx, append(all, closing{year, tx.Now()})); err != nil {
		return done, err
	}
	if done, err = yearReport(&tx.Conn, year, nil); err != nil {
		return done, err
	}
	return done, tx.Audit("year.closed", "year:"+strconv.FormatInt(year, 10),
		map[string]any{"year": year, "result_cents": done.Totals.ResultCents})
}

// openYear opens the last closed year again; those before it stay closed.
func openYear(tx *db.Tx, year int64, reason string) (done YearReport, err error) {
	all, err := closings(&tx.Conn)
	if err != nil {
		return done, err
	}
	n := len(all)
	switch {
	case n == 0:
		return done, fault.Fieldf("year", "year: %d is open; no year is closed", year)
	case all[n-1].year != year:
		return done, fault.Fieldf("year", "year: only %d, the last closed year, can be opened", all[n-1].year)
	}
	last := all[n-1]
	all = all[:n-1]
	if last.year--; n > 1 && all[n-2].year < last.year || n == 1 {
		all = append(all, last) // the years before it were closed with it
	}
	if err := postAll(tx); err != nil {
		return done, err
	}
	if err := keepClosings(tx, all); err != nil {
		return done, err
	}
	if done, err = yearReport(&tx.Conn, year, nil); err != nil {
		return done, err
	}
	return done, tx.Audit("year.opened", "year:"+strconv.FormatInt(year, 10),
		map[string]any{"year": year, "reason": reason})
}

func postAll(tx *db.Tx) error {
	due, err := toPost(&tx.Conn)
	if err != nil {
		return err
	}
	return post(tx, due...)
}

func bindClosing(f *schema.Form, year *int64) {
	f.Int(year, "year", "the calendar year", schema.Required, schema.Range(1900, 9999), schema.Positional("YEAR"),
		schema.Example(2025))
}

func (s *Service) closeYear() schema.Op {
	return schema.Op{
		Name: "close_year", Writes: true, Admin: true, Destructive: true,
		About: "Close a past year and all years before it. No payment, payout, deposit use, expense or opening is dated " +
			"there " +
			"from then on; a payment reversed later counts in the year of that day.",
		Response: exampleYear(), Bind: schema.Writes(s.db, bindClosing, closeYear),
		Example: "rental close-year 2025",
		Did:     func(a any, _ schema.Money) string { return fmt.Sprintf("%d is closed.", a.(YearReport).Year) },
		Will: schema.SaidIn(func(y YearReport, m schema.Money) string {
			return fmt.Sprintf("%d and all years before it will be closed. Income %s, spent %s, result %s. Nothing can be "+
				"dated there afterwards.",
				y.Year, m(y.Totals.IncomeCents), m(y.Totals.SpentCents), m(y.Totals.ResultCents))
		}),
		Leads: leadsYear,
	}
}

func (s *Service) openYear() schema.Op {
	return schema.Op{
		Name: "open_year", Writes: true, Admin: true, Destructive: true,
		About:    "Open the last closed year again, so that payments and expenses can be dated there.",
		Response: exampleYear(), Bind: schema.Writes2(s.db, func(f *schema.Form, year *int64, reason *string) {
			bindClosing(f, year)
			f.Text(reason, "reason", "why, for the history", schema.Required, schema.Most(maxText),
				schema.Example("an invoice was forgotten"))
		}, openYear),
		Example: `rental open-year 2025 --reason "an invoice was forgotten"`,
		Did:     func(a any, _ schema.Money) string { return fmt.Sprintf("%d is open again.", a.(YearReport).Year) },
		Will: schema.SaidIn(func(y YearReport, m schema.Money) string {
			return fmt.Sprintf("%d is open again; its result is %s so far. Payments and expenses can be dated there.", y.Year,
				m(y.Totals.ResultCents))
		}),
		Leads: leadsYear,
	}
}

func leadsYear(a any) string { return "/years/" + strconv.FormatInt(a.(YearReport).Year, 10) }
