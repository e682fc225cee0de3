package page

import (
	"context"

	"github.com/a-h/templ"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// Hit is one record that a search found.
type Hit struct {
	Kind  string // "Leases": hits of one kind stand together, in the order in which they are given
	ID    string // for data-id
	Title string
	Note  string // a second line
	Path  string
}

// searchView is what the search page shows.
type searchView struct {
	q     string
	kinds []string
	hits  map[string][]Hit
	n     int
}

// Search is a service's page /search. find gives what matches, some 20 of a kind at
// most; exact, if it is not "", is the page of the one record that the text names
// exactly, and the browser goes straight there.
func Search(find func(ctx context.Context, who db.Caller, q string) (hits []Hit, exact string, err error)) Page {
	return New(Spec[searchView]{
		Path: "/search", Title: "Search",
		Load: func(f *schema.Form) Loader[searchView] {
			var q string
			f.Text(&q, "q", "What to search for", schema.Most(200), schema.Label("Search"))
			return func(ctx context.Context, who db.Caller) (searchView, error) {
				v := searchView{q: q, hits: map[string][]Hit{}}
				if q == "" {
					return v, nil
				}
				hits, exact, err := find(ctx, who, q)
				if err != nil {
					return v, err
				}
				if exact != "" {
					return v, &Elsewhere{Path: exact}
				}
				for _, h := range hits {
					if len(v.hits[h.Kind]) == 0 {
						v.kinds = append(v.kinds, h.Kind)
					}
					v.hits[h.Kind] = append(v.hits[h.Kind], h)
				}
				v.n = len(hits)
				return v, nil
			}
		},
		View: func(v searchView) templ.Component { return searchPage(v) },
	})
}
