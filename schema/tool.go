package schema

import (
	"regexp"
	"strings"

	"quartermaster/schema/strict"
	"quartermaster/schema/words"
)

// Rules for agents' arguments alone.

// toolID binds a record's id as an agent sends it: as a number, as its digits, or as the record's name, if it can be
// found so. An argument that ends in _id may also be called by its name without _id, or by its flag's name (asset_id,
// asset; pm_id, plan). The tool's schema requires neither; the call requires one if opts do. Digits are an id in one
// that ends in _id, and elsewhere a name first.
func (f *Form) toolID(p *int64, a Arg, opts []Opt) bool {
	for _, o := range opts {
		o(&a)
	}
	base, ends := strings.CutSuffix(a.Name, "_id")
	if a.Flag != "" {
		base = a.Flag
	}
	pair := ends && a.lookup != nil
	required := a.Required
	a.byID, a.NameFirst, a.Required = true, a.lookup != nil && !ends && a.Name != "id", required && !pair
	a, v, given := f.add(a, nil)
	if given && !f.recordOf(p, a, v) {
		return false
	}
	if !pair {
		return given
	}
	b := a
	b.Name, b.About, b.NameFirst, b.clear = base, "or what it is called", true, nil
	b, v, named := f.add(b, nil)
	n := *p
	switch {
	case named && !f.recordOf(&n, b, v):
		return false
	case named && given && n != *p:
		f.refuse(b, ": %s is %d, and %s says %d; give one of them", Quote(v.json.Text()), n, a.Name, *p)
		return false
	case !named && !given && required && !f.describing:
		f.refuse(a, " is missing: give it, or %s with what the record is called", b.Name)
	}
	*p = n
	return given || named
}

// recordOf reads the id or the name of a record.
func (f *Form) recordOf(p *int64, a Arg, v value) bool {
	if v.isText || v.json.Kind() != strict.String {
		n, ok := f.number(a, v, 0)
		if ok = ok && f.within(a, n, 1); ok {
			*p = n
		}
		return ok
	}
	n, ok := f.id(a, v.json.Text())
	if ok {
		*p = n
	}
	return ok
}

// either matches numbers whose separator before the last three digits may be one of thousands, or of decimals.
var either = regexp.MustCompile(`^([+-]?[1-9]\d{0,2})[.,](\d{3})$`)

// unclear refuses an ambiguous number that came as text.
func (f *Form) unclear(a Arg, token string) bool {
	parts := either.FindStringSubmatch(strings.TrimSpace(token))
	if parts == nil {
		return false
	}
	small := parts[1]
	if decimals := strings.TrimRight(parts[2], "0"); decimals != "" {
		small += "." + decimals
	}
	f.refuse(a, ": %s can be read as %s or %s; write one of them as a number", Quote(token), parts[1]+parts[2], small)
	return true
}

// Near returns at most most of the similar names: those that share a word, or have a word that differs by few letters.
// Nonsense has none.
func Near(asked string, names []string, most int) []string {
	looked := words.Parts(asked)
	like := make([]string, 0, most)
	for _, n := range names {
		if likeWords(looked, words.Parts(n)) {
			like = append(like, n)
		}
	}
	return Nearest(asked, like, most)
}

func likeWords(asked, name words.Words) bool {
	for _, a := range asked {
		for _, w := range name {
			short, long := min(len(a), len(w)), max(len(a), len(w))
			switch {
			case short < 3:
			case strings.Contains(a, w) || strings.Contains(w, a), distance(a, w) <= (long+1)/3 && distance(a, w) < short-1:
				return true
			}
		}
	}
	return false
}
