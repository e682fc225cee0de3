package table

import (
	"encoding/binary"

	"quartermaster/schema/db"
)

// sorter groups rows by key, each group in the order of lines: sorted by key, or by the first line of each group. Its
// memory does not grow with the rows.
type sorter struct {
	rows    *db.Scratch
	inOrder bool // of the file
	buf     []byte
}

func newSorter(inOrder bool) (*sorter, error) {
	rows, err := db.NewScratch("CREATE TABLE rows (key BLOB NOT NULL, line INTEGER NOT NULL, cells BLOB NOT NULL)")
	return &sorter{rows: rows, inOrder: inOrder}, err
}

// add adds a row. The cells may be reused afterwards.
func (s *sorter) add(key string, line int, cells []string) error {
	s.buf = s.buf[:0]
	for _, c := range cells {
		s.buf = binary.AppendUvarint(s.buf, uint64(len(c)))
		s.buf = append(s.buf, c...)
	}
	_, err := s.rows.Exec("INSERT INTO rows VALUES (?, ?, ?)", []byte(key), int64(line), s.buf)
	return err
}

// each calls give for every row in order. The key is that of the rows, or with inOrder the number of their first line
// in 8 bytes; it rises either way.
func (s *sorter) each(give func(key []byte, line int, cells []string) error) error {
	if s.inOrder {
		return db.Each(&s.rows.Conn, func(r *db.Row) error {
			// #nosec G115 -- lines are counted from 1
			first, line := binary.BigEndian.AppendUint64(nil, uint64(r.Int())), int(r.Int())
			cells, _, err := db.One(&s.rows.Conn, (*db.Row).Bytes, "SELECT cells FROM rows WHERE rowid = ?", r.Int())
			if err != nil {
				return err
			}
			return give(first, line, cellsOf(string(cells)))
		}, "SELECT min(line) OVER (PARTITION BY key) AS first, line, rowid FROM rows ORDER BY first, line")
	}
	return db.Each(&s.rows.Conn, func(r *db.Row) error {
		return give(r.Bytes(), int(r.Int()), cellsOf(string(r.Bytes())))
	}, "SELECT key, line, cells FROM rows ORDER BY key, line")
}

func (s *sorter) close() error { return s.rows.Close() }

// cellsOf reads a row's cells.
func cellsOf(text string) []string {
	cells := make([]string, 0, 16)
	for text != "" {
		n, size := binary.Uvarint([]byte(text[:min(len(text), binary.MaxVarintLen64)]))
		end := size + int(n) // #nosec G115 -- it was a length
		cells = append(cells, text[size:end])
		text = text[end:]
	}
	return cells
}
