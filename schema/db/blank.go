package db

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"zombiezen.com/go/sqlite"
)

// blankedAtOnce is how many pages one transaction of overwrite writes.
const blankedAtOnce = 64

// mostTreePages is up to how many pages the first byte of a page tells its kind: in a larger
// file the one of a long value's rest, which begins with the number of the next page, could
// look like a tree's.
const mostTreePages = 1 << 24

// canOverwrite refuses a file of whose pages the first byte may not tell the kind.
func canOverwrite(c *handle) error {
	pages, _, err := One(&Conn{c: c}, Int, "PRAGMA page_count")
	if err != nil {
		return err
	}
	moves, _, err := One(&Conn{c: c}, Int, "PRAGMA auto_vacuum") // has pages of its own kind
	if err == nil && (pages >= mostTreePages || moves != 0) {
		err = errors.New("the file is too large, or of another kind: restore it from a backup")
	}
	return err
}

// overwrite blanks the unused parts of every page of the file in which one of the words
// stands, in any case of ASCII: free pages, and in the pages of tables and indexes what is
// between the cells. Without words it is every page. What is in use stays as it is, byte
// by byte. It is how a large file forgets without being rewritten: the file is read once,
// and only those pages are written; once more where others wrote meanwhile, who may have
// moved what was not blanked yet.
func (d *DB) overwrite(c *handle, words []string) error {
	if err := canOverwrite(c); err != nil {
		return err
	}
	version := func() (n int64, err error) {
		n, _, err = One(&Conn{c: c}, Int, "PRAGMA data_version")
		return n, err
	}
	for range mostPasses {
		before, err := version()
		if err != nil {
			return err
		}
		pages, err := d.pagesWith(c, words)
		if err != nil {
			return err
		}
		blanked := false
		for some := range slices.Chunk(pages, blankedAtOnce) {
			did, err := d.blankPages(c, some)
			if err != nil {
				return err
			}
			blanked = blanked || did
		}
		if after, err := version(); err != nil || after == before || !blanked || words == nil {
			return err
		}
	}
	return errWritten
}

// errWritten keeps the mark of a file that is not known to be clean.
var errWritten = errors.New("others wrote to it during each search")

// pagesWith are the numbers of the pages in which one of the words stands; of all, when
// there are none.
func (d *DB) pagesWith(c *handle, words []string) (pages []int64, err error) {
	if words == nil {
		return All(&Conn{c: c}, Int, "SELECT pgno FROM sqlite_dbpage")
	}
	var olds [][]byte
	for _, w := range words {
		for _, text := range []string{w, inJSON(w)} {
			if text != "" {
				olds = append(olds, lowerASCII(nil, []byte(text)))
			}
		}
	}
	var lower []byte
	err = Each(&Conn{c: c}, func(r *Row) error {
		number := r.Int()
		lower = lowerASCII(lower[:0], r.Bytes())
		if slices.ContainsFunc(olds, func(old []byte) bool { return bytes.Contains(lower, old) }) {
			pages = append(pages, number)
		}
		return d.going()
	}, "SELECT pgno, data FROM sqlite_dbpage")
	return pages, err
}

// going is an error once the database closes.
func (d *DB) going() error {
	select {
	case <-d.closing:
		return errCutOff
	default:
		return nil
	}
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

// blankPages does some pages in one transaction, as they are by now.
func (d *DB) blankPages(c *handle, pages []int64) (blanked bool, err error) {
	if err := d.going(); err != nil {
		return false, err
	}
	if err := run(c, "BEGIN IMMEDIATE"); err != nil {
		return false, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, run(c, "ROLLBACK"))
		}
	}()
	free, err := freePages(c)
	if err != nil {
		return false, err
	}
	for _, number := range pages {
		page, err := readPage(c, number)
		if err != nil {
			return false, err
		}
		was := slices.Clone(page)
		free.blank(page, number)
		if bytes.Equal(page, was) {
			continue
		}
		if err := run(c, "UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?", page, number); err != nil {
			return false, err
		}
		blanked = true
	}
	return blanked, run(c, "COMMIT")
}

