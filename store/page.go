package store

import (
	"math"

	"quartermaster/schema"
)

// usualPage is how many orders and licenses a customer is shown with.
const usualPage = 500

// bindCursor binds the page of a list that is newest first; a command's list is complete.
func bindCursor(f *schema.Form, p *schema.Cursor[int64]) {
	if f.Surface() == schema.Command {
		return
	}
	f.Limit(&p.Limit)
	f.Int(&p.After, "after", "next of the previous page", schema.Range(1, math.MaxInt64))
}

// below is the id under which the records of a list that is newest first lie.
func below(p schema.Cursor[int64]) int64 {
	if p.After <= 0 {
		return math.MaxInt64
	}
	return p.After
}
