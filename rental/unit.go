package rental

import (
	"context"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
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

var units = record.New("unit", "units",
	record.ID(func(u *Unit) *int64 { return &u.ID }),
	record.Int("property_id", func(u *Unit) *int64 { return &u.PropertyID }, "").Once(),
	record.Text("property", func(u *Unit) *string { return &u.Property }, "the property's name",
		schema.Required, schema.Most(maxName), schema.Choices(PropertyNames), schema.NewBy("save_property")).From(
		"p.name").Told(),
	record.Text("name", func(u *Unit) *string { return &u.Name }, "the unit's name within the property",
		schema.Required, schema.Most(maxName)).Once().Told(),
	record.Int("market_rent_cents", func(u *Unit) *int64 { return &u.MarketRentCents }, "its market rent, in cents",
		schema.Range(0, maxCents)).Told(),
	optional("notes", func(u *Unit) **string { return &u.Notes }, "notes").Told().Shown(shown),
).Joined("u", "JOIN properties p ON p.id = u.property_id").Sorted("p.name, u.name").Whole()

// unitColumns and unitsOn read a unit u with its lease of day ?1.
var (
	unitColumns = units.Columns() + ", l.id, " + tenantsColumn
	unitsOn     = ` FROM units u JOIN properties p ON p.id = u.property_id
		LEFT JOIN leases l ON l.unit_id = u.id AND l.start_date <= ?1 AND l.last_day >= ?1`
)

func scanUnit(r *db.Row) Unit {
	u := units.Row(r)
	u.LeaseID, u.Status = r.IntPtr(), vacant
	if tenants := parseTenants(r.Text()); u.LeaseID != nil {
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

// UnitFilter restricts units; zero values do not.
type UnitFilter struct {
	schema.Cursor[int64]
	Status   string
	Property string // a part of its name in any case, or its id
	Q        string // a part of property, unit, tenant or notes, for screens

	On *exact.Day // instead of today
}

func (f UnitFilter) day(c *db.Conn) exact.Day {
	if f.On != nil {
		return *f.On
	}
	return c.Today()
}

func (f UnitFilter) where(c *db.Conn) db.Where {
	w := db.Where{Text: " WHERE ?1 = ?1", Args: []any{f.day(c)}}
	w.And(f.Status == vacant, "l.id IS NULL")
	w.And(f.Status == occupied, "l.id IS NOT NULL")
	in, values := partOf(f.Property, "p.name", "p.id")
	w.And(f.Property != "", in, values...)
	w.And(f.Q != "", "has_words(?, p.name || ' / ' || u.name, u.notes, "+tenantsColumn+")", f.Q)
	return w
}

// Units lists the matching units.
func (s *Service) Units(ctx context.Context, f UnitFilter) (Units, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Units, error) { return unitsOf(c, f) })
}

// CountUnits returns the number of matching units.
func (s *Service) CountUnits(ctx context.Context, f UnitFilter) (int64, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (int64, error) { return countUnits(c, f) })
}

func unitsOf(c *db.Conn, f UnitFilter) (list Units, err error) {
	w := f.where(c)
	all, err := db.All(c, scanUnit, "SELECT "+unitColumns+unitsOn+w.Text+" AND u.id > ? ORDER BY u.id LIMIT ?",
		append(w.Args, f.After, f.Fetch())...)
	list.Units, list.Next = schema.Cut(all, f.Limit, func(u Unit) int64 { return u.ID })
	return list, err
}

func countUnits(c *db.Conn, f UnitFilter) (int64, error) {
	w := f.where(c)
	return db.Number(c, "SELECT count(*)"+unitsOn+w.Text, w.Args...)
}

var unitStatuses = []string{vacant, occupied}

