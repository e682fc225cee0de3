package schema

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

// Texts binds a list of at most items texts with at most characters each: an array of texts; on pages the repeated
// field, or its lines; for an agent and in a cell its lines. Empty ones are dropped.
func (f *Form) Texts(p *[]string, name, about string, items, characters int, opts ...Opt) bool {
	as := Arg{Name: name, About: about, Kind: ListKind, Most: items, Many: true}
	if f.surface == Tool { // every argument is a single value there
		as = Arg{Name: name, About: about + "; one a line", Kind: TextKind, Many: true}
	}
	a, v, ok := f.add(as, opts)
	if !ok {
		return false
	}
	texts, ok := f.texts(a, v)
	if !ok {
		return false
	}
	kept := make([]string, 0, len(texts))
	for i, t := range texts {
		if t = strings.TrimSpace(t); t == "" {
			continue
		}
		if err := CheckText(f.shown(a)+" "+strconv.Itoa(i+1), t, characters); err != nil {
			f.refuseErr(a, err)
			return false
		}
		kept = append(kept, t)
	}
	switch {
	case len(kept) > items:
		f.refuse(a, " has %d items; at most %d are allowed", len(kept), items)
		return false
	case len(kept) == 0 && a.Required:
		f.refuse(a, " is empty: %s is needed", f.wants(a))
		return false
	}
	*p = kept
	return true
}

func (f *Form) texts(a Arg, v value) (texts []string, ok bool) {
	switch f.surface {
	case Command:
		return f.in.Values[f.field(a)], true
	case Page:
		for _, t := range f.in.Values[f.field(a)] {
			texts = append(texts, strings.Split(strings.ReplaceAll(t, "\r\n", "\n"), "\n")...)
		}
		return texts, true
	case Tool:
		text, ok := f.textOf(a, v)
		// unambiguous
		if list, err := strict.Parse([]byte(text), maxDepth); err == nil && list.Kind() == strict.Array {
			for _, item := range list.Items {
				texts = append(texts, item.Text())
				ok = ok && item.Kind() == strict.String
			}
			if ok {
				return texts, true
			}
		}
		return strings.Split(text, "\n"), ok
	}
	if v.isText {
		return strings.Split(v.text, "\n"), true
	}
	if v.json.Kind() != strict.Array {
		f.wrongType(a, v)
		return nil, false
	}
	for _, item := range v.json.Items {
		if item.Kind() != strict.String {
			f.refuse(a, " holds %s; it takes %s", item.Kind(), f.wants(a))
			return nil, false
		}
		texts = append(texts, item.Text())
	}
	return texts, true
}

// IDs binds a list of at most items ids: an array of whole numbers; on pages and at the command line the repeated
// argument. A repeated id counts once.
func (f *Form) IDs(p *[]int64, name, about string, items int, opts ...Opt) bool {
	a, v, ok := f.add(Arg{Name: name, About: about, Kind: ListKind, IDs: true, Most: items}, opts)
	if !ok {
		return false
	}
	var ids []int64
	add := func(n int64, ok bool) bool {
		if ok && (a.duplicates || !slices.Contains(ids, n)) {
			ids = append(ids, n)
		}
		return ok
	}
	switch {
	case f.surface == Command || f.surface == Page:
		for _, t := range f.in.Values[f.field(a)] {
			if t = strings.TrimSpace(t); t != "" && !add(f.id(a, t)) {
				return false
			}
		}
	case v.isText || v.json.Kind() != strict.Array:
		f.wrongType(a, v)
		return false
	default:
		for _, item := range v.json.Items {
			if !add(f.number(a, value{json: item}, 0)) {
				return false
			}
		}
	}
	switch {
	case len(ids) > items:
		f.refuse(a, " has %d items; at most %d are allowed", len(ids), items)
		return false
	case len(ids) == 0 && a.Required:
		f.refuse(a, " is empty: %s is needed", f.wants(a))
		return false
	}
	*p = ids
	return true
}

// Objects binds a list of at most items objects. record binds the fields of one and is called for each: on pages
// lines.0.sku, lines.0.qty, lines.1.sku ..., at the command line the repeated argument, parsed by Written. It reports
// whether the call has the list.
func (f *Form) Objects(name, about string, items int, record func(f *Form), opts ...Opt) bool {
	described := &Form{describing: true, surface: f.surface}
	if f.describing {
		record(described)
	}
	a := Arg{Name: name, About: about, Kind: TableKind, Most: items, Fields: described.args}
	for _, o := range opts {
		o(&a)
	}
	f.args = append(f.args, a)
	if f.describing {
		return false
	}
	before := len(f.refused)
	inputs, given := f.objects(a)
	switch {
	case a.Required && len(inputs) == 0 && f.surface == Page && a.Marked != "":
		f.refuse(a, " is missing: mark at least one row.")
		return false
	case a.Required && len(inputs) == 0 && len(f.refused) == before:
		f.refuse(a, " is missing: %s is needed", f.wants(a))
		return false
	case len(inputs) > items:
		f.refuse(a, " has %d items; at most %d are allowed", len(inputs), items)
		return false
	}
	for i, in := range inputs {
		if f.surface != Page {
			in.Place = i
		}
		one := &Form{surface: f.surface, in: in}
		record(one)
		f.adopt(a, in.Place, one)
	}
	return given
}

// Place is a record's place in its list, as it was sent: a form may have empty lines before it.
func (f *Form) Place() int { return f.in.Place }

// adopt takes over the refusals of the i-th record.
func (f *Form) adopt(a Arg, i int, one *Form) {
	if err := one.finish(); err != nil {
		e, refused := fault.As(err)
		if !refused {
			f.failure = err
			return
		}
		at := f.field(a) + "." + strconv.Itoa(i)
		if len(e.Fields) == 0 {
			f.refused = append(f.refused, fault.Field{Field: at, Detail: at + ": " + e.Detail})
		}
		for _, x := range e.Fields {
			f.refused = append(f.refused, fault.Field{Field: at + "." + x.Field, Detail: at + "." + x.Detail})
		}
	}
}

