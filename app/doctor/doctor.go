// Package doctor checks the file, the machine and the rows. The command and the page report the same.
package doctor

import (
	"context"
	"fmt"
	"sync/atomic"

	"quartermaster/app/mailer"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/webhook"
)

// Diagnosis is the result.
type Diagnosis struct {
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
}

// Check is one check; without breaches it has passed.
type Check struct {
	Name     string   `json:"name"`
	OK       bool     `json:"ok"`
	Note     string   `json:"note"`
	Breaches []string `json:"breaches"`
	ToDo     []string `json:"to_do,omitempty"` // tasks for the operator that are no breach
	Title    string   `json:"-"`               // its name on the page
	Remedy   string   `json:"-"`               // what to do about breaches
}

// Add appends a check. An error is a breach as well: an impossible check has not passed.
func (d *Diagnosis) Add(c Check, err error) {
	switch {
	case db.Damaged(err):
		c.Breaches = append(c.Breaches, "the file is damaged: "+db.EngineWords(err))
		c.Remedy = pages
	case err != nil:
		c.Breaches = append(c.Breaches, "it cannot be checked: "+err.Error())
	}
	if c.Breaches == nil {
		c.Breaches = []string{}
	}
	c.OK = len(c.Breaches) == 0
	d.Checks, d.OK = append(d.Checks, c), d.OK && c.OK
}

// Breaches is the number of breaches.
func (d *Diagnosis) Breaches() (n int) {
	for _, c := range d.Checks {
		n += len(c.Breaches)
	}
	return n
}

// The remedies of breaches.
const (
	pages    = "Stop the server, keep the file, and restore the last backup: quartermaster restore FILE."
	room     = "Make room on the disk that holds the file, or move the file to a larger one."
	owed     = "Look at the receivers under Webhooks."
	ruleSays = "Look the named record up under Audit, and keep a backup before you change anything."
)

// Parts is the number of Examine's parts, of which done counts the finished ones.
func Parts(services []schema.Service) int64 {
	n := len(db.IntegrityChecks())
	for _, s := range services {
		if s.Check != nil {
			n++
		}
	}
	return int64(n)
}

// Examine checks the open database: its pages and references, the machine, and every rule of the services, recomputed
// from the rows.
func Examine(ctx context.Context, d *db.DB, services []schema.Service, mails *mailer.Book,
	done *atomic.Int64) *Diagnosis {
	whole, rules := examineRows(ctx, d, services, done)
	found := &Diagnosis{OK: true}
	found.Add(Check{Name: "pages and references", Title: "Pages, references and schema of the file",
		Breaches: whole.Problems, Remedy: pages}, whole.Err)
	found.disk(d)
	found.deliveries(ctx, d)
	found.clock(d)
	found.traces(ctx, d)
	found.mail(ctx, d, mails)
	found.Checks, found.OK = append(found.Checks, rules.Checks...), found.OK && rules.OK
	return found
}

// examineRows checks pages and references, and recomputes the services' invariants.
func examineRows(ctx context.Context, d *db.DB, services []schema.Service, done *atomic.Int64) (whole db.Found,
	rules *Diagnosis) {
	var checks []db.Check
	var names []string
	for _, s := range services {
		if s.Check != nil {
			checks, names = append(checks, s.Check), append(names, s.Name)
		}
	}
	found := d.CheckAll(ctx, append(checks, db.IntegrityChecks()...), done)
	rules = &Diagnosis{OK: true}
	for i, name := range names {
		title := "Every rule of the service " + name + ", recomputed from its rows"
		rules.Add(Check{Name: name, Title: title, Breaches: found[i].Problems, Remedy: ruleSays}, found[i].Err)
	}
	return db.Joined(found[len(names):]), rules
}

// leastFree is the free space below which the next write, with its log, may not fit.
const leastFree = 64 << 20

func (d *Diagnosis) disk(from *db.DB) {
	c := Check{Name: "free disk", Title: "Free disk", Note: "unknown on this system", Remedy: room}
	if free, err := db.FreeDisk(from.Path()); err == nil {
		c.Note, c.Breaches = diskRoom(free, uint64(max(from.Size(), 0)))
	}
	d.Add(c, nil)
}

// diskRoom judges the free disk space beside a database of that size.
func diskRoom(free, size uint64) (note string, breaches []string) {
	note = fmt.Sprintf("%d MB free, the database takes %d MB", free>>20, size>>20)
	switch {
	case free < leastFree:
		return note, []string{fmt.Sprintf("only %d MB are free; at least %d MB are needed", free>>20, leastFree>>20)}
	case free < size:
		note += "; a backup would not fit beside it"
	}
	return note, nil
}

func (d *Diagnosis) deliveries(ctx context.Context, from *db.DB) {
	pending, err := db.Read(ctx, from, webhook.Pending)
	d.Add(Check{Name: "deliveries", Title: "Deliveries", Note: fmt.Sprintf("%d pending", pending), Remedy: owed}, err)
}

// mail reports texts that cannot be filled in, and links that only this machine can reach. It adds nothing if there are
// none, or mail is not set up.
func (d *Diagnosis) mail(ctx context.Context, from *db.DB, mails *mailer.Book) {
	c := Check{Name: "mail", Title: "Texts and links of mail", Remedy: "Mend the text under Settings, Mail."}
	err := from.View(ctx, func(conn *db.Conn) (err error) {
		c.Breaches, c.ToDo, err = mails.Doctor(conn)
		return err
	})
	if err != nil || len(c.Breaches)+len(c.ToDo) > 0 {
		d.Add(c, err)
	}
}

// clock reports an implausible clock.
func (d *Diagnosis) clock(from *db.DB) {
	if doubt := from.ClockDoubt(); doubt != "" {
		d.Add(Check{Name: "clock", Title: "The machine's clock", ToDo: []string{doubt}}, nil)
	}
}

// traces reports that a large file should be compacted.
func (d *Diagnosis) traces(ctx context.Context, from *db.DB) {
	left, err := db.Read(ctx, from, (*db.Conn).Traces)
	if err != nil || left {
		d.Add(Check{Name: "forgotten people", Title: "Forgotten people", ToDo: []string{db.TracesLeft}}, err)
	}
}
