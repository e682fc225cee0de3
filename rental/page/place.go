package page

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"quartermaster/rental"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
)

// monthsShown is over how many months the units' occupancy is shown.
const monthsShown = 12

type unitsView struct {
	rental.Units
	months map[int64][]rental.UnitMonth
	first  exact.Month
}

func units(s *rental.Service) page.Page {
	return page.New(page.Spec[unitsView]{
		Path: "/units", Title: "Units", Menu: "Units", Key: "u",
		Load: func(f *schema.Form) page.Loader[unitsView] {
			var p page.Paging
			var u rental.UnitFilter
			p.Bind(f, unitSorts.Names()...)
			f.Enum(&u.Status, "status", "Only units with this status today", []string{"vacant", "occupied"})
			f.Text(&u.Property, "property", "Of this property", schema.Most(200), schema.Label("Property"))
			u.Q, u.Cursor = p.Q, p.Cursor()
			return func(ctx context.Context, _ db.Caller) (unitsView, error) {
				today, err := s.Today(ctx)
				if err != nil {
					return unitsView{}, err
				}
				v := unitsView{first: today.Month() - 5}
				v.Units, v.months, err = s.Occupancy(ctx, u, v.first, monthsShown)
				err = page.Arranged(p, &v.Units.Units, v.Total, &v.Next, unitSorts, err)
				return v, err
			}
		},
		View: Units,
		CSV: func(v unitsView) page.Sheet {
			return page.SheetBy("units", v.Units.Units, "property", "name", "market_rent_cents", "notes", "id", "status",
				"tenant")
		},
	})
}

func properties(s *rental.Service) page.Page {
	return page.New(page.Spec[rental.Properties]{
		Path: "/properties", Title: "Properties", Menu: "Properties", Key: "p",
		Load: func(f *schema.Form) page.Loader[rental.Properties] {
			var p page.Paging
			p.Bind(f, propertySorts.Names()...)
			return func(ctx context.Context, _ db.Caller) (rental.Properties, error) {
				list, err := s.Properties(ctx, rental.PropertyFilter{Q: p.Q, Cursor: p.Cursor()})
				err = page.Arranged(p, &list.Properties, list.Total, &list.Next, propertySorts, err)
				return list, err
			}
		},
		View: Properties,
		CSV: func(v rental.Properties) page.Sheet {
			columns := []string{"name", "address", "late_fee_grace_days", "late_fee_cents", "late_fee_percent",
				"late_fee_from", "id", "unit_count", "occupied_count", "vacant_count", "occupancy"}
			return page.SheetOf("properties", columns, v.Properties, func(p rental.Property) []string {
				named := append([]string{p.Name, schema.Cell(p.Address)}, p.LateFee.Cells()...)
				return append(named, page.Num(p.ID), page.Num(p.UnitCount), page.Num(p.OccupiedCount), page.Num(p.VacantCount),
					p.Occupancy.String())
			})
		},
	})
}

type propertyView struct {
	rental.PropertyDetail
	years []int64
	shown []rental.Unit
	next  string

	months map[int64][]rental.UnitMonth // of the units that are shown
}

// PageTitle is the property's name.
func (v propertyView) PageTitle() string { return v.Name }

func property(s *rental.Service) page.Page {
	return page.New(page.Spec[propertyView]{
		Path: "/properties/:id", Title: "Property",
		Load: func(f *schema.Form) page.Loader[propertyView] {
			var id int64
			var p page.Paging
			f.ID(&id, "property_id", "the property", schema.InPath("id"))
			p.Bind(f)
			p.Limit = mostRows
			return func(ctx context.Context, _ db.Caller) (propertyView, error) {
				detail, err := s.Property(ctx, id)
				if err != nil {
					return propertyView{}, err
				}
				rows, then := page.Arrange(p, detail.Units, page.Sorts[rental.Unit]{})
				years, err := s.MoneyYears(ctx, id)
				if err != nil {
					return propertyView{}, err
				}
				today, err := s.Today(ctx)
				if err != nil {
					return propertyView{}, err
				}
				ids := schema.Map(rows, func(u rental.Unit) int64 { return u.ID })
				months, err := s.LetMonths(ctx, ids, today.Month()-monthsShown+1, monthsShown)
				return propertyView{detail, years, rows, schema.Cell(then), months}, err
			}
		},
		View: Property,
	})
}

func tenants(s *rental.Service) page.Page {
	return page.New(page.Spec[rental.Tenants]{
		Path: "/tenants", Title: "Tenants", Menu: "Tenants", Key: "e",
		Load: func(f *schema.Form) page.Loader[rental.Tenants] {
			var p page.Paging
			p.Bind(f, tenantSorts.Names()...)
			return func(ctx context.Context, who db.Caller) (rental.Tenants, error) {
				list, err := s.Tenants(ctx, who, rental.TenantFilter{Q: p.Q, Cursor: p.Cursor()})
				err = page.Arranged(p, &list.Tenants, list.Total, &list.Next, tenantSorts, err)
				return list, err
			}
		},
		View: Tenants,
		CSV: func(v rental.Tenants) page.Sheet {
			return page.SheetBy("tenants", v.Tenants, "name", "email", "phone", "id")
		},
	})
}