// objects returns the input of each record.
func (f *Form) objects(a Arg) (inputs []Input, given bool) {
	switch f.surface {
	case Page:
		places, records := f.records(a)
		for i, record := range records {
			in := f.in
			in.Values, in.Files, in.Place = record, nil, places[i]
			inputs = append(inputs, in)
		}
		return inputs, len(inputs) > 0
	case Command:
		texts, given := f.in.Values[a.Name]
		for _, t := range texts {
			in := f.in
			in.Surface = Command
			cells, err := a.parse(t)
			if err != nil {
				f.refuseErr(a, err)
				continue
			}
			in.Values = map[string][]string{}
			for k, v := range cells {
				in.Values[k] = []string{v}
			}
			inputs = append(inputs, in)
		}
		return inputs, given
	}
	v, ok := f.find(a.Name)
	if !ok {
		return nil, false
	}
	if v.isText || v.json.Kind() != strict.Array {
		f.wrongType(a, v)
		return nil, false
	}
	for _, item := range v.json.Items {
		if item.Kind() != strict.Object {
			f.refuse(a, " holds %s; it takes %s", item.Kind(), f.wants(a))
			return nil, true
		}
		in := f.in
		in.Body, in.HasBody, in.Query = item, true, nil
		inputs = append(inputs, in)
	}
	return inputs, true
}

// Marked leaves out the rows of a page's table whose box, the field, is not ticked, whatever stands in them.
func Marked(field string) Opt { return func(a *Arg) { a.Marked = field } }

// records returns a page's fields NAME.N.FIELD, by N, without empty and unmarked records.
func (f *Form) records(a Arg) (places []int, records []map[string][]string) {
	byNumber := map[int]map[string][]string{}
	for name, values := range f.in.Values {
		rest, ok := strings.CutPrefix(name, f.field(a)+".")
		number, field, ok2 := strings.Cut(rest, ".")
		n, err := strconv.Atoi(number)
		if !ok || !ok2 || err != nil || n < 0 {
			continue
		}
		if byNumber[n] == nil {
			byNumber[n] = map[string][]string{}
		}
		byNumber[n][field] = values
	}
	for _, n := range slices.Sorted(mapsKeys(byNumber)) {
		filled := false
		for _, values := range byNumber[n] {
			filled = filled || strings.TrimSpace(strings.Join(values, "")) != ""
		}
		if _, marked := byNumber[n][a.Marked]; filled && (marked || a.Marked == "") {
			places, records = append(places, n), append(records, byNumber[n])
		}
	}
	return places, records
}

func mapsKeys[K comparable, V any](m map[K]V) iter.Seq[K] { return maps.Keys(m) }

// File binds an upload, or at the command line the file at a path. most is its largest size in bytes.
func (f *Form) File(p *File, name, about string, most int, opts ...Opt) bool {
	file, found := f.in.Files[name]
	found = found && f.surface == Page && len(file.Data) > 0
	if found { // it is outside the values, which would report it as missing
		opts = append(slices.Clone(opts), func(a *Arg) { a.Required = false })
	}
	a, v, ok := f.add(Arg{Name: name, About: about, Kind: FileKind, Most: most}, opts)
	if f.describing {
		return false
	}
	switch {
	case found:
	case f.surface == Command && len(f.refused) > 0: // wrong usage is refused before a file is opened
		return false
	case ok && f.surface == Command && f.in.ReadFile != nil:
		var err error
		if file, err = f.in.ReadFile(v.text); err != nil {
			if f.failure == nil {
				f.failure = err
			}
			return false
		}
	default:
		return false
	}
	if len(file.Data) > most {
		f.refuse(a, ": %s is too large; at most %d bytes are allowed", Quote(file.Name), most)
		return false
	}
	*p = file
	return true
}

// FileField is the name of the n-th of several files of a field, from 0.
func FileField(name string, n int) string {
	if n == 0 {
		return name
	}
	return name + "." + strconv.Itoa(n)
}

// Files binds uploads: at the command line the files at the paths, on a page the chosen files, elsewhere one. most is
// the largest size of each in bytes.
func (f *Form) Files(p *[]File, name, about string, most int, opts ...Opt) bool {
	if f.surface != Command {
		var one File
		ok := f.File(&one, name, about, most, append(slices.Clone(opts), func(a *Arg) { a.Many = true })...)
		*p = []File{one}
		for n := 1; ok && f.surface == Page; n++ {
			next, more := f.in.Files[FileField(name, n)]
			if !more {
				break
			}
			*p = append(*p, next)
		}
		return ok
	}
	var paths []string
	if !f.Texts(&paths, name, about, 100, 4096, opts...) || f.describing || len(f.refused) > 0 || f.in.ReadFile == nil {
		return false
	}
	for _, path := range paths {
		file, err := f.in.ReadFile(path)
		switch {
		case err != nil:
			f.failure = err
			return false
		case len(file.Data) > most:
			f.Refuse(name, "%s: %s is too large; at most %d bytes are allowed", name, Quote(file.Name), most)
			return false
		}
		*p = append(*p, file)
	}
	return true
}

// Map is what a function makes of each of a list.
func Map[T, R any](list []T, of func(T) R) []R {
	all := make([]R, len(list))
	for i, one := range list {
		all[i] = of(one)
	}
	return all
}

// Or is what p points to; otherwise, if it is nil, the other.
func Or[T any](p *T, other T) T {
	if p == nil {
		return other
	}
	return *p
}
