package cli

import (
	"strings"
	"testing"
)

// TestProgressIsShownAndCleared: a terminal shows the import's progress, and a clean line at the end.
func TestProgressIsShownAndCleared(t *testing.T) {
	for _, lines := range []int{1000, -1} {
		var screen strings.Builder
		progress, end := progressOn(&screen, lines)
		progress(500)
		shown := screen.String()
		if !strings.Contains(shown, "importing") || !strings.Contains(shown, "500") {
			t.Errorf("of %d lines: %q shows nothing", lines, shown)
		}
		end()
		all := screen.String()
		if last := all[strings.LastIndexByte(all, '\r')+1:]; strings.TrimPrefix(last, "\x1b[K") != "" { // which clears the line
			t.Errorf("of %d lines: %q is left", lines, last)
		}
	}
}

func TestProgressBarCountsLines(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 0, "a\nb\n": 2, strings.Repeat("x\n", 70_000): 70_000} {
		if got, err := countLines(strings.NewReader(text)); err != nil || got != want {
			t.Errorf("%d bytes have %d lines, want %d (%v)", len(text), got, want, err)
		}
	}
}
