package screen

import "net/http"

// route is one address with its handlers.
type route struct {
	pattern string
	get     handle
	post    handle
	area    area
	prints  bool // a page without the frame, which shows no messages
	open    bool // also for users without a role in the service
}

// handle answers one request of a route.
type handle func(x *exchange) error

// add adds an address.
func (s *Screens) add(pattern string, r *route) {
	r.pattern = pattern
	s.router.Add(pattern, r)
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
