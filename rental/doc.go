// Package rental is the rental service: what each tenant owes, what was paid, and
// who is behind. Properties hold units, a lease lets a unit to a tenant, and its
// billing periods are posted as charges when the ledger is read; every amount is an
// integer number of cents.
package rental

import (
	"quartermaster/schema/db"
	"quartermaster/schema/mail"
)

// Service is the rental service over its database. REST, agents and the command line call its exported functions; each
// opens its own view or transaction.
type Service struct {
	db *db.DB

	Letter WriteLetter // writes a kind's text for a letter; nil: letters cannot be printed
	Sheets ReadSheet   // reads banks' tables; nil: they cannot be read
}

// WriteLetter writes the text of a kind of messages for a letter, with what fill reads.
type WriteLetter func(c *db.Conn, kind string, fill func(*mail.Writer) (mail.Content, error)) (mail.Printed, error)

// New is the service over an open database.
func New(d *db.DB) *Service { return &Service{db: d} }
