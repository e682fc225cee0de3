package screen

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
)

// trailEntry is one line of the audit trail.
type trailEntry struct {
	id                          int64
	at                          exact.Instant
	actor, via, action, subject string
	changes                     string
	path                        string // of the record, if it has a page here
}

type trailView struct {
	entries []trailEntry
	total   int64
	next    string
}

// ways are the surfaces that a change may have come by.
var ways = []string{"rest", "mcp", "cli", "web", "portal", "buyer", "request", "license", "provider", "system"}

// trailFilter narrows the audit trail; what is empty does not.
type trailFilter struct {
	subject, actor, via string
	from, to            *exact.Day
}

// trailWhere returns the condition of the entries of a service, and of none, that the filter
// means and that hold the text q, with its values.
func trailWhere(zone *time.Location, service string, f trailFilter, q string) (string, []any) {
	where, values := "service IN (?, '')", []any{service}
	add := func(condition string, value any) { where, values = where+" AND "+condition, append(values, value) }
	if f.subject != "" {
		add("subject = ?", f.subject)
	}
	if f.actor != "" {
		add("actor = ?", f.actor)
	}
	if f.via != "" {
		add("via = ?", f.via)
	}
	if f.from != nil {
		add("at >= ?", exact.InstantOf(f.from.Time(zone)))
	}
	if f.to != nil {
		add("at < ?", exact.InstantOf((*f.to + 1).Time(zone)))
	}
	if q != "" {
		add("instr(lower(action || ' ' || subject || ' ' || actor || ' ' || changes), lower(?)) > 0", q)
	}
	return where, values
}

func (s *Screens) auditPage() page.Page {
	return page.New(page.Spec[trailView]{
		Path: "/audit", Title: "Audit", Menu: "Audit",
		Load: func(f *schema.Form) page.Loader[trailView] {
			var p page.Paging
			p.Bind(f)
			var asked trailFilter
			f.Text(&asked.subject, "subject", "Of this record, such as work_order:12", schema.Most(200), schema.Label("Record"))
			f.Text(&asked.actor, "actor", "By this person", schema.Most(200), schema.Label("Who"))
			f.Enum(&asked.via, "via", "By this way", ways, schema.Label("Way"))
			f.DayPtr(&asked.from, "from", "From this day on", schema.Label("From"))
			f.DayPtr(&asked.to, "to", "Up to this day", schema.Label("To"))
			return func(ctx context.Context, who db.Caller) (v trailView, err error) {
				where, values := trailWhere(s.DB.Zone(), who.Service, asked, p.Q)
				err = s.DB.View(ctx, func(c *db.Conn) error {
					if err := readTrail(c, &v, where, values, p); err != nil {
						return err
					}
					for i, e := range v.entries {
						if v.entries[i].path, err = s.pathOf(c, who, e.subject); err != nil {
							return err
						}
					}
					return nil
				})
				return v, err
			}
		},
		View: func(v trailView) templ.Component { return auditPage(v) },
		CSV: func(v trailView) page.Sheet {
			sheet := page.Sheet{Name: "audit", Columns: []string{"id", "at", "actor", "via", "action", "subject", "changes"}}
			for _, e := range v.entries {
				sheet.Rows = append(sheet.Rows, []string{strconv.FormatInt(e.id, 10), e.at.String(), e.actor, e.via, e.action, e.subject, e.changes})
			}
			return sheet
		},
	})
}

func readTrail(c *db.Conn, v *trailView, where string, values []any, p page.Paging) (err error) {
	if v.total, _, err = db.One(c, db.Int, "SELECT count(*) FROM audit WHERE "+where, values...); err != nil {
		return err
	}
	if p.After != "" {
		after, err := strconv.ParseInt(p.After, 10, 64)
		if err != nil {
			return fault.Fieldf("after", "after: %s is not the next of a page before", schema.Quote(p.After))
		}
		where, values = where+" AND id < ?", append(values, after)
	}
	v.entries, err = db.All(c, func(r *db.Row) trailEntry {
		return trailEntry{id: r.Int(), at: r.Instant(), actor: r.Text(), via: r.Text(), action: r.Text(), subject: r.Text(), changes: r.Text()}
	}, "SELECT id, at, actor, via, action, subject, changes FROM audit WHERE "+where+" ORDER BY id DESC LIMIT ?", append(values, p.Limit+1)...)
	if err == nil && int64(len(v.entries)) > p.Limit {
		v.entries = v.entries[:p.Limit]
		v.next = strconv.FormatInt(v.entries[p.Limit-1].id, 10)
	}
	return err
}

