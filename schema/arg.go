package schema

import (
	"fmt"
	"slices"
	"strings"

	"quartermaster/schema/db"
)

// Kind is the type of an argument's value.
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
	LooseKind // any scalar; anything but a text counts as absent
	RefKind   // a record's name or id: a text or a whole number
	RowsKind  // the one nested argument of agents: an array of objects, each refused separately
	ListKind  // a list of texts or of ids
	TableKind // a list of objects whose fields are arguments too
	FileKind  // an upload; at the command line a path
	RawBody   // the whole body, unchanged
)

// Arg describes one argument.
type Arg struct {
	Name     string
	About    string
	Kind     Kind
	Required bool
	Path     string   // its name in the route's path, if it is there
	Header   string   // the header that carries it
	Enum     []string // the allowed values
	also     map[string]string
	folded   bool
	Min, Max *int64 // bounds, inclusive, in whole units
	capped   bool   // a value above Max becomes Max
	Places   int    // number of decimals
	Most     int    // characters of a text, items of rows
	Default  any
	Example  any
	Items    any // for rows: one row, filled in
	Fields   []Arg
	IDs      bool // of a list: whole numbers, ids
	Title    string
	Help     string // shown below the field on pages; default: About
	Today    bool   // the field starts with today's date
	Rare     bool   // the field is under "More" while it is empty
	None     string // what its field says while it is empty: "Nobody yet"
	Usual    bool   // given nearly always: its label does not say that it is optional
	Many     bool   // text with several lines
	Pattern  string

	Flag       string // the command's flag, if it is not the name with dashes
	Positional string // its word in capitals in the command
	Secret     bool   // a password: never shown again
	NameFirst  bool   // digits are tried as a name first, then as an id

	Apart  string   // what separates several values in one text; on pages each has its own input
	Means  []Choice // what a column of a file may mean, on pages; a value of the argument is "Their column=ours"
	Any    bool     // with choices: any other text is allowed too
	Marked string   // of a table on a page: the field whose box marks a row; rows that are not marked are left out
	PartOf string   // the argument that gets the first half of a choice's value
	New    string   // the operation that makes a record missing among the choices

	choices    func(*db.Conn, db.Caller, Find) ([]Choice, error)
	duplicates bool // an id that is given twice counts twice
	lookup     func(*db.Conn, string) (int64, error)
	parse      func(text string) (map[string]string, error) // of a table: parses one record in the command's format
	clear      *bool
	byID       bool // a record by id: agents may send a text
}

// Opt changes how an argument is read and described.
type Opt func(*Arg)

// Required makes the argument mandatory, and a text non-empty.
func Required(a *Arg) { a.Required = true }

// Folded reads an enum in any case.
func Folded(a *Arg) { a.folded = true }

// InPath reads the argument from the route's path on REST, under the name.
func InPath(name string) Opt {
	return func(a *Arg) { a.Path, a.Required = name, true }
}

// Range bounds a number, inclusive, in whole units.
func Range(lo, hi int64) Opt { return func(a *Arg) { a.Min, a.Max = &lo, &hi } }

// Apart lets a text name several, separated by the sign.
func Apart(sign string) Opt { return func(a *Arg) { a.Apart = sign } }

// Most bounds a text's characters.
func Most(n int) Opt { return func(a *Arg) { a.Most = n } }

// Alias accepts the spelling for one of the enum's values.
func Alias(spelling, means string) Opt {
	return func(a *Arg) {
		if a.also == nil {
			a.also = map[string]string{}
		}
		a.also[spelling] = means
	}
}

// Clear makes null, or an empty field, clear the value: *p is set and the variable stays unchanged. It is for
// operations that edit.
func Clear(p *bool) Opt { return func(a *Arg) { a.clear = p } }

// InCents reports whether the argument is an amount in the smallest unit of its currency.
func (a Arg) InCents() bool { return a.Kind == IntKind && strings.HasSuffix(a.Name, "cents") }

// Flag names the command's flag. For an argument in cents it is a former, hidden spelling: "amount" for amount_cents.
func Flag(name string) Opt { return func(a *Arg) { a.Flag = name } }

