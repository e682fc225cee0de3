package reorder

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
)

// version is the interface's version, which ping, health and the document report.
const version = "3.1.6"

// Service is the reorder service over one database.
type Service struct{ db *db.DB }

// New gives the service over d.
func New(d *db.DB) *Service { return &Service{db: d} }

// Declare tells everything that the service is: see ops.go for its operations.
func (s *Service) Declare() schema.Service {
	return schema.Service{
		Name: "reorder", Addr: "127.0.0.1:8084", Agents: true, Elsewhere: "Purchase orders are raised, received and cancelled on the screens and with `quartermaster reorder po`, never here; SKUs and suppliers are kept there too.",
		DemoPath: "/api/reorder-report",
		Title:    "Reorder service",
		About: "Reorder points, days of stock cover and suggested order quantities, computed from sales history. " +
			"Quantities have at most 3 decimals, money is whole cents, and the same inputs give the same figures.",
		Ping: version, Health: version, Document: version,
		Ops:    s.ops(),
		Tables: s.tables(),
		Events: []schema.Event{crossing},
		Check:  check,
		Demo:   s.demo,
	}
}
