package rental

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// Property is a building or any other place that holds units. Its counts are those of
// today: a unit is occupied exactly when a lease covers the day.
type Property struct {
	ID            int64         `json:"id"`
	Name          string        `json:"name"`
	Address       *string       `json:"address"`
	UnitCount     int64         `json:"unit_count"`
	OccupiedCount int64         `json:"occupied_count"`
	VacantCount   int64         `json:"vacant_count"`
	Occupancy     exact.Decimal `json:"occupancy" about:"occupied units of all units, 0 to 1 with 4 decimals; 0 where there are none"`
	LateFee       *LateFee      `json:"late_fee" about:"null where late rent costs nothing"`
}

var properties = record.New("property", "properties",
	record.ID(func(p *Property) *int64 { return &p.ID }),
	record.Text("name", func(p *Property) *string { return &p.Name }, "the property's name, which identifies it",
		schema.Required, schema.Most(maxName)).Key().Told(),
	optional("address", func(p *Property) **string { return &p.Address }, "where it is").Told(),
).Joined("p", "").Sorted("p.name").Whole()

// propertyColumns reads a property p with its counts on day ?1.
var propertyColumns = properties.Columns() + `, (SELECT count(*) FROM units u WHERE u.property_id = p.id),
	(SELECT count(*) FROM units u JOIN leases l ON l.unit_id = u.id AND l.start_date <= ?1 AND l.last_day >= ?1
	WHERE u.property_id = p.id)`

func scanProperty(r *db.Row) Property {
	p := properties.Row(r)
	p.UnitCount, p.OccupiedCount = r.Int(), r.Int()
	p.VacantCount = p.UnitCount - p.OccupiedCount
	p.Occupancy = exact.Decimal{Places: 4}
	if p.UnitCount > 0 {
		p.Occupancy.Unscaled = exact.RoundHalfUp(p.OccupiedCount*10_000, p.UnitCount)
	}
	return p
}

// Properties is a list of properties, with how many there are in all.
type Properties struct {
	Properties []Property `json:"properties"`
	Total      int64      `json:"total"`
	Next       *int64     `json:"next"`
}

// PropertyFilter restricts properties; zero values do not.
type PropertyFilter struct {
	schema.Cursor[int64]
	Q string // a part of name or address
}

// Properties lists the properties that match.
func (s *Service) Properties(ctx context.Context, f PropertyFilter) (list Properties, err error) {
	const match = " WHERE has_words(?2, p.name, p.address)"
	err = s.db.View(ctx, func(c *db.Conn) (err error) {
		all, err := db.All(c, scanProperty, "SELECT "+propertyColumns+" FROM properties p"+match+
			" AND p.id > ?3 ORDER BY p.id LIMIT ?4", c.Today(), f.Q, f.After, f.Fetch())
		if err != nil {
			return err
		}
		list.Properties, list.Next = schema.Cut(all, f.Limit, func(p Property) int64 { return p.ID })
		for i := range list.Properties {
			if list.Properties[i].LateFee, err = feeOf(c, list.Properties[i].ID); err != nil {
				return err
			}
		}
		list.Total, err = properties.Count(c, match, c.Today(), f.Q)
		return err
	})
	return list, err
}

func (s *Service) listProperties() schema.Op {
	return schema.Op{
		Name: "list_properties", About: "List the properties with their unit counts and occupancy today.",
		Response: Properties{Properties: []Property{exampleProperty()}, Total: 1}, Says: "Which properties there are",
		AgentAbout: "Properties with their unit counts and occupancy today (occupied / all, 0 to 1). detail short: id, " +
			"name, units, vacant ones.",
		AgentResponse: FoundProperties{Properties: schema.Rows([]Property{exampleProperty()}, false, Property.short),
			Shown: 1, Total: 1},
		Bind: schema.Agents(schema.Does3(bindFoundProperties, s.FindProperties), schema.Reads(func(f *schema.Form,
			p *PropertyFilter) {
			f.Text(&p.Q, "q", "only those with this part of name or address", schema.Most(maxName))
			bindCursor(f, &p.Cursor)
		}, s.Properties)),
		Print: schema.Printed(printProperties), Example: "rental properties list",
	}
}

// propertyName is the name of the property with the id.
func propertyName(c *db.Conn, id int64) (string, error) {
	return db.ByID(c, db.Text, "property", "SELECT name FROM properties WHERE id = ?", id)
}

