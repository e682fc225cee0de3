package page

import (
	"context"

	"quartermaster/rental"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

// remindersView are the reminders due.
type remindersView struct {
	rental.RemindersDue
	settings rental.ReminderSettings
	sent     int // of the rows, how many would be sent
}

// first reports whether the row is the first of its lease, which has the mark.
func (v remindersView) first(i int) bool {
	return i == 0 || v.Reminders[i].LeaseID != v.Reminders[i-1].LeaseID
}

// why is the reason why a row is omitted; "" if it is not.
func why(r rental.Reminder) string {
	if r.Reason == nil {
		return ""
	}
	return rental.ReasonWords[*r.Reason]
}

// may reports whether the row can be marked: it would be sent, or the lease has only ended.
func may(r rental.Reminder) bool { return r.Reason == nil || *r.Reason == "ended" }

func kindWord(kind string) string {
	if kind == "reminder" {
		return "Soon due"
	}
	return "Step " + kind[len(kind)-1:]
}

func letterOf(r rental.Reminder) string {
	path := page.Path("leases", page.Num(r.LeaseID), "reminder")
	if kind := schema.Cell(r.Kind); kind != "" && kind != "reminder" {
		path += "?step=" + kind[len(kind)-1:]
	}
	return path
}

func reminders(s *rental.Service) page.Page {
	return page.New(page.Spec[remindersView]{
		Path: "/reminders", Title: "Reminders", Menu: "Reminders",
		Load: page.Always(func(ctx context.Context, who db.Caller) (v remindersView, err error) {
			if v.RemindersDue, err = s.RemindersDue(ctx, who, nil); err != nil {
				return v, err
			}
			for _, r := range v.Reminders {
				if r.Reason == nil {
					v.sent++
				}
			}
			v.settings, err = s.ReminderSettings(ctx)
			return v, err
		}),
		View: Reminders,
		CSV: func(v remindersView) page.Sheet {
			return page.SheetBy("reminders", v.Reminders, "lease_id", "property", "unit", "tenant", "to", "kind", "open_cents",
				"oldest_due", "days", "reason")
		},
	})
}
