package schema

import (
	"fmt"
	"net/url"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Filters binds the filters of a list's address, "status=open&assigned_to=Ana", as the list's page does. Wrong ones are
// refused.
func Filters(query string, bind func(*Form)) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return fault.Fieldf("match", "These filters cannot be read. Open the list again.")
	}
	op := Op{Bind: func(f *Form) Handler {
		bind(f)
		return nil
	}}
	_, err = op.Decode(Input{Surface: Page, Values: values, Lenient: true, Currency: exact.CurrencyOf("USD")})
	return err
}

// Chosen are the records of an action on many: those that were marked or, on a page, all that match its list's filters.
type Chosen struct {
	IDs   []int64
	Match string
	Whole bool // a refusal refuses all, so that the form of a single record comes back as it was sent
}

// Bind binds them: at most so many; noun is one of them.
func (m *Chosen) Bind(f *Form, noun string, most int, opts ...Opt) {
	some := f.IDs(&m.IDs, "id", "the "+noun+"s", most, append(opts, Label(titled(noun+"s")))...)
	if f.Surface() == Page {
		f.Text(&m.Match, "match", "instead of "+noun+"s: all that match these filters", Label("All that match"),
			Help("Filters of the list, in place of marked rows."))
	}
	if !f.Describing() && !some && m.Match == "" {
		f.Refuse("id", "id is missing: mark at least one %s", noun)
	}
}

// All returns their ids; matching finds those of the filters.
func (m Chosen) All(c *db.Conn, matching func(c *db.Conn, query string) ([]int64, error)) ([]int64, error) {
	if len(m.IDs) > 0 || m.Match == "" {
		return m.IDs, nil
	}
	return matching(c, m.Match)
}

// EachOf does the action on each record separately. One that is refused goes to refused, with the reason; the others
// continue, unless whole.
func EachOf[T any](tx *db.Tx, ids []int64, whole bool, act func(id int64) (T, error),
	refused func(id int64, reason string)) ([]T, error) {
	done := []T{}
	for _, id := range ids {
		err := tx.Try(func() error {
			one, err := act(id)
			if err == nil {
				done = append(done, one)
			}
			return err
		})
		refusal, is := fault.As(err)
		switch {
		case err == nil:
		case !is || whole || refusal.Kind == fault.Unavailable:
			return nil, err
		default:
			refused(id, refusal.Detail)
		}
	}
	return done, nil
}

// SomeRefused are the Refusals of an action on so many records in all: the refused ones by name.
func SomeRefused(refused []string, all int, nouns string) ([]string, error) {
	if len(refused) == 0 {
		return []string{}, nil
	}
	return refused, fmt.Errorf("%d of %d %s were refused", len(refused), all, nouns)
}

// Few names the first of a list, and says how many more there are.
func Few[T any](list []T, most int, name func(T) string) (names []string) {
	for _, one := range list[:min(most, len(list))] {
		names = append(names, name(one))
	}
	if more := len(list) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return names
}
