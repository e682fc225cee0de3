package table

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

// TestSorter compares a sorter's output with a plain sort, with few rows and with more than its cache holds, then by
// first lines.
func TestSorter(t *testing.T) {
	type row struct {
		key   string
		line  int
		cells []string
	}
	text := func(r row) string { return fmt.Sprintf("%s %d %q", r.key, r.line, r.cells) }
	for _, n := range []int{0, 1, 100, 30_000} {
		random := rand.New(rand.NewPCG(1, uint64(n)))
		var rows []row
		s := assert.Value(newSorter(false))(t)
		byFirst := assert.Value(newSorter(true))(t)
		for i := range n {
			r := row{fmt.Sprintf("key-%d", random.IntN(n/7+1)), i + 2, []string{strings.Repeat("x", random.IntN(300)), "", fmt.Sprint(i)}}
			rows = append(rows, r)
			assert.OK(t, errors.Join(s.add(r.key, r.line, r.cells), byFirst.add(r.key, r.line, r.cells)))
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
		err := s.each(same)
		assert.Must(t, err == nil && i == n, "%d of %d rows: %v", i, n, err)
		first := map[string]int{}
		for _, r := range rows {
			if was, known := first[r.key]; !known || r.line < was {
				first[r.key] = r.line
			}
		}
		slices.SortStableFunc(rows, func(a, b row) int { return first[a.key] - first[b.key] })
		i = 0
		err = byFirst.each(func(_ []byte, line int, cells []string) error {
			return same([]byte(rows[i].key), line, cells)
		})
		assert.Must(t, err == nil && i == n, "by first lines, %d of %d rows: %v", i, n, err)
		assert.NoError(t, errors.Join(s.close(), byFirst.close()))
	}
}
