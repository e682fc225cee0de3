package rental

import (
	"context"
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/words"
)

// The statuses of a unit, which follow from the leases and the day.
const (
	vacant   = "vacant"
	occupied = "occupied"
)

// Unit is what is let: a flat, a shop, a garage. It is occupied exactly when a lease
// covers today; lease_id and tenant are that lease's.
type Unit struct {
	ID              int64   `json:"id"`
	PropertyID      int64   `json:"property_id"`
	Property        string  `json:"property"`
	Name            string  `json:"name"`
	Status          string  `json:"status" enum:"vacant,occupied"`
	LeaseID         *int64  `json:"lease_id" about:"the lease that covers today"`
	Tenant          *string `json:"tenant"`
	MarketRentCents int64   `json:"market_rent_cents"`
	Notes           *string `json:"notes"`
}

// unitColumns and unitsOn read a unit u with its lease of day ?1.
const (
	unitColumns = "u.id, u.property_id, p.name, u.name, l.id, " + tenantsColumn + ", u.market_rent_cents, u.notes"
	unitsOn     = ` FROM units u JOIN properties p ON p.id = u.property_id
		LEFT JOIN leases l ON l.unit_id = u.id AND l.start_date <= ?1 AND l.last_day >= ?1`
)

func scanUnit(r *db.Row) Unit {
	u := Unit{ID: r.Int(), PropertyID: r.Int(), Property: r.Text(), Name: r.Text(), Status: vacant,
		LeaseID: r.IntPtr()}
	tenants := parseTenants(r.Text())
	u.MarketRentCents, u.Notes = r.Int(), r.TextPtr()
	if u.LeaseID != nil {
		u.Status = occupied
		names, _ := namesOf(tenants)
		u.Tenant = &names
	}
	return u
}

// Units is a page of units by id; Next is the last id of a page that is not the last.
type Units struct {
	Units []Unit `json:"units"`
	Next  *int64 `json:"next" about:"where the next page begins: pass it as after; null at the end"`

	Total int64 `json:"-"`
}

// UnitFilter says which units are meant; what is zero does not count.
type UnitFilter struct {
	schema.Cursor[int64]
	Status   string
	Property string // a part of its name in any case, or its id
	Q        string // a part of property, unit, tenant or notes, for screens

	On *exact.Day // in place of today
}

func (f UnitFilter) day(c *db.Conn) exact.Day {
	if f.On != nil {
		return *f.On
	}
	return c.Today()
}

func (f UnitFilter) where() (where string, args []any) {
	switch f.Status {
	case vacant:
		where = " AND l.id IS NULL"
	case occupied:
		where = " AND l.id IS NOT NULL"
	}
	if f.Property != "" {
		where += " AND (has_words(?, p.name) OR p.id = ?)"
		args = append(args, f.Property, words.Number(f.Property))
	}
	if f.Q != "" {
		where += " AND has_words(?, p.name || ' / ' || u.name, u.notes, " + tenantsColumn + ")"
		args = append(args, f.Q)
	}
	return where, args
}

// Units lists the units that match.
func (s *Service) Units(ctx context.Context, f UnitFilter) (list Units, err error) {
	err = s.db.View(ctx, func(c *db.Conn) (err error) {
		list, err = s.unitsOf(c, f)
		return err
	})
	return list, err
}

// CountUnits reports how many units match.
func (s *Service) CountUnits(ctx context.Context, f UnitFilter) (n int64, err error) {
	err = s.db.View(ctx, func(c *db.Conn) (err error) {
		n, err = s.countUnits(c, f)
		return err
	})
	return n, err
}

func (s *Service) unitsOf(c *db.Conn, f UnitFilter) (list Units, err error) {
	where, args := f.where()
	all, err := db.All(c, scanUnit, "SELECT "+unitColumns+unitsOn+" WHERE u.id > ?2"+where+" ORDER BY u.id LIMIT ?",
		append(append([]any{f.day(c), f.After}, args...), f.Fetch())...)
	list.Units, list.Next = schema.Cut(all, f.Limit, func(u Unit) int64 { return u.ID })
	return list, err
}

func (s *Service) countUnits(c *db.Conn, f UnitFilter) (int64, error) {
	where, args := f.where()
	n, _, err := db.One(c, db.Int, "SELECT count(*)"+unitsOn+" WHERE ?1 = ?1"+where, append([]any{f.day(c)}, args...)...)
	return n, err
}

var unitStatuses = []string{vacant, occupied}

func (s *Service) listUnits() schema.Op {
	return schema.Op{
		Name: "list_units", About: "List the units, with the lease that covers today.",
		Response: Units{Units: []Unit{exampleUnit()}},
		Bind: func(f *schema.Form) schema.Handler {
			var u UnitFilter
			f.Enum(&u.Status, "status", "only the units that are so today", unitStatuses)
			f.Text(&u.Property, "property", "only those of properties with this part of a name, or id", schema.Most(maxName))
			bindCursor(f, &u.Cursor)
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.Units(ctx, u) }
		},
		Print: printUnits, Example: "rental units list --status vacant",
	}
}

