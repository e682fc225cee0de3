package table

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// MaxWaiting is the largest size of an uploaded file that waits for its import, in bytes.
const MaxWaiting = 16 << 20

const (
	waits        = 30 * 60 // seconds that a file waits
	waitingFiles = 3       // per session; the oldest is dropped
	pieceBytes   = 1 << 20
)

// Store keeps uploaded files until they are imported: for half an hour, visible only to the session that sent them.
type Store struct{ d *db.DB }

// NewStore stores files in the database.
func NewStore(d *db.DB) *Store { return &Store{d} }

// Waiting is an uploaded file.
type Waiting struct {
	Token   string // part of the page's address
	Service string
	Table   string
	Name    string
	Bytes   int64
	Until   exact.Instant
	File    *File
}

// Keep stores a file for its import into the table, and returns the token by which the session finds it again.
func (s *Store) Keep(ctx context.Context, who db.Caller, service string, t schema.Table, name string, content []byte) (
	token string, err error) {
	if err := MayImport(who, t); err != nil {
		return "", err
	}
	tokens, err := s.KeepFor(ctx, who, service, t.Name, schema.File{Name: name, Data: content})
	return strings.Join(tokens, ""), err
}

// KeepFor stores several files together for the form of that name instead of a table.
func (s *Store) KeepFor(ctx context.Context, who db.Caller, service, purpose string, files ...schema.File) (
	tokens []string, err error) {
	for _, file := range files {
		switch {
		case len(file.Data) > MaxWaiting:
			return nil, fault.New(fault.TooLarge,
				"file: it has %d bytes; at most %d MiB are accepted here. Use the command line for larger files", len(file.Data),
				MaxWaiting>>20)
		case len(file.Data) == 0:
			return nil, fault.Fieldf("file", "file: it is empty; choose a CSV or XLSX file")
		}
	}
	err = db.Exec(ctx, s.d, db.Bookkeeping(), func(tx *db.Tx) error {
		if err := prune(tx, who.Session); err != nil {
			return err
		}
		for _, file := range files {
			token, err := keep(tx, who, service, purpose, file)
			if err != nil {
				return err
			}
			tokens = append(tokens, token)
		}
		return nil
	})
	return tokens, err
}

// keep stores one file, in pieces.
func keep(tx *db.Tx, who db.Caller, service, purpose string, file schema.File) (token string, err error) {
	var secret [16]byte
	_, _ = rand.Read(secret[:]) // never fails
	token = base64.RawURLEncoding.EncodeToString(secret[:])
	id, err := tx.Insert(
		"INSERT INTO import_files (token_hash, session, service, table_name, name, bytes, created_at) VALUES (?, ?, ?, ?, "+
			"?, ?, ?)",
		hashed(token), who.Session, service, purpose, shortName(file.Name), len(file.Data), tx.Now())
	if err != nil {
		return "", err
	}
	for i := 0; len(file.Data) > 0; i++ {
		piece := file.Data[:min(len(file.Data), pieceBytes)]
		file.Data = file.Data[len(piece):]
		if _, err := tx.Exec("INSERT INTO import_pieces VALUES (?, ?, ?)", id, i, piece); err != nil {
			return "", err
		}
	}
	return token, nil
}

// notRunning excludes files that are being imported.
const notRunning = " AND lower(hex(token_hash)) NOT IN (SELECT token FROM works WHERE answer IS NULL)"

// prune deletes expired files, and the session's oldest if it has too many.
func prune(tx *db.Tx, session int64) error {
	if _, err := tx.Exec("DELETE FROM import_files WHERE created_at <= ?"+notRunning, tx.Now()-waits); err != nil {
		return err
	}
	_, err := tx.Exec(
		"DELETE FROM import_files WHERE session = ?1 AND id NOT IN (SELECT id FROM import_files WHERE session = ?1 ORDER "+
			"BY id DESC LIMIT ?2)"+notRunning,
		session, int64(waitingFiles-1))
	return err
}

// shortName is a file's name without the folders that some browsers send.
func shortName(name string) string {
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	const most = 200
	if r := []rune(name); len(r) > most {
		name = string(r[:most])
	}
	return strings.ToValidUTF8(name, "?")
}

// HashOf is the stored form of a file's token.
func HashOf(token string) string { return hex.EncodeToString(hashed(token)) }

func hashed(text string) []byte {
	h := sha256.Sum256([]byte(text))
	return h[:]
}

// Find returns a file. One of another session, an imported or an expired one is not found.
func (s *Store) Find(ctx context.Context, who db.Caller, token string) (Waiting, error) {
	w, err := s.find(ctx, "token_hash = ? AND session = ? AND created_at > ?", hashed(token), who.Session,
		exact.InstantOf(s.d.Now())-waits)
	w.Token = token
	return w, err
}

