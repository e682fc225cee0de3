package table

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// Begin begins an import that must be done once, or continues an interrupted one; its Answer is set when it is done.
// One in add mode is identified by the file's content, no matter who began it, so that the same rows are not added
// twice. One that replaces is identified by token, its uploaded file. An import of the same file that was done for
// another token counts as another one. asked is stored for its continuation.
func Begin(ctx context.Context, d *db.DB, who db.Caller, t schema.Table, f *File, o Options, token, asked string) (
	*db.Work, error) {
	job := db.Job{Service: who.Service, Owner: who.User, Route: "import/" + t.Name, Key: token, Token: token, Asked: asked}
	if o.Add {
		digest, err := digestOf(f, o.Reading)
		if err != nil {
			return nil, err
		}
		job.Owner, job.Route, job.Key = "", "import/"+t.Name+"?add", digest
	}
	for {
		w, err := d.Begin(ctx, job)
		if err != nil {
			return nil, err
		}
		if w.Token == token || w.Answer == nil {
			w.Token, w.Asked = token, asked
			return w, nil
		}
		if err := w.Drop(ctx); err != nil {
			return nil, err
		}
	}
}

// digestOf identifies a file and its options.
func digestOf(f *File, how Reading) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, f.whole()); err != nil {
		return "", err
	}
	b, err := json.Marshal(how)
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil)[:16]), err
}

// part is the result of one step of an import; the sum of all is stored as its answer.
type part struct {
	Imported, New, Changed, Same int
	Errors                       []refusedRow
	Notes                        []string `json:",omitempty"`
}

type refusedRow struct {
	Line           int
	Reason, Column string
}

func partOf(v schema.Loaded) part {
	p := part{Imported: v.Imported, New: v.New, Changed: v.Changed, Same: v.Same}
	for _, e := range v.Errors {
		p.Errors = append(p.Errors, refusedRow(e))
	}
	return p
}

func (p part) loaded() schema.Loaded {
	v := schema.Loaded{Imported: p.Imported, New: p.New, Changed: p.Changed, Same: p.Same, Errors: []schema.Refused{}}
	for _, e := range p.Errors {
		v.Errors = append(v.Errors, schema.Refused(e))
	}
	return v
}

// Answered is the result of a finished import.
func Answered(w *db.Work) (Outcome, error) {
	var p part
	err := json.Unmarshal([]byte(*w.Answer), &p)
	return Outcome{Loaded: p.loaded(), Notes: p.Notes}, err
}

// resume takes over the results of earlier runs of the import.
func (l *loading) resume() error {
	if l.work == nil {
		return nil
	}
	for _, note := range l.work.Notes {
		var p part
		if err := json.Unmarshal([]byte(note), &p); err != nil {
			return err
		}
		l.done.Merge(p.loaded())
	}
	l.earlier = l.done.Imported
	return nil
}

// stepped notes, in a step's transaction, its results and where the next one begins; the last step stores the answer.
func (l *loading) stepped(tx *db.Tx, before schema.Loaded, position string, last bool) error {
	if l.work == nil {
		return nil
	}
	did := partOf(l.done)
	did.Imported, did.New, did.Changed, did.Same = did.Imported-before.Imported, did.New-before.New,
		did.Changed-before.Changed, did.Same-before.Same
	did.Errors = did.Errors[len(before.Errors):]
	note, err := json.Marshal(did)
	if err != nil {
		return err
	}
	if err := l.work.Note(tx, string(note)); err != nil {
		return err
	}
	l.work.Position, l.work.Done = position, int64(l.done.Imported+len(l.done.Errors))
	if !last {
		return nil
	}
	out := l.outcome()
	slices.SortStableFunc(out.Errors, func(a, b schema.Refused) int { return a.Line - b.Line })
	answer := partOf(out.Loaded)
	answer.Notes = out.Notes
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return l.work.End(tx, string(text))
}

// skips reports whether an earlier run stored the next record.
func (l *loading) skips() bool {
	if l.skip == 0 {
		return false
	}
	l.skip--
	return true
}

// placeOf parses the position of an import that stores record by record: the number of stored ones.
func (l *loading) placeOf() (n int, err error) {
	if l.work != nil && l.work.Position != "" {
		n, err = strconv.Atoi(l.work.Position)
	}
	return n, err
}
