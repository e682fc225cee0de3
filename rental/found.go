package rental

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/words"
)

// Shared by the lists for agents: known names, and pages by the last id.

// pageByID makes the rows of a page after an id, and returns where the next begins: earlier than next if not all of
// them fit into an answer.
func pageByID[F, S any](list []F, l schema.Listing, shorten func(F) S, id func(F) int64, next *int64) (
	[]schema.Row[F, S], *string) {
	rows := schema.Fit(list, l.Short, shorten, l.Asked, schema.AnswerBytes)
	if n := len(rows); n < len(list) {
		last := id(list[n-1])
		next = &last
	}
	return rows, schema.NextText(next)
}

// pageSorted makes the rows of a page of all rows in the order; without one it is pageByID.
func pageSorted[F, S any](list []F, l schema.Listing, shorten func(F) S, id func(F) int64, next *int64,
	order func(a, b F) int) ([]schema.Row[F, S], *string) {
	if order == nil {
		return pageByID(list, l, shorten, id, next)
	}
	slices.SortStableFunc(list, order)
	return schema.PageOf(list, l, shorten, schema.AnswerBytes)
}

// near are the names like the one that was asked for, of those that the query reads; none if something matched.
func (s *Service) near(ctx context.Context, asked string, total int64, query string) ([]string, error) {
	if asked == "" || total > 0 {
		return nil, nil
	}
	names, err := db.Read(ctx, s.db, func(c *db.Conn) ([]string, error) { return db.All(c, db.Text, query) })
	return schema.Near(asked, names, 5), err
}

// known refuses an unknown part of a property's or a tenant's name, naming the nearest properties, or tenants if they
// are similar. A whole name means that one alone: it becomes its #id.
func (s *Service) known(ctx context.Context, property, tenant *string) error {
	if *property == "" && (tenant == nil || *tenant == "") {
		return nil
	}
	return s.db.View(ctx, func(c *db.Conn) error {
		if err := knownIn(c, "property", property, "properties", "t.name", schema.ThereAre); err != nil || tenant == nil {
			return err
		}
		return knownIn(c, "tenant", tenant, "tenants", calledLike(*tenant), func(asked string, names []string) string {
			near := schema.Near(asked, names, 5)
			if len(near) == 0 {
				return "nobody has that name"
			}
			return "similar: " + strings.Join(near, ", ")
		})
	})
}

func knownIn(c *db.Conn, argument string, part *string, table, called string,
	thereAre func(string, []string) string) error {
	if *part == "" {
		return nil
	}
	whole, err := db.All(c, db.Int, "SELECT t.id FROM "+table+" t WHERE folded(t.name) = folded(?) LIMIT 2",
		strings.TrimSpace(*part))
	if err != nil {
		return err
	}
	if len(whole) == 1 {
		*part = "#" + strconv.FormatInt(whole[0], 10)
	}
	where, args := partOf(*part, called, "t.id")
	_, found, err := db.One(c, db.Int, "SELECT 1 FROM "+table+" t WHERE "+where+" LIMIT 1", args...)
	if err != nil || found {
		return err
	}
	names, err := db.All(c, db.Text, "SELECT DISTINCT name FROM "+table+" ORDER BY id LIMIT 5000")
	if err != nil {
		return err
	}
	return fault.Fieldf(argument, "%s: no name contains %s; %s", argument, schema.Quote(*part), thereAre(*part, names))
}

// partOf is the condition that a record's name holds the words of a filter, or that it has its
// number; #12 is only a number.
func partOf(asked, name, id string) (where string, args []any) {
	if n := words.Number(asked); n != 0 && strings.HasPrefix(asked, "#") {
		return id + " = ?", []any{n}
	}
	return "(has_words(?, " + name + ") OR " + id + " = ?)", []any{asked, words.Number(asked)}
}

// propertiesOf are the names of the properties that a filter means.
func (s *Service) propertiesOf(ctx context.Context, asked string) ([]string, error) {
	where, args := partOf(asked, "name", "id")
	return db.Read(ctx, s.db, func(c *db.Conn) ([]string, error) {
		return db.All(c, db.Text, "SELECT name FROM properties WHERE "+where, args...)
	})
}

