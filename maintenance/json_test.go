package maintenance

import (
	"testing"

	"quartermaster/schema/strict"
)

// TestListsWriteThemselves compares the lists that write themselves with what
// encoding/json makes of them.
func TestListsWriteThemselves(t *testing.T) {
	same := func(list interface{ AppendJSON([]byte) []byte }) {
		t.Helper()
		want, err := strict.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		if got := list.AppendJSON(nil); string(got) != string(want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	same(WorkOrders{WorkOrders: []WorkOrder{}})
	same(PMDue{Today: sampleDay, PMDue: []PMDueRow{}})
	same(WorkOrders{WorkOrders: []WorkOrder{sampleOrder, sampleDone}})
	same(PMDue{Today: sampleDay, PMDue: []PMDueRow{sampleDue, {}}})
	s := open(t)
	s.small()
	s.opens(NewOrder{Description: "é \u2028 \"quoted\" <b>\n\ttab", AssignedTo: "Zoë"})
	orders, err := s.WorkOrders(ctx, "")
	s.must(err)
	same(orders)
	due, err := s.PMDue(ctx, "")
	s.must(err)
	same(due)
}
