package schema

import (
	"fmt"
	"slices"
	"strings"

	"quartermaster/schema/db"
)

// Kind is what an argument's value is.
type Kind uint8

// The kinds of arguments.
const (
	TextKind Kind = iota
	IntKind
	NumberKind // a decimal with a fixed number of places
	BoolKind
	EnumKind
	DayKind
	MonthKind
	LooseKind // any scalar; what is not a text counts as absent
	RefKind   // a record's name or id: a text or a whole number
	RowsKind  // the one nested argument of agents: an array of objects, each refused by itself
	ListKind  // a list of texts or of ids
	TableKind // a list of objects whose fields are arguments too
	FileKind  // an upload; at the command line a path
	RawBody   // the whole body, as it came
)

// Arg describes one argument.
type Arg struct {
	Name     string
	About    string
	Kind     Kind
	Required bool
	Path     string   // its name in the route's path, if it stands there
	Header   string   // the header that carries it
	Enum     []string // the values that are allowed
	also     map[string]string
	folded   bool
	Min, Max *int64 // bounds, both allowed; in whole units
	capped   bool   // over Max is Max
	Places   int    // decimals that are kept
	Most     int    // characters of a text, items of rows
	Default  any
	Example  any
	Items    any // for rows: one row, filled in
	Fields   []Arg
	IDs      bool // of a list: whole numbers, ids
	Title    string
	Help     string // what pages say below the field; About where there is none
	Today    bool   // its field holds today\'s date at first
	Rare     bool   // its field is folded into "More" while it is empty
	Many     bool   // text with several lines
	Pattern  string

	Flag       string // the command's flag, when it is not the name with dashes
	Positional string // the word in capitals that stands for it in the command
	Secret     bool   // a password: never shown again
	NameFirst  bool   // plain digits are tried as a name before they are an id

	Any    bool   // of one with choices: another text is allowed as well
	PartOf string // the argument that the first half of a choice's value is of
	New    string // the operation that makes a record which is not among the choices

	choices    func(*db.Conn, db.Caller, Find) ([]Choice, error)
	duplicates bool // an id that is given twice counts twice
	lookup     func(*db.Conn, string) (int64, error)
	parse      func(text string) (map[string]string, error) // of a table: one record as a command writes it
	clear      *bool
	byID       bool // a record by its id: for agents a text too
}

// Opt changes how an argument is read and described.
type Opt func(*Arg)

// Required makes the argument necessary, and a text non-empty.
func Required(a *Arg) { a.Required = true }

// Folded reads an enum in any case.
func Folded(a *Arg) { a.folded = true }

// InPath reads the argument from the route's path on REST, where it is called name.
func InPath(name string) Opt {
	return func(a *Arg) { a.Path, a.Required = name, true }
}

// Range bounds a number, both ends allowed, in whole units.
func Range(lo, hi int64) Opt { return func(a *Arg) { a.Min, a.Max = &lo, &hi } }

// Most bounds a text's characters.
func Most(n int) Opt { return func(a *Arg) { a.Most = n } }

// Alias reads the spelling as meaning one of the enum's values.
func Alias(spelling, means string) Opt {
	return func(a *Arg) {
		if a.also == nil {
			a.also = map[string]string{}
		}
		a.also[spelling] = means
	}
}

// Clear lets null, or an empty field, empty what the argument sets: p tells of it, and
// the variable stays as it is. It is for operations that edit.
func Clear(p *bool) Opt { return func(a *Arg) { a.clear = p } }

// InCents reports whether the argument is an amount in the smallest unit of its currency.
func (a Arg) InCents() bool { return a.Kind == IntKind && strings.HasSuffix(a.Name, "cents") }

// Flag names the command's flag of the argument. Of one in cents it is an old spelling, which the
// command takes without telling of it: "amount" for amount_cents.
func Flag(name string) Opt { return func(a *Arg) { a.Flag = name } }

// Positional names the word in capitals that stands for the argument in Op.Command.
func Positional(word string) Opt { return func(a *Arg) { a.Positional = word } }

// Label is what people read beside the argument's field, when its name does not do.
func Label(text string) Opt { return func(a *Arg) { a.Title = text } }

// Help is what a page says below the argument's field, in place of what agents and commands read.
func Help(text string) Opt { return func(a *Arg) { a.Help = text } }

