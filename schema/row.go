package schema

import (
	"reflect"
	"slices"
	"strings"

	"quartermaster/schema/strict"
)

// Row is a record in an agents' list: in full, or short if requested, with the few fields that identify and decide. Its
// JSON is the one that is set. The schema has the full record's fields; only those of the short one are always present.
type Row[F, S any] struct {
	Full  *F
	Short *S

	brief           *S     // a full row's short form, for the answer's text
	encoded, briefs []byte // both as JSON, once known
}

// MarshalJSON is the form that is set.
func (r Row[F, S]) MarshalJSON() ([]byte, error) {
	switch {
	case r.encoded != nil:
		return r.encoded, nil
	case r.Short != nil:
		return strict.Marshal(r.Short)
	}
	return strict.Marshal(r.Full)
}

// inBrief is the row's short form.
func (r Row[F, S]) inBrief() any {
	if r.brief == nil {
		return r
	}
	return Row[F, S]{Short: r.brief, encoded: r.briefs}
}

type briefer interface{ inBrief() any }

// InBrief is an agent's answer with the short forms of its rows, for the text beside it; false if it has no full rows.
func InBrief(answer any) (any, bool) {
	v := reflect.ValueOf(answer)
	if v.Kind() != reflect.Struct {
		return answer, false
	}
	brief := reflect.New(v.Type()).Elem()
	brief.Set(v)
	found := false
	for i := range v.NumField() {
		list := v.Field(i)
		if !v.Type().Field(i).IsExported() || list.Kind() != reflect.Slice ||
			!list.Type().Elem().Implements(reflect.TypeFor[briefer]()) {
			continue
		}
		found = true
		rows := reflect.MakeSlice(list.Type(), list.Len(), list.Len())
		for j := range list.Len() {
			rows.Index(j).Set(reflect.ValueOf(list.Index(j).Interface().(briefer).inBrief()))
		}
		brief.Field(i).Set(rows)
	}
	return brief.Interface(), found
}

// Rows makes the rows of a list: full, or short if requested.
func Rows[F, S any](list []F, wanted bool, short func(F) S) []Row[F, S] {
	rows := make([]Row[F, S], len(list))
	for i := range list {
		s := short(list[i])
		if wanted {
			rows[i].Short = &s
		} else {
			rows[i].Full, rows[i].brief = &list[i], &s
		}
	}
	return rows
}

// AnswerBytes is the size of an agent's rows, unless more is requested: an answer, with the rows and their short forms
// as text, stays below 40 KB.
const AnswerBytes = 38 * 1024

// Fit is Rows for a page that ends before it exceeds most bytes, with at least one row. A page whose length was
// requested is not cut.
func Fit[F, S any](list []F, wanted bool, short func(F) S, asked bool, most int) []Row[F, S] {
	return fit(Rows(list, wanted, short), asked, most)
}

// FitInside is Fit for the rows of one record, whose text is the whole answer.
func FitInside[F, S any](list []F, wanted bool, short func(F) S, asked bool, most int) []Row[F, S] {
	return fit(plain(Rows(list, wanted, short)), asked, most)
}

// plain keeps the text of rows unchanged.
func plain[F, S any](rows []Row[F, S]) []Row[F, S] {
	for i := range rows {
		rows[i].brief = nil
	}
	return rows
}

func fit[F, S any](rows []Row[F, S], asked bool, most int) []Row[F, S] {
	if asked {
		return rows
	}
	size := 0
	for i := range rows {
		size += rows[i].encode()
		if size > most && i > 0 {
			return rows[:i]
		}
	}
	return rows
}

// encode writes both forms and returns the bytes that the row takes in an answer: its text is JSON within JSON, where
// each quote takes two.
func (r *Row[F, S]) encode() int {
	b, err := r.MarshalJSON()
	if err != nil {
		return 0 // encoding the answer will fail
	}
	r.encoded, r.briefs = b, b
	if r.brief != nil {
		if r.briefs, err = strict.Marshal(r.brief); err != nil {
			return 0
		}
	}
	escaped := 0
	for _, c := range r.briefs {
		if c == '"' || c == '\\' {
			escaped++
		}
	}
	return len(r.encoded) + len(r.briefs) + escaped + 2
}

// shaped is a type with its own shape.
type shaped interface{ shape() *Shape }

func (Row[F, S]) shape() *Shape {
	full, short := *shapeOf(reflect.TypeFor[F]()), shapeOf(reflect.TypeFor[S]())
	full.Fields = slices.Clone(full.Fields)
	for i := range full.Fields {
		always := slices.ContainsFunc(short.Fields, func(f Field) bool {
			return f.Name == full.Fields[i].Name &&
				!f.Optional
		})
		full.Fields[i].Optional = full.Fields[i].Optional || !always
	}
	return &full
}

// Short binds an agent's request for short rows.
func (f *Form) Short(p *bool) {
	var detail string
	f.Enum(&detail, "detail", "short: fewer fields", []string{"full", "short"})
	*p = detail == "short"
}

// CentsUntold reports whether the shape has an amount whose currency neither its record nor an enclosing one names.
func (s *Shape) CentsUntold() bool {
	if slices.ContainsFunc(s.Fields, func(f Field) bool { return f.Name == "currency" }) {
		return false
	}
	for _, f := range s.Fields {
		if (Arg{Name: f.Name}).cents() || f.Shape.CentsUntold() {
			return true
		}
	}
	return s.Items != nil && s.Items.CentsUntold()
}

// Shorten is the beginning of a text, at most so many characters including the dots.
func Shorten(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return strings.TrimRight(string(runes[:most-3]), " ") + "..."
}
