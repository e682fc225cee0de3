package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"quartermaster/app/mailer"
	"quartermaster/schema/db"
)

type backupResult struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

func (p *program) backupCommand() *cobra.Command {
	folder, keep := "", 0
	cmd := p.jsonFlag(&cobra.Command{
		Use:   "backup FILE",
		Short: "Write a consistent, checked copy of the database, even while it is served",
		Long: `Write a consistent copy of the database, even while it is served. The copy gets
the name FILE only after it was checked (pages, references, schema), so an existing FILE is
replaced only by a good copy. The database itself and another one in use are never
replaced. --to writes into a folder, under the database's name and the time; --keep then
removes the oldest of these backups. With - the copy goes to standard output.`,
		Example: "  quartermaster backup /backup/shop-2026-11-20.db\n  quartermaster backup --to /backup --keep 14\n  " +
			"quartermaster backup - | ssh vault 'cat >shop.db'",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case folder == "" && keep != 0:
				return usagef("--keep works only with --to FOLDER")
			case keep < 0:
				return usagef("--keep: %d is not allowed; it takes how many backups to keep", keep)
			case folder != "":
				return noArgs(cmd, args)
			}
			return takes(1, 1)(cmd, args)
		},
		RunE: p.run(func(ctx context.Context, args []string) (err error) {
			var file string
			if folder == "" && args[0] == "-" {
				if err := backupTo(p.dbPath, p.Stdout); err != nil {
					return err
				}
				p.noteBackup(ctx)
				return nil
			}
			to := folder
			if to == "" {
				to = filepath.Dir(args[0])
			}
			end := p.working(copying(to, sizeOf(p.dbPath)))
			if folder != "" {
				file, err = backupInto(p.dbPath, folder, keep, p.Now())
			} else {
				file, err = args[0], db.Backup(p.dbPath, args[0])
			}
			end()
			if err != nil {
				return err
			}
			p.noteBackup(ctx)
			st, err := os.Stat(file)
			if err != nil {
				return err
			}
			r := backupResult{File: absolute(file), Bytes: st.Size()}
			return p.print(r, func(w io.Writer) { fmt.Fprintf(w, "%s: %d bytes, checked\n", r.File, r.Bytes) })
		}),
	})
	cmd.Flags().StringVar(&folder, "to", "", "write into this folder, under the database's name and the time")
	cmd.Flags().IntVar(&keep, "keep", 0, "with --to: how many of its backups to keep (0: all)")
	return cmd
}

// noteBackup stores the time of the copy in the database, for /metrics. If it cannot, such as in a file of an older
// version, the copy is still good.
func (p *program) noteBackup(ctx context.Context) {
	d, err := db.Open(p.dbPath, db.Options{Now: p.Now})
	if err == nil {
		err = errors.Join(db.Exec(ctx, d, db.Bookkeeping(), (*db.Tx).NoteBackup), d.Close())
	}
	if err != nil {
		p.notice("the copy is complete, but its time could not be recorded in the database: " + err.Error())
	}
}

// backupTo writes a checked copy to w, such as standard output.
func backupTo(path string, w io.Writer) (err error) {
	dir, err := os.MkdirTemp(filepath.Dir(path), ".backup-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "copy.db")
	if err := db.Backup(path, file); err != nil {
		return err
	}
	f, err := os.Open(file) // #nosec G304 -- just made
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return errors.Join(err, f.Close())
}

type restoreResult struct {
	Database string  `json:"database"`
	Kept     *string `json:"kept"` // null when there was no file before
}

// pauseMail pauses mail in a restored file. A file of an older version mails nothing.
func (p *program) pauseMail() (held bool, err error) {
	all, err := db.Status(p.dbPath)
	if err != nil || slices.ContainsFunc(all, func(m db.Migration) bool { return m.AppliedAt == nil }) {
		return false, err
	}
	err = p.withDB(func(d *db.DB) error {
		held, err = mailer.Restored(context.Background(), d)
		return err
	})
	return held, err
}

func (p *program) restoreCommand() *cobra.Command {
	return p.jsonFlag(&cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup in the place of the database",
		Long: `Put a backup in the place of the database. The backup is checked first (pages,
references, schema). Refused while a server runs on the database. The previous file is
kept; its new name is printed.`,
		Example: "  quartermaster restore /backup/shop-2026-11-20.db --db quartermaster.db",
		Args:    takes(1, 1),
		RunE: p.run(func(_ context.Context, args []string) error {
			kept, err := db.Restore(args[0], p.dbPath)
			if err != nil {
				return err
			}
			held, err := p.pauseMail()
			if err != nil {
				return fmt.Errorf("%s is restored, but mail could not be paused (run `quartermaster mail pause`): %w",
					absolute(p.dbPath), err)
			}
			r := restoreResult{Database: absolute(p.dbPath)}
			if kept != "" {
				kept = absolute(kept)
				r.Kept = &kept
			}
			return p.print(r, func(w io.Writer) {
				fmt.Fprintf(w, "%s: restored from %s\n", r.Database, args[0])
				if held {
					fmt.Fprintln(w,
						"mail is paused, since messages may have been sent after the backup; look at `quartermaster mail list`, then "+
							"run `quartermaster mail resume`")
				}
				if r.Kept != nil {
					fmt.Fprintf(w, "the file that was there is kept at %s\n", *r.Kept)
				}
			})
		}),
	})
}
