package rental

import (
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

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
	if name, err = checkText("name", name, maxName); err != nil {
		return Renamed{}, err
	}
	done := Renamed{ID: id, Property: name, Name: name, Was: was}
	return done, rename(tx, done, "property", "SELECT id FROM properties WHERE name = ?1 AND id <> ?2",
		"UPDATE properties SET name = ? WHERE id = ?")
}

// renameUnit gives a unit another name within its property, as renameProperty does.
func renameUnit(tx *db.Tx, id int64, name string) (Renamed, error) {
	done, found, err := db.One(&tx.Conn,
		func(r *db.Row) Renamed { return Renamed{ID: id, Property: r.Text(), Was: r.Text()} },
		"SELECT p.name, u.name FROM units u CROSS JOIN properties p ON p.id = u.property_id WHERE u.id = ?", id)
	if err == nil && !found {
		err = fault.NotFoundf("there is no unit %d", id)
	}
	if err != nil {
		return Renamed{}, err
	}
	if done.Name, err = checkText("name", name, maxName); err != nil {
		return Renamed{}, err
	}
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
	if _, err := tx.Exec(update, r.Name, r.ID); err != nil {
		return err
	}
	return tx.Audit(noun+".renamed", db.Subject(noun, r.ID), map[string]string{"from": r.Was, "to": r.Name})
}

func (s *Service) renameProperty() schema.Op {
	return s.renameOp("property", renameProperty, "/properties/", func(f *schema.Form, id *int64) {
		f.ID(id, "property_id", "the property", schema.Required, schema.Example(1), schema.Positional("PROPERTY"),
			schema.Lookup(lookupProperty), schema.Choices(propertyChoices))
	}, "rental property rename 'Harbour House' --name 'Harbour Court'")
}

func (s *Service) renameUnit() schema.Op {
	return s.renameOp("unit", renameUnit, "/units/", func(f *schema.Form, id *int64) {
		f.ID(id, "unit_id", "the unit", schema.Required, schema.Example(2), schema.Positional("UNIT_ID"),
			schema.Lookup(lookupUnit), schema.Choices(unitChoices))
	}, "rental unit rename 'Harbour House/2A' --name 2B")
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
		Did:     schema.Said(func(r Renamed) string { return fmt.Sprintf("%s is now called %s.", r.Was, r.Name) }),
		Leads:   func(a any) string { return fmt.Sprint(path, a.(Renamed).ID) },
	}
}
