package page

import (
	"context"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"quartermaster/rental"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
	"quartermaster/schema/words"
)

func month(s *rental.Service) page.Page {
	return page.New(page.Spec[rental.Overview]{
		Path: "/", Title: "This month", Menu: "This month", Key: "t",
		Load: page.Always(s.Overview),
		View: Month,
	})
}

// collectedTitle says what part of what is billed this month is collected, in whole percent: 100 only of all of it.
func collectedTitle(ctx context.Context, v rental.Overview) string {
	t := v.Totals
	if t.BilledCents == 0 {
		return "Nothing is billed in " + monthName(v.Month)
	}
	return page.Share(t.CollectedCents, t.BilledCents) + " of " + page.MoneyText(ctx, t.BilledCents) + " billed in " +
		monthName(v.Month) + " is collected"
}

// monthName is a month of this year.
func monthName(m exact.Month) string {
	name, _, _ := strings.Cut(page.MonthText(m), " ")
	return name
}

// centsOrDash is an amount in a column whose rows need not have one.
func centsOrDash(cents int64) templ.Component {
	if cents == 0 {
		return page.Figure("0", "–")
	}
	return page.Cents(cents)
}

// lateCents is what of this month's charges is overdue; what else is open of them is due today or later.
func lateCents(v rental.Overview) int64 { return v.ArrearsCents - v.EarlierCents }

// billed are the parts of what is billed this month; what is open in two, only those that are.
func billed(ctx context.Context, v rental.Overview) []page.Part {
	part := func(label, path, look string, cents int64) page.Part {
		return page.Part{Label: label, Path: path, Look: look, Value: cents, Shown: page.MoneyText(ctx, cents)}
	}
	late := lateCents(v)
	return slices.DeleteFunc([]page.Part{
		part("Collected", "/rent-roll", page.Good, v.Totals.CollectedCents),
		part("Overdue", "/arrears", page.Bad, late),
		part("Open", "/rent-roll", page.Warn, v.Totals.OutstandingCents-late),
	}, func(p page.Part) bool { return p.Look != page.Good && p.Value == 0 })
}

// collectedChart is what was collected of each month, as bars over what was billed; nothing before the first charge.
func collectedChart(ctx context.Context, v rental.Overview) page.Chart {
	late := lateCents(v)
	var collected, billed int64
	c := page.Chart{Label: "Month", Names: [2]string{"Collected", "Billed"}, Rest: "Open",
		Todo: v.Totals.OutstandingCents - late, Low: true,
		Show: func(n int64) string { return page.Amount(n, page.CurrencyCode(ctx)) }}
	for _, m := range v.Months {
		if m.BilledCents == 0 && len(c.Bars) == 0 {
			continue
		}
		label := page.MonthText(m.Month)
		if m.Month < v.Month && m.CollectedCents < m.BilledCents || m.Month == v.Month && late > 0 {
			c.Late = "Overdue"
		}
		if label = label[:3]; len(c.Bars) == 0 || label == "Jan" {
			label = page.MonthText(m.Month)
		}
		c.Bars = append(c.Bars, page.Point{Label: label, Value: m.CollectedCents})
		c.Line = append(c.Line, page.Point{Label: label, Value: m.BilledCents})
		collected, billed = collected+min(m.CollectedCents, m.BilledCents), billed+m.BilledCents
	}
	if billed > 0 {
		c.Title = page.Share(collected, billed) + " of what was billed in " + page.Plural(len(c.Bars), "month", "months") +
			" is collected, " + page.CurrencyCode(ctx)
	}
	return c
}

// arrearsView is a page of the arrears; the sums are of all.
type arrearsView struct {
	rental.Arrears
	shown []rental.TenantBehind
	total int64
	next  string
	all   int // tenants who are behind, whatever is searched for

	letters int    // to all that match
	write   string // their address; "" for less than two

	byLease bool
	leases  []rental.LeaseBehind // by lease: those shown
}

func arrears(s *rental.Service) page.Page {
	return page.New(page.Spec[arrearsView]{
		Path: "/arrears", Title: "Arrears", Menu: "Arrears", Key: "a",
		Load: func(f *schema.Form) page.Loader[arrearsView] {
			var p page.Paging
			p.Bind(f, arrearSorts.Names()...)
			var age, by string
			f.Enum(&age, "age", "Days overdue", ageNames)
			f.Enum(&by, "by", "A row for each", []string{"tenant", "lease"})
			return func(ctx context.Context, who db.Caller) (arrearsView, error) {
				all, err := s.Arrears(ctx, who)
				if by == "lease" {
					return arrearsByLease(all, p, age), err
				}
				return newArrears(all, p, age), err
			}
		},
		View: Arrears,
		CSV: func(v arrearsView) page.Sheet {
			sheet := page.Sheet{Name: "arrears", Columns: []string{"lease_id", "property", "unit", "tenant", "tenant_email",
				"charge_id", "type", "label", "due_date", "days_overdue", "amount_cents", "balance_cents"}}
			for _, t := range v.shown {
				for _, a := range t.Charges {
					sheet.Rows = append(sheet.Rows, []string{page.Num(a.LeaseID), a.Property, a.Unit, a.Tenant,
						schema.Cell(a.TenantEmail), page.Num(a.ID), a.Type, a.Label, a.DueDate.String(),
						page.Num(a.DaysOverdue), page.Num(a.AmountCents), page.Num(a.BalanceCents)})
				}
			}
			return sheet
		},
	})
}

