package screen

import (
	"context"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

// index is the page of all operations of a service; it is the first page of a service without one.
type index struct{ acts, answers []schema.Op }

func (s *Screens) index(path, title string) page.Page {
	return page.New(page.Spec[index]{
		Path: path, Title: title,
		Load: page.Always(func(ctx context.Context, who db.Caller) (index, error) {
			var v index
			whole := s.keepsWhole(ctx, who)
			for _, op := range s.ops[page.Staff] {
				switch {
				case op.Admin && who.Role != page.Admin || op.Whole && !whole:
				case !op.Writes && !op.Personal:
					v.answers = append(v.answers, op)
				case op.Writes && who.Role == page.Viewer:
				default:
					v.acts = append(v.acts, op)
				}
			}
			byName := func(a, b schema.Op) int { return strings.Compare(a.Name, b.Name) }
			slices.SortFunc(v.acts, byName)
			slices.SortFunc(v.answers, byName)
			return v, nil
		}),
		View: indexPage,
	})
}

// firstPage makes the index the first page of a service without one.
func (s *Screens) firstPage() {
	if !slices.ContainsFunc(s.pages, func(p page.Page) bool { return p.Path == "/" }) {
		s.pages = append([]page.Page{s.index("/", serviceWord(s.Service.Name))}, s.pages...)
	}
	s.pages = append(s.pages, s.index("/do", "Everything"))
	s.pages = append(s.pages, s.searchPage())
}
