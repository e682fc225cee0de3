package db

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// A large file forgets without being rewritten: what was removed, shortened or moved is
// overwritten wherever it stood, and what is in use stays.
func TestALargeFileForgets(t *testing.T) {
	d, _ := fresh(t)
	c, err := connect(d.path, false)
	must(t, err)
	defer func() { _ = c.Close() }()
	rows := func() string {
		all, err := All(&Conn{c: c}, Text, "SELECT id || ' ' || x FROM people ORDER BY id")
		must(t, err)
		return strings.Join(all, "\n")
	}
	stands := func() (times int) {
		must(t, run(c, "PRAGMA wal_checkpoint(TRUNCATE)"))
		file, err := os.ReadFile(d.path)
		must(t, err)
		return bytes.Count(bytes.ToLower(file), []byte("zaphod beeblebrox"))
	}
	must(t, run(c, "PRAGMA secure_delete = OFF"), run(c, "CREATE TABLE people (id INTEGER PRIMARY KEY, x TEXT)"), run(c, "CREATE INDEX by_x ON people (x)"), run(c, "BEGIN"))
	for i := range 2000 {
		must(t, run(c, "INSERT INTO people VALUES (?, ?)", (i*7)%2000, fmt.Sprintf("%d Zaphod Beeblebrox %s", i%13, strings.Repeat("x", i%90))))
	}
	must(t, run(c, "INSERT INTO people VALUES (5000, ?)", strings.Repeat("of Zaphod BEEBLEBROX ", 900)), run(c, "COMMIT"),
		run(c, "DELETE FROM people WHERE id % 3 = 0 OR id BETWEEN 600 AND 1500 OR id = 5000"), run(c, "UPDATE people SET x = 'forgotten-' || id WHERE id <> 7"))
	before, left := rows(), stands()
	if left < 100 {
		t.Fatalf("only %d copies are left behind: the test tries nothing", left)
	}
	pages, _, err := One(&Conn{c: c}, Int, "PRAGMA page_count")
	must(t, err)
	d.scrub([]string{"Nobody", "ZAPHOD Beeblebrox"}, 0)
	if got := stands(); got != 2 { // the one that stays, in the table and its index
		t.Errorf("it stands %d times in the file, want 2 of %d", got, left)
	}
	if rows() != before {
		t.Error("what is in use was changed")
	}
	if now, _, err := One(&Conn{c: c}, Int, "PRAGMA page_count"); err != nil || now != pages {
		t.Errorf("%d pages, want %d: %v", now, pages, err)
	}
	if says, _, err := One(&Conn{c: c}, Text, "PRAGMA integrity_check"); err != nil || says != "ok" {
		t.Errorf("the file: %s, %v", says, err)
	}
	must(t, run(c, "INSERT INTO people SELECT id + 10000, x || ' again' FROM people"), run(c, "DELETE FROM people WHERE id < 10000"))
	if says, _, err := One(&Conn{c: c}, Text, "PRAGMA integrity_check"); err != nil || says != "ok" {
		t.Errorf("after more writes: %s, %v", says, err)
	}
}
