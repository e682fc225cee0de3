package screen

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"quartermaster/app/audit"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
)

// trailEntry is an entry of the audit trail.
type trailEntry struct {
	audit.Entry
	path string // of the record, if it has a page that this user may see
}

type trailView struct {
	entries []trailEntry
	total   int64
	next    string
}

func (s *Screens) auditPage() page.Page {
	return page.New(page.Spec[trailView]{
		Path: "/audit", Title: "Activity", Menu: "Activity",
		Load: func(f *schema.Form) page.Loader[trailView] {
			var p page.Paging
			p.Bind(f)
			var asked audit.Filter
			var from, to *exact.Day
			f.Text(&asked.Subject, "subject", "Only this record", schema.Most(200), schema.Label("Record"))
			f.Text(&asked.Actor, "actor", "Only by this person", schema.Most(200), schema.Label("Who"))
			f.Enum(&asked.Via, "via", "Only through this surface", audit.Vias, schema.Label("Way"))
			f.DayPtr(&from, "from", "From this day on", schema.Label("From"))
			f.DayPtr(&to, "to", "Up to this day", schema.Label("To"))
			return func(ctx context.Context, who db.Caller) (trailView, error) {
				asked.Text, asked.Limit = p.Q, p.Limit
				if from != nil {
					asked.Since = exact.InstantOf(from.Time(s.DB.Zone()))
				}
				if to != nil {
					asked.Until = exact.InstantOf((*to + 1).Time(s.DB.Zone()))
				}
				if p.After != "" {
					after, err := strconv.ParseInt(p.After, 10, 64)
					if err != nil {
						return trailView{}, fault.Fieldf("after", "after: %s did not come from the page before", schema.Quote(p.After))
					}
					asked.After = after
				}
				return s.trail(ctx, who, asked)
			}
		},
		View: auditPage,
		CSV: func(v trailView) page.Sheet {
			sheet := page.Sheet{Name: "audit", Columns: []string{"id", "at", "actor", "via", "action", "subject", "changes"}}
			for _, e := range v.entries {
				sheet.Rows = append(sheet.Rows, []string{strconv.FormatInt(e.ID, 10), e.At.String(), e.Actor, e.Via, e.Action,
					e.Subject, string(e.Changes)})
			}
			return sheet
		},
	})
}

// trail reads the part of the trail that the filter selects and the user may see.
func (s *Screens) trail(ctx context.Context, who db.Caller, f audit.Filter) (v trailView, err error) {
	t, err := audit.List(ctx, s.DB, f.For(who), true)
	if err != nil {
		return v, err
	}
	v.total, v.entries = *t.Total, make([]trailEntry, len(t.Entries))
	if t.Next != nil {
		v.next = strconv.FormatInt(*t.Next, 10)
	}
	err = s.DB.View(ctx, func(c *db.Conn) error {
		for i, e := range t.Entries {
			v.entries[i].Entry = e
			if v.entries[i].path, err = s.pathOf(c, who, e.Subject); err != nil {
				return err
			}
		}
		return nil
	})
	return v, err
}

// changed is one field of an audit entry.
type changed struct{ name, text string }

// changedOf reads an entry's changes for people: the fields by label, with their values, or with old and new ones.
// Amounts are in the frame's currency, times in its zone.
func changedOf(changes string, f *page.Frame) []changed {
	var v any
	if json.Unmarshal([]byte(changes), &v) != nil {
		return []changed{{"", changes}}
	}
	m, ok := v.(map[string]any)
	if !ok { // one value before and after, as of a status
		return []changed{{"", auditValue("", v, f)}}
	}
	var all []changed
	for _, name := range sortedKeys(m) {
		all = append(all, changed{schema.Arg{Name: name}.Label(), auditValue(name, m[name], f)})
	}
	return all
}

// coded matches values of the program: in_progress.
var coded = regexp.MustCompile(`^[a-z]+(?:_[a-z]+)+(?:[.:]\S+)?$|^[a-z]+\.[a-z]+_[a-z_]+$|^in-progress$`)

