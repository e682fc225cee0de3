package reorder

import (
	"strings"

	"quartermaster/schema/db"
)

// rowsAtOnce is how many rows go into one statement: measured, 32 take two thirds of
// the time that 32 statements take, and more bring little.
const rowsAtOnce = 32

// insertSale inserts or updates a SKU-day in one step: the table has no other index, no trigger and no reference.
const insertSale = "INSERT OR REPLACE INTO sales (day, sku_id, qty) VALUES (?, ?, ?)"

// insertShare inserts or updates a channel's share of a SKU-day.
const insertShare = "INSERT OR REPLACE INTO channel_sales (day, sku_id, channel_id, qty) VALUES (?, ?, ?, ?)"

var (
	insertSales  = insertSale + strings.Repeat(", (?, ?, ?)", rowsAtOnce-1)
	insertShares = insertShare + strings.Repeat(", (?, ?, ?, ?)", rowsAtOnce-1)
)

// writer collects rows of whole numbers and stores many at once.
type writer struct {
	one, many *db.Stmt
	columns   int
	args      []int64
}

func newSalesWriter(tx *db.Tx) (writer, error) { return newWriter(tx, insertSale, insertSales, 3) }

func newShareWriter(tx *db.Tx) (writer, error) { return newWriter(tx, insertShare, insertShares, 4) }

func newWriter(tx *db.Tx, one, many string, columns int) (w writer, err error) {
	if w.one, err = tx.Change(one); err != nil {
		return w, err
	}
	w.many, err = tx.Change(many)
	w.columns, w.args = columns, make([]int64, 0, columns*rowsAtOnce)
	return w, err
}

func (w *writer) add(row ...int64) error {
	w.args = append(w.args, row...)
	if len(w.args) < w.columns*rowsAtOnce {
		return nil
	}
	err := store(w.many, w.args)
	w.args = w.args[:0]
	return err
}

// flush stores the rest.
func (w *writer) flush() error {
	for ; len(w.args) > 0; w.args = w.args[w.columns:] {
		if err := store(w.one, w.args[:w.columns]); err != nil {
			return err
		}
	}
	return nil
}

func store(s *db.Stmt, args []int64) error {
	if err := s.Ints(args...); err != nil {
		return err
	}
	return s.Run()
}