// bindFilters binds the part of a property's name and, unless tenant is nil, of a tenant's.
func bindFilters(f *schema.Form, property, tenant *string) {
	f.Text(property, "property", "part of its name", schema.Most(maxName))
	if tenant != nil {
		f.Text(tenant, "tenant", "part of the name, or the e-mail", schema.Most(maxName))
	}
}

// unitFor finds a unit by an agent's name: Property/Unit, also with words of the property, or a unique unit name.
func unitFor(c *db.Conn, name string) (int64, error) {
	id, err := oneNamed(c, "unit", name, unitNamed+"p.name || '/' || u.name = ?1", unitNamed+"u.name = ?1",
		unitNamed+"lower(u.name) = lower(?1)", unitNamed+"lower(p.name || '/' || u.name) = lower(?1)",
		unitNamed+"instr(?1, '/') AND has_words(substr(?1, 1, instr(?1, '/') - 1), p.name) "+
			"AND lower(u.name) = lower(trim(substr(?1, instr(?1, '/') + 1)))")
	if fault.Is(err, fault.NotFound) {
		names, failed := db.All(c, db.Text,
			"SELECT p.name || '/' || u.name FROM properties p CROSS JOIN units u ON u.property_id = p.id ORDER BY u.id LIMIT "+
				"5000")
		if failed != nil {
			return 0, failed
		}
		err = fault.NotFoundf("there is no unit named %s; %s", schema.Quote(name), schema.ThereAre(name, names))
	}
	return id, err
}

// leaseFor finds a lease by an agent's name: by its unit, or by its tenant if only one of their leases covers today.
func leaseFor(c *db.Conn, name string) (int64, error) {
	unit, err := unitFor(c, name)
	if err == nil {
		return leaseOfUnit(c, name, unit)
	}
	if e, refused := fault.As(err); !refused || e.Kind != fault.NotFound || strings.Contains(name, "/") {
		return 0, err
	}
	tenant, failed := lookupTenant(c, name)
	if failed != nil {
		if e, refused := fault.As(failed); refused && e.Kind == fault.NotFound {
			names, err := db.All(c, db.Text, "SELECT DISTINCT name FROM tenants ORDER BY id LIMIT 5000")
			like := ""
			if near := schema.Near(name, names, 5); len(near) > 0 {
				like = "; like it: " + strings.Join(near, ", ")
			}
			if err != nil {
				return 0, err
			}
			return 0, fault.NotFoundf(
				"there is no unit and no tenant named %s; a lease is named by its unit, Property/Unit, or by its tenant%s",
				schema.Quote(name), like)
		}
		return 0, failed
	}
	all, err := leasesOfTenant(c, tenant)
	if err != nil {
		return 0, err
	}
	now := slices.DeleteFunc(slices.Clone(all), func(l Lease) bool { return l.Status != active })
	if len(now) == 0 {
		now = all[:min(1, len(all))]
	}
	switch len(now) {
	case 0:
		return 0, fault.NotFoundf("%s has no lease", schema.Quote(name))
	case 1:
		return now[0].ID, nil
	}
	names := schema.Map(now[:min(5, len(now))], func(l Lease) string { return l.Property + "/" + l.Unit })
	return 0, fault.Invalidf("%s has %d leases: %s", schema.Quote(name), len(now), strings.Join(names, ", "))
}

// ticketFor finds an unresolved ticket by words of its title, if only one matches.
func ticketFor(c *db.Conn, title string) (int64, error) {
	const open = "SELECT k.id, k.title FROM tickets k WHERE k.status <> 'resolved' AND "
	id, err := oneNamed(c, "open ticket", title, open+"lower(k.title) = lower(?1)", open+"has_words(?1, k.title)")
	if fault.Is(err, fault.NotFound) {
		return 0, fault.NotFoundf("no open ticket has the words %s; list_tickets finds tickets, and gives their ids",
			schema.Quote(title))
	}
	return id, err
}