// Positional names the argument's word in capitals in Op.Command.
func Positional(word string) Opt { return func(a *Arg) { a.Positional = word } }

// Label is the field's label, if the name does not fit.
func Label(text string) Opt { return func(a *Arg) { a.Title = text } }

// Help is shown below the argument's field, in place of the description for agents and commands.
func Help(text string) Opt { return func(a *Arg) { a.Help = text } }

// Today fills the argument's field with today's date.
func Today(a *Arg) { a.Today = true }

// Usual leaves "optional" out of the label of an argument that other arguments can replace.
func Usual(a *Arg) { a.Usual = true }

// None is what the argument's field says while it is empty.
func None(text string) Opt { return func(a *Arg) { a.None = text } }

// Rare puts the argument's field under "More" while it is empty.
func Rare(a *Arg) { a.Rare = true }

// Secret marks a password or the like, which is never shown again.
func Secret(a *Arg) { a.Secret = true }

// Lines marks a text of several lines.
func Lines(a *Arg) { a.Many = true }

// Lookup finds the id of a record by the name that people use, for commands and pages: an asset's tag, Property/Unit.
// #12 is an id, and so is 12 without NameFirst.
func Lookup(find func(c *db.Conn, name string) (id int64, err error)) Opt {
	return func(a *Arg) { a.lookup = find }
}

// AllowDuplicates keeps repeated ids of a list; by default an id counts once.
func AllowDuplicates(a *Arg) { a.duplicates = true }

// NameFirst tries digits as a name before they are an id.
func NameFirst(a *Arg) { a.NameFirst = true }

// Written parses one record of a table in the command's format, SKU=QTY@CENTS, into the fields by name.
func Written(parse func(text string) (map[string]string, error)) Opt {
	return func(a *Arg) { a.parse = parse }
}

// Label is the label of the argument's field.
func (a Arg) Label() string {
	t := a.Title
	if noun, is := strings.CutPrefix(a.About, "the "); is && t == "" && a.Name == "id" {
		t, _, _ = strings.Cut(noun, ",") // "the plan, by its id": the plan's number says less
	}
	if t == "" {
		t = strings.TrimSuffix(strings.ReplaceAll(PageField(a.Name), "_", " "), " id")
		t = strings.Replace(t, "email", "e-mail", 1)
	}
	return titled(t)
}

// short are words that are written in capitals.
var short = map[string]string{"sku": "SKU", "url": "URL", "moq": "MOQ", "csv": "CSV"}

// titled returns a name as a label or a heading: "Supplier SKU".
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

// FlagName is the command's flag of the argument. The flag of an amount in cents says so.
func (a Arg) FlagName() string {
	if a.Flag != "" && !a.InCents() {
		return a.Flag
	}
	return strings.ReplaceAll(a.Name, "_", "-")
}

// Word is the argument's word in capitals in Op.Command, if it is positional.
func (a Arg) Word() string {
	if a.Positional != "" {
		return a.Positional
	}
	return strings.ToUpper(a.Name)
}

// Written is the argument's name at the command line.
func (a Arg) Written() string {
	if a.Positional != "" {
		return a.Positional
	}
	return "--" + a.FlagName()
}

// Spelled reports whether a word outside the list is accepted for one in it.
func (a Arg) Spelled(word string) bool {
	if a.folded {
		word = strings.ToLower(word)
	}
	return a.also[word] != "" || a.folded && slices.Contains(a.Enum, word)
}

// Named reports whether a name is accepted in place of the id.
func (a Arg) Named() bool { return a.lookup != nil }

// Find returns the id of the record with the name.
func (a Arg) Find(c *db.Conn, name string) (int64, error) { return a.lookup(c, name) }

// Nullable reports whether null, or an empty field, clears the value.
func (a Arg) Nullable() bool { return a.clear != nil }

// Example is the documents' example value.
func Example(v any) Opt { return func(a *Arg) { a.Example = v } }

// wants says what the argument accepts, for a refusal.
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
