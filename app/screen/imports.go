package screen

import (
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"quartermaster/app/table"
	"quartermaster/schema"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
	"quartermaster/schema/wire"
)

// importView is the page of an import: the choice of a file, or its preview.
type importView struct {
	table    schema.Table
	file     table.Waiting
	look     table.Look
	reading  table.Reading
	out      table.Outcome
	programs []string
	add      bool
	emit     bool
	query    url.Values
	refusal  *fault.Error
	key      string
	unknown  []chooser
	events   []schema.Event
	tables   []schema.Table // of the service
	names    map[int]string // of the changed rows that are shown, by line
}

// mostChanged is the number of changed rows that a preview shows.
const mostChanged = 100

// elsewhere is the other table that a file of another program is for.
func (v importView) elsewhere() (title string, t schema.Table, found bool) {
	title, t, found = table.Elsewhere(v.look.Columns, v.tables)
	return title, t, found && t.Name != v.table.Name
}

// tableWords is a table's name as people write it.
func tableWords(name string) string {
	if name == "skus" {
		return "SKUs"
	}
	return strings.ReplaceAll(strings.TrimPrefix(name, "pm-"), "-", " ")
}

// sends says how many messages receivers would get of an event, and what the event is.
func (v importView) sends(name string) string {
	text := "It would send " + page.Plural(v.out.Events[name], "message", "messages") + " to receivers of webhooks"
	if at := slices.IndexFunc(v.events, func(e schema.Event) bool { return e.Name == name }); at >= 0 {
		about, _, _ := strings.Cut(v.events[at].About, ". ")
		text += ": " + strings.TrimSuffix(about, ".")
	}
	return text + "."
}

// importPage answers GET /import/:table: the form, or the preview of an uploaded file. It writes nothing.
func importPage(x *exchange) error {
	t, done, err := x.importing()
	if done || err != nil {
		return err
	}
	if done, err := x.toSecrets(t, nil); done || err != nil {
		return err
	}
	v := importView{table: t, programs: table.ProgramsFor(t), query: x.r.URL.Query(), key: newKey(),
		events: x.s.Service.Events, tables: x.s.tablesFor(x.who())}
	if job, err := strconv.ParseInt(v.query.Get("job"), 10, 64); err == nil {
		return x.runPage(t, job)
	}
	if v.query.Get("file") != "" {
		if err := x.preview(&v); err != nil {
			if v.refusal = x.faultOf(err); v.refusal.Kind != fault.Invalid || v.look.Columns == nil && v.file.File == nil {
				return err
			}
		}
		if v.refusal == nil && v.query.Get("format") == "refused" {
			return x.refusedRows(t, v.file.File, v.reading, v.out.Errors)
		}
	}
	return x.showImport(http.StatusOK, v)
}

func (x *exchange) showImport(status int, v importView) error {
	if v.refusal != nil {
		status = wire.Status(v.refusal.Kind)
	}
	return x.showInFrame(status, "Import "+tableWords(v.table.Name), false, importForm(v))
}

// importing checks the visitor's permission and finds the table.
func (x *exchange) importing() (t schema.Table, done bool, err error) {
	if t, err = x.s.table(x.path["table"]); err != nil {
		return t, false, err
	}
	if x.visitor != nil {
		if err := x.needs(page.Member, "import"); err != nil {
			return t, false, err
		}
	}
	done, err = x.admit()
	return t, done, err
}

