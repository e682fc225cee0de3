package rental

import (
	"cmp"
	"context"
	"slices"

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

// FindUnits lists units for agents.
func (s *Service) FindUnits(ctx context.Context, f UnitFilter, l schema.Listing, sort string) (found FoundUnits,
	err error) {
	if err := s.known(ctx, &f.Property, nil); err != nil {
		return found, err
	}
	f.Cursor = l.Cursor
	if sort != sortAdded {
		f.Cursor = schema.Cursor[int64]{}
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
		if err != nil {
			return err
		}
		switch sort {
		case sortAdded:
			found.Units, found.Next = pageByID(list, l, LetUnit.short, func(u LetUnit) int64 { return u.ID }, page.Next)
		default:
			slices.SortStableFunc(list, func(a, b LetUnit) int {
				if sort == sortName {
					return cmp.Or(cmp.Compare(a.Property, b.Property), cmp.Compare(a.Name, b.Name))
				}
				return cmp.Compare(asCents(b.RentCents), asCents(a.RentCents))
			})
			found.Units, found.Next = schema.PageOf(list, l, LetUnit.short, schema.AnswerBytes)
		}
		found.Shown = len(found.Units)
		if f.Q != "" && found.Total == 0 {
			names, err := db.All(c, db.Text,
				"SELECT p.name || ' / ' || u.name FROM properties p CROSS JOIN units u ON u.property_id = p.id ORDER BY u.id "+
					"LIMIT 5000")
			found.Near = schema.Near(f.Q, names, 5)
			return err
		}
		return nil
	})
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
			l, err := findLease(c, *u.LeaseID)
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

func (s *Service) bindFoundUnits(f *schema.Form) schema.Handler {
	var u UnitFilter
	var free *exact.Day
	var l schema.Listing
	sort := sortAdded
	f.Text(&u.Q, "q", "words of unit, property, tenant or notes", schema.Most(maxName))
	f.Enum(&u.Status, "status", "as of the day", unitStatuses)
	bindFilters(f, &u.Property, nil)
	f.DayPtr(&u.On, "on", "another day than today")
	f.DayPtr(&free, "free_from", "vacant on this day; next_lease_start says until when")
	f.Enum(&sort, "sort", "rent: the highest first", []string{sortAdded, sortName, "rent"})
	f.Listing(&l)
	if free != nil {
		if u.On != nil || u.Status == occupied {
			f.Refuse("free_from", "free_from already means vacant on that day; leave out on and status occupied")
		}
		u.On, u.Status = free, vacant
	}
	return func(ctx context.Context, _ db.Caller) (any, error) { return s.FindUnits(ctx, u, l, sort) }
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

// FindProperties is Properties for agents.
func (s *Service) FindProperties(ctx context.Context, q string, l schema.Listing, sort string) (found FoundProperties,
	err error) {
	f := PropertyFilter{Q: q}
	if sort == sortAdded {
		f.Cursor = l.Cursor
	}
	list, err := s.Properties(ctx, f)
	if err != nil {
		return found, err
	}
	found.Total = list.Total
	if sort == sortAdded {
		found.Properties, found.Next = pageByID(list.Properties, l, Property.short, func(p Property) int64 { return p.ID },
			list.Next)
	} else {
		slices.SortStableFunc(list.Properties, func(a, b Property) int {
			if sort == sortName {
				return cmp.Compare(a.Name, b.Name)
			}
			return cmp.Compare(b.VacantCount, a.VacantCount)
		})
		found.Properties, found.Next = schema.PageOf(list.Properties, l, Property.short, schema.AnswerBytes)
	}
	if found.Shown = len(found.Properties); q != "" && found.Total == 0 {
		names, err := db.Read(ctx, s.db, func(c *db.Conn) ([]string, error) {
			return db.All(c, db.Text, "SELECT name FROM properties ORDER BY id LIMIT 5000")
		})
		found.Near = schema.Near(q, names, 5)
		return found, err
	}
	return found, nil
}

func (s *Service) bindFoundProperties(f *schema.Form) schema.Handler {
	var q string
	var l schema.Listing
	sort := sortAdded
	f.Text(&q, "q", "words of name or address", schema.Most(maxName))
	f.Enum(&sort, "sort", "vacant: the most vacant units first", []string{sortAdded, sortName, vacant})
	f.Listing(&l)
	return func(ctx context.Context, _ db.Caller) (any, error) { return s.FindProperties(ctx, q, l, sort) }
}

func exampleProperty() Property {
	address := "12 Harbour Street"
	return Property{ID: 1, Name: "Harbour House", Address: &address, UnitCount: 7, OccupiedCount: 5, VacantCount: 2,
		Occupancy: exact.Decimal{Unscaled: 7143, Places: 4}}
}