// Resume returns the file of an interrupted import, by the token's hash.
func (s *Store) Resume(ctx context.Context, hash string) (Waiting, error) {
	return s.find(ctx, "lower(hex(token_hash)) = ?", hash)
}

func (s *Store) find(ctx context.Context, where string, args ...any) (w Waiting, err error) {
	err = s.d.View(ctx, func(c *db.Conn) error {
		id, found, err := db.One(c, func(r *db.Row) int64 {
			id := r.Int()
			w.Service, w.Table, w.Name, w.Bytes, w.Until = r.Text(), r.Text(), r.Text(), r.Int(), r.Instant()+waits
			return id
		}, "SELECT id, service, table_name, name, bytes, created_at FROM import_files WHERE "+where, args...)
		if err != nil {
			return err
		}
		if !found {
			return ErrGone()
		}
		content := make([]byte, 0, w.Bytes)
		err = db.Each(c, func(r *db.Row) error {
			content = append(content, r.Bytes()...)
			return nil
		}, "SELECT content FROM import_pieces WHERE file_id = ? ORDER BY piece", id)
		w.File = InMemory(content)
		return err
	})
	return w, err
}

// ErrGone refuses a file that is no longer stored.
func ErrGone() error {
	return fault.NotFoundf("the file is gone: a chosen file is kept for %d minutes; choose it again", waits/60)
}

// Leave deletes the session's files for the table.
func (s *Store) Leave(ctx context.Context, who db.Caller, service, table string) error {
	return db.Exec(ctx, s.d, db.Bookkeeping(), func(tx *db.Tx) error {
		_, err := tx.Exec("DELETE FROM import_files WHERE session = ? AND service = ? AND table_name = ?"+notRunning,
			who.Session, service, table)
		return err
	})
}

// Sweep deletes expired files; of a table with secrets also one whose import was interrupted.
func Sweep(ctx context.Context, d *db.DB, services []schema.Service) error {
	some, err := db.Read(ctx, d, func(c *db.Conn) (bool, error) {
		_, some, err := db.One(c, db.Int, "SELECT 1 FROM import_files WHERE created_at <= ? LIMIT 1", c.Now()-waits)
		return some, err
	})
	if err != nil || !some {
		return err
	}
	return db.Exec(ctx, d, db.Bookkeeping(), func(tx *db.Tx) error {
		for _, s := range services {
			for _, t := range s.Tables {
				if !t.Secret {
					continue
				}
				if _, err := tx.Exec("DELETE FROM import_files WHERE created_at <= ? AND service = ? AND table_name = ?",
					tx.Now()-waits, s.Name, t.Name); err != nil {
					return err
				}
			}
		}
		_, err := tx.Exec("DELETE FROM import_files WHERE created_at <= ?"+notRunning, tx.Now()-waits)
		return err
	})
}

// Drop deletes an imported file, by the token's hash.
func (s *Store) Drop(ctx context.Context, hash string) error {
	return db.Exec(ctx, s.d, db.Bookkeeping(), func(tx *db.Tx) error {
		_, err := tx.Exec("DELETE FROM import_files WHERE lower(hex(token_hash)) = ?", hash)
		return err
	})
}

// Remember stores the options for a file with that header, for the next one's suggestion.
func (s *Store) Remember(ctx context.Context, service, table string, header []string, how Reading) error {
	return db.Exec(ctx, s.d, db.Bookkeeping(), func(tx *db.Tx) error {
		return remember(tx, service, table, header, how)
	})
}

func remember(tx *db.Tx, service, table string, header []string, how Reading) error {
	b, err := json.Marshal(how)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO import_choices VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
		SET reading = excluded.reading, used_at = excluded.used_at`,
		service, table, hashed(strings.Join(header, "\x00")), string(b), tx.Now())
	return err
}

// Suggest returns the options of the last file with that header; found is false if there was none.
func (s *Store) Suggest(ctx context.Context, service, table string, header []string) (how Reading, found bool,
	err error) {
	err = s.d.View(ctx, func(c *db.Conn) error {
		how, found, err = suggested(c, service, table, header)
		return err
	})
	return how, found, err
}

func suggested(c *db.Conn, service, table string, header []string) (how Reading, found bool, err error) {
	text, found, err := db.One(c, db.Text,
		"SELECT reading FROM import_choices WHERE service = ? AND table_name = ? AND header_hash = ?",
		service, table, hashed(strings.Join(header, "\x00")))
	if err != nil || !found {
		return how, false, err
	}
	was := struct {
		*Reading
		DecimalComma bool `json:"decimal_comma"` // as earlier versions stored it
	}{Reading: &how}
	if err := json.Unmarshal([]byte(text), &was); err != nil {
		return how, false, err
	}
	if was.DecimalComma {
		how.Decimal = "comma"
	}
	return how, true, nil
}