// Today fills the argument's field with today's date.
func Today(a *Arg) { a.Today = true }

// Rare folds the argument's field into "More" while it is empty.
func Rare(a *Arg) { a.Rare = true }

// Secret says that the text is a password or the like, which is never shown again.
func Secret(a *Arg) { a.Secret = true }

// Lines says that a text has several lines.
func Lines(a *Arg) { a.Many = true }

// Lookup finds the id of the record that people call so, for commands and screens: an
// asset's tag, Property/Unit. #12, and 12 unless NameFirst is given, are ids already.
func Lookup(find func(c *db.Conn, name string) (id int64, err error)) Opt {
	return func(a *Arg) { a.lookup = find }
}

// AllowDuplicates keeps an id that a list holds twice twice; left out, it counts once.
func AllowDuplicates(a *Arg) { a.duplicates = true }

// NameFirst tries plain digits as a name before they are an id.
func NameFirst(a *Arg) { a.NameFirst = true }

// Written reads one record of a table as a command writes it, SKU=QTY@CENTS, into the
// fields by name.
func Written(parse func(text string) (map[string]string, error)) Opt {
	return func(a *Arg) { a.parse = parse }
}

// Label is what people read beside the argument's field.
func (a Arg) Label() string {
	t := a.Title
	if t == "" {
		t = strings.TrimSuffix(strings.ReplaceAll(PageField(a.Name), "_", " "), " id")
	}
	return titled(t)
}

// short are the words of names that people write in capitals.
var short = map[string]string{"sku": "SKU", "url": "URL", "moq": "MOQ", "csv": "CSV"}

// titled is a name's words as a label or a heading has them: "Supplier SKU".
func titled(t string) string {
	words := strings.Fields(t)
	for i, w := range words {
		if s := short[w]; s != "" {
			words[i] = s
		}
	}
	t = strings.Join(words, " ")
	if t == "" {
		return ""
	}
	return strings.ToUpper(t[:1]) + t[1:]
}

// FlagName is the command's flag of the argument. One in cents always says so.
func (a Arg) FlagName() string {
	if a.Flag != "" && !a.InCents() {
		return a.Flag
	}
	return strings.ReplaceAll(a.Name, "_", "-")
}

// Word is the word in capitals that stands for the argument in Op.Command, if it is
// among the positional ones.
func (a Arg) Word() string {
	if a.Positional != "" {
		return a.Positional
	}
	return strings.ToUpper(a.Name)
}

// Written is what the argument is called at the command line.
func (a Arg) Written() string {
	if a.Positional != "" {
		return a.Positional
	}
	return "--" + a.FlagName()
}

// Spelled reports whether a word which is not in the list is read as one that is.
func (a Arg) Spelled(word string) bool {
	if a.folded {
		word = strings.ToLower(word)
	}
	return a.also[word] != "" || a.folded && slices.Contains(a.Enum, word)
}

// Named reports whether people may give a name in place of the id.
func (a Arg) Named() bool { return a.lookup != nil }

// Find is the id of the record that people call so.
func (a Arg) Find(c *db.Conn, name string) (int64, error) { return a.lookup(c, name) }

// Nullable reports whether null, or an empty field, empties what the argument sets.
func (a Arg) Nullable() bool { return a.clear != nil }

// Example is shown in the documents.
func Example(v any) Opt { return func(a *Arg) { a.Example = v } }

// wants says what the argument takes, for a refusal.
func (a Arg) wants() string {
	switch a.Kind {
	case IntKind:
		if a.byID && a.lookup != nil {
			return "an id or a name"
		}
		if a.cents() {
			return "a whole number of cents, without a decimal point," + a.bounds()
		}
		return "a whole number" + a.bounds()
	case NumberKind:
		return fmt.Sprintf("a number%s with at most %d decimals", a.bounds(), a.Places)
	case BoolKind:
		return "true or false"
	case EnumKind:
		return "one of " + strings.Join(a.Enum, ", ")
	case DayKind:
		return "a calendar day as YYYY-MM-DD"
	case MonthKind:
		return "a month as YYYY-MM"
	case RefKind:
		return "a name or an id"
	case RowsKind, TableKind:
		return "an array of objects"
	case ListKind:
		if a.IDs {
			return "a list of ids"
		}
		return "a list of texts"
	case FileKind:
		return "a file"
	}
	return "a text"
}