// arrearsByLease is the page with a row for each lease.
func arrearsByLease(all rental.Arrears, p page.Paging, age string) arrearsView {
	v := arrearsView{Arrears: all, byLease: true}
	leases, wanted := all.ByLease(), words.Of(p.Q)
	v.all = len(all.ByPerson())
	leases = slices.DeleteFunc(leases, func(l rental.LeaseBehind) bool {
		return age != "" && ageOf(l.DaysOverdue) != age || !wanted.In(l.Tenant, l.Property+" / "+l.Unit)
	})
	v.total = int64(len(leases))
	rows, then := page.Arrange(p, leases, leaseArrearSorts)
	v.leases, v.next = rows, schema.Cell(then)
	return v
}

// matching are the arrears that are searched for, all on one page.
func matching(all rental.Arrears, q, age string) arrearsView {
	v := arrearsView{Arrears: all}
	people, wanted := all.ByPerson(), words.Of(q)
	v.all = len(people)
	for _, t := range people {
		t.Charges = slices.DeleteFunc(t.Charges, func(a rental.Arrear) bool {
			return age != "" && ageOf(a.DaysOverdue) != age || !wanted.In(a.Tenant, a.Property+" / "+a.Unit, a.Label)
		})
		if t.BalanceCents = 0; len(t.Charges) > 0 {
			for _, a := range t.Charges { // the sum is of the rows below it
				t.BalanceCents += a.BalanceCents
			}
			v.shown = append(v.shown, t)
		}
	}
	return v
}

func newArrears(all rental.Arrears, p page.Paging, age string) arrearsView {
	v := matching(all, p.Q, age)
	v.total = int64(len(v.shown))
	if v.letters = len(v.addressees()); v.letters > 1 {
		v.write = "/arrears/letters?" + url.Values{"q": {p.Q}, "age": {age}}.Encode()
	}
	rows, then := page.Arrange(p, v.shown, arrearSorts)
	from := v.total - int64(len(rows))
	if then != nil {
		from = *then - int64(len(rows))
	}
	if n := fit(rows); n < len(rows) && !p.All {
		to := from + int64(n)
		rows, then = rows[:n], &to
	}
	v.shown, v.next = rows, schema.Cell(then)
	return v
}

// addressees are the shown tenants to whom a letter can be written, by id.
func (v arrearsView) addressees() (all []int64) {
	for _, t := range v.shown {
		if !t.Forgotten {
			all = append(all, t.TenantID)
		}
	}
	return all
}

func (v arrearsView) acts() []page.Action {
	pay := page.Open("Record payment", "receive_payment").Key("n")
	if v.write == "" {
		return []page.Action{pay.Main()}
	}
	return []page.Action{page.Link("Print "+page.Num(v.letters)+" letters", v.write), pay.Folded()}
}

// searched reports whether the list is long enough to search it, or is searched.
func (v arrearsView) searched(ctx context.Context) bool {
	return v.all > 9 || page.From(ctx).Query.Get("q") != ""
}

// owing are the leases, those that owe most first.
const owing = "/leases?sort=-balance_cents"

// openOnLease is what a tenant owes on one lease, and the first of its charges.
type openOnLease struct{ first, cents int64 }

func leasesOf(t rental.TenantBehind) map[int64]openOnLease {
	leases := map[int64]openOnLease{}
	for _, a := range t.Charges {
		l, have := leases[a.LeaseID]
		if !have {
			l.first = a.ID
		}
		l.cents += a.BalanceCents
		leases[a.LeaseID] = l
	}
	return leases
}

// weeks are a period that is no month, whose months are written short and which no line breaks: 26 Nov–2 Dec 2026.
var weeks = regexp.MustCompile(`\b\d+( [A-Z][a-z]+)?( \d{4})?-\d+ [A-Z][a-z]+ \d{4}`)

var longMonth = regexp.MustCompile(`([A-Z][a-z]{2})[a-z]+`)

var wholeMonth = regexp.MustCompile(`^1-(2[89]|30|31) ([A-Z][a-z]+ [0-9]{4})$`)

// period is a charge's period for people: November 2026 for 1-30 November 2026.
func period(label string) string {
	label = schema.DaysInWords(label)
	if m := wholeMonth.FindStringSubmatch(label); m != nil {
		if first, err := time.Parse("2 January 2006", "1 "+m[2]); err == nil &&
			strconv.Itoa(first.AddDate(0, 1, -1).Day()) == m[1] {
			return m[2]
		}
	}
	return weeks.ReplaceAllStringFunc(label, func(days string) string {
		return strings.NewReplacer("-", "–\u2060", " ", "\u00a0").Replace(longMonth.ReplaceAllString(days, "$1"))
	})
}

