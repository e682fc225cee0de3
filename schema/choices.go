package schema

import (
	"slices"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/words"
)

// MostChoices is the most records in a list to choose from. Of more, those that match the typed text are suggested.
const MostChoices = 50

// Choice is a record that an argument may name.
type Choice struct {
	Value string
	Text  string // its name
	More  string // what distinguishes it: "owes 925.00 EUR"
}

// Whole is the complete text of the choice.
func (c Choice) Whole() string {
	if c.More == "" || c.More == c.Text {
		return c.Text
	}
	return c.Text + ", " + c.More
}

// Find restricts the records of a list.
type Find struct {
	Value string // the record with this value; "": any
	Words string // records whose text contains each of these words; "": any
	Most  int
}

// List lists the records that an argument may name, most likely first.
type List func(c *db.Conn, f Find) ([]Choice, error)

// Choices lists the records that the argument may name, for pages.
func Choices(list List) Opt {
	return ChoicesFor(func(c *db.Conn, _ db.Caller, f Find) ([]Choice, error) { return list(c, f) })
}

// ChoicesFor is Choices restricted to what the caller may see.
func ChoicesFor(list func(*db.Conn, db.Caller, Find) ([]Choice, error)) Opt {
	return func(a *Arg) { a.choices = list }
}

// Any allows other texts than the choices, which are suggestions.
func Any(a *Arg) { a.Any = true }

// PartOf says that a choice's value holds two arguments, separated by a tab: the other one, and this one.
func PartOf(other string) Opt { return func(a *Arg) { a.PartOf = other } }

// NewBy names the operation that makes a missing record.
func NewBy(op string) Opt { return func(a *Arg) { a.New = op } }

// Choose lists the records that the argument may name; nil if there is no list.
func (a Arg) Choose(c *db.Conn, who db.Caller, f Find) ([]Choice, error) {
	if a.choices == nil {
		return nil, nil
	}
	return a.choices(c, who, f)
}

// HasChoices reports whether the argument has a list.
func (a Arg) HasChoices() bool { return a.choices != nil }

// Listed makes a list from a statement that selects value, text and more. {} in it is replaced by its condition, and
// its LIMIT is ?2; args are ?3 and on. value and texts are the columns that Find searches.
func Listed(query, value, texts string, args ...func(c *db.Conn) any) List {
	return ListedBy(query, value, texts, func(_ *db.Conn) (func(*db.Row) Choice, error) {
		return func(r *db.Row) Choice { return Choice{Value: r.Text(), Text: r.Text(), More: r.Text()} }, nil
	}, args...)
}

// ListedBy is Listed with its own scan function; more are ?3 and on.
func ListedBy(query, value, texts string, reader func(c *db.Conn) (func(*db.Row) Choice, error),
	more ...func(c *db.Conn) any) List {
	return func(c *db.Conn, f Find) ([]Choice, error) {
		condition, sought := "1", ""
		switch {
		case f.Value != "":
			condition, sought = value+" = ?1", f.Value
		case strings.TrimSpace(f.Words) != "":
			condition, sought = "has_words(?1, "+texts+")", f.Words
		}
		row, err := reader(c)
		if err != nil {
			return nil, err
		}
		args := []any{sought, f.Most}
		for _, m := range more {
			args = append(args, m(c))
		}
		return db.All(c, row, strings.Replace(query, "{}", condition, 1), args...)
	}
}

// People makes a list of names without duplicates, me first.
func People(me string, names []string, err error) List {
	return Among(func(*db.Conn) (list []Choice, _ error) {
		for _, name := range append([]string{me}, names...) {
			if name != "" && !slices.ContainsFunc(list, func(c Choice) bool { return strings.EqualFold(c.Value, name) }) {
				list = append(list, Choice{Value: name, Text: name})
			}
		}
		if len(list) > 0 && list[0].Value == me {
			list[0].More = "me"
		}
		return list, err
	})
}

// Among makes a list of fixed texts.
func Among(all func(c *db.Conn) ([]Choice, error)) List {
	return func(c *db.Conn, f Find) (list []Choice, err error) {
		known, err := all(c)
		for _, one := range known {
			if f.Value != "" && one.Value != f.Value || !words.Of(f.Words).In(one.Text, one.Value, one.More) {
				continue
			}
			if len(list) < f.Most {
				list = append(list, one)
			}
		}
		return list, err
	}
}
