package rental

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// RemindersDue are the reminders due.
type RemindersDue struct {
	Today      exact.Day  `json:"today"`
	Reminders  []Reminder `json:"reminders"`
	TotalCents int64      `json:"total_cents" about:"what the messages to be sent ask for, each lease counted once"`
	Standing
}

// RemindersDue lists the reminders due today; of the named leases alone, if there are any.
func (s *Service) RemindersDue(ctx context.Context, who db.Caller, named []int64) (v RemindersDue, err error) {
	v.Standing, err = s.allPosted(ctx, who, func(c *db.Conn) (err error) {
		v = RemindersDue{Today: c.Today()}
		v.Reminders, err = reminders(c, named)
		v.TotalCents = totalOpen(v.Reminders)
		if v.Reminders == nil {
			v.Reminders = []Reminder{}
		}
		return err
	})
	return v, err
}

// ReminderSettings returns when tenants are reminded.
func (s *Service) ReminderSettings(ctx context.Context) (ReminderSettings, error) {
	return db.Read(ctx, s.db, reminderSettings)
}

// Reminded are the queued reminders, and those that were not.
type Reminded struct {
	Sent       []Reminder `json:"sent"`
	Skipped    []Reminder `json:"skipped"`
	TotalCents int64      `json:"total_cents" about:"what the sent messages ask for, each lease counted once"`

	named bool // leases were named
}

// Refusals fails the command if leases were named and none of their tenants is reminded.
func (v Reminded) Refusals() (refused []string, err error) {
	if !v.named {
		return nil, nil
	}
	for _, r := range v.Skipped {
		refused = append(refused, fmt.Sprintf("%s/%s (%s): %s", r.Property, r.Unit, r.Tenant, ReasonWords[*r.Reason]))
	}
	if len(v.Sent) == 0 {
		err = fault.Conflictf("no reminder is sent")
	}
	return refused, err
}

// ReasonWords are the reasons in words.
var ReasonWords = map[string]string{
	inGap: "the last late message is too recent", tooSmall: "too little is open", heldBack: "reminders are paused",
	noAddress: "no tenant has an e-mail address", isBlocked: "nothing can be mailed to the address",
	leaseEnded: "the lease has ended; mark it to remind", notDue: "nothing to remind of",
}

// sendReminders queues the due reminders, and marks them as sent. Refused: mail that is not set up, a doubted clock, an
// unknown lease.
func sendReminders(tx *db.Tx, named []int64) (v Reminded, err error) {
	v = Reminded{Sent: []Reminder{}, Skipped: []Reminder{}, named: len(named) > 0}
	if err := mail.CheckSetUp(&tx.Conn); err != nil {
		return v, err
	}
	if err := tx.CheckClock(); err != nil {
		return v, err
	}
	if err := postAll(tx); err != nil {
		return v, err
	}
	all, err := reminders(&tx.Conn, named)
	if err != nil {
		return v, err
	}
	var told *telling
	for _, r := range all {
		if r.Reason != nil {
			v.Skipped = append(v.Skipped, r)
			continue
		}
		if err := r.queue(tx); err != nil {
			return v, err
		}
		if r.told != told {
			if told, err = r.told, r.told.mark(tx); err != nil {
				return v, err
			}
		}
		v.Sent = append(v.Sent, r)
	}
	v.TotalCents = totalOpen(v.Sent)
	return v, tx.Audit("reminders.sent", "reminders", map[string]any{"sent": len(v.Sent), "skipped": len(v.Skipped),
		"total_cents": v.TotalCents})
}

// queue queues the message to one tenant.
func (r Reminder) queue(tx *db.Tx) error {
	row := leaseRow(r.told.lease)
	row.Person, row.To = db.Subject("tenant", r.tenant), *r.To
	k := reminderKind
	if r.told.step > 0 {
		k = lateKinds[r.told.step-1]
	} else {
		row.Note = strconv.FormatInt(int64(r.told.day), 10)
	}
	_, err := k.Queue(tx, row)
	return err
}

// mark notes the lease's reminder: for each overdue charge all steps that it has reached, or the due day.
func (t *telling) mark(tx *db.Tx) error {
	if t.step == 0 {
		tx.Do("INSERT INTO due_marks VALUES (?, ?)", t.lease.ID, t.day)
		return nil
	}
	s, err := reminderSettings(&tx.Conn)
	if err != nil {
		return err
	}
	for _, x := range t.charges {
		if step := s.step(x.DueDate, tx.Today()); step > x.marked {
			tx.Do("INSERT INTO late_marks VALUES (?1, ?2) ON CONFLICT (charge_id) DO UPDATE SET step = ?2",
				x.ID, step)
		}
	}
	tx.Do("UPDATE leases SET late_mailed_on = ? WHERE id = ?", tx.Today(), t.lease.ID)
	return nil
}

