package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"sync/atomic"

	"github.com/spf13/cobra"

	"quartermaster/app/doctor"
	"quartermaster/app/server"
	"quartermaster/schema/db"
)

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
			if err := p.print(found, func(w io.Writer) { printDiagnosis(w, found) }); err != nil {
				return err
			}
			switch n := found.Breaches(); {
			case n > 0:
				return fmt.Errorf("breaches in %s: %d", absolute(p.dbPath), n)
			case !found.OK:
				return fmt.Errorf(
					"%s is of an older version, and nothing else was checked: run `quartermaster migrate --db %s` first",
					absolute(p.dbPath), p.dbPath)
			}
			return nil
		}),
	})
}

func printDiagnosis(w io.Writer, d *doctor.Diagnosis) {
	for _, c := range d.Checks {
		for _, b := range c.Breaches {
			fmt.Fprintf(w, "%s: breach: %s\n", c.Name, b)
		}
		for _, t := range c.ToDo {
			fmt.Fprintf(w, "%s: to do: %s\n", c.Name, t)
		}
		switch {
		case !c.OK || len(c.ToDo) > 0:
		case c.Note == "":
			fmt.Fprintf(w, "%s: ok\n", c.Name)
		default:
			fmt.Fprintf(w, "%s: ok, %s\n", c.Name, c.Note)
		}
	}
}

// examine checks everything. A foreign file, or one that the user may not open, is an error.
func (p *program) examine(ctx context.Context) (*doctor.Diagnosis, error) {
	p.findPackageFile("/")
	if err := mayOpen(p.dbPath); err != nil {
		return nil, err
	}
	found := &doctor.Diagnosis{OK: true}
	all, err := db.Status(p.dbPath)
	if errors.Is(err, db.ErrMissing) || errors.Is(err, db.ErrForeign) || errors.Is(err, db.ErrNewer) {
		return nil, err
	}
	addSchema(found, all, err)
	if !found.OK { // the rules concern tables that may be missing
		return found, nil
	}
	// It may run on a small machine beside a server: few rows are live, so the garbage of millions can be collected often.
	defer debug.SetGCPercent(debug.SetGCPercent(30))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(14 << 20))
	err = p.withDB(func(d *db.DB) error {
		var done atomic.Int64
		made := server.NewServices(d)
		services := made.All
		defer p.working(func() string {
			return fmt.Sprintf("checking pages, references and the rules of the services, %d of %d parts are done", done.Load(),
				doctor.Parts(services))
		})()
		server.LetGoOfOwnFile() // making the services loaded all of it again
		for i := range services {
			if check := services[i].Check; check != nil {
				services[i].Check = func(c *db.Conn) ([]string, error) {
					defer server.LetGoOfOwnFile() // half of the memory is what a check runs through
					return check(c)
				}
			}
		}
		rest := doctor.Examine(ctx, d, services, made.Mail, &done)
		found.Checks, found.OK = append(found.Checks, rest.Checks...), rest.OK
		return nil
	})
	if err != nil {
		found.Add(doctor.Check{Name: "opening and closing"}, err)
	}
	return found, nil
}

// mayOpen refuses a file that this user may not read and write, which is no fault of the file.
func mayOpen(path string) error {
	st, err := os.Stat(path)
	if err == nil && st.Mode().IsRegular() { // opening a pipe would wait for its writer
		var f *os.File
		if f, err = os.OpenFile(path, os.O_RDWR, 0); err == nil { // #nosec G304 -- the operator names the file
			err = f.Close()
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf(
			"%s may not be opened by this user: run doctor as the file's owner, such as with `sudo -u quartermaster`, or as "+
				"root (%w)", absolute(path), err)
	}
	return nil
}

// addSchema reports missing migrations, which break no rule.
func addSchema(d *doctor.Diagnosis, all []db.Migration, err error) {
	c := doctor.Check{Name: "schema"}
	if err != nil {
		d.Add(c, err)
		return
	}
	c.Note = fmt.Sprintf("%d migrations, up to %s", len(all), all[len(all)-1].Name)
	for _, m := range all {
		if m.AppliedAt == nil {
			c.ToDo = append(c.ToDo, m.Name+" is missing; `quartermaster migrate` applies it")
		}
	}
	d.Add(c, nil)
	d.OK = len(c.ToDo) == 0
	d.Checks[0].OK = d.OK
}
