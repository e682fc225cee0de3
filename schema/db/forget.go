package db

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Forget replaces a person's name and addresses wherever the appliance keeps copies of a service's records: in the
// bodies of events (and so of their deliveries), in cached answers, and in the audit trail. replace maps each
// replacement to its texts; a text counts in any case, as a whole or as a word in a longer one. Only entries that
// contain one of keys (addresses, order references) are changed, so that another person of the same name stays.
// Uploaded files that wait for their import, and the state of unfinished work, are deleted. After the commit the file
// contains nothing of it.
func (tx *Tx) Forget(keys []string, replace map[string]string) error {
	if err := tx.MarkForgotten(); err != nil {
		return err
	}
	for _, kept := range []string{"import_files", "works"} {
		if _, err := tx.Exec("DELETE FROM "+kept+" WHERE service = ?", tx.who.Service); err != nil {
			return err
		}
	}
	if tx.trying { // it reports none of the changes below
		return nil
	}
	for _, t := range []struct{ read, write string }{
		{"SELECT seq, subject, CAST(body AS TEXT) FROM events WHERE service = ?",
			"UPDATE events SET subject = ?, body = CAST(? AS BLOB) WHERE seq = ?"},
		{"SELECT id, subject, changes FROM audit WHERE service = ?",
			"UPDATE audit SET subject = ?, changes = ? WHERE id = ?"},
	} {
		if err := tx.forgetIn(t.read, t.write, keys, replace); err != nil {
			return err
		}
	}
	return tx.forgetAnswers(keys, replace)
}

// forgetIn replaces in the two texts of a row; either may contain the key. Only changed rows are kept in memory.
func (tx *Tx) forgetIn(read, write string, keys []string, replace map[string]string) error {
	type row struct {
		id            int64
		subject, text string
	}
	var list []row
	may := newSieve(keys)
	err := Each(&tx.Conn, func(r *Row) error {
		l := row{r.Int(), r.Text(), r.Text()}
		if !may.hold(l.subject, l.text) {
			return nil
		}
		// One text, separated by a character that no JSON and no subject contains.
		both, changed := Replaced(l.subject+"\x00"+l.text, keys, replace)
		if changed {
			l.subject, l.text, _ = strings.Cut(both, "\x00")
			list = append(list, l)
		}
		return nil
	}, read, tx.who.Service)
	if err != nil {
		return err
	}
	for _, l := range list {
		if _, err := tx.Exec(write, l.subject, l.text, l.id); err != nil {
			return err
		}
	}
	return nil
}

// sieve quickly excludes texts that contain none of some keys.
type sieve struct {
	keys  [][]byte // in lower case; nil: a key has characters beyond ASCII
	lower []byte
}

func newSieve(keys []string) *sieve {
	s := &sieve{keys: [][]byte{}}
	for _, k := range keys {
		if strings.ContainsFunc(k, func(r rune) bool { return r > unicode.MaxASCII }) {
			return &sieve{}
		}
		for _, text := range []string{k, inJSON(k)} {
			s.keys = append(s.keys, lowerASCII(nil, []byte(text)))
		}
	}
	return s
}

func (s *sieve) hold(texts ...string) bool {
	if s.keys == nil {
		return true
	}
	for _, text := range texts {
		s.lower = lowerASCII(s.lower[:0], []byte(text))
		if slices.ContainsFunc(s.keys, func(k []byte) bool { return bytes.Contains(s.lower, k) }) {
			return true
		}
	}
	return false
}

func lowerASCII(to, from []byte) []byte {
	for _, b := range from {
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		to = append(to, b)
	}
	return to
}

// forgetAnswers replaces in the stored answers for replay.
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
		text, changed := Replaced(a.body, keys, replace)
		if !changed {
			continue
		}
		if _, err := tx.Exec("UPDATE answers SET body = ? WHERE key_id = ? AND idempotency_key = ? AND route = ?",
			[]byte(text), a.key, a.name, a.path); err != nil {
			return err
		}
	}
	return nil
}

// Replaced replaces the old texts in a text that contains one of the keys, plain and JSON-escaped, longest first, since
// one may be part of another.
func Replaced(text string, keys []string, replace map[string]string) (string, bool) {
	if !slices.ContainsFunc(keys, func(k string) bool { return holds(text, k) || holds(text, inJSON(k)) }) {
		return text, false
	}
	was := text
	olds := slices.SortedFunc(maps.Keys(replace),
		func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	for _, old := range olds {
		now := replace[old]
		text = replaceFold(text, old, now)
		if j := inJSON(old); j != old {
			text = replaceFold(text, j, inJSON(now))
		}
	}
	return text, text != was
}

// inJSON is a text as between the quotes of JSON.
func inJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return string(b[1 : len(b)-1])
}

func holds(text, key string) bool {
	_, found := nextFold(text, strings.ToLower(text), key, 0)
	return found
}

// replaceFold replaces every old in a text, in any case, unless it is inside a longer word or address.
func replaceFold(text, old, now string) string {
	lower := strings.ToLower(text)
	var b strings.Builder
	from := 0
	for {
		at, found := nextFold(text, lower, old, from)
		if !found {
			break
		}
		b.WriteString(text[from:at])
		b.WriteString(now)
		from = at + len(old)
	}
	b.WriteString(text[from:])
	return b.String()
}

// nextFold finds old in a text from a position on, in any case, as a separate word.
func nextFold(text, lower, old string, from int) (at int, found bool) {
	find := strings.ToLower(old)
	if len(lower) != len(text) || len(find) != len(old) { // folding changed lengths: exact match only
		lower, find = text, old
	}
	if find == "" {
		return 0, false
	}
	address := strings.Contains(find, "@")
	for at = from; ; at++ {
		next := strings.Index(lower[at:], find)
		if next < 0 {
			return 0, false
		}
		at += next
		end := at + len(find)
		if !joinsBefore(lower, at, find, address) && !joinsAfter(lower, end, find, address) &&
			(address || !inAddress(lower, at, end)) {
			return at, true
		}
	}
}

// joinsBefore reports whether the characters before the position belong to the word or address that begins there. An
// escape of JSON does not.
func joinsBefore(s string, at int, find string, address bool) bool {
	i := at - 1
	if i >= 1 && s[i-1] == '\\' || i >= 5 && s[i-5] == '\\' && s[i-4] == 'u' {
		return false
	}
	return word(s, i) && word(find, 0) || address && i >= 0 && strings.IndexByte(".+-_%'", s[i]) >= 0
}

// joinsAfter is joinsBefore for the characters after it. A full stop ends an address, unless the address continues.
func joinsAfter(s string, end int, find string, address bool) bool {
	if address && end < len(s) && (s[end] == '-' || s[end] == '.') {
		return word(s, end+1)
	}
	return word(s, end) && word(find, len(find)-1)
}

// inAddress reports whether a name is part of an e-mail address, which belongs to another person.
func inAddress(s string, at, end int) bool {
	part := func(i int) bool {
		return i >= 0 && i < len(s) && (word(s, i) || strings.IndexByte(".+-_%@", s[i]) >= 0)
	}
	for i := at - 1; part(i); i-- {
		if s[i] == '@' {
			return true
		}
	}
	for i := end; part(i); i++ {
		if s[i] == '@' {
			return true
		}
	}
	return false
}

// word reports whether the byte at i belongs to a word.
func word(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z' || s[i] >= '0' &&
		s[i] <= '9' || s[i] >= 0x80)
}
