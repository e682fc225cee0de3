package rental

import (
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Property is a house or any other place that holds units. Its counts are those of
// today: a unit is occupied exactly when a lease covers the day.
type Property struct {
	ID            int64         `json:"id"`
	Name          string        `json:"name"`
	Address       *string       `json:"address"`
	UnitCount     int64         `json:"unit_count"`
	OccupiedCount int64         `json:"occupied_count"`
	VacantCount   int64         `json:"vacant_count"`
	Occupancy     exact.Decimal `json:"occupancy" about:"occupied units of all units, 0 to 1 with 4 decimals; 0 where there are none"`
}

// propertyColumns reads a property p with its counts on day ?1.
const propertyColumns = `p.id, p.name, p.address, (SELECT count(*) FROM units u WHERE u.property_id = p.id),
	(SELECT count(*) FROM units u JOIN leases l ON l.unit_id = u.id AND l.start_date <= ?1 AND l.last_day >= ?1 WHERE u.property_id = p.id)`

func scanProperty(r *db.Row) Property {
	p := Property{ID: r.Int(), Name: r.Text(), Address: r.TextPtr(), UnitCount: r.Int(), OccupiedCount: r.Int()}
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
}

// Properties lists the first properties by id, at most limit.
func (s *Service) Properties(ctx context.Context, limit int64) (list Properties, err error) {
	err = s.db.View(ctx, func(c *db.Conn) (err error) {
		list.Properties, err = db.All(c, scanProperty,
			"SELECT "+propertyColumns+" FROM properties p ORDER BY p.id LIMIT ?2", c.Today(), limit)
		if err != nil {
			return err
		}
		list.Total, _, err = db.One(c, db.Int, "SELECT count(*) FROM properties")
		return err
	})
	return list, err
}

func (s *Service) listProperties() schema.Op {
	address := "12 Harbour Street"
	example := Property{ID: 1, Name: "Harbour House", Address: &address, UnitCount: 7, OccupiedCount: 5, VacantCount: 2,
		Occupancy: exact.Decimal{Unscaled: 7143, Places: 4}}
	return schema.Op{
		Tool: "list_properties", About: "List the properties with their unit counts and occupancy today.",
		Response: Properties{Properties: []Property{example}, Total: 1},
		Bind: func(f *schema.Form) schema.Handler {
			var limit int64
			f.Limit(&limit)
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.Properties(ctx, limit) }
		},
	}
}

// findProperty gives the id of the property with the name; an unknown one is invalid.
func findProperty(c *db.Conn, name string) (int64, error) {
	id, found, err := db.One(c, db.Int, "SELECT id FROM properties WHERE name = ?", name)
	if err == nil && !found {
		err = fault.Fieldf("property", "property: there is no property named %s", schema.Quote(name))
	}
	return id, err
}

// propertyTable is the properties as CSV.
func (s *Service) propertyTable() schema.Table {
	return schema.Table{
		Name: "properties", About: "Houses and other places that hold units.",
		Row: func(f *schema.Form) schema.Put {
			var name, address string
			f.Text(&name, "name", "the property's name, which identifies it", schema.Required, schema.Most(maxName))
			f.Text(&address, "address", "where it is")
			return func(tx *db.Tx) error { return putProperty(tx, name, address, f.Given("address")) }
		},
		Export: func(c *db.Conn, emit func(...string) error) error {
			return db.Each(c, func(r *db.Row) error { return emit(r.Text(), r.Text()) },
				"SELECT name, address FROM properties ORDER BY name")
		},
	}
}

// putProperty makes the property of that name, or changes its address where one is
// given. What stays as it was is not written.
func putProperty(tx *db.Tx, name, address string, given bool) error {
	type changes struct {
		Name    string  `json:"name"`
		Address *string `json:"address"`
	}
	was, found, err := db.One(&tx.Conn, (*db.Row).TextPtr, "SELECT address FROM properties WHERE name = ?", name)
	switch {
	case err != nil:
		return err
	case !found:
		id, err := tx.Insert("INSERT INTO properties (name, address) VALUES (?, ?)", name, unset(address))
		if err != nil {
			return err
		}
		return tx.Audit("property.created", subject("property", id), changes{name, unset(address)})
	case !given || set(was) == address:
		return nil
	}
	id, err := findProperty(&tx.Conn, name)
	if err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE properties SET address = ? WHERE id = ?", unset(address), id); err != nil {
		return err
	}
	return tx.Audit("property.changed", subject("property", id), changes{name, unset(address)})
}
