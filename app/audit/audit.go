// Package audit reads the audit trail: who did what, when and by which interface.
package audit

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// Vias are the interfaces of a change.
var Vias = []string{"rest", "mcp", "cli", "license", "provider", "web", "portal", "buyer", "request", "system"}

// Entry is an entry of the trail.
type Entry struct {
	ID      int64           `json:"id"`
	At      exact.Instant   `json:"at"`
	Service string          `json:"service"` // "" for users, keys and the appliance itself
	Actor   string          `json:"actor"`
	Via     string          `json:"via"`
	Action  string          `json:"action"`
	Subject string          `json:"subject"`
	Changes json.RawMessage `json:"changes"`
}

// Trail is a part of the trail, newest first.
type Trail struct {
	Entries []Entry `json:"entries"`
	Next    *int64  `json:"next,omitempty"`  // start of the next page; pages only
	Total   *int64  `json:"total,omitempty"` // the number of all matches; pages only
}

// Filter restricts the trail; empty fields do not.
type Filter struct {
	Service   string
	Appliance bool   // with Service: also entries without a service
	Actor     string // the whole name, in any case
	Subject   string // work_order:12, or work_order for all of them
	Via       string
	Text      string        // in the action, record, person or changes, in any case
	Since     exact.Instant // from this instant on
	Until     exact.Instant // before this instant; 0: no end
	After     int64         // older than this entry; 0 is the newest
	Limit     int64
}

const columns = "id, at, service, actor, via, action, subject, changes"

func scan(r *db.Row) Entry {
	return Entry{ID: r.Int(), At: r.Instant(), Service: r.Text(), Actor: r.Text(), Via: r.Text(),
		Action: r.Text(), Subject: r.Text(), Changes: json.RawMessage(r.Text())}
}

// where is the filter's conditions, without After.
func (f Filter) where() (w db.Where) {
	kind, id, _ := strings.Cut(f.Subject, ":")
	service := "service"
	if id != "" {
		service = "+service" // one record has few entries: its own index reads them, not the service's
	}
	switch {
	case f.Service != "" && f.Appliance:
		w.And(true, service+" IN (?, '')", f.Service)
	case f.Service == appliance:
		w.And(true, service+" = ''")
	default:
		w.And(f.Service != "", service+" = ?", f.Service)
	}
	w.And(f.Actor != "", "lower(actor) = lower(?)", f.Actor)
	w.And(id != "", "subject = ?", f.Subject)
	// all of a kind, or of a singleton such as settings
	w.And(f.Subject != "" && id == "", "(subject = ? OR substr(subject, 1, ?) = ?)", kind, len([]rune(kind))+1, kind+":")
	w.And(f.Via != "", "via = ?", f.Via)
	w.And(f.Text != "", "has_words(?, action, subject, actor, changes)", f.Text)
	w.And(f.Since != 0, "at >= ?", f.Since)
	w.And(f.Until != 0, "at < ?", f.Until)
	return w
}

// For restricts the filter to what the caller may see: in a service its own entries, and for its admins those of the
// appliance.
func (f Filter) For(who db.Caller) Filter {
	if who.Service != "" {
		f.Service, f.Appliance = who.Service, who.Role == "admin"
	}
	return f
}

// newest is the statement of a page. The entries of a service and those of the appliance itself are each read newest
// first from an index, and merged.
func (f Filter) newest() (query string, args []any) {
	parts := []Filter{f}
	if f.Service != "" && f.Appliance {
		one, none := f, f
		one.Appliance, none.Service, none.Appliance = false, appliance, false
		parts = []Filter{one, none}
	}
	var queries []string
	for _, p := range parts {
		w := p.where()
		w.And(p.After > 0, "id < ?", p.After)
		queries = append(queries, "SELECT * FROM (SELECT "+columns+" FROM audit"+w.SQL()+" ORDER BY id DESC LIMIT ?)")
		args = append(append(args, w.Args...), p.Limit+1)
	}
	if len(queries) == 1 {
		return queries[0], args
	}
	return strings.Join(queries, " UNION ALL ") + " ORDER BY id DESC LIMIT ?", append(args, f.Limit+1)
}

// appliance is a filter's value for the service "".
const appliance = "-"

