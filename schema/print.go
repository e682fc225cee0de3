package schema

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Tabulate writes rows for people: the heads, separated by |, and a line for each row, each column as wide as needed.
// Write errors are ignored: the reader has gone.
func Tabulate[T any](w io.Writer, heads string, rows []T, cells func(T) []any) {
	tabulate(w, heads, Map(rows, cells))
}

func tabulate(w io.Writer, heads string, lines [][]any) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = io.WriteString(t, strings.ReplaceAll(heads, "|", "\t")+"\n")
	for _, cells := range lines {
		_, _ = io.WriteString(t, strings.Join(Map(cells, func(cell any) string { return fmt.Sprint(cell) }), "\t")+"\n")
	}
	_ = t.Flush()
}

// Facts writes pairs of name and value for people, a line each; pairs with an empty value are omitted.
func Facts(w io.Writer, pairs ...string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			_, _ = io.WriteString(t, pairs[i]+"\t"+pairs[i+1]+"\n")
		}
	}
	_ = t.Flush()
}