// preview reads the file with the address's options and tries it.
func (x *exchange) preview(v *importView) (err error) {
	ctx, who := x.r.Context(), x.who()
	store := table.NewStore(x.s.DB)
	if v.file, err = store.Find(ctx, who, v.query.Get("file")); err != nil {
		return err
	}
	if v.file.Service != who.Service || v.file.Table != v.table.Name {
		return fault.NotFoundf("the file was chosen for another table; choose it again")
	}
	v.reading = readingOf(v.query, table.Look{})
	if v.look, err = table.LookAt(v.table, v.file.File, v.reading); err != nil {
		return err
	}
	how, known := readingOf(v.query, v.look), v.query.Has("read")
	if !known {
		if how, known, err = store.Suggest(ctx, who.Service, v.table.Name, v.look.Columns); err != nil {
			return err
		}
	}
	if v.reading.Map = v.look.Suggested(); known {
		v.reading = how
		if v.look, err = table.LookAt(v.table, v.file.File, how); err != nil {
			return err
		}
	}
	v.add, v.emit = v.query.Get("add") == "true", v.query.Get("emit") == "true"
	missing := v.look.Missing(v.reading.Set)
	for i, name := range missing {
		missing[i] = columnWords(name)
	}
	if len(missing) > 0 {
		return fault.Fieldf("map", "choose below which column means %s, then press Preview again",
			strings.Join(missing, ", "))
	}
	if v.out, err = store.Try(ctx, who, v.table, v.file, v.options(true)); err != nil {
		return err
	}
	if v.unknown, err = x.choosers(v.out); err != nil {
		return err
	}
	v.out.Changes = v.out.Changes[:min(len(v.out.Changes), mostChanged)]
	lines := schema.Map(v.out.Changes, func(c schema.LineChange) int { return c.Line })
	v.names, err = table.NamesOf(v.table, v.file.File, v.reading, lines)
	return err
}

func (v *importView) options(dry bool) table.Options {
	return table.Options{LoadOptions: schema.LoadOptions{Add: v.add, Emit: v.emit, DryRun: dry}, Reading: v.reading}
}

// readingOf are the address's options for the file; columns are the file's, which map.0, map.1 ... name by index.
func readingOf(q url.Values, look table.Look) table.Reading {
	last := func(name string) string {
		if v := q[name]; len(v) > 0 {
			return strings.TrimSpace(v[len(v)-1])
		}
		return ""
	}
	r := table.Reading{
		Delimiter: last("delimiter"), Encoding: last("encoding"), Sheet: last("sheet"), DateFormat: last("date_format"),
		Decimal: last("decimal"), Returns: last("returns"), From: last("from"),
	}
	if last("decimal_comma") == "true" && r.Decimal == "" {
		r.Decimal = "comma"
	}
	r.HeaderLine, _ = strconv.Atoi(last("header_line")) // anything else: detected
	for i := range 8 {
		if name, value := last("set."+strconv.Itoa(i)+".name"), last("set."+strconv.Itoa(i)+".value"); name != "" {
			r.Set = append(r.Set, table.Pair{Name: name, Means: value})
		}
	}
	if r.From != "" && r.From != "none" {
		return r // a chosen mapping has all columns
	}
	all := make([]string, len(look.Columns))
	for i, name := range look.Columns {
		if all[i] = last("map." + strconv.Itoa(i)); all[i] != "" {
			r.Map = append(r.Map, table.Pair{Name: name, Means: all[i]})
		}
	}
	if look.Own(all) {
		r.Map = nil // as the header says
	}
	return r
}

// refusedRows answers with the refused rows as a file, with the reasons.
func (x *exchange) refusedRows(t schema.Table, f *table.File, how table.Reading, refused []schema.Refused) error {
	return x.stream(t.Name+"-refused.csv", "text/csv; charset=utf-8", func(w io.Writer) error {
		_, err := table.WriteRefused(t, f, how, refused, w)
		return err
	})
}

