package rental

import (
	"cmp"
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// ShortLease are the few fields of a lease that identify and decide.
type ShortLease struct {
	ID           int64      `json:"id"`
	Unit         string     `json:"unit"`
	Property     string     `json:"property"`
	Tenant       string     `json:"tenant"`
	Status       string     `json:"status"`
	EndDate      *exact.Day `json:"end_date,omitempty"`
	BalanceCents int64      `json:"balance_cents"`
}

func (l Lease) short() ShortLease {
	return ShortLease{l.ID, l.Unit, l.Property, l.Tenant, l.Status, l.EndDate, l.BalanceCents}
}

// FoundLeases is LeaseList for agents.
type FoundLeases struct {
	Leases       []schema.Row[Lease, ShortLease] `json:"leases"`
	Shown        int64                           `json:"shown"`
	Total        int64                           `json:"total"`
	BalanceCents *int64                          `json:"balance_cents,omitempty" about:"what all matching leases owe, on the first page"`
	Next         *string                         `json:"next" about:"pass it as after; null at the end"`
	Standing
}

// The orders in which agents get lists, beside the first.
const (
	sortAdded   = "added"
	sortName    = "name"
	sortBalance = "balance"
	sortEnd     = "end"
	sortNewest  = "newest"
	sortOldest  = "oldest"
)

// FindLeases is LeaseList for agents.
func (s *Service) FindLeases(ctx context.Context, who db.Caller, f LeaseFilter, l schema.Listing, sort string) (
	found FoundLeases, err error) {
	if err := s.known(ctx, &f.Property, &f.Tenant); err != nil {
		return found, err
	}
	f.Cursor = l.Cursor
	if sort != sortAdded {
		f.Cursor = schema.Cursor[int64]{} // all of them, to be sorted
	}
	list, err := s.LeaseList(ctx, who, f)
	if err != nil {
		return found, err
	}
	found = FoundLeases{Total: list.Total, Standing: list.Standing}
	if l.After == 0 {
		found.BalanceCents = &list.BalanceCents
	}
	found.Leases, found.Next = pageSorted(list.Leases, l, Lease.short, func(l Lease) int64 { return l.ID }, list.more,
		leaseOrders[sort])
	found.Shown = int64(len(found.Leases))
	return found, nil
}

// leaseOrders are by debt, largest first, and by the last day, nearest first.
var leaseOrders = map[string]func(a, b Lease) int{
	sortBalance: func(a, b Lease) int { return cmp.Compare(b.BalanceCents, a.BalanceCents) },
	sortEnd:     func(a, b Lease) int { return cmp.Compare(lastDay(a.EndDate), lastDay(b.EndDate)) },
}

func bindFoundLeases(f *schema.Form, w *LeaseFilter, l *schema.Listing, sort *string) {
	var onlyActive bool
	*sort = sortAdded
	f.Bool(&onlyActive, "active", "true: only leases that cover today")
	f.Enum(&w.Status, "status", "as of today", leaseStatuses)
	f.ID(&w.UnitID, "unit_id", "of this unit", schema.Lookup(unitFor))
	bindFilters(f, &w.Property, &w.Tenant)
	f.Text(&w.Q, "q", "words of unit, property or tenant", schema.Most(maxName))
	f.DayPtr(&w.EndsBefore, "ends_before", "only leases that end before this day")
	f.Enum(sort, "sort", "balance: the most first; end: the nearest first", []string{sortAdded, sortBalance, sortEnd})
	f.Listing(l)
	if onlyActive && w.Status == "" {
		w.Status = active
	} else if onlyActive && w.Status != active {
		f.Refuse("status", "status: %s and active true contradict each other; give one of them", w.Status)
	}
}
