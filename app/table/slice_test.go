package table

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// TestOthersWriteBesideAnImport: a writer waits for slices, not for the whole file.
func TestOthersWriteBesideAnImport(t *testing.T) {
	s := newShelf(t)
	var file strings.Builder
	file.WriteString("code,name,count\n")
	for i := range 30_000 {
		fmt.Fprintf(&file, "c%d,name,%d\n", i, i)
	}
	begun, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		first := true
		_, err := Import(context.Background(), s.db, db.CLI("shelf"), s.table(), strings.NewReader(file.String()), schema.LoadOptions{}, func(rows int) {
			if rows > 0 && first {
				first = false
				close(begun)
			}
		})
		ended <- err
	}()
	<-begun
	writes := 0
	for {
		select {
		case err := <-ended:
			if err != nil || writes < 3 {
				t.Errorf("%d writes beside the import (%v)", writes, err)
			}
			return
		default:
		}
		began := time.Now()
		if err := db.Exec(context.Background(), s.db, db.CLI("shelf"), func(tx *db.Tx) error { return tx.Audit("other", "x:1", nil) }); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("a write waited for %v", took)
		}
		writes++
	}
}
