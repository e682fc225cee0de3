package db

import (
	"encoding/json"
	"strings"
)

// Forget puts other texts in the place of a person's name and addresses wherever the
// appliance keeps a copy of a service's records: in the bodies of events (and so in what
// their deliveries send), in kept answers, and in the audit trail. replace holds the texts
// by what they are to become; a text counts in any case, whole or as a word inside a
// longer one. Only entries are touched that hold one of keys, which name the person
// (addresses, order references): another person of the same name stays. What is
// overwritten leaves nothing behind in the file.
func (tx *Tx) Forget(keys []string, replace map[string]string) error {
	if err := run(tx.c, "PRAGMA secure_delete = ON"); err != nil {
		return failed(err)
	}
	for _, t := range []struct{ table, id, columns string }{
		{"events", "seq", "body"}, {"events", "seq", "subject"}, {"answers", "rowid", "body"}, {"audit", "id", "changes"}, {"audit", "id", "subject"},
	} {
		if err := tx.forgetIn(t.table, t.id, t.columns, keys, replace); err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) forgetIn(table, id, column string, keys []string, replace map[string]string) error {
	if table == "answers" {
		return tx.forgetAnswers(keys, replace)
	}
	type row struct {
		id   int64
		text string
	}
	where := "service = ?"
	list, err := All(&tx.Conn, func(r *Row) row { return row{r.Int(), r.Text()} },
		"SELECT "+id+", CAST("+column+" AS TEXT) FROM "+table+" WHERE "+where, tx.who.Service)
	if err != nil {
		return err
	}
	for _, l := range list {
		text, changed := replaced(l.text, keys, replace)
		if !changed {
			continue
		}
		var value any = text
		if table == "events" && column == "body" {
			value = []byte(text)
		}
		if _, err := tx.Exec("UPDATE "+table+" SET "+column+" = ? WHERE "+id+" = ?", value, l.id); err != nil {
			return err
		}
	}
	return nil
}

// forgetAnswers drops the kept answers that tell of the person: they are kept for a day,
// to be given again, and are not to be given again.
func (tx *Tx) forgetAnswers(keys []string, replace map[string]string) error {
	type answer struct {
		key        int64
		name, path string
		body       string
	}
	list, err := All(&tx.Conn, func(r *Row) answer { return answer{r.Int(), r.Text(), r.Text(), r.Text()} },
		"SELECT key_id, idempotency_key, route, CAST(body AS TEXT) FROM answers")
	if err != nil {
		return err
	}
	for _, a := range list {
		text, changed := replaced(a.body, keys, replace)
		if !changed {
			continue
		}
		if _, err := tx.Exec("UPDATE answers SET body = ? WHERE key_id = ? AND idempotency_key = ? AND route = ?", []byte(text), a.key, a.name, a.path); err != nil {
			return err
		}
	}
	return nil
}

// replaced puts the new texts in place of the old ones in a text that holds one of the
// keys: as they stand, and as JSON writes them.
func replaced(text string, keys []string, replace map[string]string) (string, bool) {
	lower := strings.ToLower(text)
	holds := false
	for _, k := range keys {
		holds = holds || k != "" && (strings.Contains(lower, strings.ToLower(k)) || strings.Contains(lower, inJSON(strings.ToLower(k))))
	}
	if !holds {
		return text, false
	}
	was := text
	for old, now := range replace {
		if old == "" {
			continue
		}
		text = replaceFold(text, old, now)
		if j := inJSON(old); j != old {
			text = replaceFold(text, j, inJSON(now))
		}
	}
	return text, text != was
}

// inJSON is a text as it stands between the quotes of JSON.
func inJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return string(b[1 : len(b)-1])
}

// replaceFold replaces every old in a text, in any case, that does not stand inside a
// longer word.
func replaceFold(text, old, now string) string {
	lower, find := strings.ToLower(text), strings.ToLower(old)
	if len(lower) != len(text) || len(find) != len(old) { // folding moved bytes: only as it stands
		lower, find = text, old
	}
	var b strings.Builder
	from := 0
	for {
		at := strings.Index(lower[from:], find)
		if at < 0 {
			break
		}
		at += from
		end := at + len(find)
		if word(lower, at-1) && word(find, 0) || word(lower, end) && word(find, len(find)-1) {
			b.WriteString(text[from:end])
		} else {
			b.WriteString(text[from:at])
			b.WriteString(now)
		}
		from = end
	}
	b.WriteString(text[from:])
	return b.String()
}

// word tells whether the byte at i belongs to a word.
func word(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z' || s[i] >= '0' && s[i] <= '9' || s[i] >= 0x80)
}
