package rental

import (
	"maps"
	"slices"
	"testing"

	"quartermaster/schema/db/dbtest"
)

// TestAllowedValuesAgree compares each list of values with the table's CHECK and the enum of the answers.
func TestAllowedValuesAgree(t *testing.T) {
	t.Parallel()
	open(t, "2026-11-20").AllowedAgree(
		dbtest.Allowed{Column: "tickets.status", Values: ticketMoves.States(), Tag: Ticket{}},
		dbtest.Allowed{Column: "tickets.priority", Values: priorities, Tag: Ticket{}},
		dbtest.Allowed{Column: "tickets.source", Values: slices.Compact(slices.Sorted(maps.Values(sources))), Tag: Ticket{}},
		dbtest.Allowed{Column: "bank_lines.state", Values: lineStates, Tag: BankLine{}},
		dbtest.Allowed{Column: "leases.frequency", Values: frequencies, Tag: Lease{}},
		dbtest.Allowed{Column: "leases.proration", Values: prorations, Tag: Lease{}},
		dbtest.Allowed{Column: "charges.type", Values: chargeTypes, Tag: Charge{}},
		dbtest.Allowed{Column: "payments.method", Values: append(slices.Clone(methods), "deposit", "opening"), Tag: Charge{}},
	)
}
