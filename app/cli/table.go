package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quartermaster/app/server"
	"quartermaster/app/table"
	"quartermaster/schema"
	"quartermaster/schema/db"
)

// tableList lists each service's tables with their flags.
func tableList() string {
	var b strings.Builder
	b.WriteString("Tables:")
	for _, s := range server.NewServices(nil).All {
		if len(s.Tables) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n  %s: ", s.Name)
		for i, t := range s.Tables {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(t.Name)
			for _, o := range t.Options {
				b.WriteString(" (--" + o + ")")
			}
		}
	}
	return b.String()
}

// lookTable finds a table by name; an unknown one is wrong usage.
func lookTable(s *server.Services, service, name string) (schema.Table, error) {
	from, ok := s.Named(service)
	if !ok {
		return schema.Table{}, oneOf("SERVICE", service, server.Names...)
	}
	if t, ok := from.Table(name); ok {
		return t, nil
	}
	return schema.Table{}, oneOf("TABLE", name, tableNames(from)...)
}

func tableNames(s schema.Service) []string {
	return schema.Map(s.Tables, func(t schema.Table) string { return t.Name })
}

// input opens a file for reading; - is standard input. lines is its number of lines, -1 if unknown.
func (p *program) input(file string) (in io.ReadCloser, lines int, err error) {
	if file == "-" {
		return io.NopCloser(p.Stdin), -1, nil
	}
	f, err := os.Open(file) // #nosec G304 -- the operator names the file
	if err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	switch {
	case err == nil && st.IsDir():
		err = fmt.Errorf("%s is a folder; name a CSV file", file)
	case err == nil && (!st.Mode().IsRegular() || !onTerminal(p.Stderr)):
		return f, -1, nil
	case err == nil:
		if lines, err = countLines(f); err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, lines, nil
}

// countLines counts the newlines, an upper bound of the rows.
func countLines(r io.Reader) (n int, err error) {
	buffer := make([]byte, 64<<10)
	for {
		got, err := r.Read(buffer)
		n += bytes.Count(buffer[:got], []byte{'\n'})
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// progressOn counts the rows on a terminal, of at most lines; -1 is unknown. end removes the count.
func progressOn(w io.Writer, lines int) (progress func(rows int), end func()) {
	const clear = "\r\033[K"
	var shown time.Time
	progress = func(rows int) {
		if time.Since(shown) < 100*time.Millisecond {
			return
		}
		shown = time.Now()
		if lines < 0 {
			fmt.Fprintf(w, clear+"importing: %d rows", rows)
			return
		}
		fmt.Fprintf(w, clear+"importing: %d rows of at most %d", rows, lines)
	}
	return progress, func() { fmt.Fprint(w, clear) }
}

func (p *program) exportCommand() *cobra.Command {
	var year int64
	cmd := &cobra.Command{
		Use:   "export SERVICE TABLE [FILE.csv]",
		Short: "Write one of a service's tables as CSV",
		Long: `Write one of a service's tables as CSV, to standard output or to a file, which is
replaced only when the new one is complete. An exported file can be imported again unchanged.

` + tableList() + `
  rental, export only: bank-lines, year; and journal, the entries of --year for hledger`,
		Example: `  quartermaster export reorder skus
  quartermaster export reorder skus catalogue.csv
  quartermaster export rental journal 2025.journal --year 2025`,
		Args: takes(2, 3),
		RunE: p.run(func(ctx context.Context, args []string) error {
			if _, err := lookWriting(server.NewServices(nil), args[0], args[1]); err != nil {
				return err
			}
			defer debug.SetGCPercent(debug.SetGCPercent(50)) // as of an import
			return p.withDB(func(d *db.DB) error {
				services := server.NewServices(d)
				server.LetGoOfOwnFile() // making the services loaded all of it again
				if service, _ := services.Named(args[0]); args[1] == journalName && service.Journal != nil {
					write := func(w io.Writer) error { return service.Journal(ctx, w, year) }
					if len(args) < 3 || args[2] == "-" {
						return write(p.Stdout)
					}
					return p.writeBeside(args[2], write)
				}
				t, err := lookWriting(services, args[0], args[1])
				if err != nil {
					return err
				}
				if len(args) < 3 || args[2] == "-" {
					return table.ExportTo(ctx, d, t, p.Stdout)
				}
				return p.writeBeside(args[2], func(w io.Writer) error { return table.Export(ctx, d, t, w) })
			})
		}),
		ValidArgsFunction: completeTable,
	}
	// #nosec G115 -- years are small
	cmd.Flags().Int64Var(&year, "year", int64(time.Now().Year()-1), "the year of a journal")
	return cmd
}

// journalName is the name of a service's journal in export.
const journalName = "journal"

// lookWriting finds a table or a report; a journal is none.
func lookWriting(s *server.Services, service, name string) (schema.Table, error) {
	if from, ok := s.Named(service); ok {
		if name == journalName && from.Journal != nil {
			return schema.Table{}, nil
		}
		if t, ok := from.Export(name); ok {
			return t, nil
		}
	}
	return lookTable(s, service, name)
}

// writeBeside writes a temporary file beside the path and moves it there when complete. An existing path that is no
// plain file, such as /dev/stdout, is written directly. A database, this one or another, is not replaced.
func (p *program) writeBeside(path string, write func(io.Writer) error) (err error) {
	if err := db.Replaceable(p.dbPath, path); err != nil {
		return err
	}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0) // #nosec G304 -- the operator names the file
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".part-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone if it was moved
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// completeTable completes SERVICE, then TABLE, then a file's name.
func completeTable(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return server.Names, cobra.ShellCompDirectiveNoFileComp
	case 1:
		s, _ := server.NewServices(nil).Named(args[0])
		return tableNames(s), cobra.ShellCompDirectiveNoFileComp
	case 2:
		return []string{"csv"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}
