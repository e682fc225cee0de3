package screen

import (
	"net/http"
	"net/url"
	"sync"

	"quartermaster/schema/page"
)

// keptFilters are each user's last filters of each list: the menu leads back to them from other pages, and on the list
// itself to the whole list. They last until the program ends.
type keptFilters struct {
	of sync.Map // the query by user and path of the list
}

// mostKeptQuery is the longest query that is kept.
const mostKeptQuery = 500

// keep notes the list's present filters.
func (k *keptFilters) keep(user, path string, query url.Values) {
	kept := url.Values{}
	for name, values := range query {
		if name != "after" && name != "format" && len(values) == 1 && values[0] != "" {
			kept[name] = values
		}
	}
	if q := kept.Encode(); len(q) <= mostKeptQuery {
		k.of.Store([2]string{user, path}, q)
	}
}

// to is the address of the list with its last filters.
func (k *keptFilters) to(user, path string) string {
	if q, _ := k.of.Load([2]string{user, path}); q != nil && q != "" {
		return path + "?" + q.(string)
	}
	return path
}

// keepFilters keeps filters of a menu's list that were chosen on the list itself; those of another page's link are not
// kept.
func (x *exchange) keepFilters(p page.Page, f *page.Frame) {
	from, err := url.Parse(x.r.Referer())
	if err == nil && from.Path == p.Path && p.Menu != "" && p.Area == page.Staff && p.HasCSV() &&
		x.r.Method == http.MethodGet {
		x.s.kept.keep(x.visitor.caller.User, p.Path, f.Query)
	}
}
