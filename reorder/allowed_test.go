package reorder

import (
	"testing"

	"quartermaster/schema/db/dbtest"
)

// TestAllowedValuesAgree compares each list of values with the table's CHECK and the enum of the answers.
func TestAllowedValuesAgree(t *testing.T) {
	t.Parallel()
	open(t).AllowedAgree(
		dbtest.Allowed{Column: "purchase_orders.status", Values: orderMoves.States()[:5]}, // closed is stored as cancelled
		dbtest.Allowed{Column: "stock_movements.kind", Values: []string{movedByCount, movedByAdjustment, movedByReceipt, movedByReturn, movedByEdit}, Tag: Movement{}},
	)
}