func readPage(c *handle, number int64) ([]byte, error) {
	page, found, err := One(&Conn{c: c}, (*Row).Bytes, "SELECT data FROM sqlite_dbpage WHERE pgno = ?", number)
	if err == nil && (!found || len(page) < 512) {
		err = fmt.Errorf("page %d cannot be read: %w", number, sqlite.ResultCorrupt.ToError())
	}
	return page, err
}

// pageSet is a set of the pages of a file, a bit for each.
type pageSet []uint64

func newPageSet(pages int64) pageSet { return make(pageSet, pages/64+1) }

// has reports whether a page is in the set; one that the file does not have never is.
func (s pageSet) has(page int64) bool {
	return page >= 0 && page/64 < int64(len(s)) && s[page/64]&(1<<(page%64)) != 0
}

func (s pageSet) add(page int64) {
	if page >= 0 && page/64 < int64(len(s)) {
		s[page/64] |= 1 << (page % 64)
	}
}

// freeList is a file's free pages: trunks list leaves, whose content means nothing.
type freeList struct{ trunks, leaves pageSet }

// freePages walks the file's list of free pages.
func freePages(c *handle) (free freeList, err error) {
	pages, _, err := One(&Conn{c: c}, Int, "PRAGMA page_count")
	if err != nil {
		return free, err
	}
	first, err := readPage(c, 1)
	if err != nil {
		return free, err
	}
	free = freeList{newPageSet(pages), newPageSet(pages)}
	for trunk := number(first[32:]); trunk != 0; {
		page, err := readPage(c, trunk)
		if err != nil {
			return free, err
		}
		if free.trunks.has(trunk) || trunkLength(page) > len(page) {
			return free, fmt.Errorf("the list of free pages: %w", sqlite.ResultCorrupt.ToError())
		}
		free.trunks.add(trunk)
		for at := 8; at < trunkLength(page); at += 4 {
			free.leaves.add(number(page[at:]))
		}
		trunk = number(page)
	}
	return free, nil
}

// blank overwrites what is not in use of a page, in a file that canOverwrite takes.
func (f freeList) blank(page []byte, number int64) {
	switch {
	case f.leaves.has(number):
		clear(page)
	case f.trunks.has(number):
		clear(page[trunkLength(page):])
	default:
		blankTree(page, number)
	}
}

func number(b []byte) int64 { return int64(binary.BigEndian.Uint32(b)) }

func trunkLength(page []byte) int { return 8 + 4*int(number(page[4:])) }

// blankTree overwrites what is not in use of a page of a table or an index: between the
// list of its cells and the first of them, and the blocks that were freed among them. A
// page of another kind, or one that is not as the format says, stays as it is.
func blankTree(page []byte, number int64) {
	header := page
	if number == 1 {
		header = page[100:]
	}
	var length int
	switch header[0] {
	case 2, 5: // interior
		length = 12
	case 10, 13: // leaf
		length = 8
	default:
		return
	}
	at := func(i int) int { return int(binary.BigEndian.Uint16(header[i:])) }
	from, to := len(page)-len(header)+length+2*at(3), at(5)
	if to == 0 {
		to = 65536
	}
	if from > to || to > len(page) {
		return
	}
	type block struct{ from, to int }
	var blocks []block
	for b, last := at(1), to; b != 0; {
		if b < last || b+4 > len(page) {
			return
		}
		size := int(binary.BigEndian.Uint16(page[b+2:]))
		if size < 4 || b+size > len(page) {
			return
		}
		blocks, last = append(blocks, block{b + 4, b + size}), b+size
		b = int(binary.BigEndian.Uint16(page[b:]))
	}
	clear(page[from:to])
	for _, b := range blocks {
		clear(page[b.from:b.to])
	}
}
