package screen

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
	"quartermaster/schema/wire"
)

const (
	mostForm   = 1 << 20
	mostPhoto  = 10 << 20
	mostImport = 16 << 20
)

// sent is a received form: its fields, its files, and its control values.
type sent struct {
	fields   url.Values
	files    map[string]schema.File
	key      string // idempotency_key
	then     string
	turns    bool   // then is the next page of a count, also if nothing was counted on this one
	from     string // the page on which it was refused before
	confirm  bool
	asked    string // the fields that the question covered
	seen     string
	fresh    string     // the field whose record is made first
	password string     // typed again
	marks    page.Marks // the marked rows, if it is a list's
	marked   string     // the field for them
	open     bool       // the form is only opened with them
	alone    bool       // it came from the operation's own page
	written  url.Values // the fields that an Edit form changes; nil is fields
	format   string
	preview  bool              // the form requests a preview
	waits    map[string]string // by field: the token of a file that was uploaded before
	large    string            // the field of a too large file, which was dropped
	largest  int64             // its largest size
	larger   string            // its name
}

// mostOf is the largest size of the operation's form.
func mostOf(op schema.Op) int64 {
	files := slices.ContainsFunc(op.Args(schema.Page), func(a schema.Arg) bool { return a.Kind == schema.FileKind })
	switch {
	case !files:
		return max(mostForm, op.MaxBody)
	case op.MaxBody > mostPhoto:
		return op.MaxBody
	}
	return mostPhoto + mostForm // the other fields beside the photo
}

// receive reads the form of a POST: at most most bytes.
func (x *exchange) receive(most int64) (*sent, error) {
	in := &sent{fields: url.Values{}, files: map[string]schema.File{}}
	kind, params, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	whole := most
	if kind == "multipart/form-data" && most > mostForm {
		whole = 4 * most // read past a too large file, to keep what was typed
	}
	if x.r.ContentLength > whole {
		return nil, tooLarge(most)
	}
	if err := wire.HoldBody(x.r, whole); err != nil {
		return nil, err
	}
	x.r.Body = http.MaxBytesReader(nil, x.r.Body, whole)
	switch {
	case x.r.Header.Get("Content-Type") == "" && x.r.ContentLength == 0:
		err = nil
	case err != nil || kind != "application/x-www-form-urlencoded" && kind != "multipart/form-data":
		return nil, fault.New(fault.Media,
			"a form is sent as application/x-www-form-urlencoded, or as multipart/form-data with a file")
	case kind == "multipart/form-data":
		err = in.readParts(multipart.NewReader(x.r.Body, params["boundary"]), most-mostForm)
	default:
		err = in.readFields(x.r.Body)
	}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, tooLarge(most)
	}
	if err != nil {
		return nil, err
	}
	in.part()
	return in, x.lookAgain()
}

func tooLarge(most int64) error {
	return fault.New(fault.TooLarge, "what was sent is larger than the %d MiB that are accepted here; nothing was "+
		"written", most>>20)
}

func (in *sent) readFields(r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return cutOff(err)
	}
	if in.fields, err = url.ParseQuery(string(b)); err != nil {
		return fault.Malformedf("the form cannot be read: %v", err)
	}
	return nil
}

