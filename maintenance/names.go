package maintenance

import (
	"fmt"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// How commands and pages find a record by name. Digits are an id if the contract's command accepted one so far.
var (
	orderPositional = schema.Positional("WORK_ORDER_ID")
	assetPositional = func(a *schema.Arg) { named(assetNamed, "ASSET")(a); schema.NameFirst(a) }
	planPositional  = named(planNamed, "PLAN")
)

// named joins a look-up by name with its word in the command.
func named(find func(*db.Conn, string) (int64, error), word string) schema.Opt {
	return func(a *schema.Arg) {
		schema.Lookup(find)(a)
		schema.Positional(word)(a)
	}
}

// called is a record with a name that people call it by.
type called struct {
	id   int64
	name string
}

func scanCalled(r *db.Row) called { return called{id: r.Int(), name: r.Text()} }

// only is the one match. None is 404 with the existing ones; several are refused with a list.
func only(what, asked string, found []called, there func() ([]string, error)) (int64, error) {
	switch len(found) {
	case 1:
		return found[0].id, nil
	case 0:
		names, err := there()
		if err != nil {
			return 0, err
		}
		return 0, fault.NotFoundf("there is no %s %s; %s", what, schema.Quote(asked), schema.ThereAre(asked, names))
	}
	const most = 5
	var list []string
	for _, f := range found[:min(most, len(found))] {
		list = append(list, fmt.Sprintf("#%d (%s)", f.id, f.name))
	}
	if len(found) > most {
		list = append(list, "and more")
	}
	return 0, fault.Invalidf("several %ss are called %s: %s; say which by #id", what, schema.Quote(asked),
		strings.Join(list, ", "))
}

// lookUp finds a record by the first of the conditions that has a match. query ends where they begin, and rest follows
// them.
func lookUp(c *db.Conn, what, asked, query, rest string, there func() ([]string, error), conditions ...string) (int64,
	error) {
	for _, where := range conditions {
		found, err := db.All(c, scanCalled, query+" WHERE ?1 <> '' AND "+where+rest, asked)
		if err != nil {
			return 0, err
		}
		if len(found) > 0 {
			return only(what, asked, found, nil)
		}
	}
	return only(what, asked, nil, there)
}

// assetNamed finds an asset by its tag, else by its name, each first exactly and then in any case.
func assetNamed(c *db.Conn, asked string) (int64, error) {
	return lookUp(c, "asset", asked, "SELECT id, asset_tag || ', ' || name FROM assets", " ORDER BY id LIMIT 20",
		func() ([]string, error) { return assetNames(c) },
		"asset_tag = ?1", "name = ?1", "folded(asset_tag) = folded(?1)", "folded(name) = folded(?1)")
}

// assetNames lists what assets are called: the tag, and the name where it differs.
func assetNames(c *db.Conn) ([]string, error) {
	return db.All(c, db.Text,
		"SELECT CASE WHEN name = asset_tag THEN asset_tag ELSE asset_tag || ' (' || name || ')' END FROM assets ORDER BY "+
			"id LIMIT 5000")
}

// planNamed finds a plan by TAG/Title, or by a unique title.
func planNamed(c *db.Conn, asked string) (int64, error) {
	const list = "SELECT p.id, a.asset_tag || '/' || p.title FROM pm_plans p CROSS JOIN assets a ON a.id = p.asset_id"
	return lookUp(c, "plan", asked, list, " ORDER BY p.id LIMIT 20", func() ([]string, error) {
		all, err := db.All(c, scanCalled, list+" ORDER BY p.id LIMIT 5000")
		return namesOf(all), err
	}, "a.asset_tag || '/' || p.title = ?1", "p.title = ?1", "folded(a.asset_tag || '/' || p.title) = folded(?1)",
		"folded(p.title) = folded(?1)")
}

// planOfAsset is planNamed, with the asset's own plans before others; asset 0 is none. Of the asset's own, the words of
// a unique title suffice.
func planOfAsset(c *db.Conn, asset int64, asked string) (int64, error) {
	own, err := db.All(c, scanCalled,
		"SELECT id, title FROM pm_plans WHERE asset_id = ?1 AND has_words(?2, title) ORDER BY folded(title) <> folded(?2), "+
			"title", asset, asked)
	if err != nil {
		return 0, err
	}
	if len(own) > 0 && strings.EqualFold(own[0].name, asked) {
		own = own[:1]
	}
	if len(own) > 0 {
		return only("plan", asked, own, nil)
	}
	found, err := planNamed(c, asked)
	if !fault.Is(err, fault.NotFound) || asset == 0 {
		return found, err
	}
	all, err := db.All(c, db.Text, "SELECT title FROM pm_plans WHERE asset_id = ? ORDER BY title", asset)
	if err != nil {
		return 0, err
	}
	return 0, fault.NotFoundf("the asset has no plan %s; %s", schema.Quote(asked), schema.ThereAre(asked, all))
}

// used suggests the values that a column of parts or assets has.
func used(table, column string) []schema.Opt {
	return []schema.Opt{schema.Any, schema.Choices(schema.Among(func(c *db.Conn) ([]schema.Choice, error) {
		return db.All(c, func(r *db.Row) schema.Choice { v := r.Text(); return schema.Choice{Value: v, Text: v} },
			"SELECT DISTINCT "+column+" FROM "+table+" WHERE "+column+" IS NOT NULL ORDER BY "+column)
	}))}
}

// bindJob binds an operation's work order. Agents may also give words of its asset or description.
func bindJob(f *schema.Form, id *int64, opts ...schema.Opt) {
	if f.Surface() == schema.Tool {
		opts = append(opts, schema.Lookup(jobNamed))
	}
	f.ID(id, "id", "the work order", append(opts, schema.Choices(jobChoices))...)
}

// jobNamed finds a work order by words of its asset or description, if only one unfinished order matches, or else only
// one of all.
func jobNamed(c *db.Conn, asked string) (int64, error) {
	for _, where := range []string{"w.status IN ('open', 'in-progress')", "w.status IN ('done', 'cancelled')"} {
		found, err := db.All(c, scanCalled, `SELECT w.id, a.name || ': ' || w.description FROM work_orders w CROSS
			JOIN assets a ON a.id = w.asset_id
			WHERE `+where+" AND has_words(?1, a.name, a.asset_tag, w.description) ORDER BY w.id DESC LIMIT 6", asked)
		if err != nil {
			return 0, err
		}
		for i, f := range found {
			found[i].name = schema.Shorten(firstLine(f.name), 40)
		}
		if len(found) > 0 {
			return only("job", asked, found, nil)
		}
	}
	return 0, fault.NotFoundf("no job has the words %s; list_workorders finds jobs, and gives their ids",
		schema.Quote(asked))
}

// partNamed finds a part by its number, else by its name.
func partNamed(c *db.Conn, asked string) (int64, error) {
	return lookUp(c, "part", asked, "SELECT id, part_number || ', ' || name FROM parts", " ORDER BY id LIMIT 20",
		func() ([]string, error) {
			return db.All(c, db.Text, "SELECT part_number || ' (' || name || ')' FROM parts ORDER BY id LIMIT 5000")
		},
		"part_number = ?1", "name = ?1", "folded(part_number) = folded(?1)", "folded(name) = folded(?1)")
}

func namesOf(list []called) []string {
	return schema.Map(list, func(f called) string { return f.name })
}

var (
	// assetChoices lists the assets that take work, with what ails them, tagChoices all by their tags, planChoices the
	// plans.
	assetChoices = schema.Listed(
		`SELECT CAST(id AS TEXT), name || ' (' || asset_tag || ')', concat_ws(', ', location,
		iif(status = 'operational', NULL, replace(status, '-', ' '))) FROM assets WHERE (status <> 'retired' OR id = ?1)
		AND {} ORDER BY name, id LIMIT ?2`, "id", "name, asset_tag, location")
	tagChoices = schema.Listed(
		"SELECT asset_tag, name || ' (' || asset_tag || ')', ifnull(location, '') FROM assets WHERE {} ORDER BY name, id "+
			"LIMIT ?2",
		"asset_tag", "name, asset_tag, location")
	// jobChoices lists work orders, the newest first; partIDs the parts by their ids.
	jobChoices = schema.Listed(`SELECT CAST(w.id AS TEXT), 'Job ' || w.id || ', ' || a.name || ', ' ||
		substr(w.description, 1, instr(w.description || char(10), char(10)) - 1), replace(w.status, '-', ' ')
		FROM work_orders w CROSS JOIN assets a ON a.id = w.asset_id
		WHERE {} ORDER BY w.id DESC LIMIT ?2`, "w.id", "a.name, a.asset_tag, w.description")
	partIDs = schema.Listed("SELECT CAST(id AS TEXT), name || ' (' || part_number || ')', ifnull(supplier, '') "+
		"FROM parts WHERE {} ORDER BY name, id LIMIT ?2", "id", "part_number, name")
	// meterChoices lists the names of meters, with the asset that has one.
	meterChoices = schema.Listed("SELECT m.name, m.name || ', ' || m.unit, CASE count(*) WHEN 1 THEN a.name "+
		"ELSE count(*) || ' assets' END FROM meters m CROSS "+
		"JOIN assets a ON a.id = m.asset_id WHERE {} GROUP BY m.name ORDER BY m.name LIMIT ?2", "m.name", "m.name")
	planChoices = schema.Listed(`SELECT CAST(p.id AS TEXT), a.asset_tag || '/' || p.title, a.name FROM pm_plans p CROSS
		JOIN assets a ON a.id = p.asset_id
		WHERE {} ORDER BY a.asset_tag, p.title LIMIT ?2`, "p.id", "a.asset_tag, a.name, p.title")
)

// partChoices lists the parts by number, with what is in stock.
var partChoices = schema.ListedBy(
	"SELECT part_number, name, quantity, coalesce(unit, '') FROM parts WHERE {} ORDER BY name, id LIMIT ?2", "part_number",
	"part_number, name",
	func(*db.Conn) (func(*db.Row) schema.Choice, error) {
		return func(r *db.Row) schema.Choice {
			number, name, quantity, unit := r.Text(), r.Text(), r.Milli(), r.Text()
			return schema.Choice{Value: number, Text: name + " (" + number + ")",
				More: strings.TrimSpace(fmt.Sprintf("%v %s", quantity, unit)) + " in stock"}
		}, nil
	})

// firstLine is a text's first line.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// leadsToOrder is the page of a work order's answer.
func leadsToOrder(answer any) string {
	switch a := answer.(type) {
	case WorkOrder:
		return orderPage(a.ID)
	case Advanced:
		return orderPage(a.ID)
	case Used:
		return orderPage(a.WorkOrder.ID)
	}
	return ""
}

func orderPage(id int64) string { return "/work-orders/" + strconv.FormatInt(id, 10) }
func assetPage(id int64) string { return "/assets/" + strconv.FormatInt(id, 10) }
func planPage(id int64) string  { return "/plans/" + strconv.FormatInt(id, 10) }

func leadsToPlan(answer any) string { return planPage(answer.(Plan).PMID) }

func partPage(id int64) string { return "/parts/" + strconv.FormatInt(id, 10) }

// moveBack is the action that moves a work order to a status, if it may move there.
func moveBack(wo WorkOrder, to, label string) *schema.Undo {
	if workOrderMoves.Check("work order", wo.Status, to) != nil {
		return nil
	}
	return &schema.Undo{Op: "advance_status", Label: label, Fields: map[string]string{"id": strconv.FormatInt(wo.ID, 10),
		"status": to}}
}

// assignees suggests assignees: the caller, then users and earlier assignees.
func assignees(c *db.Conn, who db.Caller, f schema.Find) ([]schema.Choice, error) {
	names, err := assigneeNames(c)
	if err != nil {
		return nil, err
	}
	users, err := db.All(c, db.Text, `SELECT u.name FROM roles r CROSS JOIN users u
		ON u.id = r.user_id
		WHERE r.service = 'maintenance' AND r.role <> 'viewer' AND u.disabled = 0 ORDER BY u.name`)
	if err != nil {
		return nil, err
	}
	return schema.People(who.User, append(users, names...), nil)(c, f)
}

// assigneeNames lists every assignee, with one index step per name.
func assigneeNames(c *db.Conn) ([]string, error) {
	return db.All(c, db.Text, `WITH RECURSIVE names (name) AS (
		SELECT min(assigned_to) FROM work_orders WHERE assigned_to IS NOT NULL
		UNION ALL
		SELECT (SELECT min(w.assigned_to) FROM work_orders w WHERE w.assigned_to > name) FROM names WHERE name IS NOT NULL)
		SELECT name FROM names WHERE name IS NOT NULL`)
}
