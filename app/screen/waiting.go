package screen

import (
	"maps"
	"strings"

	"quartermaster/app/table"
	"quartermaster/schema"
	"quartermaster/schema/page"
)

// waitsPrefix, before the name of a form's field, names a file that was uploaded already, since a browser does not send
// it again with the returned form.
const waitsPrefix = "waits."

// keepFiles stores the files of a form that is asked about or refused, for half an hour, so that they need not be
// chosen again.
func (x *exchange) keepFiles(op schema.Op, in *sent) error {
	if x.route.area != page.Staff {
		return nil
	}
	var fields []string
	var files []schema.File
	for _, field := range sortedKeys(in.files) {
		if file := in.files[field]; in.waits[field] == "" && len(file.Data) > 0 && len(file.Data) <= table.MaxWaiting {
			fields, files = append(fields, field), append(files, file)
		}
	}
	if len(files) == 0 {
		return nil
	}
	tokens, err := table.NewStore(x.s.DB).KeepFor(x.r.Context(), x.who(), x.s.Service.Name, op.Name, files...)
	for i, token := range tokens {
		in.waits[fields[i]] = token
	}
	return err
}

// fetchFiles gives the form its stored files, where no other was chosen.
func (x *exchange) fetchFiles(op schema.Op, in *sent) error {
	chosen := maps.Clone(in.files)
	for field, token := range in.waits {
		if _, anew := chosen[firstField(field)]; anew || x.route.area != page.Staff {
			delete(in.waits, field)
			continue
		}
		w, err := table.NewStore(x.s.DB).Find(x.r.Context(), x.who(), token)
		if err == nil && (w.Service != x.s.Service.Name || w.Table != op.Name) {
			err = table.ErrGone()
		}
		if err != nil {
			delete(in.waits, field)
			return err
		}
		content, err := w.File.Bytes()
		if err != nil {
			return err
		}
		in.files[field] = schema.File{Name: w.Name, Data: content}
	}
	return nil
}

// firstField is the field of the first of several files chosen in one.
func firstField(field string) string {
	if name, number, several := strings.Cut(field, "."); several && strings.Trim(number, "0123456789") == "" {
		return name
	}
	return field
}
