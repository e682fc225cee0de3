package mailer

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// Digested is the result of sending digests.
type Digested struct {
	Sent       []DigestRow `json:"sent"`
	Skipped    []DigestRow `json:"skipped"`
	TotalCents int64       `json:"total_cents"`
}

// DigestRow is one user's digest.
type DigestRow struct {
	User    string  `json:"user"`
	To      string  `json:"to"`
	Notices int     `json:"notices"`
	Due     int     `json:"due" about:"jobs that are due today or overdue"`
	Reason  *string `json:"reason"`
}

// SendDigests makes one message of each user's held notices, with due jobs once a day. A user with nothing new gets
// none.
func (b *Book) SendDigests(ctx context.Context, who db.Caller) (Digested, error) {
	return whenSetUp(ctx, b, who, func(tx *db.Tx) (v Digested, err error) {
		v = Digested{Sent: []DigestRow{}, Skipped: []DigestRow{}}
		if err := tx.CheckClock(); err != nil {
			return v, err
		}
		users, err := db.All(&tx.Conn, db.Int,
			"SELECT id FROM users WHERE email IS NOT NULL AND disabled = 0 AND removed_at IS NULL ORDER BY name")
		if err != nil {
			return v, err
		}
		for _, id := range users {
			if err := b.digest(tx, &v, db.Subject("user", id)); err != nil {
				return v, err
			}
		}
		return v, tx.Audit("digests.sent", "users", map[string]int{"sent": len(v.Sent), "skipped": len(v.Skipped)})
	})
}

// digest makes a user's digest, if there is something new.
func (b *Book) digest(tx *db.Tx, v *Digested, person string) error {
	u, _, err := readerOf(&tx.Conn, person)
	if err != nil {
		return err
	}
	row := DigestRow{User: u.name, To: u.email}
	held, err := db.All(&tx.Conn, db.Int, "SELECT id FROM mails WHERE person = ? AND state = 'held' ORDER BY id", person)
	if err != nil {
		return err
	}
	row.Notices = len(held)
	day, today := "", tx.Today().String()
	_, listed, err := db.One(&tx.Conn, db.Int,
		"SELECT 1 FROM mails WHERE person = ? AND kind = 'digest' AND note LIKE ? LIMIT 1", person, "% "+today)
	if err != nil {
		return err
	}
	if !listed {
		w, err := b.writer(&tx.Conn, "", nil)
		if err != nil {
			return err
		}
		due, err := b.dueOf(&tx.Conn, w, u)
		if err != nil {
			return err
		}
		for _, rows := range due {
			row.Due += len(rows)
		}
		if row.Due > 0 {
			day = " " + today
		}
	}
	if row.Notices+row.Due == 0 {
		return nil
	}
	why, err := mail.Unsendable(&tx.Conn, u.email)
	if err != nil {
		return err
	}
	if why != "" {
		row.Reason = &why
		v.Skipped = append(v.Skipped, row)
		return nil
	}
	id, err := b.names["digest"].Queue(tx, mail.Row{Subject: person, Record: u.name, Person: person, To: u.email})
	if err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE mails SET note = ? WHERE id = ?", strconv.FormatInt(id, 10)+day, id); err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE mails SET state = 'sent', digest = ?1, reply = ?2 WHERE person = ?3 AND state = 'held'",
		id, fmt.Sprintf("in message %d", id), person); err != nil {
		return err
	}
	v.Sent = append(v.Sent, row)
	return nil
}

func (b *Book) sendDigests() schema.Op {
	return schema.Op{
		Name: "send_digests", Writes: true, Admin: true, Destructive: true,
		About:   "Mail each user's digest: waiting notices and, once a day, due jobs. Users without news get none.",
		Command: "mail digest", Example: "mail digest",
		Response: Digested{Sent: []DigestRow{{User: "bob", To: "bob@example.com", Notices: 2, Due: 1}},
			Skipped: []DigestRow{}},
		Refuses: []fault.Kind{fault.Conflict, fault.Unavailable}, Bind: schema.Acts(b.SendDigests),
		Print: schema.Printed(func(w io.Writer, v Digested) {
			schema.Tabulate(w, "USER|TO|NOTICES|DUE|SKIPPED BECAUSE", append(v.Sent, v.Skipped...), func(d DigestRow) []any {
				return []any{d.User, d.To, d.Notices, d.Due, schema.Cell(d.Reason)}
			})
		}),
		Will: schema.Said(func(v Digested) string {
			to := mail.Few(v.Sent, func(d DigestRow) string { return d.To })
			return strings.TrimSuffix(fmt.Sprintf("Mail a digest to %d users: %s", len(v.Sent), to), ": ") + "."
		}),
		Did:   schema.Said(func(v Digested) string { return fmt.Sprintf("%d digests are mailed.", len(v.Sent)) }),
		Leads: func(any) string { return "/mail" },
	}
}

// Timer is the work of the package's timer each morning.
type Timer struct {
	Expiry    bool `json:"expiry" about:"notices of licenses that end soon"`
	Reminders bool `json:"reminders" about:"reminders of rent"`
	Digests   bool `json:"digests" about:"digests of users"`
}

// TimerNow reads the timer's settings.
func TimerNow(c *db.Conn) (t Timer, err error) {
	for name, on := range t.settings() {
		kept, err := c.Setting(name)
		if err != nil {
			return t, err
		}
		*on = kept != ""
	}
	return t, nil
}

func (t *Timer) settings() map[string]*bool {
	return map[string]*bool{"mail.timer.expiry": &t.Expiry, "mail.timer.reminders": &t.Reminders,
		"mail.timer.digests": &t.Digests}
}

// setTimerTo changes the timer's settings that are not nil.
func (b *Book) setTimerTo(ctx context.Context, who db.Caller, given [3]*bool) (Timer, error) {
	return whenSetUp(ctx, b, who, func(tx *db.Tx) (Timer, error) {
		t, err := TimerNow(&tx.Conn)
		if err != nil {
			return t, err
		}
		put(&t.Expiry, given[0])
		put(&t.Reminders, given[1])
		put(&t.Digests, given[2])
		for name, on := range t.settings() {
			if err := tx.SetSetting(name, map[bool]string{true: "1"}[*on]); err != nil {
				return t, err
			}
		}
		return t, tx.Audit("mail.timer", "settings", t)
	})
}

func (b *Book) setTimer() schema.Op {
	return schema.Op{
		Name: "set_mail_timer", Writes: true, Admin: true, Idempotent: true,
		About:   "Set what is mailed every morning, where the package's timer is enabled. What you leave out stays as it is.",
		Command: "mail timer", Example: "mail timer --digests", Response: Timer{Digests: true},
		Bind: schema.Does(func(f *schema.Form, given *[3]*bool) {
			for i, a := range [][2]string{
				{"expiry", "buyers get notices of licenses that end soon"}, {"reminders", "tenants get reminders of rent that " +
					"is due or late"},
				{"digests", "users get their digests"},
			} {
				var on bool
				if f.Bool(&on, a[0], a[1]) {
					given[i] = &on
				}
			}
		}, b.setTimerTo),
		Did: schema.Said(func(t Timer) string {
			return fmt.Sprintf("Every morning: expiry %s, reminders %s, digests %s.", onOff(t.Expiry), onOff(t.Reminders),
				onOff(t.Digests))
		}),
		Leads: toSettings,
	}
}

func onOff(on bool) string { return map[bool]string{true: "on", false: "off"}[on] }
