package table

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// sortInMemory is how much of the rows, with their index, a sorter holds before it writes
// them out.
const sortInMemory, indexBytes = 4 << 20, 32

// sorter brings rows into the order of their keys, those of one key in the order of their
// lines. What it holds in memory does not grow with the rows: they are sorted in pieces on
// a temporary file, which are then merged.
type sorter struct {
	rows  []byte
	index []sortedRow
	file  *tempFile
	ends  []int64 // of the pieces in the file
}

// sortedRow is where a row stands in the sorter's memory.
type sortedRow struct {
	from, to, key int // rows[from:to] is the row, of which the first key bytes are the key
	line          int
}

// add takes a row in. The cells may be used again afterwards.
func (s *sorter) add(key string, line int, cells []string) error {
	r := sortedRow{from: len(s.rows), key: len(key), line: line}
	s.rows = append(s.rows, key...)
	for _, c := range cells {
		s.rows = binary.AppendUvarint(s.rows, uint64(len(c)))
		s.rows = append(s.rows, c...)
	}
	r.to = len(s.rows)
	s.index = append(s.index, r)
	if len(s.rows)+len(s.index)*indexBytes < sortInMemory {
		return nil
	}
	return s.spill()
}

func (s *sorter) sort() {
	slices.SortFunc(s.index, func(a, b sortedRow) int {
		if c := bytes.Compare(s.rows[a.from:a.from+a.key], s.rows[b.from:b.from+b.key]); c != 0 {
			return c
		}
		return cmp.Compare(a.line, b.line)
	})
}

// spill writes the rows in memory to the file, sorted.
func (s *sorter) spill() (err error) {
	if s.file == nil {
		if s.file, err = newTempFile(); err != nil {
			return err
		}
	}
	s.sort()
	at := int64(0)
	if n := len(s.ends); n > 0 {
		at = s.ends[n-1]
	}
	out := bufio.NewWriterSize(s.file, 64<<10)
	var head [3 * binary.MaxVarintLen64]byte
	for _, r := range s.index {
		b := binary.AppendUvarint(head[:0], uint64(r.to-r.from)) // #nosec G115 -- lengths are not negative
		b = binary.AppendUvarint(b, uint64(r.key))               // #nosec G115
		b = binary.AppendUvarint(b, uint64(r.line))              // #nosec G115
		_, _ = out.Write(b)                                      // Flush tells
		_, _ = out.Write(s.rows[r.from:r.to])
		at += int64(len(b) + r.to - r.from)
	}
	s.ends = append(s.ends, at)
	s.rows, s.index = s.rows[:0], s.index[:0]
	return out.Flush()
}

// each calls give for every row in order. The key is valid until the next row.
func (s *sorter) each(give func(key []byte, line int, cells []string) error) error {
	if s.file == nil {
		s.sort()
		for _, r := range s.index {
			if err := give(s.rows[r.from:r.from+r.key], r.line, cellsOf(s.rows[r.from+r.key:r.to])); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	s.rows, s.index = nil, nil
	var pieces merge
	from := int64(0)
	for _, to := range s.ends {
		p := &piece{in: bufio.NewReaderSize(io.NewSectionReader(s.file, from, to-from), 16<<10)}
		if more, err := p.next(); err != nil {
			return err
		} else if more {
			pieces = append(pieces, p)
		}
		from = to
	}
	heap.Init(&pieces)
	for len(pieces) > 0 {
		p := pieces[0]
		if err := give(p.row[:p.key], p.line, cellsOf(p.row[p.key:])); err != nil {
			return err
		}
		more, err := p.next()
		switch {
		case err != nil:
			return err
		case more:
			heap.Fix(&pieces, 0)
		default:
			heap.Pop(&pieces)
		}
	}
	return nil
}

func (s *sorter) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// cellsOf reads a row's cells.
func cellsOf(b []byte) []string {
	text := string(b)
	cells := make([]string, 0, 16)
	for at := 0; at < len(b); {
		n, k := binary.Uvarint(b[at:])
		at += k
		cells = append(cells, text[at:at+int(n)]) // #nosec G115 -- it was a length
		at += int(n)                              // #nosec G115
	}
	return cells
}

// piece is a sorted part of the file, at one of its rows.
type piece struct {
	in        *bufio.Reader
	row       []byte
	key, line int
}

func (p *piece) next() (more bool, err error) {
	var n [3]uint64
	for i := range n {
		if n[i], err = binary.ReadUvarint(p.in); err != nil {
			if i == 0 && errors.Is(err, io.EOF) {
				return false, nil
			}
			return false, err
		}
	}
	size := int(n[0]) // #nosec G115 -- as it was written
	p.row = slices.Grow(p.row[:0], size)[:size]
	p.key, p.line = int(n[1]), int(n[2]) // #nosec G115
	_, err = io.ReadFull(p.in, p.row)
	return true, err
}

// merge is the pieces that have a row left, the one that is next first.
type merge []*piece

func (m merge) Len() int { return len(m) }
func (m merge) Less(i, j int) bool {
	if c := bytes.Compare(m[i].row[:m[i].key], m[j].row[:m[j].key]); c != 0 {
		return c < 0
	}
	return m[i].line < m[j].line
}
func (m merge) Swap(i, j int) { m[i], m[j] = m[j], m[i] }
func (m *merge) Push(x any) {
	if p, is := x.(*piece); is {
		*m = append(*m, p)
	}
}
func (m *merge) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}
