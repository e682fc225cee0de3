package table

import (
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/fault"
)

// Look is the first preview of a file.
type Look struct {
	Found
	Lines   int        // rows below the header
	Samples [][]string // by column its first three non-empty values
	Means   []string   // by column our column that it probably means; "" for none
	Targets []Target   // the possible meanings of a column
}

// Target is one of our columns that a file's column may mean. An amount in cents can also be given in currency units,
// by its stem.
type Target struct {
	Name     string
	About    string
	Required bool
	Units    bool
}

// Targets are the possible meanings of a file's columns for the table.
func Targets(t schema.Table) []Target {
	var all []Target
	columns := t.Columns()
	for _, c := range columns {
		if s := stem(c.Name); s != "" {
			if _, units, _ := ours(columns, s); units {
				all = append(all, Target{Name: s, About: c.About, Units: true, Required: c.Required})
			}
		}
		all = append(all, Target{Name: c.Name, About: c.About, Required: c.Required})
	}
	return all
}

// LookAt detects the file's format and shows its columns. An unknown header is not refused here: it must be mapped.
func LookAt(t schema.Table, f *File, r Reading) (Look, error) {
	out := &reader{}
	known := wanted(t, Reading{Map: r.Map, From: r.From})
	plain := Reading{Delimiter: r.Delimiter, Encoding: r.Encoding, Sheet: r.Sheet, HeaderLine: r.HeaderLine}
	if err := out.start(f, t, plain, known); err != nil {
		return Look{}, err
	}
	look := Look{Found: out.found, Targets: Targets(t)}
	look.Samples = make([][]string, len(look.Columns))
	look.Means = make([]string, len(look.Columns))
	for {
		rec, more, err := out.src.next()
		if err != nil {
			return Look{}, err
		}
		if !more {
			break
		}
		look.Lines++
		for i := range min(len(rec.cells), len(look.Columns)) {
			if cell := strings.TrimSpace(rec.cells[i]); cell != "" && len(look.Samples[i]) < 3 {
				look.Samples[i] = append(look.Samples[i], strings.Clone(cell))
			}
		}
	}
	if p := programOf(t, r, look.Columns); p != nil {
		look.Program = p.name
	} else {
		look.Means = meanings(t, r, look)
	}
	if t.Secret {
		look.mask(t)
	}
	return look, nil
}

// mask hides the values of each column except those that mean a column without secrets.
func (l *Look) mask(t schema.Table) {
	for i, means := range l.Means {
		if c, _, known := ours(t.Columns(), means); known && !c.Secret {
			continue
		}
		for n, cell := range l.Samples[i] {
			l.Samples[i][n] = masked(cell)
		}
	}
}

// meanings are the meaning of each column by the mapping, or the probable one without.
func meanings(t schema.Table, r Reading, look Look) []string {
	all := make([]string, len(look.Columns))
	columns := t.Columns()
	for i, name := range look.Columns {
		if at := slices.IndexFunc(r.Map, func(p Pair) bool { return p.Name == name }); at >= 0 {
			all[i] = r.Map[at].Means
		} else if c, _, ok := ours(columns, name); ok && c.Name == name && len(r.Map) == 0 {
			all[i] = name
		}
	}
	if len(r.Map) > 0 {
		return all
	}
	taken := map[string]bool{}
	for _, name := range all {
		taken[name] = true
	}
	for i, name := range look.Columns {
		means := likely(look.Targets, name)
		if outlets(look.Columns) > 1 && strings.HasPrefix(plainName(name), ofOutlet) {
			continue
		}
		if all[i] == "" && name != "" && !taken[means] {
			c, _, _ := ours(columns, means)
			if !taken[c.Name] {
				all[i], taken[means], taken[c.Name] = means, true, true
			}
		}
	}
	return all
}

// Theirs is the file's name of our column; "" if it has none.
func (l Look) Theirs(column string) string {
	for i, means := range l.Means {
		if means != "" && (means == column || means == stem(column)) {
			return l.Columns[i]
		}
	}
	return ""
}

// Missing are the required columns that no column of the file means.
func (l Look) Missing(set []Pair) (names []string) {
	for _, t := range l.Targets {
		given := slices.ContainsFunc(set, func(p Pair) bool { return p.Name == t.Name })
		if t.Required && !t.Units && !given && l.Program == "" && l.Theirs(t.Name) == "" {
			names = append(names, t.Name)
		}
	}
	return names
}

// Own reports whether the meanings are the columns' own names, none of an amount in units.
func (l Look) Own(means []string) bool {
	return slices.Equal(l.Columns, means) && !slices.ContainsFunc(l.Targets, func(t Target) bool {
		return t.Units && slices.Contains(means, t.Name)
	})
}

// Suggested is the mapping that the column names suggest; nil if they are the table's own.
func (l Look) Suggested() (pairs []Pair) {
	if l.Program != "" || l.Own(l.Means) {
		return nil
	}
	for i, means := range l.Means {
		if means != "" && slices.Index(l.Columns, l.Columns[i]) == i {
			pairs = append(pairs, Pair{Name: l.Columns[i], Means: means})
		}
	}
	return pairs
}

// What a file is by its first bytes; "" is what may be a table of separated cells.
const (
	workbookFile    = "workbook" // a ZIP archive, such as XLSX; an empty archive has other bytes
	oldWorkbookFile = "old workbook"
	jsonFile        = "JSON"
)

var starts = map[string]string{
	"PK\x03\x04": workbookFile, "PK\x05\x06": workbookFile, "PK\x07\x08": workbookFile,
	"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": oldWorkbookFile, // of spreadsheets before XLSX
	"%PDF-":                            "PDF", "\x89PNG": "picture", "\xff\xd8\xff": "picture", "GIF8": "picture", "RIFF": "picture",
	"SQLite f": "database",
}

func (f *File) kind() string {
	head := make([]byte, 512)
	n, _ := f.at.ReadAt(head, 0) // an unreadable file fails when it is opened
	text := string(head[:n])
	for start, kind := range starts {
		if strings.HasPrefix(text, start) {
			return kind
		}
	}
	text = strings.TrimSpace(strings.TrimPrefix(text, string(utf8Mark)))
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return jsonFile
	}
	return ""
}

// start opens the file and finds its header. The table of licenses takes answers of other programs' APIs.
func (r *reader) start(f *File, t schema.Table, how Reading, known func(string) bool) (err error) {
	switch kind := f.kind(); {
	case kind == workbookFile:
		r.src, err = openWorkbook(f, how, &r.found)
		r.whole = true
	case kind == jsonFile && t.Name == "licenses":
		r.whole = true
		r.src, err = openJSON(f, &r.found)
		return err
	case kind == oldWorkbookFile:
		err = fault.Invalidf("the file is an old Excel workbook (XLS); save it as XLSX or CSV")
	case kind != "" && kind != jsonFile:
		err = fault.Invalidf("the file is a %s, not a table; choose a CSV or XLSX file", kind)
	default:
		r.src, err = openDelimited(f, how, known, &r.found)
	}
	if err == nil {
		err = r.header(t, how.HeaderLine, known)
	}
	return err
}
