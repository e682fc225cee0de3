package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"

	"github.com/spf13/cobra"

	"quartermaster/app/server"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/webhook"
)

// diagnosis is what doctor found.
type diagnosis struct {
	OK     bool    `json:"ok"`
	Checks []check `json:"checks"`
}

// check is one thing that doctor looked at; without breaches it is well.
type check struct {
	Name     string   `json:"name"`
	OK       bool     `json:"ok"`
	Note     string   `json:"note"`
	Breaches []string `json:"breaches"`
}

// add reports what was found under a name. An error is a breach as well: what cannot be
// checked is not known to be well.
func (d *diagnosis) add(name, note string, breaches []string, err error) {
	if err != nil {
		breaches = append(breaches, "it cannot be checked: "+err.Error())
	}
	if breaches == nil {
		breaches = []string{}
	}
	d.Checks = append(d.Checks, check{Name: name, OK: len(breaches) == 0, Note: note, Breaches: breaches})
	d.OK = d.OK && len(breaches) == 0
}

func (d *diagnosis) breaches() (n int) {
	for _, c := range d.Checks {
		n += len(c.Breaches)
	}
	return n
}

func (p *program) doctorCommand() *cobra.Command {
	return p.jsonFlag(&cobra.Command{
		Use:   "doctor",
		Short: "Check the database, and every rule of the four services against the rows",
		Long: `Check the schema, the pages and references, the free disk and the pending deliveries,
and recompute every invariant of the four services from the rows: billed = paid +
balance, seats within their limits, stored flags, counts, baselines. Each breach is
named, and the exit code is 1. Works beside a running server and changes nothing.`,
		Example: "  quartermaster doctor\n  quartermaster doctor --json",
		Args:    noArgs,
		RunE: p.run(func(ctx context.Context, _ []string) error {
			found, err := p.examine(ctx)
			if err != nil {
				return err
			}
			if err := p.print(found, found.text); err != nil {
				return err
			}
			if !found.OK {
				return fmt.Errorf("breaches in %s: %d", absolute(p.dbPath), found.breaches())
			}
			return nil
		}),
	})
}

func (d *diagnosis) text(w io.Writer) {
	for _, c := range d.Checks {
		for _, b := range c.Breaches {
			fmt.Fprintf(w, "%s: breach: %s\n", c.Name, b)
		}
		switch {
		case !c.OK:
		case c.Note == "":
			fmt.Fprintf(w, "%s: ok\n", c.Name)
		default:
			fmt.Fprintf(w, "%s: ok, %s\n", c.Name, c.Note)
		}
	}
}

// examine looks at everything. Only a file that is none of ours is an error.
func (p *program) examine(ctx context.Context) (*diagnosis, error) {
	found := &diagnosis{OK: true}
	all, err := db.Status(p.dbPath)
	if errors.Is(err, db.ErrMissing) || errors.Is(err, db.ErrForeign) || errors.Is(err, db.ErrNewer) {
		return nil, err
	}
	found.schema(all, err)
	if !found.OK { // the rules are about tables that may not be there
		return found, nil
	}
	// It may run on a small machine beside a server: what it has of rows is little, so the
	// garbage of millions of them need not stay.
	defer debug.SetGCPercent(debug.SetGCPercent(30))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(14 << 20))
	err = p.withDB(func(d *db.DB) error {
		p.examineOpen(ctx, d, found)
		return nil
	})
	if err != nil {
		found.add("opening and closing", "", nil, err)
	}
	return found, nil
}

// examineOpen looks at the pages, the system and what the services say of their rows.
func (p *program) examineOpen(ctx context.Context, d *db.DB, found *diagnosis) {
	var done atomic.Int64
	defer p.working(func() string {
		return fmt.Sprintf("checking pages, references and the rules of the services, %d parts are done", done.Load())
	})()
	pages, rules := examineRows(ctx, d, server.NewServices(d).All, &done)
	found.add("pages and references", "", pages.Problems, pages.Err)
	found.disk(p.dbPath, d.Size())
	found.deliveries(ctx, d)
	found.Checks, found.OK = append(found.Checks, rules.Checks...), found.OK && rules.OK
}

// examineRows looks at the pages and references, and recomputes the invariants of the services.
func examineRows(ctx context.Context, d *db.DB, services []schema.Service, done *atomic.Int64) (pages db.Found, rules *diagnosis) {
	var checks []db.Check
	var names []string
	for _, s := range services {
		if s.Check != nil {
			checks, names = append(checks, s.Check), append(names, s.Name)
		}
	}
	found := d.CheckAll(ctx, append(checks, db.IntegrityChecks()...), done)
	rules = &diagnosis{OK: true}
	for i, name := range names {
		rules.add(name, "", found[i].Problems, found[i].Err)
	}
	return db.Joined(found[len(names):]), rules
}

func (d *diagnosis) schema(all []db.Migration, err error) {
	if err != nil {
		d.add("schema", "", nil, err)
		return
	}
	var missing []string
	for _, m := range all {
		if m.AppliedAt == nil {
			missing = append(missing, m.Name+" is missing; `quartermaster migrate` applies it")
		}
	}
	d.add("schema", fmt.Sprintf("%d migrations, up to %s", len(all), all[len(all)-1].Name), missing, nil)
}

// leastFree is the room without which the next write may not fit, with its log.
const leastFree = 64 << 20

func (d *diagnosis) disk(path string, size int64) {
	free, err := db.FreeDisk(path)
	if err != nil {
		d.add("free disk", "unknown on this system", nil, nil)
		return
	}
	note, breaches := diskRoom(free, uint64(max(size, 0)))
	d.add("free disk", note, breaches, nil)
}

// diskRoom judges the free disk beside a database of that size.
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

func (d *diagnosis) deliveries(ctx context.Context, from *db.DB) {
	var pending int64
	err := from.View(ctx, func(c *db.Conn) (err error) {
		pending, err = webhook.Pending(c)
		return err
	})
	d.add("deliveries", fmt.Sprintf("%d pending", pending), nil, err)
}
