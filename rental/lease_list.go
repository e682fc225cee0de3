package rental

import (
	"cmp"
	"context"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/words"
)

// LeaseList is a page of the matching leases, by id, with the number of all.
type LeaseList struct {
	Leases []Lease `json:"leases"`
	Total  int64   `json:"total"`
	Shown  int64   `json:"shown"`
	Next   *string `json:"next" about:"where the next page begins: pass it as after; null at the end"`

	BalanceCents int64 `json:"balance_cents" about:"what all that match owe"`
	Standing

	more *int64 // Next as an id
}

// LeaseFilter restricts leases; zero values do not.
type LeaseFilter struct {
	schema.Cursor[int64]
	Status     string
	UnitID     int64
	Property   string // a part of its name in any case, or its id
	Tenant     string // a part of a tenant's name in any case, an e-mail, or an id
	EndsBefore *exact.Day
	Q          string // a part of unit, property or tenant, for screens
}

// where is the condition on leases l of units u and properties p, on day ?1.
func (f LeaseFilter) where(c *db.Conn) db.Where {
	w := db.Where{Text: " WHERE ?1 = ?1", Args: []any{c.Today()}}
	w.And(f.Status == upcoming, "l.start_date > ?1")
	w.And(f.Status == active, "l.last_day >= ?1 AND l.start_date <= ?1")
	w.And(f.Status == ended, "l.last_day < ?1")
	w.And(f.UnitID != 0, "l.unit_id = ?", f.UnitID)
	in, values := partOf(f.Property, "p.name", "p.id")
	w.And(f.Property != "", in, values...)
	of, values := partOf(f.Tenant, calledLike(f.Tenant), "t.id")
	w.And(f.Tenant != "", "l.id IN (SELECT x.lease_id FROM tenants t CROSS JOIN lease_tenants x ON x.tenant_id = t.id "+
		"WHERE "+of+")", values...)
	w.And(f.EndsBefore != nil, "l.end_date < ?", f.EndsBefore)
	w.And(f.Q != "", `(l.id = ? OR has_words(?, p.name || ' / ' || u.name,
		(SELECT group_concat(t.name || ' ' || ifnull(t.email, ''), char(10))
		FROM lease_tenants x JOIN tenants t ON t.id = x.tenant_id WHERE x.lease_id = l.id)))`, words.Number(f.Q, "lease"),
		f.Q)
	return w
}

// calledLike is what of a tenant t a filter looks into: the name, and the e-mail for a
// text that holds one.
func calledLike(asked string) string {
	if strings.Contains(asked, "@") {
		return "t.name || ' <' || ifnull(t.email, '') || '>'"
	}
	return "t.name"
}

// read reads the page of the leases that match, and one more.
func (f LeaseFilter) read(c *db.Conn) ([]Lease, error) {
	w := f.where(c)
	return leases.All(c, w.Text+" AND l.id > ? ORDER BY l.id LIMIT ?", append(w.Args, f.After, f.Fetch())...)
}

// sum counts the leases that match, and what they owe: from the unpaid charges, which are few beside all leases.
func (f LeaseFilter) sum(c *db.Conn) (n, balance int64, err error) {
	if f == (LeaseFilter{Cursor: f.Cursor}) { // all: from the index of unpaid charges
		if n, err = db.Number(c, "SELECT count(*) FROM leases"); err != nil {
			return 0, 0, err
		}
		balance, err = db.Number(c, `SELECT coalesce(sum(amount_cents - paid_cents), 0) FROM charges INDEXED BY charges_unpaid
			WHERE paid_date IS NULL`)
		return n, balance, err
	}
	w := f.where(c)
	if n, err = leases.Count(c, w.Text, w.Args...); err != nil {
		return 0, 0, err
	}
	balance, err = db.Number(c, `SELECT coalesce(sum(c.amount_cents - c.paid_cents), 0)
		FROM charges c INDEXED BY charges_unpaid CROSS JOIN leases l ON l.id = c.lease_id `+joinsOfLease+
		w.Text+" AND c.paid_date IS NULL", w.Args...)
	return n, balance, err
}

// unpostedOf reports which of the leases have charges to post.
func unpostedOf(leases []Lease, today exact.Day) (ids []int64) {
	for _, l := range leases {
		if l.unposted(today) {
			ids = append(ids, l.ID)
		}
	}
	return ids
}

// Leases lists the matching leases, with their balances; due charges of those on the page are posted first.
func (s *Service) Leases(ctx context.Context, who db.Caller, f LeaseFilter) (list Leases, err error) {
	list.Standing, err = s.upToDate(ctx, who, func(c *db.Conn, r *reading) error {
		all, err := f.read(c)
		list.Leases, list.Next = schema.Cut(all, f.Limit, func(l Lease) int64 { return l.ID })
		r.await(unpostedOf(list.Leases, c.Today()))
		return err
	})
	return list, err
}

// LeaseList returns a page of the matching leases, and sums over all; due charges are posted first.
func (s *Service) LeaseList(ctx context.Context, who db.Caller, f LeaseFilter) (list LeaseList, err error) {
	list.Standing, err = s.allPosted(ctx, who, func(c *db.Conn) error {
		all, err := f.read(c)
		if err != nil {
			return err
		}
		list.Leases, list.more = schema.Cut(all, f.Limit, func(l Lease) int64 { return l.ID })
		list.Shown, list.Next = int64(len(list.Leases)), schema.NextText(list.more)
		list.Total, list.BalanceCents, err = f.sum(c)
		return err
	})
	return list, err
}

var leaseStatuses = []string{active, ended, upcoming}

func (s *Service) listLeases() schema.Op {
	next := int64(4)
	return schema.Op{
		Name: "list_leases", About: "List the leases with their balances.", Says: "Which leases there are",
		AgentAbout: "Leases with unit, tenant, today's rent, status and balance (billed - paid). balance_cents is of all " +
			"that match. " +
			"detail short: id, unit, property, tenant, status, last day, balance.",
		AgentResponse: FoundLeases{Leases: schema.Rows([]Lease{exampleLease()}, false, Lease.short), Shown: 1, Total: 1,
			BalanceCents: new(int64(95_000))},
		Response: Leases{Leases: []Lease{exampleLease()}, Next: &next},
		Bind: schema.Agents(schema.Does3(bindFoundLeases, s.FindLeases), schema.Does(func(f *schema.Form, l *LeaseFilter) {
			f.Enum(&l.Status, "status", "only leases with this status today", leaseStatuses)
			f.Text(&l.Property, "property", "only those of properties whose name contains this, or of this id",
				schema.Most(maxName))
			f.Text(&l.Tenant, "tenant", "only those of tenants whose name contains this, or of this id", schema.Most(maxName))
			f.DayPtr(&l.EndsBefore, "ends_before", "only those that end before this day")
			bindCursor(f, &l.Cursor)
		}, s.Leases)),
		Print: printLeases, Example: "rental leases list --status active --property Harbour",
	}
}

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