// findUnit returns the id of a property's unit; an unknown one is invalid.
func findUnit(c *db.Conn, property, unit string) (int64, error) {
	in, err := findProperty(c, property)
	if err != nil {
		return 0, err
	}
	id, found, err := db.One(c, db.Int, "SELECT id FROM units WHERE property_id = ? AND name = ?", in, unit)
	if err == nil && !found {
		err = fault.Fieldf("unit", "unit: the property %s has no unit named %s", schema.Quote(property), schema.Quote(unit))
	}
	return id, err
}

// leaseOn returns the lease that covers the unit on day, nil when it is vacant then.
func leaseOn(c *db.Conn, unit int64, day exact.Day) (*int64, error) {
	id, found, err := db.One(c, db.Int, "SELECT id FROM leases WHERE unit_id = ?1 AND start_date <= ?2 AND last_day >= ?2", unit, day)
	if err != nil || !found {
		return nil, err
	}
	return &id, nil
}

// unitTable is the units as CSV.
func (s *Service) unitTable() schema.Table {
	t := schema.Table{
		Name: "units", About: "What is let: flats, shops, garages.",
		Row: func(f *schema.Form) schema.Put {
			var property, name, notes string
			var rent int64
			f.Text(&property, "property", "the property's name", schema.Required, schema.Most(maxName))
			f.Text(&name, "name", "the unit's name within the property", schema.Required, schema.Most(maxName))
			f.Int(&rent, "market_rent_cents", "what it could be let for, in cents", schema.Range(0, maxCents))
			f.Text(&notes, "notes", "anything worth knowing")
			return func(tx *db.Tx) (schema.Outcome, error) {
				return putUnit(tx, property, name, func(u *unitFacts) {
					if f.Given("market_rent_cents") {
						u.MarketRentCents = rent
					}
					if f.Given("notes") {
						u.Notes = notes
					}
				})
			}
		},
		Export: func(c *db.Conn, emit func(...string) error) error {
			return db.Each(c, func(r *db.Row) error {
				return emit(r.Text(), r.Text(), strconv.FormatInt(r.Int(), 10), r.Text())
			}, `SELECT p.name, u.name, u.market_rent_cents, u.notes FROM units u JOIN properties p ON p.id = u.property_id
				ORDER BY p.name, u.name`)
		},
	}
	t.Find = keyed(t, "property", "name")
	t.Page = pageOf("/units/", "SELECT u.id FROM properties p JOIN units u ON u.property_id = p.id WHERE p.name = ? AND u.name = ?", "property", "name")
	return t
}

// unitFacts is what may be changed of a unit.
type unitFacts struct {
	MarketRentCents int64  `json:"market_rent_cents"`
	Notes           string `json:"notes"`
}

const unitSets db.Columns = "market_rent_cents, notes"

func (u unitFacts) sets() []any { return []any{u.MarketRentCents, db.NullText(u.Notes)} }

// putUnit makes the property's unit of that name, or lets change change the one that
// is there. What stays as it was is not written.
func putUnit(tx *db.Tx, property, name string, change func(*unitFacts)) (o schema.Outcome, err error) {
	in, err := findProperty(&tx.Conn, property)
	if err != nil {
		return o, err
	}
	type stored struct {
		id int64
		unitFacts
	}
	was, found, err := db.One(&tx.Conn, func(r *db.Row) stored {
		return stored{r.Int(), unitFacts{r.Int(), r.Text()}}
	}, "SELECT id, "+string(unitSets)+" FROM units WHERE property_id = ? AND name = ?", in, name)
	if err != nil {
		return o, err
	}
	now := was.unitFacts
	change(&now)
	type changes struct {
		Property string `json:"property"`
		Name     string `json:"name"`
		unitFacts
	}
	if !found {
		id, err := tx.InsertRow("units", "property_id, name, "+unitSets, append([]any{in, name}, now.sets()...)...)
		if err != nil {
			return o, err
		}
		o.New = true
		return o, tx.Audit("unit.created", db.Subject("unit", id), changes{property, name, now})
	}
	if now.MarketRentCents != was.MarketRentCents {
		o.Fields = append(o.Fields, "market_rent_cents")
	}
	if now.Notes != was.Notes {
		o.Fields = append(o.Fields, "notes")
	}
	if o.Fields == nil {
		return o, nil
	}
	if err := tx.UpdateRow("units", was.id, unitSets, now.sets()...); err != nil {
		return o, err
	}
	return o, tx.Audit("unit.changed", db.Subject("unit", was.id), changes{property, name, now})
}