// findProperty returns the id of the property with the name; an unknown one is invalid.
func findProperty(c *db.Conn, name string) (int64, error) {
	id, found, err := db.One(c, db.Int, "SELECT id FROM properties WHERE name = ?", name)
	if err == nil && !found {
		err = fault.Fieldf("property", "property: there is no property named %s", schema.Quote(name))
	}
	return id, err
}

// propertyTable is the properties as CSV, with their late fees.
func propertyTable() schema.Table {
	t := properties.Table("properties", "Houses and other places with units.")
	row, cells := t.Row, func(c *db.Conn, p Property) ([]string, error) {
		fee, err := feeOf(c, p.ID)
		return append(properties.Cells(p), fee.Cells()...), err
	}
	t.Row = func(f *schema.Form) schema.Put {
		put, fee := row(f), bindLateFee(f)
		return func(tx *db.Tx) (schema.Outcome, error) {
			o, err := put(tx)
			if err != nil || fee == nil {
				return o, err
			}
			changed, err := putLateFee(tx, o.ID, *fee)
			o.Fields = append(o.Fields, changed...)
			return o, err
		}
	}
	t.Export = func(c *db.Conn, emit func(...string) error) error {
		return properties.Each(c, func(p *Property) error {
			row, err := cells(c, *p)
			if err != nil {
				return err
			}
			return emit(row...)
		}, "ORDER BY p.name")
	}
	t.Find = func(c *db.Conn, cell func(string) string) ([]string, bool, error) {
		p, found, err := properties.One(c, "WHERE name = ?", strings.TrimSpace(cell("name")))
		if err != nil || !found {
			return nil, false, err
		}
		row, err := cells(c, p)
		return row, true, err
	}
	t.Page = pageOf("/properties/", "SELECT id FROM properties WHERE name = ?", "name")
	return t
}

// feeRow is what a row says of a property's late fee.
type feeRow struct {
	grace, cents, percent *int64
	from                  *exact.Day
}

// bindLateFee binds the late fee's columns; nil when the row has none of them.
func bindLateFee(f *schema.Form) *feeRow {
	var row feeRow
	var percent int64
	f.IntPtr(&row.grace, "late_fee_grace_days", "days of grace after the due date", schema.Range(0, 365))
	f.IntPtr(&row.cents, "late_fee_cents",
		"the late fee in cents; empty with late_fee_percent: none", schema.Range(0, maxCents))
	if f.Amount(&percent, "late_fee_percent", "the late fee in percent of what is open then, with two decimals",
		schema.Range(0, 100)) {
		row.percent = &percent
	}
	f.DayPtr(&row.from, "late_fee_from", "for rent due on this day or later; empty: today for a new fee")
	if !f.Given("late_fee_grace_days") && !f.Given("late_fee_cents") && !f.Given("late_fee_percent") &&
		!f.Given("late_fee_from") {
		return nil
	}
	if row.cents != nil && row.percent != nil {
		f.Refuse("late_fee_percent", "late_fee_percent: a late fee is late_fee_cents or late_fee_percent, not both")
	}
	return &row
}

// putLateFee sets a property's late fee to the row's. An unchanged one is not written.
func putLateFee(tx *db.Tx, property int64, row feeRow) (changed []string, err error) {
	was, err := feeOf(&tx.Conn, property)
	if err != nil {
		return nil, err
	}
	none := row.cents == nil && row.percent == nil
	if none && was == nil {
		return nil, nil
	}
	now := LateFee{Cents: row.cents, From: tx.Today()}
	if row.percent != nil {
		now.Percent = new(exact.Milli(*row.percent * 10))
	}
	now.GraceDays = schema.Or(row.grace, now.GraceDays)
	switch {
	case none:
		now.Cents = new(int64(0))
	case row.from != nil:
		now.From = *row.from
	case was != nil:
		now.From = was.From
	}
	before, after := was.Cells(), now.Cells()
	if was != nil && slices.Equal(before, after) {
		return nil, nil
	}
	for i, name := range []string{"late_fee_grace_days", "late_fee_cents", "late_fee_percent", "late_fee_from"} {
		if before[i] != after[i] {
			changed = append(changed, name)
		}
	}
	return changed, setLateFee(tx, property, now)
}

// Cells is the late fee as the columns of a file, empty where late rent costs nothing.
func (f *LateFee) Cells() []string {
	cells := []string{"", "", "", ""}
	switch {
	case f == nil:
		return cells
	case f.Cents != nil && *f.Cents > 0:
		cells[1] = strconv.FormatInt(*f.Cents, 10)
	case f.Percent != nil && *f.Percent > 0:
		cells[2] = f.Percent.String()
	default:
		return cells
	}
	cells[0], cells[3] = strconv.FormatInt(f.GraceDays, 10), f.From.String()
	return cells
}

