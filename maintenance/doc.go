// Package maintenance is the maintenance service: assets with their meters, work
// orders, spare parts and preventive maintenance that falls due by date or by use.
//
// A work order moves through one state machine, by every surface. A meter only goes
// up, unless a reading is marked as a correction. What is due is computed when it is
// asked for, from the plans and the readings posted so far; nothing runs in the
// background.
package maintenance

import "quartermaster/schema/db"

// Service is the maintenance service over one database.
type Service struct {
	db *db.DB
}

// New is the service over d.
func New(d *db.DB) *Service { return &Service{db: d} }
