// Package reorder is the reorder service: the catalogue of SKUs with their sales
// history, the forecast that says what to buy and when, the alarm when a SKU falls
// to its reorder point, and the purchase orders that answer it.
//
// What is kept and what is computed. Sales are kept as one total per SKU and day.
// Every SKU carries what the report needs of them: how much was sold in the window
// that ends on the standing day of the settings, and the day of its first sale. A
// write moves the standing day to today before it changes anything (see window.go);
// a read of a later day adds the days that came and takes off those that left, and
// writes nothing. The figures are never stored: forecast.go computes them, exactly, for
// every answer (see ranking.go).
//
// The one path. Whatever changes a SKU's stock, sales, times or on-order quantity
// ends in the unexported save (sku.go), which judges the SKU again, stores it and
// fires the alarm when it came to be below. REST, agents, CSV and the command line
// all come through it.
package reorder

import (
	"sync/atomic"

	"quartermaster/schema/db"
)

// Service is the reorder service over one database.
type Service struct {
	db      *db.DB
	counted atomic.Pointer[orderCount] // the last CountToOrder
}

// New returns the service over d.
func New(d *db.DB) *Service { return &Service{db: d} }
