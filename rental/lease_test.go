package rental

import (
	"fmt"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/fault"
)

// TestPagesEnd walks every list page by page. Each record comes once, and next is null at the end, also when the last
// page is full.
func TestPagesEnd(t *testing.T) {
	h := open(t, "2026-03-01")
	for i := range 6 {
		h.lease(fmt.Sprintf("start_date=2026-0%d-01", i+1))
		must(h, ann, createTicket, NewTicket{UnitID: 1, Title: "T"})
	}
	walk := func(op schema.Op, limit int, query ...string) (ids []int64) {
		t.Helper()
		after := ""
		for {
			q := append([]string{fmt.Sprintf("limit=%d", limit)}, query...)
			if after != "" {
				q = append(q, "after="+after)
			}
			got := assert.Value(h.get(op, viewer, "", q...))(h.T)
			var next *int64
			switch list := got.(type) {
			case Units:
				next = list.Next
				for _, u := range list.Units {
					ids = append(ids, u.ID)
				}
			case Leases:
				next = list.Next
				for _, l := range list.Leases {
					ids = append(ids, l.ID)
				}
			case Tickets:
				next = list.Next
				for _, k := range list.Tickets {
					ids = append(ids, k.ID)
				}
			}
			if next == nil {
				return ids
			}
			after = fmt.Sprint(*next)
		}
	}
	up, down := []int64{1, 2, 3, 4, 5, 6}, []int64{6, 5, 4, 3, 2, 1}
	for limit := 1; limit <= 7; limit++ {
		for _, c := range []struct {
			got, want []int64
		}{
			{walk(h.listUnits(), limit), up}, {walk(h.listLeases(), limit), up}, {walk(h.listTickets(), limit), down},
			{walk(h.listLeases(), limit, "status=active"), up[:3]}, {walk(h.listLeases(), limit, "status=upcoming"), up[3:]},
			{walk(h.listLeases(), limit, "status=ended"), nil}, {walk(h.listUnits(), limit, "status=vacant"), up[3:]},
			{walk(h.listUnits(), limit, "status=occupied"), up[:3]}, {walk(h.listTickets(), limit, "status=open"), down},
		} {
			assert.EqualSlices(t, c.got, c.want, "limit %d", limit)
		}
	}
	for _, q := range []string{"limit=0", "limit=x", "after=0", "after=-1", "after=x"} {
		_, err := h.get(h.listLeases(), viewer, "", q)
		h.Refused(err, fault.Invalid, strings.Split(q, "=")[0])
	}
	list, err := h.tool("list_leases", reader, `{"active":true,"limit":2}`)
	h.Must(err)
	l := list.(FoundLeases)
	assert.That(t, len(l.Leases) == 2 && l.Total == 3 && l.Leases[0].Full.BalanceCents == 300000, "%s", asJSON(t, l))
	list = assert.Value(h.tool("list_leases", reader, `{"active":false}`))(h.T)
	l = list.(FoundLeases)
	assert.That(t, len(l.Leases) == 6 && l.Total == 6, "%s", asJSON(t, l))
	_, err = h.tool("list_leases", reader, `{"limit":201}`)
	h.Refused(err, fault.Invalid, "limit")
}

// TestLeaseListPostsThePageThatItShows: and no other lease.
func TestLeaseListPostsThePageThatItShows(t *testing.T) {
	h := open(t, "2026-03-01")
	for range 3 {
		h.lease("start_date=2026-02-01")
	}
	list := assert.Value(h.Leases(ctx, viewer, LeaseFilter{Cursor: schema.First(2)}))(h.T)
	assert.That(t, list.Leases[0].BalanceCents == 200000 && list.Leases[1].BalanceCents == 200000, "%s", asJSON(t, list))
	assert.Equal(t, h.Number("SELECT count(DISTINCT lease_id) FROM charges"), 2, "leases were posted")
}

// TestLeasesDoNotOverlap: leases of a unit may touch; none covers a day of another.
func TestLeasesDoNotOverlap(t *testing.T) {
	h := open(t, "2026-11-20")
	h.Must(h.row("properties", "name=House"))
	h.Must(h.row("units", "property=House", "name=A"))
	h.Must(h.row("units", "property=House", "name=B"))
	h.Must(h.row("tenants", "name=Ada"))
	good := map[string]string{"property": "House", "unit": "A", "start_date": "2026-03-01", "end_date": "2026-03-31", "tenant": "Ada", "rent_cents": "100"}
	put := func(change map[string]string) error {
		cells := map[string]string{}
		for k, v := range good {
			cells[k] = v
		}
		for k, v := range change {
			if cells[k] = v; v == "absent" {
				delete(cells, k)
			}
		}
		return h.put(h.table("leases"), cells)
	}
	h.Must(put(nil))
	for _, c := range []struct {
		start, end string
		good       bool
	}{
		{"2026-02-01", "2026-02-28", true}, {"2026-04-01", "", true}, // touching is not overlapping
		{"2026-01-01", "2026-02-01", false}, {"2026-01-01", "", false}, {"2026-03-31", "2026-03-31", false},
		{"2026-03-15", "2026-03-16", false}, {"2030-01-01", "2030-01-02", false}, {"2026-01-01", "2026-01-31", true},
	} {
		err := put(map[string]string{"start_date": c.start, "end_date": c.end})
		if c.good {
			h.Must(err)
		} else {
			h.Refused(err, fault.Invalid, "may not cover the same day", "lease ")
		}
	}
	h.Must(put(map[string]string{"unit": "B"})) // the same days of another unit
	h.sound()
}

func TestLeaseDefaults(t *testing.T) {
	h := open(t, "2026-11-20")
	id := h.lease("start_date=2026-12-31")
	l := h.ledger(id)
	if l.Lease.Frequency != monthly || l.Lease.DueDay != 31 || l.Lease.Proration != byDays || l.Lease.DepositCents != 0 || l.Lease.EndDate != nil {
		t.Errorf("%s", asJSON(t, l.Lease))
	}
	h.Must(h.row("leases", "property=House", "unit=U1", "start_date=2026-12-31", "due_day=5", "frequency=Weekly", "deposit_cents=9", "proration=none"))
	h.Must(h.row("leases", "property=House", "unit=U1", "start_date=2026-12-31", "due_day=", "frequency=", "deposit_cents=", "proration="))
	again := h.ledger(id)
	assert.That(t, asJSON(t, again) == asJSON(t, l), "empty cells are not the defaults: %s", asJSON(t, again.Lease))
}