// List returns the newest entries of the filter. It returns the total only with counted, which scans the whole trail.
func List(ctx context.Context, d *db.DB, f Filter, counted bool) (t Trail, err error) {
	err = d.View(ctx, func(c *db.Conn) error {
		page, pageArgs := f.newest()
		t.Entries, err = db.All(c, scan, page, pageArgs...)
		if err != nil {
			return err
		}
		more := int64(len(t.Entries)) > f.Limit
		if more {
			t.Entries = t.Entries[:f.Limit]
		}
		if !counted {
			return nil
		}
		if more {
			t.Next = &t.Entries[f.Limit-1].ID
		}
		w := f.where()
		n, _, err := db.One(c, db.Int, "SELECT COUNT(*) FROM audit"+w.SQL(), w.Args...)
		t.Total = &n
		return err
	})
	return t, err
}

// Op is the operation that reads the trail. Everybody with a role reads the service's entries, an admin also those of
// the appliance. Without a database it can only be described.
func Op(d *db.DB, services []string) schema.Op {
	return schema.Op{
		Name: "list_audit",
		About: "The audit trail, newest first: the time, the service (none for users, keys and the program itself), " +
			"who made it, on which surface, and what it changed.",
		Command: "audit",
		Example: "audit --limit 20\naudit --service rental --json\naudit --actor alice --subject lease:3 --since 2026-11-01",
		Response: Trail{Entries: []Entry{{
			ID: 812, At: 1795208700, Service: "maintenance", Actor: "alice", Via: "rest", Action: "workorder.status",
			Subject: "work_order:12", Changes: json.RawMessage(`{"from":"open","to":"done"}`),
		}}},
		Bind: func(f *schema.Form) schema.Handler {
			q := Filter{Limit: 50}
			var since string
			var until *exact.Day
			f.Enum(&q.Service, "service", "only this service's: "+strings.Join(services, ", "), services)
			f.Text(&q.Actor, "actor",
				"who did it: a user's name; cli is the command line, system the program itself", schema.Most(200))
			f.Text(&q.Subject, "subject", "what was changed: work_order:12, or work_order for all work orders", schema.Most(300))
			f.Enum(&q.Via, "via", "only changes made on this surface", Vias)
			f.Text(&since, "since", "not older than this: a time such as 90m or 24h, or a day", schema.Most(50))
			from := sinceOf(f, since)
			f.DayPtr(&until, "until", "up to this day, which is included")
			f.Int(&q.Limit, "limit", "at most this many entries (default: 50)", schema.Range(1, 1_000_000))
			if f.Surface() == schema.Page {
				f.Int(&q.After, "after", "older than this entry: next of the previous page", schema.Range(1, 1<<62))
			}
			counted := f.Surface() == schema.Page
			return func(ctx context.Context, who db.Caller) (any, error) {
				q := q.For(who)
				err := d.View(ctx, func(c *db.Conn) error {
					q.Since = from(c)
					if until != nil {
						q.Until = exact.InstantOf((*until + 1).Time(c.Zone()))
					}
					return nil
				})
				if err != nil {
					return nil, err
				}
				return schema.Answer(List(ctx, d, q, counted))
			}
		},
		Print: write,
	}
}

// sinceOf parses a duration or a date and returns its instant.
func sinceOf(f *schema.Form, since string) func(*db.Conn) exact.Instant {
	none := func(*db.Conn) exact.Instant { return 0 }
	if since == "" {
		return none
	}
	if day, ok := exact.ParseDay(since); ok {
		return func(c *db.Conn) exact.Instant { return exact.InstantOf(day.Time(c.Zone())) }
	}
	if ago, err := time.ParseDuration(since); err == nil && ago > 0 {
		return func(c *db.Conn) exact.Instant { return c.Now() - exact.Instant(ago/time.Second) }
	}
	f.Refuse("since", "%s: %s is not allowed; it takes a time such as 90m or 24h, or a day as YYYY-MM-DD",
		map[bool]string{true: "--since", false: "since"}[f.Surface() == schema.Command], schema.Quote(since))
	return none
}

// write shows the trail for people.
func write(w io.Writer, answer any) {
	schema.Tabulate(w, "ID|AT|SERVICE|ACTOR|VIA|ACTION|SUBJECT|CHANGES", answer.(Trail).Entries, func(e Entry) []any {
		return []any{e.ID, e.At, e.Service, e.Actor, e.Via, e.Action, e.Subject, string(e.Changes)}
	})
}
