// Package maintenance is the maintenance service: assets with their meters, work orders, spare parts and preventive
// maintenance that falls due by date or by use.
//
// A work order follows one state machine, on every surface. A meter only rises, except by a correction. What is due is
// computed per request from the plans and the posted readings; nothing runs in the background.
package maintenance

import "quartermaster/schema/db"

// Service is the maintenance service over one database.
type Service struct {
	db *db.DB
}

// New is the service over d.
func New(d *db.DB) *Service { return &Service{db: d} }
