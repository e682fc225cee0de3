package schema

import (
	"strings"
	"unicode"
)

// AnyCase is a GLOB pattern that finds the text anywhere, its letters in any case.
func AnyCase(s string) string {
	var b strings.Builder
	b.WriteByte('*')
	for _, r := range s {
		switch fold := unicode.SimpleFold(r); {
		case strings.ContainsRune("*?[", r):
			b.WriteString("[" + string(r) + "]")
		case fold == r:
			b.WriteRune(r)
		default:
			b.WriteString("[" + string(r))
			for ; fold != r; fold = unicode.SimpleFold(fold) {
				b.WriteRune(fold)
			}
			b.WriteByte(']')
		}
	}
	b.WriteByte('*')
	return b.String()
}
