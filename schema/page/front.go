package page

import (
	"context"

	"quartermaster/schema/db"
)

// Front is a service's part of the pages of all services: search, first pages, first steps.
type Front struct {
	Find  Find
	Today func(ctx context.Context) (string, error) // one sentence, "2 jobs urgent"
	Steps func(ctx context.Context) ([]Step, error) // the first steps with one's own data, in order
}

// Find finds matches, about 20 of a kind at most; exact, if not "", is the page of the one record that the text names
// exactly.
type Find func(ctx context.Context, who db.Caller, q string) (hits []Hit, exact string, err error)

// Hit is one record that a search found.
type Hit struct {
	Kind  string // "Leases": hits of one kind are grouped, in the given order
	ID    string // for data-id
	Title string
	Note  string // a second line
	Path  string
}

// Step is a first step with one's own data. Its actions are drawn for callers who may do them.
type Step struct {
	Title string
	Done  bool
	Acts  []Action // its page first, then its import
}
