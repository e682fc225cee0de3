package screen

import (
	"quartermaster/app/table"
	"quartermaster/schema"
	"quartermaster/schema/page"
)

// waitsPrefix, before the name of a form's field, names a file that was sent already: a browser doesn't
// send it again with the form that comes back.
const waitsPrefix = "waits."

// keepFiles keeps the files of a form that is asked about or refused, for half an hour, so that nobody has to
// choose them twice.
func (x *exchange) keepFiles(op schema.Op, in *sent) error {
	if x.route.area != page.Staff {
		return nil
	}
	for field, file := range in.files {
		if in.waits[field] != "" || len(file.Data) == 0 || len(file.Data) > table.MaxWaiting {
			continue
		}
		token, err := table.NewStore(x.s.DB).KeepFor(x.r.Context(), x.who(), x.s.Service.Name, op.Name, file.Name, file.Data)
		if err != nil {
			return err
		}
		in.waits[field] = token
	}
	return nil
}

// fetchFiles gives the form the files that wait for it, where none was chosen anew.
func (x *exchange) fetchFiles(op schema.Op, in *sent) error {
	for field, token := range in.waits {
		if _, sent := in.files[field]; sent || x.route.area != page.Staff {
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
