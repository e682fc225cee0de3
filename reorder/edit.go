package reorder

import "strconv"

func intText(n int64) string { return strconv.FormatInt(n, 10) }

func intOrEmpty(p *int64) string {
	if p == nil {
		return ""
	}
	return intText(*p)
}
