package cli

import (
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

// TestProgressIsShownAndCleared: a terminal shows the import's progress, and a clean line at the end.
func TestProgressIsShownAndCleared(t *testing.T) {
	for _, lines := range []int{1000, -1} {
		var screen strings.Builder
		progress, end := progressOn(&screen, lines)
		progress(500)
		shown := screen.String()
		assert.That(t, strings.Contains(shown, "importing") && strings.Contains(shown, "500"),
			"of %d lines: %q shows nothing", lines, shown)
		end()
		all := screen.String()
		if last := all[strings.LastIndexByte(all, '\r')+1:]; strings.TrimPrefix(last, "\x1b[K") != "" { // which clears the line
			t.Errorf("of %d lines: %q is left", lines, last)
		}
	}
}

func TestProgressBarCountsLines(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 0, "a\nb\n": 2, strings.Repeat("x\n", 70_000): 70_000} {
		got, err := countLines(strings.NewReader(text))
		assert.That(t, err == nil && got == want, "%d bytes have %d lines, want %d (%v)", len(text), got, want, err)
	}
}
