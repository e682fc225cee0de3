package page

import (
	"strconv"
	"strings"

	"quartermaster/schema/page"
)

// matches tells whether one of the texts has q in it, in any case.
func matches(q string, texts ...string) bool {
	if q == "" {
		return true
	}
	for _, t := range texts {
		if strings.Contains(strings.ToLower(t), strings.ToLower(q)) {
			return true
		}
	}
	return false
}

// cut gives the page of rows that p asks for, and where the next begins.
func cut[T any](all []T, p page.Paging) (rows []T, next string) {
	from := min(after(p), int64(len(all)))
	to := min(from+p.Limit, int64(len(all)))
	if to < int64(len(all)) {
		next = strconv.FormatInt(to, 10)
	}
	return all[from:to], next
}
