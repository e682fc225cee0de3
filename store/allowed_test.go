package store

import (
	"testing"

	"quartermaster/schema/db/dbtest"
)

// TestAllowedValuesAgree compares each list of values with the table's CHECK and the enum of the answers.
func TestAllowedValuesAgree(t *testing.T) {
	t.Parallel()
	emptyFixture(t).AllowedAgree(
		dbtest.Allowed{Column: "store_products.kind", Values: productKinds, Tag: Product{}},
		dbtest.Allowed{Column: "store_orders.status", Values: orderStatuses, Tag: Order{}},
		dbtest.Allowed{Column: "store_licenses.state", Values: licenseMoves.States()},
		dbtest.Allowed{Column: "store_codes.status", Values: codeStatuses},
	)
}
