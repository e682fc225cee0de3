// Package rental is the rental service: what each tenant owes, what was paid, and
// who is behind. Properties hold units, a lease lets a unit to a tenant, and its
// billing periods are posted as charges when the ledger is read; every amount is an
// integer number of cents.
package rental

import (
	"quartermaster/schema/db"
	"quartermaster/schema/mail"
)

// Service is the rental service over its database. Its exported functions are what
// REST, agents and the command line call; each opens its own view or transaction.
type Service struct {
	db *db.DB

	Letter func(c *db.Conn, kind string, r mail.Row) (mail.Printed, error) // fills a kind's text in for a letter
	Sheets ReadSheet                                                       // reads tables of banks; nil: none can be read
}

// New is the service over an open database.
func New(d *db.DB) *Service { return &Service{db: d} }