// Renamed is a renamed property or unit.
type Renamed struct {
	ID       int64  `json:"id"`
	Property string `json:"property" about:"the property's name, of a unit too"`
	Name     string `json:"name"`
	Was      string `json:"was"`
}

// renameProperty gives a property another name. An unknown one is not found, and a name that another
// property has is a conflict.
func renameProperty(tx *db.Tx, id int64, name string) (Renamed, error) {
	was, err := propertyName(&tx.Conn, id)
	if err != nil {
		return Renamed{}, err
	}
	name = strings.TrimSpace(name)
	done := Renamed{ID: id, Property: name, Name: name, Was: was}
	return done, rename(tx, done, "property", "SELECT id FROM properties WHERE name = ?1 AND id <> ?2",
		"UPDATE properties SET name = ? WHERE id = ?")
}

// renameUnit gives a unit another name within its property, as renameProperty does.
func renameUnit(tx *db.Tx, id int64, name string) (Renamed, error) {
	u, err := units.ByID(&tx.Conn, id)
	if err != nil {
		return Renamed{}, err
	}
	done := Renamed{ID: id, Property: u.Property, Name: strings.TrimSpace(name), Was: u.Name}
	return done, rename(tx, done, "unit",
		"SELECT id FROM units WHERE name = ?1 AND id <> ?2 AND property_id = (SELECT property_id FROM units WHERE id = ?2)",
		"UPDATE units SET name = ? WHERE id = ?")
}

// rename stores the name unless another record has it.
func rename(tx *db.Tx, r Renamed, noun, taken, update string) error {
	if r.Name == r.Was {
		return nil
	}
	other, found, err := db.One(&tx.Conn, db.Int, taken, r.Name, r.ID)
	if err != nil {
		return err
	}
	switch {
	case found && tx.Who().Via == "web":
		return fault.Conflictf("name: Another %s is called %s. Choose another name", noun, schema.Quote(r.Name)).At("name")
	case found:
		return fault.Conflictf("the name %s is in use: %s %d has it", schema.Quote(r.Name), noun, other)
	}
	tx.Do(update, r.Name, r.ID)
	return tx.Audit(noun+".renamed", db.Subject(noun, r.ID), map[string]string{"from": r.Was, "to": r.Name})
}

// bindProperty binds a property: at the command line the positional argument of that word.
func bindProperty(f *schema.Form, p *int64, word string, opts ...schema.Opt) {
	f.ID(p, "property_id", "the property", append(opts, schema.Required, schema.Example(1), schema.Positional(word),
		schema.Lookup(lookupProperty), schema.Choices(propertyChoices))...)
}

func bindUnitID(f *schema.Form, p *int64) {
	f.ID(p, "unit_id", "the unit", schema.Positional("UNIT_ID"), schema.Required, schema.Example(2),
		schema.Lookup(lookupUnit), schema.Choices(unitChoices))
}

func (s *Service) renameProperty() schema.Op {
	return s.renameOp("property", renameProperty, "/properties/",
		func(f *schema.Form, id *int64) { bindProperty(f, id, "PROPERTY") },
		"rental property rename 'Harbour House' --name 'Harbour Court'")
}

func (s *Service) renameUnit() schema.Op {
	return s.renameOp("unit", renameUnit, "/units/", bindUnitID, "rental unit rename 'Harbour House/2A' --name 2B")
}

func (s *Service) renameOp(noun string, do func(*db.Tx, int64, string) (Renamed, error), path string,
	bind func(*schema.Form, *int64), example string) schema.Op {
	return schema.Op{
		Name: "rename_" + noun, Writes: true, Idempotent: true,
		About: "Give a " + noun + " another name. Its leases, charges and tickets stay; import files must use the new " +
			"name.",
		Response: Renamed{ID: 1, Property: "Harbour Court", Name: "Harbour Court", Was: "Harbour House"},
		Refuses:  []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: schema.Writes2(s.db, func(f *schema.Form, id *int64, name *string) {
			bind(f, id)
			f.Text(name, "name", "the new name", schema.Required, schema.Most(maxName), schema.Example("Harbour Court"))
		}, do),
		Example: example,
		Did: schema.Said(func(r Renamed) string {
			if r.Was == r.Name {
				return r.Name + " keeps its name."
			}
			return fmt.Sprintf("%s is now called %s.", r.Was, r.Name)
		}),
		Leads: func(a any) string { return fmt.Sprint(path, a.(Renamed).ID) },
	}
}
