package table

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// TestUnreadExportBlocksNoCheckpoint: while its reader waits, the log can be checkpointed completely.
func TestUnreadExportBlocksNoCheckpoint(t *testing.T) {
	s := newShelf(t)
	var file strings.Builder
	file.WriteString("code,name\n")
	for i := range 20_000 {
		fmt.Fprintf(&file, "c%d,%s\n", i, strings.Repeat("x", 80))
	}
	if _, err := s.load(file.String(), schema.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	want := s.export(t)
	from, to := io.Pipe()
	go func() { _ = to.CloseWithError(ExportTo(context.Background(), s.db, s.table(), to)) }()
	head := make([]byte, 10)
	if _, err := io.ReadFull(from, head); err != nil { // the rest waits
		t.Fatal(err)
	}
	assert.OK(t,
		db.Exec(context.Background(), s.db, db.CLI("shelf"), func(tx *db.Tx) error { return tx.Audit("other", "x:1", nil) }))
	assert.OK(t, s.db.View(context.Background(), func(c *db.Conn) error {
		busy, _, err := db.One(c, db.Int, "SELECT count(*) FROM audit WHERE action = 'other'")
		assert.That(t, busy == 1, "%d entries", busy)
		return err
	}))
	if left, err := s.db.LogLeft(); err != nil || left != 0 {
		t.Errorf("%d pages of the log are held by a snapshot (%v)", left, err)
	}
	rest, err := io.ReadAll(from)
	assert.That(t, err == nil && string(head)+string(rest) == want,
		"%d bytes came, want %d (%v)", len(rest)+10, len(want), err)
}