type tenantView struct{ rental.TenantDetail }

// PageTitle is the tenant's name.
func (v tenantView) PageTitle() string { return v.Name }

func forgotten(id int64, name string) bool { return rental.LeaseTenant{ID: id, Name: name}.Forgotten() }

// addressOf is the tenant's e-mail and phone; "" of a forgotten one, who has none.
func addressOf(t rental.Tenant) string {
	if forgotten(t.ID, t.Name) {
		return ""
	}
	return strings.Join(slices.DeleteFunc([]string{schema.Cell(t.Email), schema.Cell(t.Phone)},
		func(s string) bool { return s == "" }), " · ")
}

// acts are what can be done with the tenant: of a forgotten one there is nobody to invite, and one whose lease runs or
// is to come is not forgotten.
func (v tenantView) acts() []page.Action {
	if forgotten(v.ID, v.Name) {
		return nil
	}
	id := page.Num(v.ID)
	acts := []page.Action{page.Do("Invite to the portal", "invite_tenant", "tenant_id", id).Main(),
		page.Open("Edit", "save_tenant", "id", id, "name", v.Name),
		page.Open("Sign out everywhere", "end_tenant_sessions", "tenant_id", id).Danger()}
	if !slices.ContainsFunc(v.LeaseList, func(l rental.Lease) bool { return l.Status != "ended" }) {
		acts = append(acts, page.Open("Forget", "forget_tenant", "tenant_id", id).Danger())
	}
	return acts
}

func tenant(s *rental.Service) page.Page {
	return page.New(page.Spec[tenantView]{
		Path: "/tenants/:id", Title: "Tenant",
		Load: page.ByID("tenant_id", "the tenant", func(ctx context.Context, who db.Caller, id int64) (tenantView, error) {
			v, err := s.TenantDetail(ctx, who, id)
			return tenantView{v}, err
		}),
		View: TenantPage,
	})
}

// share is how much of a month a unit is let, as a word for screen readers.
func share(m rental.UnitMonth) string {
	switch {
	case m.Days == 0:
		return "vacant"
	case m.Days >= m.Of:
		return "let"
	}
	return strconv.Itoa(m.Days) + " of " + strconv.Itoa(m.Of) + " days"
}

// letStrip is a square for each month: let, partly let, vacant.
func letStrip(months []rental.UnitMonth) templ.Component {
	return page.Squares(letParts(months))
}

// letParts are the months of a unit, and what they come to.
func letParts(months []rental.UnitMonth) (string, []page.Part) {
	parts := make([]page.Part, len(months))
	n := 0
	for i, m := range months {
		p := page.Part{Look: page.Warn, Shown: "partly let", Day: m.Month.First(), Label: page.MonthText(m.Month) + ": " + share(m)}
		switch {
		case m.Days == 0:
			p.Look, p.Shown = page.Idle, "vacant"
		case m.Days >= m.Of:
			p.Look, p.Shown = page.Good, "let"
			n++
		}
		parts[i] = p
	}
	return "Let in " + strconv.Itoa(n) + " of " + page.Plural(len(months), "month", "months"), parts
}

// occupancyChart is the share of the days on which the units were let, by month, in per cent.
func occupancyChart(all map[int64][]rental.UnitMonth) page.Chart {
	c := page.Chart{Label: "Month", Names: [2]string{"Let, per cent of days", ""}, Low: true,
		Title: "Occupancy by month, per cent"}
	var days, of []int64
	for _, months := range all {
		for i, m := range months {
			if i == len(c.Bars) {
				c.Bars = append(c.Bars, page.Point{Label: page.MonthText(m.Month)})
				days, of = append(days, 0), append(of, 0)
			}
			days[i] += int64(min(m.Days, m.Of))
			of[i] += int64(m.Of)
		}
	}
	for i := range c.Bars {
		c.Bars[i].Value = exact.RoundHalfUp(100*days[i], of[i])
	}
	return c
}

// latestYears is of how many years a tenant's page shows the statements; the lease has all.
const latestYears = 4

// storedFee are the fields with which the late fee's form begins: those that are stored.
func storedFee(ctx context.Context, v propertyView) []string {
	fields := []string{"property_id", page.Num(v.ID)}
	f := v.LateFee
	if f == nil {
		return fields
	}
	fields = append(fields, "grace_days", page.Num(f.GraceDays))
	if f.Cents != nil {
		return append(fields, "amount", page.AmountField(ctx, *f.Cents))
	}
	return append(fields, "percent", f.Percent.String())
}
