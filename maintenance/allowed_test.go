package maintenance

import (
	"testing"

	"quartermaster/schema/db/dbtest"
)

// TestAllowedValuesAgree compares each list of values with the table's CHECK and the enum of the answers.
func TestAllowedValuesAgree(t *testing.T) {
	t.Parallel()
	open(t).AllowedAgree(
		dbtest.Allowed{Column: "work_orders.status", Values: workOrderMoves.States(), Tag: WorkOrder{}},
		dbtest.Allowed{Column: "work_orders.priority", Values: priorities, Tag: WorkOrder{}},
		dbtest.Allowed{Column: "work_orders.wo_type", Values: orderTypes, Tag: WorkOrder{}},
		dbtest.Allowed{Column: "work_orders.source", Values: sources, Tag: WorkOrder{}},
		dbtest.Allowed{Column: "assets.status", Values: assetStatuses, Tag: Asset{}},
	)
}