// chargeWords say what is charged: "Rent, November 2026", "Late fee for rent due 1 Nov 2026".
func chargeWords(c rental.Charge) string {
	kind, label := page.Word(c.Type), period(c.Label)
	if strings.HasPrefix(label, kind) {
		return label
	}
	return kind + ", " + label
}

// fit is how many tenants with their charges a page shows, at least one.
func fit(people []rental.TenantBehind) int {
	lines := 0
	for n, t := range people {
		if lines += 1 + len(t.Charges); lines > mostRows && n > 0 {
			return n
		}
	}
	return len(people)
}

// mostRows is how many rows a page shows of a list that is read as a whole.
const mostRows = 200

// rollView is a page of the rent roll; the sums are of all units.
type rollView struct {
	rental.RentRoll
	shown []rental.UnitRoll
	next  string

	months map[int64][]rental.UnitMonth // up to the month, of the units that are shown
}

// ages are the overdue sums by age, as parts of one bar.
func (v arrearsView) ages(ctx context.Context) []page.Part {
	part := func(i int, cents int64) page.Part {
		age := ageNames[i]
		here := page.From(ctx).Query.Get("age") == age
		if here { // the chosen age leads back to all
			age = ""
		}
		return page.Part{Label: ageWords[i], Path: page.WithQuery(ctx, "age", age), Look: ageLooks[i], Value: cents,
			Here: here, Shown: page.MoneyText(ctx, cents)}
	}
	return []page.Part{ // the oldest first, as in the rows
		part(3, v.Buckets.DaysOver90), part(2, v.Buckets.Days61To90), part(1, v.Buckets.Days31To60),
		part(0, v.Buckets.Days1To30),
	}
}

// ageLooks are the looks of ageNames.
var ageLooks = []string{"soon", "old", page.Late, "oldest"}

// ageWords are ageNames for people.
var ageWords = []string{"1 to 30 days", "31 to 60 days", "61 to 90 days", "Over 90 days"}

// agesOf are overdue charges by age.
func agesOf(charges ...rental.Arrear) []page.Part {
	parts := make([]page.Part, len(ageLooks))
	for i, look := range ageLooks {
		parts[i].Look, parts[i].Label = look, ageWords[i]
	}
	for _, a := range charges {
		parts[ageIndex(a.DaysOverdue)].Value += a.BalanceCents
	}
	slices.Reverse(parts) // the oldest first
	return parts
}

// agesText says what a tenant's bar shows: "31 to 60 days: 925.00 USD, 1 to 30 days: 925.00 USD".
func agesText(ctx context.Context, t rental.TenantBehind) string {
	var all []string
	for _, p := range agesOf(t.Charges...) {
		if p.Value > 0 {
			all = append(all, p.Label+": "+page.MoneyText(ctx, p.Value))
		}
	}
	return strings.Join(all, ", ")
}

// most is what the tenant with the largest debt owes.
func (v arrearsView) most() (cents int64) {
	for _, t := range v.shown {
		cents = max(cents, t.BalanceCents)
	}
	return cents
}

// ageNames are the ages of what is overdue, in days.
var ageNames = []string{"1-30", "31-60", "61-90", "over-90"}

func ageOf(days int64) string { return ageNames[ageIndex(days)] }

func ageIndex(days int64) int64 { return min(max(days-1, 0)/30, 3) }

func rentRoll(s *rental.Service) page.Page {
	return page.New(page.Spec[rollView]{
		Path: "/rent-roll", Title: "Rent roll", Menu: "Rent roll", Key: "r",
		Load: func(f *schema.Form) page.Loader[rollView] {
			var p page.Paging
			var m exact.Month
			p.Bind(f)
			f.Month(&m, "month", "The month", schema.Label("Month"))
			if p.Limit = mostRows; p.All {
				p.Limit = math.MaxInt32
			}
			return func(ctx context.Context, who db.Caller) (v rollView, err error) {
				month := &m
				if m == 0 {
					month = nil
				}
				if v.RentRoll, err = s.RentRoll(ctx, who, month); err != nil {
					return v, err
				}
				var then *int64
				v.shown, then = page.Arrange(p, v.Units, page.Sorts[rental.UnitRoll]{})
				v.next = schema.Cell(then)
				ids := schema.Map(v.shown, func(u rental.UnitRoll) int64 { return u.UnitID })
				v.months, err = s.LetMonths(ctx, ids, v.Month-monthsShown+1, monthsShown)
				return v, err
			}
		},
		View: RentRoll,
		CSV: func(v rollView) page.Sheet {
			return page.SheetBy("rent-roll-"+v.Month.String(), v.Units, "unit_id", "property", "unit", "billed_cents",
				"collected_cents", "outstanding_cents", "received_cents")
		},
	})
}
