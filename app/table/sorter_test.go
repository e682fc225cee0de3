package table

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestSorter holds what comes out of a sorter, with rows in memory alone and with rows on
// a file in several pieces, against a plain sort; then by first lines.
func TestSorter(t *testing.T) {
	type row struct {
		key   string
		line  int
		cells []string
	}
	text := func(r row) string { return fmt.Sprintf("%s %d %q", r.key, r.line, r.cells) }
	for _, n := range []int{0, 1, 100, 120_000} {
		random := rand.New(rand.NewPCG(1, uint64(n)))
		var rows []row
		s := &sorter{}
		for i := range n {
			r := row{fmt.Sprintf("key-%d", random.IntN(n/7+1)), i + 2, []string{strings.Repeat("x", random.IntN(100)), "", fmt.Sprint(i)}}
			rows = append(rows, r)
			if err := s.add(r.key, r.line, r.cells); err != nil {
				t.Fatal(err)
			}
		}
		if n > 100_000 && len(s.ends) < 1 { // the rest is written when it is read
			t.Fatalf("%d rows made %d pieces", n, len(s.ends))
		}
		slices.SortFunc(rows, func(a, b row) int {
			if c := strings.Compare(a.key, b.key); c != 0 {
				return c
			}
			return a.line - b.line
		})
		i := 0
		same := func(k []byte, line int, cells []string) error {
			if got := (row{string(k), line, cells}); text(got) != text(rows[i]) {
				return fmt.Errorf("row %d is %s, want %s", i, text(got), text(rows[i]))
			}
			i++
			return nil
		}
		if n < 100_000 { // what is on a file is read once
			if err := s.each(same); err != nil || i != n {
				t.Fatalf("%d of %d rows: %v", i, n, err)
			}
		}
		first := map[string]int{}
		for _, r := range rows {
			if was, known := first[r.key]; !known || r.line < was {
				first[r.key] = r.line
			}
		}
		byFirst, err := s.byFirst()
		if err != nil {
			t.Fatal(err)
		}
		slices.SortStableFunc(rows, func(a, b row) int { return first[a.key] - first[b.key] })
		i = 0
		err = byFirst.each(func(_ []byte, line int, cells []string) error {
			return same([]byte(rows[i].key), line, cells)
		})
		if err != nil || i != n {
			t.Fatalf("by first lines, %d of %d rows: %v", i, n, err)
		}
		if err := byFirst.close(); err != nil {
			t.Error(err)
		}
	}
}
