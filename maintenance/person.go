package maintenance

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
)

// people lists possible assignees: the service's users, and earlier assignees.
func people(c *db.Conn) ([]string, error) {
	names, err := assigneeNames(c)
	if err != nil {
		return nil, err
	}
	users, err := db.All(c, db.Text, `SELECT u.name FROM roles r CROSS JOIN users u ON u.id = r.user_id
		WHERE r.service = ? AND u.disabled = 0 AND u.removed_at IS NULL`, "maintenance")
	return append(names, users...), err
}

// toPerson maps an agent's name to a known person, in any case. An unknown one is refused with the nearest, unless the
// agent says that it is new.
func toPerson(c *db.Conn, name *string, isNew bool) error {
	if name == nil || *name == "" || isNew {
		return nil
	}
	known, err := people(c)
	if err != nil {
		return err
	}
	person, err := schema.Person(known, *name)
	if err == nil {
		*name = person
	}
	return err
}

// bindNew binds an agent's statement that the assignee is new.
func bindNew(f *schema.Form, p *bool) {
	if f.Surface() == schema.Tool {
		f.Bool(p, "new_person", "true: assigned_to is a new name")
	}
}