// wordsOf is a value for people: "in progress", "work order 9".
func wordsOf(value string, zone *time.Location) string {
	if !coded.MatchString(value) {
		return schema.MomentsInWords(value, zone)
	}
	word, id, found := strings.Cut(value, ":")
	word = strings.NewReplacer("_", " ", ".", " ", "-", " ").Replace(word)
	if found {
		return word + " " + id
	}
	return word
}

// auditValue is a value of the trail for people: "Yes", "12.50", "open → in progress", "rental admin".
func auditValue(name string, v any, f *page.Frame) string {
	switch v := v.(type) {
	case nil:
		return "–"
	case bool:
		if v {
			return "Yes"
		}
		return "No"
	case string:
		return wordsOf(v, f.Zone)
	case float64:
		if strings.HasSuffix(name, "cents") {
			return page.Amount(int64(v), f.Currency)
		}
	case []any:
		texts := make([]string, len(v))
		for i := range v {
			texts[i] = auditValue(name, v[i], f)
		}
		if len(v) == 2 {
			return strings.Join(texts, " → ")
		}
		return strings.Join(texts, ", ")
	case map[string]any:
		all := schema.Map(sortedKeys(v), func(key string) string {
			return strings.ReplaceAll(schema.PageField(key), "_", " ") + " " + auditValue(key, v[key], f)
		})
		return strings.Join(all, ", ")
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// actText is an action for people: "Purchase order created".
func actText(action string) string { return page.Word(strings.ReplaceAll(action, ".", " ")) }

// hookRecord is the receiver's record, whose page every service has for admins.
var hookRecord = schema.Record{Noun: "webhook", Page: "/webhooks/"}

// recordOf is the requested page's record, in the audit trail's form; "" for another page.
func (x *exchange) recordOf() string {
	if x.route == nil {
		return ""
	}
	for _, r := range append(x.s.Service.Records, hookRecord) {
		id, one := strings.CutPrefix(x.route.pattern, r.Page)
		if r.Page == "" || !one || !strings.HasPrefix(id, ":") || strings.Contains(id, "/") {
			continue
		}
		subject := r.Noun + ":" + x.path[id[1:]]
		if x.audited != "" {
			subject = x.audited
		}
		return subject
	}
	return ""
}

// trailOf links to the audit trail of the requested page's record; "" for another page.
func (x *exchange) trailOf() string {
	subject := x.recordOf()
	if subject == "" {
		return ""
	}
	return "/audit?subject=" + queryEscape(subject)
}

// rowPages are the lists, for admins, with the rows of records without a page.
var rowPages = map[string]string{"key": "/keys#key-", "user": "/users#user-"}

// pathOf links to the record of an audit entry: its page, the page that shows it, or its row of a list; "" if the user
// may see none.
func (s *Screens) pathOf(c *db.Conn, who db.Caller, subject string) (string, error) {
	noun, id, _ := strings.Cut(subject, ":")
	switch list := rowPages[noun]; {
	case (list != "" || noun == hookRecord.Noun || noun == "delivery") && who.Role != page.Admin, id == "":
		return "", nil
	case list != "" && isID(id):
		return list + id, nil
	case noun == hookRecord.Noun:
		return hookRecord.Page + url.PathEscape(id), nil
	}
	r := s.Service.Record(noun)
	within := r.Within
	if noun == "delivery" {
		within = "SELECT 'webhook:' || endpoint_id FROM deliveries WHERE id = ?"
	}
	if within != "" && isID(id) {
		shown, found, err := db.One(c, db.Text, within, id)
		if err != nil || !found {
			return "", err
		}
		return s.pathOf(c, who, shown)
	}
	if r.Page == "" {
		return "", nil
	}
	if r.ByName && !isID(id) {
		return r.Page[:len(r.Page)-1] + "?q=" + queryEscape(id), nil
	}
	return r.Page + url.PathEscape(id), nil
}