func exampleReminder() Reminder {
	l := exampleLease()
	return Reminder{LeaseID: l.ID, Property: l.Property, Unit: l.Unit, Tenant: l.Tenant, To: new("ada@example.org"),
		Kind: new(lateKind(1)), OpenCents: 95_000,
		OldestDue: new(exampleDay("2026-11-01")), Days: new(int64(19))}
}

func bindReminded(f *schema.Form, named *[]int64) {
	f.IDs(named, "lease_id", "only these leases, ended ones too (default: all that are due)", 1000,
		schema.Lookup(lookupLease), schema.Example([]int64{4}),
		schema.Label("Leases"))
}

func (s *Service) remindersDue() schema.Op {
	return schema.Op{
		Name: "reminders_due", About: "The tenants to remind today, of which charges and at which step; and who gets " +
			"no reminder, and why. What is due by today is posted first.",
		Response: RemindersDue{Today: exampleDay("2026-11-20"), Reminders: []Reminder{exampleReminder()},
			TotalCents: 95_000}, Refuses: []fault.Kind{fault.NotFound},
		Bind: schema.Does(bindReminded, s.RemindersDue),
		Print: schema.Printed(func(w io.Writer, v RemindersDue) {
			printReminders(w, v.Reminders)
			fmt.Fprintf(w, "%s in all\n", plain(v.TotalCents))
		}),
		Example: "rental reminders\nrental reminders --csv",
	}
}

func printReminders(w io.Writer, all []Reminder) {
	schema.Tabulate(w, "LEASE|UNIT|TENANT|TO|KIND|OPEN|DUE|DAYS|LEFT OUT BECAUSE", all, func(r Reminder) []any {
		why, days := "", schema.Cell(r.Days)
		if r.Reason != nil {
			why = ReasonWords[*r.Reason]
		}
		return []any{r.LeaseID, r.Property + "/" + r.Unit, r.Tenant, set(r.To), set(r.Kind), plain(r.OpenCents),
			schema.Cell(r.OldestDue), days, why}
	})
}

func (s *Service) sendReminders() schema.Op {
	left := exampleReminder()
	left.LeaseID, left.Reason = 5, new(inGap)
	return schema.Op{
		Name: "send_reminders", Writes: true, Destructive: true,
		About: "Mail the tenants who are due to be reminded, each step of a charge once.",
		Response: Reminded{Sent: []Reminder{exampleReminder()}, Skipped: []Reminder{left},
			TotalCents: 95_000}, Refuses: []fault.Kind{fault.Conflict, fault.NotFound},
		Bind: schema.Writes(s.db, func(f *schema.Form, named *[]int64) {
			bindReminded(f, named)
			var marked bool // the form has marked rows, and no mark does not mean all
			if f.Surface() == schema.Page {
				f.Bool(&marked, "marked", "only what is marked or named", schema.Label("Only these"))
			}
			if marked && len(*named) == 0 {
				f.Refuse("lease_id", "Mark at least one row.")
			}
		}, sendReminders),
		Print: func(w io.Writer, a any) { printReminders(w, append(a.(Reminded).Sent, a.(Reminded).Skipped...)) },
		Will: schema.SaidIn(func(v Reminded, m schema.Money) string {
			to := mail.Few(v.Sent, func(r Reminder) string { return *r.To })
			return strings.TrimSuffix(fmt.Sprintf("Mail %s about %s: %s", exact.Plural(len(v.Sent), "reminder", "reminders"),
				m(v.TotalCents), to), ": ") + fmt.Sprintf(". %d left out.", len(v.Skipped))
		}),
		Did: schema.SaidIn(func(v Reminded, m schema.Money) string {
			return fmt.Sprintf("%s about %s queued; %d left out.", exact.Plural(len(v.Sent), "reminder is", "reminders are"),
				m(v.TotalCents), len(v.Skipped))
		}),
		Leads:   func(any) string { return "/reminders" },
		Example: "rental send-reminders --dry-run\nrental send-reminders --lease-id 'Harbour House/2A'",
	}
}

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
	if v.lease, err = leases.ByID(&tx.Conn, lease); err != nil {
		return v, err
	}
	tx.Do("UPDATE leases SET paused_until = ? WHERE id = ?", until, lease)
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
