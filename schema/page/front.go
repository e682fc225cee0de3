package page

import (
	"context"

	"quartermaster/schema/db"
)

// Front is what a service shows of itself on the pages of all services: in their search, on their
// first pages, and as the first steps of who begins.
type Front struct {
	Find  Find
	Today func(ctx context.Context) (string, error) // one sentence, "2 jobs urgent"
	Steps func(ctx context.Context) ([]Step, error) // to one's own data, in their order
}

// Find finds what matches, some 20 of a kind at most; exact, if it is not "", is the page of the one
// record that the text names exactly.
type Find func(ctx context.Context, who db.Caller, q string) (hits []Hit, exact string, err error)

// Hit is one record that a search found.
type Hit struct {
	Kind  string // "Leases": hits of one kind stand together, in the order in which they are given
	ID    string // for data-id
	Title string
	Note  string // a second line
	Path  string
}

// Step is one step to one's own data. Its acts are drawn for who may do them.
type Step struct {
	Title string
	Done  bool
	Acts  []Action // its page first, then its import
}
