// Package store is the store service: products, orders, customers, licenses with
// their activations, redeem codes, payments that come in from a provider, and the
// interface by which a buyer's program checks and activates its license.
package store

import (
	"time"

	"quartermaster/schema/db"
	"quartermaster/schema/limit"
)

// Service is the store over one database.
type Service struct {
	db     *db.DB
	misses *limit.Counter[limit.Address] // keys and codes that do not exist
	moves  *limit.Counter[int64]         // seats taken and given up, by license
	checks *limit.Counter[int64]         // by license
	seen   seen
	notice func(text string)

	lately   db.Cached[Figures]
	licenses db.Cached[int64] // how many there are by the filter that was asked for last
}

// New is the store over d.
func New(d *db.DB) *Service {
	return &Service{
		db: d, notice: func(string) {},
		misses: limit.New[limit.Address](20, 10*time.Minute),
		moves:  limit.New[int64](120, 10*time.Minute),
		checks: limit.New[int64](60_000, time.Minute),
	}
}

// OnNotice sets who is told, in a sentence for the log, of a payment that came in
// and could not be booked. It is set before the service is called.
func (s *Service) OnNotice(tell func(text string)) { s.notice = tell }