// changed is one field of an audit entry.
type changed struct{ name, text string }

// changedOf reads an entry's changes for people: the fields with their values, or with
// what they were and are.
func changedOf(changes string) []changed {
	var m map[string]any
	if json.Unmarshal([]byte(changes), &m) != nil {
		return []changed{{"", changes}}
	}
	var all []changed
	for _, name := range slices.Sorted(keysOf(m)) {
		var text string
		switch v := m[name].(type) {
		case string:
			text = v
		case nil:
			text = "–"
		case map[string]any:
			text = pairs(v)
		default:
			b, _ := json.Marshal(v)
			text = string(b)
		}
		all = append(all, changed{name, text})
	}
	return all
}

// pairs is an object of plain values for people: "rental admin, store viewer".
func pairs(m map[string]any) string {
	var all []string
	for _, name := range slices.Sorted(keysOf(m)) {
		b, _ := json.Marshal(m[name])
		all = append(all, name+" "+strings.Trim(string(b), `"`))
	}
	return strings.Join(all, ", ")
}

// recordPages are where records have pages, by the subject's kind.
var recordPages = map[string]string{
	"work_order": "/work-orders/", "asset": "/assets/", "part": "/parts/", "lease": "/leases/", "ticket": "/maintenance/",
	"maintenance_request": "/maintenance/", "sku": "/skus/", "purchase_order": "/purchase-orders/", "order": "/orders/", "customer": "/customers/",
	"license": "/licenses/", "webhook": "/webhooks/", "batch": "/redeem-codes/", "tenant": "/tenants/", "property": "/properties/",
	"unit": "/units/", "payment": "/payments/", "pm_plan": "/plans/", "product": "/products/", "supplier": "/suppliers/",
}

// trailOf leads to the audit trail of the record whose page is asked for; "" for another page.
func (x *exchange) trailOf() string {
	if x.route == nil {
		return ""
	}
	for kind, base := range recordPages {
		id, one := strings.CutPrefix(x.route.pattern, base)
		if !one || !strings.HasPrefix(id, ":") || strings.Contains(id, "/") || kind == "maintenance_request" {
			continue
		}
		subject := kind + ":" + x.path[id[1:]]
		if x.audited != "" {
			subject = x.audited
		}
		return "/audit?subject=" + queryEscape(subject)
	}
	return ""
}

// rowPages are where records without a page stand as a row of a list, which admins see.
var rowPages = map[string]string{"key": "/keys#key-", "user": "/users#user-"}

// shownWith finds the subject on whose page a record without one of its own is shown.
var shownWith = map[string]string{
	"meter":     "SELECT 'asset:' || asset_id FROM meters WHERE id = ?",
	"charge":    "SELECT 'lease:' || lease_id FROM charges WHERE id = ?",
	"recurring": "SELECT 'lease:' || lease_id FROM recurring_charges WHERE id = ?",
	"delivery":  "SELECT 'webhook:' || endpoint_id FROM deliveries WHERE id = ?",
}

// pathOf leads to the record of an audit entry: its page, the page on which it is shown, or
// its row of a list; "" where there is none here.
func (s *Screens) pathOf(c *db.Conn, who db.Caller, subject string) (string, error) {
	kind, id, _ := strings.Cut(subject, ":")
	if list := rowPages[kind]; list != "" && isID(id) && who.Role == page.Admin {
		return list + id, nil
	}
	if query := shownWith[kind]; query != "" && isID(id) {
		var err error
		if subject, _, err = db.One(c, db.Text, query, id); err != nil {
			return "", err
		}
	}
	return s.pageOf(subject), nil
}

// pageOf is the page of an audit entry's record, if it has one here.
func (s *Screens) pageOf(subject string) string {
	kind, id, ok := strings.Cut(subject, ":")
	base := recordPages[kind]
	if !ok || base == "" {
		return ""
	}
	path := base + url.PathEscape(id)
	if kind == "customer" && !isID(id) {
		path = base[:len(base)-1] + "?q=" + queryEscape(id)
	}
	if r, _ := s.router.find(strings.SplitN(path, "?", 2)[0]); r == nil {
		return ""
	}
	return path
}
