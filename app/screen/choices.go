package screen

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
	"quartermaster/schema/words"
)

// choices are the records that the argument may name and the visitor may see.
func (x *exchange) choices(a schema.Arg, f schema.Find) ([]schema.Choice, error) {
	return read(x, func(c *db.Conn) ([]schema.Choice, error) { return a.Choose(c, x.who(), f) })
}

// choicesPage answers GET /choices: the suggestions that match q, for a field of a form or of a page's
// filters.
func choicesPage(x *exchange) error {
	if done, err := x.admit(); done || err != nil {
		return err
	}
	q := x.r.URL.Query()
	args, err := x.chosenFrom(q.Get("op"), q.Get("page"))
	if err != nil {
		return err
	}
	a, found := fieldNamed(args, q.Get("field"))
	if !found || !a.HasChoices() {
		return fault.NotFoundf("there is no such field to choose in")
	}
	list, err := x.choices(a, schema.Find{Words: q.Get("q"), Most: schema.MostChoices})
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, c := range list {
		page.Suggested(&b, c)
	}
	x.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	x.w.WriteHeader(http.StatusOK)
	_, err = x.w.Write([]byte(b.String()))
	return err
}

// chosenFrom are the arguments of the operation, or of the page, if the visitor may see its form.
func (x *exchange) chosenFrom(op, pattern string) ([]schema.Arg, error) {
	if o, found := x.s.ops[page.Staff][op]; found {
		return o.Args(schema.Page), x.mayDo(o)
	}
	for _, p := range x.s.pages {
		if p.Path == pattern && p.Area == page.Staff && pattern != "" {
			return p.Args(), x.needs(orViewer(p.Role), p.Title)
		}
	}
	return nil, fault.NotFoundf("there is no such form")
}

// fieldNamed is the argument of the field; lines.3.sku belongs to a list.
func fieldNamed(args []schema.Arg, field string) (schema.Arg, bool) {
	for _, a := range args {
		if schema.PageField(a.Name) == field {
			return a, true
		}
		rest, within := strings.CutPrefix(field, a.Name+".")
		if _, name, listed := strings.Cut(rest, "."); within && listed {
			return fieldNamed(a.Fields, name)
		}
	}
	return schema.Arg{}, false
}

// choose replaces typed texts in fields with suggestions by the values that they name. An ambiguous text is refused,
// with the possible records.
func (x *exchange) choose(op schema.Op, in *sent, v *doView) error {
	args := op.Args(schema.Page)
	chosen := maps.Clone(in.fields)
	var refused []fault.Field
	for field, values := range in.fields {
		a, found := fieldNamed(args, field)
		if !found || !a.HasChoices() || a.Kind == schema.ListKind || len(values) != 1 || values[0] == "" {
			continue
		}
		value, several, err := x.meant(a, values[0], chosen)
		if err != nil {
			return err
		}
		if len(several) > 0 {
			v.offer(field, several...)
			refused = append(refused, fault.Field{Field: field, Detail: "Several match " + schema.Quote(values[0]) +
				". Choose one."})
			continue
		}
		if other, own, parts := strings.Cut(value, "\t"); parts && a.PartOf != "" {
			chosen[a.PartOf], value = []string{other}, own
		}
		chosen[field] = []string{value}
	}
	in.fields = chosen
	if len(refused) > 0 {
		slices.SortFunc(refused, func(a, b fault.Field) int { return cmp.Compare(a.Field, b.Field) })
		e := fault.Invalidf("%s", refused[0].Detail)
		e.Fields = refused
		return e
	}
	return nil
}

func (v *doView) offer(field string, choices ...schema.Choice) {
	if v.offered == nil {
		v.offered = map[string][]schema.Choice{}
	}
	v.offered[field] = append(v.offered[field], choices...)
}

// meant is the value of a text: an existing value, or a choice's name. An unknown text stays, for the operation to
// refuse; several are the possible ones.
func (x *exchange) meant(a schema.Arg, text string, fields url.Values) (value string, several []schema.Choice,
	err error) {
	if a.PartOf != "" && fields.Get(a.PartOf) != "" && !strings.Contains(text, "\t") || a.Any {
		return text, nil, nil
	}
	list, err := x.choices(a, schema.Find{Value: text, Most: 1})
	if err != nil || len(list) > 0 {
		return text, nil, err
	}
	if a.Kind == schema.IntKind && strings.Trim(text, "#0123456789") == "" {
		return text, nil, nil // a number is no name
	}
	if a.Named() { // it may be the name of one record, or its number
		_, err := read(x, func(c *db.Conn) (int64, error) { return a.Find(c, text) })
		if _, refused := fault.As(err); !refused {
			return text, nil, err
		}
	}
	all, err := x.choices(a, schema.Find{Most: schema.MostChoices + 1})
	if err != nil {
		return text, nil, err
	}
	if list = all; len(all) > schema.MostChoices {
		list, err = x.choices(a, schema.Find{Words: text, Most: schema.MostChoices + 1})
	}
	same := slices.DeleteFunc(slices.Clone(list), func(c schema.Choice) bool {
		return words.Fold(c.Text) != words.Fold(text) && words.Fold(c.Whole()) != words.Fold(text)
	})
	if len(same) > 0 {
		list = same
	}
	switch {
	// a select is not typed
	case err != nil || len(list) == 0 || len(same) == 0 && len(all) <= schema.MostChoices:
		return text, nil, err
	case len(list) == 1:
		return list[0].Value, nil, nil
	}
	return "", list[:min(len(list), schema.MostChoices)], nil
}

