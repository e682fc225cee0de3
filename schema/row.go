package schema

import (
	"encoding/json"
	"reflect"
	"slices"
)

// Row is a record in an agents' list: in full, or its few fields that identify and
// decide, when these were asked for. In JSON it is the one that is set; the schema tells
// the full record's fields, of which those of the short one alone are always there.
type Row[F, S any] struct {
	Full  *F
	Short *S

	encoded []byte // it as JSON, once that is known
}

// MarshalJSON is the form that is set.
func (r Row[F, S]) MarshalJSON() ([]byte, error) {
	switch {
	case r.encoded != nil:
		return r.encoded, nil
	case r.Short != nil:
		return json.Marshal(r.Short)
	}
	return json.Marshal(r.Full)
}

// Rows makes the rows of a list: in full, or each by short when that was asked for.
func Rows[F, S any](list []F, wanted bool, short func(F) S) []Row[F, S] {
	rows := make([]Row[F, S], len(list))
	for i := range list {
		if wanted {
			s := short(list[i])
			rows[i].Short = &s
		} else {
			rows[i].Full = &list[i]
		}
	}
	return rows
}

// AnswerBytes is how long the rows of an agent's answer get unless it asks for more.
const AnswerBytes = 48_000

// Fit is Rows for a page, which it ends before it holds more than most bytes: at least
// one row is given. A page whose length was asked for holds what was asked for.
func Fit[F, S any](list []F, wanted bool, short func(F) S, asked bool, most int) []Row[F, S] {
	rows := Rows(list, wanted, short)
	if asked {
		return rows
	}
	size := 0
	for i := range rows {
		b, err := rows[i].MarshalJSON()
		if err != nil {
			return rows // the answer fails by it
		}
		rows[i].encoded = b
		if size += len(b) + 1; size > most && i > 0 {
			return rows[:i]
		}
	}
	return rows
}

// shaped is a type that tells its shape by itself.
type shaped interface{ shape() *Shape }

func (Row[F, S]) shape() *Shape {
	full, short := *shapeOf(reflect.TypeFor[F]()), shapeOf(reflect.TypeFor[S]())
	full.Fields = slices.Clone(full.Fields)
	for i := range full.Fields {
		always := slices.ContainsFunc(short.Fields, func(f Field) bool { return f.Name == full.Fields[i].Name && !f.Optional })
		full.Fields[i].Optional = full.Fields[i].Optional || !always
	}
	return &full
}

// Short binds an agent's wish for short rows.
func (f *Form) Short(p *bool) {
	var detail string
	f.Enum(&detail, "detail", "short: only the few fields of a row that identify and decide", []string{"full", "short"})
	*p = detail == "short"
}
