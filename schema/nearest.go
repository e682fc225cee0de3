package schema

import (
	"cmp"
	"slices"
	"strings"

	"quartermaster/schema/fault"
	"quartermaster/schema/words"
)

// Nearest returns at most most of the names, most similar first: those that contain the asked words, or are contained
// in them, before those that differ by a few letters.
func Nearest(asked string, names []string, most int) []string {
	type ranked struct {
		name             string
		far, differences int
	}
	asked = strings.ToLower(strings.TrimSpace(asked))
	looked := words.Of(asked)
	list := make([]ranked, 0, len(names))
	for _, n := range names {
		folded := strings.ToLower(n)
		differences := distance(asked, folded)
		far := differences
		switch held := looked.HeldBy(n); {
		case asked == "" || folded == "":
		case held == len(looked) || strings.Contains(asked, folded):
			far = min(far, 1)
		case held > 0:
			far = min(far, 1+len(looked)-held)
		}
		list = append(list, ranked{n, far, differences})
	}
	slices.SortStableFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(a.differences, b.differences), cmp.Compare(a.name, b.name))
	})
	return Map(list[:min(most, len(list))], func(r ranked) string { return r.name })
}

// ThereAre lists, for a refusal, at most five existing names, nearest first; of more than five only similar ones.
func ThereAre(asked string, names []string) string {
	const most = 5
	if len(names) == 0 {
		return "there are none"
	}
	switch near := Near(asked, names, most); {
	case len(names) == 1:
		return "there is only " + names[0]
	case len(names) <= most:
		return "there are " + strings.Join(Nearest(asked, names, most), ", ")
	case len(near) == 0:
		return "none is like it"
	default:
		return "the nearest are " + strings.Join(near, ", ")
	}
}

// Person finds a known name, in any case; an unknown one is refused with the nearest.
func Person(known []string, name string) (string, error) {
	if slices.Contains(known, name) {
		return name, nil
	}
	if i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, name) }); i >= 0 {
		return known[i], nil
	}
	return "", fault.Fieldf("assigned_to", "assigned_to: nobody here is called %s; %s. new_person true accepts a new name",
		Quote(name), ThereAre(name, known))
}

// distance is the number of letters to change, add or delete (Levenshtein), of the first 64 bytes.
func distance(a, b string) int {
	const most = 64
	a, b = a[:min(len(a), most)], b[:min(len(b), most)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
