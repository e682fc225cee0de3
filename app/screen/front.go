package screen

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

// seenPlace is a service that a user may see, with their caller there.
type seenPlace struct {
	Place
	who db.Caller
}

// seenBy are the services in which the user has a role, the present one first.
func (s *Screens) seenBy(ctx context.Context, who db.Caller) ([]seenPlace, error) {
	roles := map[string]string{}
	err := s.DB.View(ctx, func(c *db.Conn) error {
		return db.Each(c, func(r *db.Row) error {
			service := r.Text()
			roles[service] = r.Text()
			return nil
		}, "SELECT r.service, r.role FROM roles r JOIN users u ON u.id = r.user_id WHERE u.name = ? AND u.disabled = 0 AND "+
			"u.removed_at IS NULL", who.User)
	})
	var own, others []seenPlace
	for _, p := range s.Places {
		if roles[p.Name] == "" {
			continue
		}
		there := who
		there.Service, there.Role = p.Name, roles[p.Name]
		if p.Name == who.Service {
			own = append(own, seenPlace{p, there})
		} else {
			others = append(others, seenPlace{p, there})
		}
	}
	return append(own, others...), err
}

// searchView is the search page.
type searchView struct {
	q     string
	kinds []string
	hits  map[string][]page.Hit
	n     int
}

// searchPage is the page /search, over all services that the user may see. The exact name of one record of this service
// redirects to it.
func (s *Screens) searchPage() page.Page {
	return page.New(page.Spec[searchView]{
		Path: "/search", Title: "Search",
		Load: func(f *schema.Form) page.Loader[searchView] {
			var q string
			f.Text(&q, "q", "What to search for", schema.Most(200), schema.Label("Search"))
			return func(ctx context.Context, who db.Caller) (searchView, error) {
				v := searchView{q: q, hits: map[string][]page.Hit{}}
				if q == "" {
					return v, nil
				}
				all, err := s.seenBy(ctx, who)
				if err != nil {
					return v, err
				}
				answers := make([]found, len(all))
				var asked sync.WaitGroup
				for i, p := range all {
					asked.Go(func() { answers[i] = p.find(ctx, q) })
				}
				asked.Wait()
				for i, p := range all {
					if err := v.add(p, answers[i], who.Service); err != nil {
						return v, err
					}
				}
				return v, nil
			}
		},
		View: searchBody,
	})
}

// found is what a service finds.
type found struct {
	hits  []page.Hit
	exact string
	err   error
	panic any
}

// find asks a service, beside the others: its panic goes to the caller.
func (p seenPlace) find(ctx context.Context, q string) (f found) {
	defer func() {
		if cause := recover(); cause != nil {
			f.panic = fmt.Sprintf("%v\n%s", cause, debug.Stack())
		}
	}()
	if p.Find != nil {
		f.hits, f.exact, f.err = p.Find(ctx, p.who, q)
	}
	return f
}

// add adds the results of one service.
func (v *searchView) add(p seenPlace, f found, here string) error {
	hits := f.hits
	switch {
	case f.panic != nil:
		panic(f.panic)
	case f.err != nil:
		return f.err
	case f.exact != "" && p.Name == here:
		return &page.Elsewhere{Path: f.exact}
	case f.exact != "" && len(hits) == 0:
		hits = []page.Hit{{Kind: "Found", Title: v.q, Path: f.exact}}
	}
	for _, h := range hits {
		if p.Name != here {
			h.Kind, h.Path = p.Title+": "+h.Kind, p.URL+h.Path
		}
		if len(v.hits[h.Kind]) == 0 {
			v.kinds = append(v.kinds, h.Kind)
		}
		v.hits[h.Kind] = append(v.hits[h.Kind], h)
	}
	v.n += len(hits)
	return nil
}

// frontView is what a service's first page has besides its own: the first steps until all are done, and the sentence of
// each service for the menu.
type frontView struct {
	steps     []page.Step
	sentences map[string]string
}

// today is what the menu says of a service: its sentence on a first page, else what waits there.
func (d *frameView) today(p Place) string {
	if d.front != nil && d.front.sentences[p.Name] != "" {
		return d.front.sentences[p.Name]
	}
	if n := d.waits[p.Name]; n > 0 {
		return page.Plural(n, p.One, p.Many)
	}
	return ""
}

// front reads it; nil on every other page. Unreadable parts are omitted and logged: the page is still shown.
func (x *exchange) front(f *page.Frame) *frontView {
	if x.route == nil || x.route.pattern != "/" {
		return nil
	}
	ctx, v := x.r.Context(), &frontView{sentences: map[string]string{}}
	all, err := x.s.seenBy(ctx, x.visitor.caller)
	for _, p := range all {
		if p.Name == x.s.Service.Name && p.Steps != nil {
			var own []page.Step
			if own, err = p.Steps(ctx); err == nil {
				v.steps = unfinished(slices.DeleteFunc(append([]page.Step{shopStep(f)}, own...), func(s page.Step) bool {
					return !s.Done && !f.Offers(s.Acts...)
				}))
			}
		}
		if p.Today != nil {
			sentence, failed := p.Today(ctx)
			v.sentences[p.Name], err = sentence, cmp.Or(err, failed)
		}
	}
	if err != nil && ctx.Err() == nil {
		x.s.Log.Warn().Err(err).Msg("the summary of the first page could not be read")
	}
	return v
}

// shopStep is the first step of every service.
func shopStep(f *page.Frame) page.Step {
	return page.Step{
		Title: "Shop's name, address, currency and time zone", Done: f.Shop.Address != "",
		Acts: []page.Action{page.Link("Settings", "/settings").For("set_shop")},
	}
}

// unfinished is the list of steps, empty when all are done.
func unfinished(steps []page.Step) []page.Step {
	for _, s := range steps {
		if !s.Done {
			return steps
		}
	}
	return nil
}