// importPost answers POST /import/:table: a chosen file is stored for its preview; a stored one is imported.
func importPost(x *exchange) error {
	t, done, err := x.importing()
	if done || err != nil {
		return err
	}
	in, err := x.receive(mostImport + mostForm)
	if err != nil {
		return err
	}
	if _, done, err := x.importing(); done || err != nil { // access may have been revoked meanwhile
		return err
	}
	if done, err := x.toSecrets(t, in); done || err != nil {
		return err
	}
	if in.then != "" { // the password was typed for a page
		return x.lead(x.ours(in.then))
	}
	if in.fields.Get("leave") != "" {
		if err := table.NewStore(x.s.DB).Leave(x.r.Context(), x.who(), x.s.Service.Name, t.Name); err != nil {
			return err
		}
		return x.lead("/import/" + queryEscape(t.Name))
	}
	if err := in.fileTooLarge(); err != nil {
		return x.showImport(0, importView{table: t, programs: table.ProgramsFor(t), refusal: x.faultOf(err)})
	}
	if in.fields.Get("file") != "" {
		return x.load(t, in)
	}
	file, ok := in.files["file"]
	if !ok {
		return x.showImport(0, importView{table: t, programs: table.ProgramsFor(t),
			refusal: fault.Fieldf("file", "file: choose a CSV or XLSX file")})
	}
	token, err := table.NewStore(x.s.DB).Keep(x.r.Context(), x.who(), x.s.Service.Name, t, file.Name, file.Data)
	if err != nil {
		e := x.faultOf(err)
		if e.Kind == fault.Internal {
			return err
		}
		return x.showImport(0, importView{table: t, programs: table.ProgramsFor(t), refusal: e})
	}
	q := url.Values{"file": {token}}
	if from := in.fields.Get("from"); from != "" {
		q.Set("from", from)
		q.Set("read", "yes")
	}
	return x.lead("/import/" + queryEscape(t.Name) + "?" + q.Encode())
}

// asked are the file's options as fields: those of the address, with the mapping written out.
func (v importView) asked() [][2]string {
	var all [][2]string
	add := func(name, value string) {
		if value != "" {
			all = append(all, [2]string{name, value})
		}
	}
	r := v.reading
	for _, f := range [][2]string{{"file", v.file.Token}, {"delimiter", r.Delimiter}, {"encoding", r.Encoding},
		{"sheet", r.Sheet}, {"date_format", r.DateFormat}, {"decimal", r.Decimal}, {"header_line", v.headerLine()},
		{"returns", r.Returns}, {"from", r.From}} {
		add(f[0], f[1])
	}
	for i := range v.look.Columns {
		if v.look.Program == "" {
			add("map."+strconv.Itoa(i), v.look.Means[i])
		}
	}
	for i, p := range r.Set {
		add("set."+strconv.Itoa(i)+".name", p.Name)
		add("set."+strconv.Itoa(i)+".value", p.Means)
	}
	if v.add {
		add("add", "true")
	}
	if v.emit {
		add("emit", "true")
	}
	return all
}

// refusedPath is the address of the refused rows as a file.
func (v importView) refusedPath() string {
	return v.waitsAt(url.Values{"format": {"refused"}})
}

// waitsAt is the address of the preview, with more in its query.
func (v importView) waitsAt(q url.Values) string {
	all := url.Values{"read": {"yes"}}
	maps.Copy(all, q)
	for _, f := range v.asked() {
		all.Set(f[0], f[1])
	}
	return "/import/" + queryEscape(v.table.Name) + "?" + all.Encode()
}

// follows reports whether the file lacks the column whose value its preview asks for.
func (v importView) follows() bool {
	return v.out.Follows.Column != "" && !slices.Contains(v.out.Columns, v.out.Follows.Column)
}

// followValues are the values that this column takes; nil for a day.
func (v importView) followValues() []string {
	for _, a := range v.table.Columns() {
		if a.Name == v.out.Follows.Column {
			return a.Enum
		}
	}
	return nil
}

// nextSet is the name of the next column with a value for all rows.
func (v importView) nextSet() string { return "set." + strconv.Itoa(len(v.reading.Set)) }

// found describes the file's detected format.
func (v importView) found() table.Found {
	if v.out.Found.Format == "" {
		return v.look.Found
	}
	return v.out.Found
}

// asks reports whether the refusal concerns a field.
func (v importView) asks(field string) bool {
	return v.refusal != nil && slices.ContainsFunc(v.refusal.Fields, func(f fault.Field) bool { return f.Field == field })
}

func (v importView) headerLine() string {
	if v.reading.HeaderLine == 0 {
		return ""
	}
	return strconv.Itoa(v.reading.HeaderLine)
}

func (v importView) takes(option string) bool { return slices.Contains(v.table.Options, option) }

// sells reports whether the file is of sold quantities, which can be returns.
func (v importView) sells() bool {
	return slices.ContainsFunc(v.look.Targets, func(t table.Target) bool { return t.Name == "qty" })
}

// good is the number of rows that would be written.
func (v importView) good() int { return v.out.New + v.out.Changed }
