package rental

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// ReminderChange are the settings to change; nil leaves one unchanged.
type ReminderChange struct {
	BeforeDays, GapDays, LeastCents *int64
	LateDays                        []int64
}

// setReminders sets when tenants are reminded. Refused: days out of range, late days that do not rise.
func setReminders(tx *db.Tx, ch ReminderChange) (v ReminderSettings, err error) {
	if err := mail.CheckSetUp(&tx.Conn); err != nil {
		return v, err
	}
	if v, err = reminderSettings(&tx.Conn); err != nil {
		return v, err
	}
	for _, x := range []struct{ to, from *int64 }{{&v.BeforeDays, ch.BeforeDays}, {&v.GapDays, ch.GapDays},
		{&v.LeastCents, ch.LeastCents}} {
		if x.from != nil {
			*x.to = *x.from
		}
	}
	if ch.LateDays != nil {
		v.LateDays = ch.LateDays
	}
	kept, err := json.Marshal(v)
	if err != nil {
		return v, err
	}
	if err := tx.SetSetting(settingReminders, string(kept)); err != nil {
		return v, err
	}
	return v, tx.Audit("reminders.settings", "settings", v)
}

// parseLateDays reads one to three rising numbers, each by itself or separated by commas.
func parseLateDays(texts []string) (days []int64, err error) {
	for word := range strings.FieldsFuncSeq(strings.Join(texts, ","), func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil || n < 1 || n > 365 {
			return nil, fault.Fieldf("late_days", "late_days: %s is not a number of days from 1 to 365", schema.Quote(word))
		}
		days = append(days, n)
	}
	rising := slices.IsSorted(days) && len(slices.Compact(slices.Clone(days))) == len(days)
	if len(days) < 1 || len(days) > 3 || !rising {
		return nil, fault.Fieldf("late_days", "late_days: give one to three rising numbers, such as 5, 14, 30")
	}
	return days, nil
}

func (s *Service) setReminders() schema.Op {
	return schema.Op{
		Name: "set_reminders", Writes: true, Admin: true, Idempotent: true,
		About: "Set when tenants are reminded of due rent, and of overdue charges in up to three steps. " +
			"What you leave out stays as it is.",
		Response: ReminderSettings{BeforeDays: 3, LateDays: []int64{5, 14, 30}, GapDays: 4,
			LeastCents: 100}, Refuses: []fault.Kind{fault.Conflict},
		Bind: schema.Writes(s.db, func(f *schema.Form, ch *ReminderChange) {
			var late []string
			f.IntPtr(&ch.BeforeDays, "before_days", "how many days before rent is due; 0: not at all", schema.Range(0, 14),
				schema.Label("Days before"), schema.Example(3))
			if f.Texts(&late, "late_days", "how many days after its due day a charge reaches the first, second and third "+
				"step, as 5, 14, 30", 3, 20,
				schema.Label("Days late"), schema.Example([]string{"5", "14", "30"})) {
				days, err := parseLateDays(late)
				if bad, is := fault.As(err); is {
					f.Refuse("late_days", "%s", bad.Fields[0].Detail)
				}
				ch.LateDays = days
			}
			f.IntPtr(&ch.GapDays, "gap_days", "the fewest days between two late messages of a lease", schema.Range(1, 60),
				schema.Label("Days between"), schema.Example(4))
			f.IntPtr(&ch.LeastCents, "least_cents", "no message if less than this amount is owed, in cents",
				schema.Range(0, maxCents),
				schema.Label("Least amount"), schema.Example(100))
		}, setReminders),
		Fill: func(c *db.Conn, _ map[string]string) (map[string]string, bool, error) {
			v, err := reminderSettings(c)
			return map[string]string{"before_days": strconv.FormatInt(v.BeforeDays, 10), "late_days": v.Late(),
				"gap_days": strconv.FormatInt(v.GapDays, 10), "least_cents": strconv.FormatInt(v.LeastCents, 10)}, true, err
		},
		Did: schema.SaidIn(func(v ReminderSettings, m schema.Money) string {
			before := "not before rent is due"
			if v.BeforeDays > 0 {
				before = exact.Plural(int(v.BeforeDays), "day", "days") + " before rent is due"
			}
			return fmt.Sprintf("Tenants are reminded %s, and %s days after; at least %s between late messages, and of %s "+
				"or more.", before, v.Late(),
				exact.Plural(int(v.GapDays), "day", "days"), m(v.LeastCents))
		}),
		Leads:   func(any) string { return "/reminders" },
		Example: "rental set-reminders --before-days 3 --late-days 5,14,30",
	}
}

// Late are the days of the steps: "5, 14, 30".
func (s ReminderSettings) Late() string { return joinIDs(s.LateDays) }

// PausedReminders is until when a lease's tenants are not reminded.
type PausedReminders struct {
	LeaseID int64      `json:"lease_id"`
	Until   *exact.Day `json:"until" about:"null: they are reminded"`

	lease Lease
}

// pauseReminders stops reminders to a lease's tenants until after a day; nil resumes them.
func pauseReminders(tx *db.Tx, lease int64, until *exact.Day) (v PausedReminders, err error) {
	if err := mail.CheckSetUp(&tx.Conn); err != nil {
		return v, err
	}
	v = PausedReminders{LeaseID: lease, Until: until}
	if v.lease, err = findLease(&tx.Conn, lease); err != nil {
		return v, err
	}
	if _, err := tx.Exec("UPDATE leases SET paused_until = ? WHERE id = ?", until, lease); err != nil {
		return v, err
	}
	return v, tx.Audit("reminders.paused", db.Subject("lease", lease), v)
}

func (s *Service) pauseReminders() schema.Op {
	return schema.Op{
		Name: "pause_reminders", Writes: true, Idempotent: true, About: "Pause the reminders of a lease until " +
			"after a day; an empty day resumes them.",
		Response: PausedReminders{LeaseID: 4, Until: new(exampleDay("2026-12-31"))}, Refuses: []fault.Kind{fault.NotFound,
			fault.Conflict},
		Bind: schema.Writes2(s.db, func(f *schema.Form, lease *int64, until **exact.Day) {
			var clear bool
			bindLeaseID(f, lease)
			given := f.DayPtr(until, "until", "the last day without reminders; empty: none", schema.Clear(&clear),
				schema.Example("2026-12-31"))
			if !given && !clear && !f.Describing() && f.Surface() == schema.Command {
				f.Refuse("until", "until is missing: give the last day without reminders, or an empty one to resume them")
			}
		}, pauseReminders),
		Did: schema.Said(func(v PausedReminders) string {
			if v.Until == nil {
				return "The tenants of " + leaseName(v.lease) + " are reminded."
			}
			return fmt.Sprintf("The tenants of %s are not reminded until after %s.", leaseName(v.lease), v.Until)
		}),
		Leads:   func(a any) string { return leasePath(a.(PausedReminders).LeaseID) },
		Example: "rental pause-reminders 'Harbour House/2A' --until 2026-12-31",
	}
}
