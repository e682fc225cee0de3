package screen

import (
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/page"
)

// Address is one address of a service's pages, with its readers.
type Address struct {
	Pattern string // "/work-orders/:id"
	Area    page.Area
	Role    string // the least role that reads it; "" if it is public, or the operation decides
	Open    bool   // answered without a session
	Get     bool
	Post    bool
}

// Addresses lists every address of the service by its pattern, except those under /static/.
func (s *Screens) Addresses() []Address {
	roles := map[string]string{"/import/:table": page.Member, "/shown": page.Member}
	for _, p := range s.pages {
		if p.Area == page.Staff {
			roles[p.Path] = orViewer(p.Role)
		}
	}
	var all []Address
	for pattern, r := range s.router.All() {
		all = append(all, Address{
			Pattern: pattern, Area: r.area, Role: roles[pattern], Open: r.open || r.area == page.Public,
			Get: r.get != nil, Post: r.post != nil,
		})
	}
	slices.SortFunc(all, func(a, b Address) int { return strings.Compare(a.Pattern, b.Pattern) })
	return all
}

// PatternOf is the pattern of the address that answers the path; "" if none does.
func (s *Screens) PatternOf(path string) string {
	if r, _ := s.router.Find(path); r != nil {
		return r.pattern
	}
	return ""
}

// Acts are the operations with a form in the area, by name.
func (s *Screens) Acts(a page.Area) []schema.Op {
	all := make([]schema.Op, 0, len(s.ops[a]))
	for _, op := range s.ops[a] {
		all = append(all, op)
	}
	slices.SortFunc(all, func(a, b schema.Op) int { return strings.Compare(a.Name, b.Name) })
	return all
}
