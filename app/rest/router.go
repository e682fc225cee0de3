package rest

import (
	"iter"
	"net/url"
	"slices"
	"strings"
)

// Router finds what answers a path, among patterns such as /work-orders/:id: a fixed part precedes a named one, so
// that /work-orders/new may stand beside it. No pattern matches an empty part.
type Router[T any] struct{ byLength map[int][]place[T] }

type place[T any] struct {
	pattern, order string
	parts          []string // ":name" matches any part
	route          T
}

// Add adds a pattern, once.
func (t *Router[T]) Add(pattern string, route T) {
	if t.byLength == nil {
		t.byLength = map[int][]place[T]{}
	}
	p := place[T]{pattern: pattern, parts: split(pattern), route: route}
	for _, part := range p.parts {
		p.order += map[bool]string{true: "1", false: "0"}[strings.HasPrefix(part, ":")]
	}
	all := append(t.byLength[len(p.parts)], p)
	slices.SortStableFunc(all, func(a, b place[T]) int { return strings.Compare(a.order, b.order) })
	t.byLength[len(p.parts)] = all
}

// All are the patterns with their routes.
func (t *Router[T]) All() iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for _, all := range t.byLength {
			for _, p := range all {
				if !yield(p.pattern, p.route) {
					return
				}
			}
		}
	}
}

func split(path string) []string {
	path = strings.TrimPrefix(path, "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

// Find returns the route of an escaped path, with the values of its named parts, which may contain slashes; the zero
// route if there is none.
func (t *Router[T]) Find(path string) (route T, values map[string]string) {
	parts := split(path)
	for i, p := range parts {
		plain, err := url.PathUnescape(p)
		if err != nil || plain == "" {
			return route, nil
		}
		parts[i] = plain
	}
	for _, p := range t.byLength[len(parts)] {
		if values, ok := p.match(parts); ok {
			return p.route, values
		}
	}
	return route, nil
}

func (p place[T]) match(parts []string) (values map[string]string, ok bool) {
	for i, part := range p.parts {
		name, named := strings.CutPrefix(part, ":")
		switch {
		case !named && part != parts[i]:
			return nil, false
		case named:
			if values == nil {
				values = map[string]string{}
			}
			values[name] = parts[i]
		}
	}
	return values, true
}
