package screen

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// route is one address with its handler. httprouter cannot hold /work-orders/new beside /work-orders/:id.
type route struct {
	pattern string
	parts   []string // ":name" matches any part
	get     handle
	post    handle
	area    area
	open    bool // also for users without a role in the service
}

// handle answers one request of a route.
type handle func(x *exchange) error

// router finds a path's route: a fixed part precedes a named one.
type router struct{ byLength map[int][]*route }

func (t *router) add(pattern string, r *route) {
	if t.byLength == nil {
		t.byLength = map[int][]*route{}
	}
	r.pattern, r.parts = pattern, split(pattern)
	n := len(r.parts)
	t.byLength[n] = append(t.byLength[n], r)
	slices.SortStableFunc(t.byLength[n], func(a, b *route) int { return strings.Compare(a.order(), b.order()) })
}

// order sorts routes of one length so that fixed parts come first.
func (r *route) order() string {
	var b strings.Builder
	for _, p := range r.parts {
		if strings.HasPrefix(p, ":") {
			b.WriteByte('1')
		} else {
			b.WriteByte('0')
		}
	}
	return b.String()
}

func split(path string) []string {
	path = strings.TrimPrefix(path, "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

// find returns the route of an escaped path with the values of its named parts.
func (t *router) find(path string) (*route, map[string]string) {
	parts := split(path)
	for i, p := range parts {
		plain, err := url.PathUnescape(p)
		if err != nil || plain == "" {
			return nil, nil
		}
		parts[i] = plain
	}
	for _, r := range t.byLength[len(parts)] {
		if values, ok := r.match(parts); ok {
			return r, values
		}
	}
	return nil, nil
}

func (r *route) match(parts []string) (map[string]string, bool) {
	var values map[string]string
	for i, p := range r.parts {
		name, named := strings.CutPrefix(p, ":")
		switch {
		case !named && p != parts[i]:
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

// allows lists the methods of the route.
func (r *route) allows() string {
	switch {
	case r.get != nil && r.post != nil:
		return "GET, HEAD, POST"
	case r.post != nil:
		return "POST"
	}
	return "GET, HEAD"
}

// of is the handler of the method.
func (r *route) of(method string) handle {
	switch method {
	case http.MethodGet, http.MethodHead:
		return r.get
	case http.MethodPost:
		return r.post
	}
	return nil
}
