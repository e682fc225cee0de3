package store

import (
	"math"

	"quartermaster/schema"
)

// Page asks for one page of a list that is newest first: at most Limit records, older
// than the one that After, the next of the page before, names. After 0 is the start.
type Page struct{ After, Limit int64 }

const (
	usualPage   = 500
	largestPage = 1000
)

// WholeList as a limit asks for every record: a command's list is complete.
const WholeList = -1

func (p *Page) bind(f *schema.Form) {
	if f.Surface() == schema.Command {
		p.Limit = WholeList
		return
	}
	f.Limit(&p.Limit)
	f.Int(&p.After, "after", "the next of the page before", schema.Range(1, math.MaxInt64))
}

// below is the id under which the page's records lie.
func (p Page) below() int64 {
	if p.After <= 0 {
		return math.MaxInt64
	}
	return p.After
}

// size is how many records the page holds at most.
func (p Page) size() int64 {
	switch {
	case p.Limit == WholeList:
		return math.MaxInt64 - 1
	case p.Limit <= 0:
		return usualPage
	case p.Limit > largestPage:
		return largestPage
	}
	return p.Limit
}

// ask is how many records to read: one more than the page holds tells whether there
// is a next one.
func (p Page) ask() int64 { return p.size() + 1 }
