// Package store is the store service: products, orders, customers, licenses with their activations, redeem codes,
// payments from providers, and the interface by which a buyer's program checks and activates its license.
package store

import "quartermaster/schema/db"

// Service is the store over one database.
type Service struct {
	db     *db.DB
	memory *memory
	notice func(text string)
}

// New is the store over d.
func New(d *db.DB) *Service {
	return &Service{db: d, memory: newMemory(), notice: func(string) {}}
}

// On is the same store over d, which may be bound to a transaction: it shares s's limits and unsaved times.
func (s *Service) On(d *db.DB) *Service {
	return &Service{db: d, memory: s.memory, notice: s.notice}
}

// OnNotice sets the function that logs an unmatched payment, as a sentence. Set it before the service is called.
func (s *Service) OnNotice(tell func(text string)) { s.notice = tell }
