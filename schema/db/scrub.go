package db

import (
	"errors"
	"fmt"
)

// mostRewritten is how large a file may be that is rewritten at once when somebody is
// forgotten: writers wait for it.
const mostRewritten = 64 << 20

// forgetMark stands in the header's user version from the commit that forgets until
// nothing of it is left in the file: what a kill or a full disk cut off is gone on with at
// the next start. The words are not kept, they are what is to be forgotten.
const forgetMark = 0x666F7267

// mostPasses bounds how often a file is searched that others write to meanwhile.
const mostPasses = 3

var errCutOff = errors.New("the program ended meanwhile")

// scrubAfter does what the writes of a commit forgot. What can be rewritten at once is, and
// writers wait for it in their queue; the search of a larger file is left to who asked.
func (d *DB) scrubAfter(batch []*pending) {
	if d.Size() > mostRewritten {
		return
	}
	for _, t := range batch {
		if t.err == nil && t.panicked == nil && len(t.forgot) > 0 {
			d.scrub(t.toScrub(), mostRewritten)
			t.forgot = nil
		}
	}
}

// toScrub returns the words that must not be left in the file, nil for everything unused.
func (t *pending) toScrub() []string {
	if t.forgotAll {
		return nil
	}
	return t.forgot
}

// markForgotten marks the file. Where one that was marked before is not done yet, its
// words are not known any more: everything unused is then overwritten.
func (tx *Tx) markForgotten() error {
	marked, err := forgetMarked(tx.c)
	if err != nil {
		return err
	}
	tx.forgotAll = marked && tx.d.scrubs.Load() == 0
	return run(tx.c, fmt.Sprintf("PRAGMA user_version = %d", forgetMark))
}

func forgetMarked(c *handle) (bool, error) {
	v, _, err := One(&Conn{c: c}, Int, "PRAGMA user_version")
	return v == forgetMark, err
}

// scrub makes sure that what a commit forgot is nowhere in the file any more: what was
// changed or removed before may stand in pages that are free or half full, and in the
// log. A file of up to most bytes is rewritten, of a larger one the pages are searched that
// hold the words; nil is everything unused. Others read and, in a larger file, write meanwhile.
func (d *DB) scrub(words []string, most int64) {
	d.scrubbing.Lock()
	defer d.scrubbing.Unlock()
	c, err := connect(d.path, false)
	if err != nil {
		d.scrubs.Add(-1)
	} else {
		err = d.scrubBy(c, words, most)
		d.scrubs.Add(-1)
		if err == nil {
			err = d.unmark(c)
		}
		err = errors.Join(err, c.Close())
	}
	if err != nil {
		d.notice("what was forgotten may stand in unused parts of the file until the next start, which goes on with it: " + err.Error())
	}
}

func (d *DB) scrubBy(c *handle, words []string, most int64) error {
	rewritten := false
	if d.Size() <= most {
		rewritten = errors.Join(run(c, "PRAGMA temp_store = FILE"), run(c, "VACUUM")) == nil // which takes room
	}
	if !rewritten {
		if err := d.overwrite(c, words); err != nil {
			return err
		}
	}
	busy, _, err := One(&Conn{c: c}, Int, "PRAGMA wal_checkpoint(TRUNCATE)")
	if err == nil && busy != 0 {
		err = errors.New("a reader needs the log")
	}
	return err
}

// unmark takes the mark away unless another person was forgotten meanwhile.
func (d *DB) unmark(c *handle) error {
	if err := run(c, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if d.scrubs.Load() > 0 {
		return run(c, "ROLLBACK")
	}
	return errors.Join(run(c, "PRAGMA user_version = 0"), run(c, "COMMIT"))
}

// forgetOn goes on with what was cut off.
func (d *DB) forgetOn() error {
	c, err := connect(d.path, false)
	if err != nil {
		return err
	}
	marked, err := forgetMarked(c)
	if err := errors.Join(err, c.Close()); err != nil || !marked {
		return err
	}
	d.scrubs.Add(1)
	d.beside.Go(func() { d.scrub(nil, mostRewritten) })
	return nil
}
