package screen

import (
	"net/http"
	"net/url"
	"sync"

	"quartermaster/schema"
	"quartermaster/schema/fault"
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

// withoutWrong decodes the page's arguments. Refused filters are dropped and reported: the page is still shown, with
// what is allowed.
func withoutWrong(p page.Page, in schema.Input) (schema.Handler, *fault.Error, error) {
	load, err := p.Decode(in)
	if wrong, without := unrefused(p, in, err); without != nil {
		return without, wrong, nil
	}
	return load, nil, err
}

// unrefused is the page without the filters that err refuses; nil if it refuses none.
func unrefused(p page.Page, in schema.Input, err error) (*fault.Error, schema.Handler) {
	wrong, refused := fault.As(err)
	if err == nil || !refused || wrong.Kind != fault.Invalid || len(wrong.Fields) == 0 {
		return nil, nil
	}
	kept := url.Values{}
	for name, v := range in.Values {
		kept[name] = v
	}
	for _, r := range wrong.Fields {
		delete(kept, schema.PageField(r.Field))
	}
	in.Values = kept
	if load, again := p.Decode(in); again == nil {
		return wrong, load
	}
	return nil, nil
}

// loaded is the page's value, without the filters that only its load refuses; wrong are those that were refused before.
func (x *exchange) loaded(p page.Page, in schema.Input, load schema.Handler, wrong *fault.Error) (any, *fault.Error,
	error) {
	value, err := load(x.r.Context(), x.who())
	if refused, without := unrefused(p, in, err); without != nil && wrong == nil {
		wrong = schema.PlainBy(p.Args(), refused)
		value, err = without(x.r.Context(), x.who())
	}
	return value, wrong, err
}
