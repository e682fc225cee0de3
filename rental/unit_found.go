package rental

import (
	"cmp"
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// ShortUnit are the few fields of a unit that identify and decide.
type ShortUnit struct {
	ID        int64   `json:"id"`
	Property  string  `json:"property"`
	Name      string  `json:"name"`
	Status    string  `json:"status"`
	Tenant    *string `json:"tenant,omitempty"`
	RentCents *int64  `json:"rent_cents,omitempty"`

	NextLease *exact.Day `json:"next_lease_start,omitempty"`
}

// LetUnit is a unit with its rent, until when it is let, and from when again.
type LetUnit struct {
	Unit
	RentCents *int64     `json:"rent_cents" about:"what the lease of the day pays"`
	LeaseEnd  *exact.Day `json:"lease_end"`
	NextLease *exact.Day `json:"next_lease_start"`
}

func (u LetUnit) short() ShortUnit {
	return ShortUnit{u.ID, u.Property, u.Name, u.Status, u.Tenant, u.RentCents, u.NextLease}
}

// FoundUnits is a list of units for agents.
type FoundUnits struct {
	Units []schema.Row[LetUnit, ShortUnit] `json:"units"`
	Shown int                              `json:"shown"`
	Total int64                            `json:"total"`
	Next  *string                          `json:"next" about:"pass it as after; null at the end"`
	Near  []string                         `json:"near,omitempty" about:"units similar to q, if nothing matches"`
}

// unitOrders are by name, and by rent, the highest first.
var unitOrders = map[string]func(a, b LetUnit) int{
	sortName: func(a, b LetUnit) int {
		return cmp.Or(cmp.Compare(a.Property, b.Property), cmp.Compare(a.Name, b.Name))
	},
	"rent": func(a, b LetUnit) int { return cmp.Compare(asCents(b.RentCents), asCents(a.RentCents)) },
}

// FindUnits lists units for agents.
func (s *Service) FindUnits(ctx context.Context, _ db.Caller, f UnitFilter, l schema.Listing, sort string) (
	found FoundUnits, err error) {
	if err := s.known(ctx, &f.Property, nil); err != nil {
		return found, err
	}
	if sort == sortAdded {
		f.Cursor = l.Cursor
	}
	err = s.db.View(ctx, func(c *db.Conn) error {
		page, err := unitsOf(c, f)
		if err != nil {
			return err
		}
		if found.Total, err = countUnits(c, f); err != nil {
			return err
		}
		list, err := letOn(c, page.Units, f.day(c))
		found.Units, found.Next = pageSorted(list, l, LetUnit.short, func(u LetUnit) int64 { return u.ID }, page.Next,
			unitOrders[sort])
		found.Shown = len(found.Units)
		return err
	})
	if err != nil {
		return found, err
	}
	found.Near, err = s.near(ctx, f.Q, found.Total, "SELECT p.name || ' / ' || u.name FROM properties p CROSS JOIN "+
		"units u ON u.property_id = p.id ORDER BY u.id LIMIT 5000")
	return found, err
}

func asCents(p *int64) int64 {
	if p == nil {
		return -1
	}
	return *p
}

// letOn adds to units what the lease of a day says, and when the next one begins.
func letOn(c *db.Conn, units []Unit, day exact.Day) ([]LetUnit, error) {
	list := make([]LetUnit, len(units))
	for i, u := range units {
		list[i].Unit = u
		if u.LeaseID != nil {
			l, err := leases.ByID(c, *u.LeaseID)
			if err != nil {
				return nil, err
			}
			list[i].LeaseEnd, list[i].RentCents = l.EndDate, &l.RentCents
		}
		var err error
		if list[i].NextLease, _,
			err = db.One(c, (*db.Row).DayPtr, "SELECT min(start_date) FROM leases WHERE unit_id = ? AND start_date > ?", u.ID,
			day); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func bindFoundUnits(f *schema.Form, u *UnitFilter, l *schema.Listing, sort *string) {
	var free *exact.Day
	*sort = sortAdded
	f.Text(&u.Q, "q", "words of unit, property, tenant or notes", schema.Most(maxName))
	f.Enum(&u.Status, "status", "as of the day", unitStatuses)
	bindFilters(f, &u.Property, nil)
	f.DayPtr(&u.On, "on", "another day than today")
	f.DayPtr(&free, "free_from", "vacant on this day; next_lease_start says until when")
	f.Enum(sort, "sort", "rent: the highest first", []string{sortAdded, sortName, "rent"})
	f.Listing(l)
	if free != nil {
		if u.On != nil || u.Status == occupied {
			f.Refuse("free_from", "free_from already means vacant on that day; leave out on and status occupied")
		}
		u.On, u.Status = free, vacant
	}
}

func exampleUnit() Unit {
	lease, tenant, notes := int64(4), "Ada Brandt", "Second floor, left"
	return Unit{ID: 2, PropertyID: 1, Property: "Harbour House", Name: "2A", Status: occupied, LeaseID: &lease,
		Tenant: &tenant, MarketRentCents: 95_000, Notes: &notes}
}

// ShortProperty are the few fields of a property that identify and decide.
type ShortProperty struct {
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	UnitCount   int64  `json:"unit_count"`
	VacantCount int64  `json:"vacant_count"`
}

func (p Property) short() ShortProperty {
	return ShortProperty{p.ID, p.Name, p.UnitCount, p.VacantCount}
}

// FoundProperties is a list of properties for agents.
type FoundProperties struct {
	Properties []schema.Row[Property, ShortProperty] `json:"properties"`
	Shown      int                                   `json:"shown"`
	Total      int64                                 `json:"total"`
	Next       *string                               `json:"next" about:"pass it as after; null at the end"`
	Near       []string                              `json:"near,omitempty" about:"names similar to q, if nothing matches"`
}

// propertyOrders are by name, and by vacant units, the most first.
var propertyOrders = map[string]func(a, b Property) int{
	sortName: func(a, b Property) int { return cmp.Compare(a.Name, b.Name) },
	vacant:   func(a, b Property) int { return cmp.Compare(b.VacantCount, a.VacantCount) },
}

// FindProperties is Properties for agents.
func (s *Service) FindProperties(ctx context.Context, _ db.Caller, q string, l schema.Listing, sort string) (
	found FoundProperties, err error) {
	f := PropertyFilter{Q: q}
	if sort == sortAdded {
		f.Cursor = l.Cursor
	}
	list, err := s.Properties(ctx, f)
	if err != nil {
		return found, err
	}
	found.Total = list.Total
	found.Properties, found.Next = pageSorted(list.Properties, l, Property.short, func(p Property) int64 { return p.ID },
		list.Next, propertyOrders[sort])
	found.Shown = len(found.Properties)
	found.Near, err = s.near(ctx, q, found.Total, "SELECT name FROM properties ORDER BY id LIMIT 5000")
	return found, err
}

func bindFoundProperties(f *schema.Form, q *string, l *schema.Listing, sort *string) {
	*sort = sortAdded
	f.Text(q, "q", "words of name or address", schema.Most(maxName))
	f.Enum(sort, "sort", "vacant: the most vacant units first", []string{sortAdded, sortName, vacant})
	f.Listing(l)
}

func exampleProperty() Property {
	address := "12 Harbour Street"
	return Property{ID: 1, Name: "Harbour House", Address: &address, UnitCount: 7, OccupiedCount: 5, VacantCount: 2,
		Occupancy: exact.Decimal{Unscaled: 7143, Places: 4}}
}