func (s *Service) listUnits() schema.Op {
	return schema.Op{
		Name: "list_units", About: "List the units, with the lease that covers today.",
		Response: Units{Units: []Unit{exampleUnit()}}, Says: "Which units there are",
		AgentAbout: "Units with their lease, tenant and rent, today or on another day. Occupied: a lease covers the day. " +
			"lease_end null: open-ended; next_lease_start: the first one after that day. detail short: id, property, name, " +
			"status, tenant, rent, next lease.",
		AgentResponse: FoundUnits{Units: schema.Rows([]LetUnit{{Unit: exampleUnit()}}, false, LetUnit.short), Shown: 1,
			Total: 1},
		Bind: schema.Agents(schema.Does3(bindFoundUnits, s.FindUnits), schema.Reads(func(f *schema.Form, u *UnitFilter) {
			f.Enum(&u.Status, "status", "only units with this status today", unitStatuses)
			f.Text(&u.Property, "property", "only those of properties whose name contains this, or of this id",
				schema.Most(maxName))
			bindCursor(f, &u.Cursor)
		}, s.Units)),
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

// leaseOn returns the lease that covers the unit on day, nil if it is vacant then.
func leaseOn(c *db.Conn, unit int64, day exact.Day) (*int64, error) {
	id, found, err := db.One(c, db.Int, "SELECT id FROM leases WHERE unit_id = ?1 AND start_date <= ?2 AND last_day >= ?2",
		unit, day)
	if err != nil || !found {
		return nil, err
	}
	return &id, nil
}

func unitTable() schema.Table {
	t := units.Table("units", "What is let: flats, shops, garages.")
	t.Row = units.Rows(putUnit)
	t.Find = func(c *db.Conn, cell func(string) string) ([]string, bool, error) {
		u, found, err := units.One(c, "WHERE p.name = ? AND u.name = ?",
			strings.TrimSpace(cell("property")), strings.TrimSpace(cell("name")))
		return units.Cells(u), found, err
	}
	t.Page = pageOf("/units/",
		"SELECT u.id FROM properties p JOIN units u ON u.property_id = p.id WHERE p.name = ? AND u.name = ?", "property",
		"name")
	return t
}

// putUnit makes the property's unit of that name, or applies the given columns of now to it.
func putUnit(tx *db.Tx, now Unit, given func(column string) bool) (o schema.Outcome, err error) {
	if now.PropertyID, err = findProperty(&tx.Conn, now.Property); err != nil {
		return o, err
	}
	held, found, err := units.One(&tx.Conn, "WHERE u.property_id = ? AND u.name = ?", now.PropertyID, now.Name)
	if err != nil {
		return o, err
	}
	if !found {
		return units.Create(tx, &now)
	}
	return units.Change(tx, held, now, given)
}

// UnitRecord is a unit with all that its page shows.
type UnitRecord struct {
	Unit
	Leases  []Lease     // all there were and will be, latest first
	Months  []UnitMonth // the last eleven, this one, and the next twelve
	Tickets Tickets     // the last ten
	Standing
}

// aroundMonths is how many months before this one, and after it, a unit's page shows.
const aroundMonths = 12

// UnitRecord returns one unit; an unknown one is not found. What is due of its leases is
// posted first.
func (s *Service) UnitRecord(ctx context.Context, who db.Caller, id int64) (v UnitRecord, err error) {
	v.Standing, err = s.upToDate(ctx, who, func(c *db.Conn, r *reading) (err error) {
		v = UnitRecord{}
		if v.Unit, err = unitByID(c, id); err != nil {
			return err
		}
		v.Leases, err = leases.All(c, "WHERE l.unit_id = ? ORDER BY l.start_date DESC", id)
		r.await(unpostedOf(v.Leases, c.Today()))
		this := c.Today().Month()
		spans := schema.Map(v.Leases, func(l Lease) leaseSpan { return leaseSpan{l.StartDate, lastDay(l.EndDate)} })
		v.Months = letIn(spans, this-aroundMonths+1, this+aroundMonths)
		return err
	})
	if err != nil {
		return v, err
	}
	v.Tickets, err = s.Tickets(ctx, TicketFilter{UnitID: id, Cursor: schema.First(10)})
	return v, err
}

// leaseSpan is the days that a lease covers.
type leaseSpan struct{ start, last exact.Day }

// letIn is how many days of each month the leases cover.
func letIn(spans []leaseSpan, first, end exact.Month) (months []UnitMonth) {
	for m := first; m <= end; m++ {
		x := UnitMonth{Month: m, Of: m.Days()}
		for _, s := range spans {
			if days := int(min(s.last, m.Last())-max(s.start, m.First())) + 1; days > 0 {
				x.Days += days
			}
		}
		months = append(months, x)
	}
	return months
}