// chosen replaces the names in a page's filters.
func (x *exchange) chosen(args []schema.Arg, values url.Values) error {
	for _, a := range args {
		field := schema.PageField(a.Name)
		if !a.HasChoices() || a.Path != "" || values.Get(field) == "" {
			continue
		}
		value, several, err := x.meant(a, values.Get(field), values)
		if err != nil {
			return err
		}
		if several == nil {
			values.Set(field, value)
		}
	}
	return nil
}

// leave keeps a form while a record that it names is made, and redirects to that record's New form.
func (x *exchange) leave(op schema.Op, in *sent) error {
	a, found := fieldNamed(op.Args(schema.Page), in.fresh)
	if !found || a.New == "" {
		return fault.NotFoundf("there is no such form")
	}
	here := x.doOf() + op.Name
	typed := x.unknown(a, in.fields.Get(in.fresh))
	back := url.Values{"into": {in.fresh}}
	if typed != "" {
		back.Set("typed", typed)
	}
	if err := x.keepFiles(op, in); err != nil {
		return err
	}
	all := in.all()
	for field, token := range in.waits {
		all.Set(waitsPrefix+field, token)
	}
	if name := x.s.drafts.keep(x.owner(), here, all, x.s.DB.Now(), true); name != "" {
		back.Set("draft", name)
	}
	next := url.Values{"then": {here + "?" + back.Encode()}}
	x.carry(a, typed, next)
	if part := in.fields.Get(a.PartOf); a.PartOf != "" && part != "" {
		next.Set(a.PartOf, part)
	}
	return x.lead(x.doOf() + a.New + "?" + next.Encode())
}

// chooseOnly chooses the one record there is for an empty field that was refused.
func (x *exchange) chooseOnly(v *doView) {
	for _, f := range v.refusal.Fields {
		a, found := fieldNamed(v.op.Args(schema.Page), f.Field)
		if !found || v.given == nil || v.given.Get(f.Field) != "" || a.New == "" || a.PartOf != "" {
			continue
		}
		if list, err := x.choices(a, schema.Find{Most: 2}); err == nil && len(list) == 1 {
			v.given.Set(f.Field, list[0].Value)
		}
	}
}

// unknown is the first of the typed texts that names no record: the missing one. "" if there is none.
func (x *exchange) unknown(a schema.Arg, typed string) string {
	texts := []string{typed}
	if a.Apart != "" {
		texts = strings.Split(typed, a.Apart)
	}
	for _, text := range texts {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if list, err := x.choices(a, schema.Find{Value: text, Most: 1}); err == nil && len(list) == 0 {
			return text
		}
	}
	return ""
}

// without is a field of several texts without one of them.
func without(values []string, sign, one string) []string {
	return slices.DeleteFunc(strings.Split(strings.Join(values, sign), sign), func(text string) bool {
		return strings.TrimSpace(text) == one
	})
}

// carry begins the form of the missing record with the text that was typed for it.
func (x *exchange) carry(a schema.Arg, typed string, next url.Values) {
	if makes, found := x.s.ops[x.route.area][a.New]; found && typed != "" && len(makes.Keys) > 0 {
		next.Set(schema.PageField(makes.Keys[0]), typed)
	}
}

// bring adds the new record to the address of the waiting form.
func (x *exchange) bring(op schema.Op, in *sent, answer any, to string) string {
	u, err := url.Parse(to)
	if err != nil || !strings.HasPrefix(u.Path, x.doOf()) || u.Query().Get("into") == "" {
		return to
	}
	waiting := x.s.ops[x.route.area][strings.TrimPrefix(u.Path, x.doOf())]
	q := u.Query()
	field := q.Get("into")
	a, found := fieldNamed(waiting.Args(schema.Page), field)
	if !found || a.New != op.Name {
		return to
	}
	keys := schema.Map(op.Keys, func(key string) string { return in.fields.Get(schema.PageField(key)) })
	value := strings.TrimSpace(strings.Join(keys, " "))
	led := ""
	if op.Leads != nil {
		led = op.Leads(answer)[strings.LastIndexByte(op.Leads(answer), '/')+1:]
	}
	if value = cmp.Or(value, in.fields.Get("name")); a.PartOf != "" {
		value = strings.Join(keys, "\t")
	} else if _, err := strconv.ParseInt(led, 10, 64); a.Kind == schema.IntKind && err == nil {
		value = led
	} else if list, err := x.choices(a, schema.Find{Words: value, Most: 2}); err == nil && len(list) == 1 {
		value = list[0].Value
	}
	q.Del("into")
	q.Set(field, value)
	u.RawQuery = q.Encode()
	return u.String()
}