// readParts reads the fields, together at most the size of a form, and the files, each at most largest bytes: a larger
// one is skipped and reported.
func (in *sent) readParts(r *multipart.Reader, largest int64) error {
	left := int64(mostForm)
	for range mostParts {
		p, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return cutOff(err)
		}
		name, file := p.FormName(), p.FileName() != "" || p.Header.Get("Content-Type") != ""
		most := max(left, 0)
		if file && largest > 0 {
			most = largest
		}
		b, err := io.ReadAll(io.LimitReader(p, most+1))
		if err == nil && int64(len(b)) > most {
			if !file || largest <= 0 {
				return &http.MaxBytesError{Limit: mostForm}
			}
			in.large, in.largest, in.larger, b = name, largest, p.FileName(), nil
			_, err = io.Copy(io.Discard, p)
		}
		if err != nil {
			return cutOff(err)
		}
		if left -= int64(len(name)); !file {
			left -= int64(len(b))
		}
		switch {
		case name == "":
		case p.FileName() == "" && p.Header.Get("Content-Type") == "":
			in.fields.Add(name, string(b))
		case p.FileName() != "" || len(b) > 0:
			in.addFile(name, schema.File{Name: path.Base(strings.ReplaceAll(p.FileName(), `\`, "/")), Data: b})
		}
	}
	return fault.New(fault.TooLarge, "the form has more than the %d fields that are accepted here; nothing was "+
		"written", mostParts)
}

// addFile adds a file; one field may have several.
func (in *sent) addFile(name string, file schema.File) {
	n := 0
	for {
		if _, taken := in.files[schema.FileField(name, n)]; !taken {
			break
		}
		n++
	}
	in.files[schema.FileField(name, n)] = file
}

// mostParts is the largest number of fields and files, each of which takes memory.
const mostParts = 1000

// fileTooLarge refuses the form for a too large file, by name.
func (in *sent) fileTooLarge() error {
	if in.large == "" {
		return nil
	}
	detail := fmt.Sprintf("%s: %s is larger than the %d MiB that are accepted here; nothing was written", in.large,
		schema.Quote(in.larger), in.largest>>20)
	e := fault.New(fault.TooLarge, "%s", detail)
	e.Fields = []fault.Field{{Field: in.large, Detail: detail}}
	return e
}

// cutOff refuses an upload that ended early, or is too large.
func cutOff(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return err
	}
	return fault.Malformedf("the transfer was cut off; nothing was written, send it again")
}

// part removes the control values from the operation's fields.
func (in *sent) part() {
	take := func(name string) string {
		v := in.fields.Get(name)
		delete(in.fields, name)
		return v
	}
	in.key, in.then, in.asked, in.seen = take("idempotency_key"), take("then"), take("asked"), take("seen")
	in.from = take("sent_from")
	if to := take("turn"); to != "" {
		in.from, in.then, in.turns = cmp.Or(in.from, in.then), to, true
	}
	in.confirm = take("confirm") == "yes"
	in.password = take("password_again")
	in.alone = take("alone") == "yes"
	in.fresh = take("new")
	in.format = take("format")
	in.preview = take("preview") == "yes"
	in.waits = map[string]string{}
	for name := range in.fields {
		if field, waits := strings.CutPrefix(name, waitsPrefix); waits {
			in.waits[field] = take(name)
		}
	}
	in.marks, in.marked = page.Marks{Op: in.fields.Get("marked_op"), Was: in.fields["marked_was"]},
		in.fields.Get("marked_field")
	in.open = in.fields.Get("marked_open") == "yes"
	for _, name := range []string{"marked_op", "marked_field", "marked_was", "marked_open"} {
		delete(in.fields, name)
	}
	if in.marked != "" {
		in.marks.Values, in.marks.Fields = in.fields[in.marked], in.fields
	}
}

// blank reports whether nothing was typed into the rows of a form: only what names each row was sent.
func (in *sent) blank(op schema.Op) bool {
	for name, values := range in.fields {
		if a, _ := fieldNamed(op.Args(schema.Page), name); !a.Required && strings.TrimSpace(strings.Join(values, "")) != "" {
			return false
		}
	}
	return true
}

// join makes one text of an argument's several inputs, each value once.
func (in *sent) join(op schema.Op) {
	for _, a := range op.Args(schema.Page) {
		field := schema.PageField(a.Name)
		if a.Apart == "" || len(in.fields[field]) < 2 {
			continue
		}
		var all []string
		for _, text := range strings.Split(strings.Join(in.fields[field], a.Apart), a.Apart) {
			if text = strings.TrimSpace(text); text != "" && !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
		in.fields[field] = []string{strings.Join(all, a.Apart)}
	}
}

// all are the fields with the control values that a form keeps while its sender signs in again.
func (in *sent) all() url.Values {
	all := url.Values{}
	maps.Copy(all, in.fields)
	for name, value := range map[string]string{"idempotency_key": in.key, "then": in.then, "seen": in.seen} {
		if value != "" {
			all.Set(name, value)
		}
	}
	return all
}

// print is a normal form of the fields: sorted by name.
func (in *sent) print() [sha256.Size]byte {
	h := sha256.New()
	for _, name := range sortedKeys(in.fields) {
		for _, v := range in.fields[name] {
			_, _ = fmt.Fprintf(h, "%d:%s=%d:%s\n", len(name), name, len(v), v)
		}
	}
	for _, name := range sortedKeys(in.files) {
		_, _ = fmt.Fprintf(h, "file %s %x\n", name, sha256.Sum256(in.files[name].Data))
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// aboutField marks the field at the beginning of a refusal, "delta: 5 is out of range", if the refusal names no field:
// a rule may not know its argument's name.
func aboutField(op schema.Op, e *fault.Error) *fault.Error {
	if len(e.Fields) > 0 || e.Kind != fault.Invalid && e.Kind != fault.Conflict {
		return e
	}
	name, _, found := strings.Cut(e.Detail, ":")
	if !found || strings.Contains(name, " ") {
		name, _, found = strings.Cut(e.Detail, " is ")
	}
	if !found {
		return e
	}
	for _, a := range op.Args(schema.Page) {
		if a.Name == name || schema.PageField(a.Name) == name || a.Kind == schema.TableKind &&
			strings.TrimSuffix(a.Name, "s") == name {
			marked := *e
			marked.Fields = []fault.Field{{Field: a.Name, Detail: e.Detail}}
			return &marked
		}
	}
	return e
}
