package db

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	d.scrubs.Add(1)
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

// What a kill cut off between the commit that forgets and the overwriting is done at the
// next start, when nobody knows the words any more.
func TestForgettingIsGoneOnWith(t *testing.T) {
	const name = "zaphod beeblebrox"
	for _, large := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "shop.db")
		blankAt(t, path)
		c, err := connect(path, false)
		must(t, err)
		must(t, run(c, "PRAGMA secure_delete = OFF"), run(c, "BEGIN"))
		filler := strings.Repeat("x", 3000)
		if large {
			filler = strings.Repeat("x", 250_000)
		}
		for i := range 300 {
			must(t, run(c, "INSERT INTO audit (at, service, actor, via, action, subject, changes) VALUES (1, 'store', '', '', '', '', ?)", fmt.Sprint(name, i)),
				run(c, "INSERT INTO audit (at, service, actor, via, action, subject, changes) VALUES (1, 'store', '', '', '', '', ?)", filler))
		}
		must(t, run(c, "COMMIT"), run(c, "DELETE FROM audit WHERE changes LIKE 'zaphod%'"),
			run(c, fmt.Sprintf("PRAGMA user_version = %d", forgetMark)), c.Close())
		stands := func() int {
			file, err := os.ReadFile(path)
			must(t, err)
			return bytes.Count(file, []byte(name))
		}
		if stands() < 100 {
			t.Fatalf("only %d copies are left behind: the test tries nothing", stands())
		}
		var told []string
		d, err := Open(path, Options{Migrate: true, Notice: func(s string) { told = append(told, s) }})
		must(t, err)
		d.beside.Wait()
		if marked, err := forgetMarked(conn(t, d).c); err != nil || marked {
			t.Errorf("large %t: the mark stays (%v)", large, err)
		}
		must(t, d.Close())
		if stands() != 0 || len(told) > 0 {
			t.Errorf("large %t: it stands %d times in the file; told %q", large, stands(), told)
		}
		must(t, check(path))
	}
}

// A write that forgets marks the file in its own commit, and takes the mark away when it
// is done; a trial leaves none.
func TestForgettingMarksTheFile(t *testing.T) {
	d, _ := fresh(t)
	marked := func() bool {
		is, err := forgetMarked(conn(t, d).c)
		must(t, err)
		return is
	}
	forget := func(ctx context.Context) error {
		return Exec(ctx, d, CLI("store"), func(tx *Tx) error {
			return errors.Join(tx.Forget([]string{"a@x.y"}, map[string]string{"a@x.y": "forgotten"}), tx.Audit("forgotten", "customer:1", nil))
		})
	}
	_, err := d.Trial(ctx, forget)
	must(t, err)
	if marked() {
		t.Error("a trial marks the file")
	}
	d.scrubs.Add(1) // as if another one were under way
	must(t, forget(ctx))
	if !marked() {
		t.Error("the mark is gone although somebody else is being forgotten")
	}
	d.scrubs.Add(-1)
	must(t, forget(ctx))
	if marked() {
		t.Error("the mark stays")
	}
}

// A backup holds nothing that was deleted: neither in free pages nor between what is in use,
// also of a file with pages of other kinds.
func TestABackupHoldsNothingDeleted(t *testing.T) {
	for name, vacuum := range map[string]string{"as it is made": "NONE", "with a map of its pages": "INCREMENTAL"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "shop.db")
			blankAt(t, path)
			c, err := connect(path, false)
			must(t, err)
			defer func() { _ = c.Close() }()
			if vacuum != "NONE" {
				must(t, run(c, "PRAGMA journal_mode = DELETE"))
			}
			must(t, run(c, "PRAGMA auto_vacuum = "+vacuum), run(c, "VACUUM"), run(c, "PRAGMA secure_delete = OFF"))
			user := func(i int, x string) error {
				return run(c, "INSERT INTO settings VALUES (?, ?)", fmt.Sprintf("k%d", (i*7)%2000), x+strings.Repeat("x", i%90))
			}
			must(t, run(c, "BEGIN"))
			for i := range 2000 {
				must(t, user(i, "Zaphod Beeblebrox"))
			}
			must(t, run(c, "COMMIT"), run(c, "DELETE FROM settings WHERE name LIKE 'k%' AND (name LIKE '%3%' OR name < 'k150')"),
				run(c, "UPDATE settings SET value = 'forgotten' WHERE name LIKE 'k%' AND name <> 'k777'"))
			free, _, err := One(&Conn{c: c}, Int, "PRAGMA freelist_count")
			must(t, err)
			target := path + ".copy"
			must(t, Backup(path, target))
			file, err := os.ReadFile(target)
			must(t, err)
			if n := bytes.Count(file, []byte("Zaphod Beeblebrox")); n != 1 || free == 0 {
				t.Errorf("it stands %d times in the copy, want 1; %d pages are free", n, free)
			}
		})
	}
}
