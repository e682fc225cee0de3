package store

import (
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// customerEmails suggests customers by their addresses, newest first.
func customerEmails(c *db.Conn, f schema.Find) ([]schema.Choice, error) {
	return customersFor(c, f, func(k Customer) schema.Choice {
		return schema.Choice{Value: k.Email, Text: k.Email,
			More: k.Name}
	})
}

// customerChoices lists customers by number, newest first.
func customerChoices(c *db.Conn, f schema.Find) ([]schema.Choice, error) {
	if id, err := strconv.ParseInt(f.Value, 10, 64); f.Value != "" {
		if err != nil {
			return nil, nil //nolint:nilerr // no customer has that number
		}
		k, err := customerByID(c, id)
		if fault.Is(err, fault.NotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return []schema.Choice{numbered(k)}, nil
	}
	return customersFor(c, f, numbered)
}

func numbered(k Customer) schema.Choice {
	return schema.Choice{Value: strconv.FormatInt(k.ID, 10), Text: k.Email, More: k.Name}
}

func customersFor(c *db.Conn, f schema.Find, choice func(Customer) schema.Choice) ([]schema.Choice, error) {
	filter := CustomerFilter{Q: f.Words}
	if f.Value != "" {
		filter.Q = f.Value
	}
	found, err := filter.list(c, int64(f.Most))
	var list []schema.Choice
	for _, k := range found {
		if v := choice(k); f.Value == "" || v.Value == f.Value {
			list = append(list, v)
		}
	}
	return list, err
}
