package table

import (
	"context"
	"encoding/json"
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// keptTrial is the stored outcome of a dry run with its file, with what an answer leaves out and a page shows.
type keptTrial struct {
	Outcome
	New, Changed, Same int
	Changes            []schema.LineChange
	Unknown            []schema.Unknown
	About              []string // by refused row, its column
}

// Try tries the import of an uploaded file. Repeated, it returns the stored outcome, unless the options changed or
// something was written since.
func (s *Store) Try(ctx context.Context, who db.Caller, t schema.Table, w Waiting, o Options) (Outcome, error) {
	o.DryRun = true
	as, err := json.Marshal(o)
	if err != nil {
		return Outcome{}, err
	}
	var kept string
	var how []byte
	found := false
	err = s.d.View(ctx, func(c *db.Conn) error {
		last, _, err := db.One(c, db.Int, "SELECT coalesce(max(id), 0) FROM audit")
		if err != nil {
			return err
		}
		how = hashed(fmt.Sprint("2 ", last, string(as)))
		kept, found, err = db.One(c, db.Text, `SELECT t.outcome FROM import_files f JOIN import_trials t ON t.file_id = f.id
			WHERE f.token_hash = ? AND f.session = ? AND t.how = ?`, hashed(w.Token), who.Session, how)
		return err
	})
	if err != nil {
		return Outcome{}, err
	}
	if found {
		var k keptTrial
		err := json.Unmarshal([]byte(kept), &k)
		return k.outcome(), err
	}
	out, err := Run(ctx, s.d, who, t, w.File, o, nil)
	if err != nil {
		return out, err
	}
	b, err := json.Marshal(triedOf(out))
	if err != nil {
		return out, err
	}
	return out, db.Exec(ctx, s.d, db.Bookkeeping(), func(tx *db.Tx) error {
		_, err := tx.Exec(`INSERT INTO import_trials SELECT id, ?, ? FROM import_files WHERE token_hash = ? AND session = ?
			ON CONFLICT DO UPDATE SET how = excluded.how, outcome = excluded.outcome`, how, string(b), hashed(w.Token),
			who.Session)
		return err
	})
}

func triedOf(o Outcome) keptTrial {
	k := keptTrial{o, o.New, o.Changed, o.Same, o.Changes, o.Unknown, nil}
	k.Would, k.Follows.WouldPost = nil, nil // no page shows them
	for _, e := range o.Errors {
		k.About = append(k.About, e.Column)
	}
	return k
}

func (k keptTrial) outcome() Outcome {
	out := k.Outcome
	out.New, out.Changed, out.Same, out.Changes, out.Unknown = k.New, k.Changed, k.Same, k.Changes, k.Unknown
	for i := range out.Errors {
		out.Errors[i].Column = k.About[i]
	}
	return out
}
