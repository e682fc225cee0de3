// Command old-schema writes one database for each version of the schema that came
// before the present one: 1.db has the first migration only, 2.db the first two, and
// so on. Each holds a user and an audit entry.
//
//	go run ./testdata/old-schema -sql schema/db/sql -out DIR
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"quartermaster/schema/words"
)

func main() {
	from, to := flag.String("sql", "schema/db/sql", "the migrations"), flag.String("out", ".", "where to write")
	flag.Parse()
	names, err := filepath.Glob(filepath.Join(*from, "*.sql"))
	if err != nil {
		log.Fatal(err)
	}
	for n := 1; n < len(names); n++ {
		if err := write(filepath.Join(*to, fmt.Sprintf("%d.db", n)), names[:n]); err != nil {
			log.Fatal(err)
		}
	}
}

func write(path string, names []string) (err error) {
	c, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	err = c.CreateFunction("folded", &sqlite.FunctionImpl{ // as the program does: a migration uses it
		NArgs: 1, Deterministic: true,
		Scalar: func(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
			return sqlite.TextValue(words.Fold(args[0].Text())), nil
		},
	})
	if err != nil {
		return err
	}
	script := "PRAGMA application_id = 0x514D5452;\nCREATE TABLE schema_migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT;\n"
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		script += string(text) + fmt.Sprintf("\nINSERT INTO schema_migrations VALUES ('%s', 1);\n", strings.TrimSuffix(filepath.Base(name), ".sql"))
	}
	script += `INSERT INTO users (id, name, created_at) VALUES (1, 'old', 1);
INSERT INTO audit (at, service, actor, via, action, subject, changes) VALUES (1, '', 'cli', 'cli', 'user.added', 'user:1', '{}');
`
	return sqlitex.ExecuteScript(c, script, nil)
}
