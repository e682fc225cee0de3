package record

import (
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// Kind says how values of a type are read, written and shown.
type Kind[V any] struct {
	Scan  func(*db.Row) V
	Cell  func(V) string // of a CSV file and of a form
	Same  func(a, b V) bool
	Bind  func(f *schema.Form, p *V, name, about string, opts ...schema.Opt) bool
	Value func(V) any // as a statement's argument; nil: itself

	Nullable bool // it may be unset
}

func same[V comparable](a, b V) bool { return a == b }

func samePtr[V comparable](a, b *V) bool { return a == b || a != nil && b != nil && *a == *b }

// opt is the cell of an optional value.
func opt[V any](cell func(V) string) func(*V) string {
	return func(v *V) string {
		if v == nil {
			return ""
		}
		return cell(*v)
	}
}

// digits is a whole number as a cell.
func digits(n int64) string { return strconv.FormatInt(n, 10) }

func itself(s string) string { return s }

var (
	text     = &Kind[string]{(*db.Row).Text, itself, same[string], (*schema.Form).Text, nil, false}
	optText  = &Kind[*string]{(*db.Row).TextPtr, opt(itself), samePtr[string], (*schema.Form).TextPtr, nil, true}
	whole    = &Kind[int64]{(*db.Row).Int, digits, same[int64], (*schema.Form).Int, nil, false}
	optWhole = &Kind[*int64]{(*db.Row).IntPtr, opt(digits), samePtr[int64], (*schema.Form).IntPtr, nil, true}
	milli    = &Kind[exact.Milli]{(*db.Row).Milli, exact.Milli.String, same[exact.Milli], (*schema.Form).Milli, nil, false}
	optMilli = &Kind[*exact.Milli]{(*db.Row).MilliPtr, opt(exact.Milli.String), samePtr[exact.Milli],
		(*schema.Form).MilliPtr, nil, true}
	day    = &Kind[exact.Day]{(*db.Row).Day, exact.Day.String, same[exact.Day], (*schema.Form).Day, nil, false}
	optDay = &Kind[*exact.Day]{(*db.Row).DayPtr, opt(exact.Day.String), samePtr[exact.Day], (*schema.Form).DayPtr, nil,
		true}
	moment = &Kind[exact.Instant]{(*db.Row).Instant, exact.Instant.String, same[exact.Instant], nil, nil, false}

	optMoment = &Kind[*exact.Instant]{(*db.Row).InstantPtr, opt(exact.Instant.String), samePtr[exact.Instant], nil, nil,
		true}

	amount = &Kind[exact.Decimal]{
		Scan: func(r *db.Row) exact.Decimal { return exact.Decimal{Unscaled: r.Int(), Places: 2} },
		Cell: exact.Decimal.String,
		Same: same[exact.Decimal],
		Bind: func(f *schema.Form, p *exact.Decimal, name, about string, opts ...schema.Opt) bool {
			p.Places = 2
			return f.Amount(&p.Unscaled, name, about, opts...)
		},
		Value: func(d exact.Decimal) any { return d.Unscaled },
	}
)

// Truth is the kind of a boolean, with the cells for both values.
func Truth(yes, no string) *Kind[bool] {
	cell := func(is bool) string {
		if is {
			return yes
		}
		return no
	}
	return &Kind[bool]{(*db.Row).Bool, cell, same[bool], (*schema.Form).Bool, nil, false}
}

// ID is the column of the record's number, "id": set by the database, or given by the record.
func ID[T any](at func(*T) *int64) Column[T] {
	c := Of("id", at, whole, "")
	c.id, c.value = true, func(t *T) any { return db.NullID(*at(t)) }
	return c
}

// Text is a column of text, "" if empty.
func Text[T any](name string, at func(*T) *string, about string, opts ...schema.Opt) Column[T] {
	return Of(name, at, text, about, opts...)
}

// OptText is a column of optional text: nil if unset. So are the other Opt columns.
func OptText[T any](name string, at func(*T) **string, about string, opts ...schema.Opt) Column[T] {
	return Of(name, at, optText, about, opts...)
}

// Enum is a column of one of the values.
func Enum[T any](name string, at func(*T) *string, values []string, about string, opts ...schema.Opt) Column[T] {
	k := *text
	k.Bind = func(f *schema.Form, p *string, name, about string, opts ...schema.Opt) bool {
		return f.Enum(p, name, about, values, opts...)
	}
	return Of(name, at, &k, about, opts...)
}

// Int is a column of whole numbers: counts, minutes, cents.
func Int[T any](name string, at func(*T) *int64, about string, opts ...schema.Opt) Column[T] {
	return Of(name, at, whole, about, opts...)
}

// OptInt is a column of optional whole numbers.
func OptInt[T any](name string, at func(*T) **int64, about string, opts ...schema.Opt) Column[T] {
	return Of(name, at, optWhole, about, opts...)
}

// Ref is a column of another record's number, 0 for none, which no form sets.
func Ref[T any](name string, at func(*T) *int64) Column[T] {
	c := Of(name, at, whole, "")
	c.value = func(t *T) any { return db.NullID(*at(t)) }
	return c
}

// Amount is a column of amounts in currency units, stored in cents.
func Amount[T any](name string, at func(*T) *exact.Decimal, about string, opts ...schema.Opt) Column[T] {
	return Of(name, at, amount, about, opts...)
}

// Milli is a column of quantities in thousandths.
func Milli[T any](name string, at func(*T) *exact.Milli, about string, opts ...schema.Opt) Column[T] {
	return Of(name, at, milli, about, opts...)
}

// OptMilli is a column of optional quantities.
func OptMilli[T any](name string, at func(*T) **exact.Milli, about string, opts ...schema.Opt) Column[T] {
	return Of(name, at, optMilli, about, opts...)
}

// Day is a column of calendar days.
func Day[T any](name string, at func(*T) *exact.Day, about string, opts ...schema.Opt) Column[T] {
	return Of(name, at, day, about, opts...)
}

// OptDay is a column of optional days.
func OptDay[T any](name string, at func(*T) **exact.Day, about string, opts ...schema.Opt) Column[T] {
	return Of(name, at, optDay, about, opts...)
}

// Moment is a column of instants, which no form sets.
func Moment[T any](name string, at func(*T) *exact.Instant) Column[T] {
	return Of(name, at, moment, "")
}

// OptMoment is a column of optional instants.
func OptMoment[T any](name string, at func(*T) **exact.Instant) Column[T] {
	return Of(name, at, optMoment, "")
}
