package rental

import (
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/words"
)

// The lists for agents: sums over all that match, pages that go on, and short rows.

// ShortLease are the few fields of a lease that identify and decide.
type ShortLease struct {
	ID           int64  `json:"id"`
	Unit         string `json:"unit"`
	Tenant       string `json:"tenant"`
	Status       string `json:"status"`
	BalanceCents int64  `json:"balance_cents"`
}

// AgentLeases is LeaseList for agents.
type AgentLeases struct {
	Leases       []schema.Row[Lease, ShortLease] `json:"leases"`
	Shown        int64                           `json:"shown"`
	Total        int64                           `json:"total"`
	BalanceCents int64                           `json:"balance_cents" about:"what all that match owe"`
	Next         *string                         `json:"next" about:"pass it as after; null at the end"`
	Standing
}

func shortLease(l Lease) ShortLease {
	return ShortLease{l.ID, l.Unit, l.Tenant, l.Status, l.BalanceCents}
}

func (s *Service) toolLeases() schema.Op {
	return schema.Op{
		Name: "list_leases",
		About: "List the leases with unit, tenant, today's rent, status and balance (billed - paid). balance_cents is of all that match, also of those not shown. " +
			"detail short gives id, unit, tenant, status and balance.",
		Response: AgentLeases{Leases: schema.Rows([]Lease{exampleLease()}, false, shortLease), Shown: 1, Total: 1, BalanceCents: 95_000},
		Bind: func(f *schema.Form) schema.Handler {
			var l LeaseFilter
			var onlyActive, short bool
			f.Bool(&onlyActive, "active", "true: only the leases that cover today")
			f.Enum(&l.Status, "status", "only the leases that are so today", leaseStatuses)
			f.ID(&l.UnitID, "unit_id", "only the leases of this unit")
			f.Text(&l.Property, "property", "only those of properties with this part of a name, in any case", schema.Most(maxName))
			f.Text(&l.Tenant, "tenant", "only those of tenants with this part of a name, in any case", schema.Most(maxName))
			f.DayPtr(&l.EndsBefore, "ends_before", "only those that end before this day")
			asked := f.Limit(&l.Limit)
			f.After(&l.After)
			f.Short(&short)
			if onlyActive && l.Status == "" {
				l.Status = active
			} else if onlyActive && l.Status != active {
				f.Refuse("status", "status: %s and active true exclude each other", l.Status)
			}
			return func(ctx context.Context, who db.Caller) (any, error) {
				if err := s.known(ctx, l.Property, l.Tenant); err != nil {
					return nil, err
				}
				list, err := s.LeaseList(ctx, who, l)
				rows, next := fitting(list.Leases, short, shortLease, asked, func(l Lease) int64 { return l.ID }, list.Next)
				return AgentLeases{rows, int64(len(rows)), list.Total, list.BalanceCents, next, list.Standing}, err
			}
		},
	}
}

// fitting makes the rows of a page and tells where the next begins, earlier than next where
// not all of them fit into an answer.
func fitting[F, S any](list []F, short bool, shorten func(F) S, asked bool, id func(F) int64, next *string) ([]schema.Row[F, S], *string) {
	rows := schema.Fit(list, short, shorten, asked, schema.AnswerBytes)
	if n := len(rows); n < len(list) {
		last := id(list[n-1])
		next = schema.NextText(&last)
	}
	return rows, next
}

// known refuses a part of a property's or a tenant's name that is in none, telling what
// there is.
func (s *Service) known(ctx context.Context, property, tenant string) error {
	if property == "" && tenant == "" {
		return nil
	}
	return s.db.View(ctx, func(c *db.Conn) error {
		if err := knownIn(c, "property", property, "properties", "t.name"); err != nil {
			return err
		}
		return knownIn(c, "tenant", tenant, "tenants", calledLike(tenant))
	})
}

func knownIn(c *db.Conn, argument, part, table, called string) error {
	if part == "" {
		return nil
	}
	_, found, err := db.One(c, db.Int, "SELECT 1 FROM "+table+" t WHERE has_words(?1, "+called+") OR t.id = ?2 LIMIT 1", part, words.Number(part))
	if err != nil || found {
		return err
	}
	names, err := db.All(c, db.Text, "SELECT DISTINCT name FROM "+table+" ORDER BY id LIMIT 5000")
	if err != nil {
		return err
	}
	return fault.Fieldf(argument, "%s: none has %s in its name; %s", argument, schema.Quote(part), schema.ThereAre(part, names))
}

// AgentLedger is a lease with a page of its charges; the totals are of all.
type AgentLedger struct {
	Lease   Lease                             `json:"lease"`
	Charges []schema.Row[Charge, ShortCharge] `json:"charges"`
	Totals  Totals                            `json:"totals"`
	Shown   int64                             `json:"shown"`
	Total   int64                             `json:"total" about:"charges that match"`
	Next    *string                           `json:"next" about:"pass it as after; null at the end"`
	Standing
}

// ShortCharge are the few fields of a charge that identify and decide.
type ShortCharge struct {
	ID           int64     `json:"id"`
	DueDate      exact.Day `json:"due_date"`
	BalanceCents int64     `json:"balance_cents"`
}

func shortCharge(c Charge) ShortCharge { return ShortCharge{c.ID, c.DueDate, c.BalanceCents} }

// chargesBytes lets the charges of a page take nearly all of an answer.
const chargesBytes = schema.AnswerBytes + 1_200

func (s *Service) toolLedger() schema.Op {
	return schema.Op{
		Name: "lease_detail",
		About: "One lease with its charges by due date. Totals are of the whole ledger: billed = paid + balance, and paid + credit = received + deposits used - credit returned. " +
			"open_only leaves out what is paid, since what was due before a day. What is due by today is posted first. detail short: charge, due date, balance.",
		Response: AgentLedger{Lease: exampleLease(), Charges: schema.Rows([]Charge{exampleCharge()}, false, shortCharge), Totals: exampleOwed, Shown: 1, Total: 1},
		Refuses:  []fault.Kind{fault.NotFound},
		Bind: func(f *schema.Form) schema.Handler {
			var lease int64
			var open, short bool
			var since *exact.Day
			page := schema.First(200)
			f.ID(&lease, "lease_id", "the lease", schema.Required, schema.Example(4))
			f.Bool(&open, "open_only", "true: only charges of which something is open")
			f.DayPtr(&since, "since", "only charges that are due on this day or later")
			asked := f.Int(&page.Limit, "limit", "how many charges to give at most", schema.Range(1, 200))
			f.After(&page.After)
			f.Short(&short)
			return func(ctx context.Context, who db.Caller) (any, error) {
				l, err := s.Ledger(ctx, who, lease)
				if err != nil {
					return nil, err
				}
				kept := []Charge{}
				for _, c := range l.Charges {
					if (!open || !c.Paid) && (since == nil || c.DueDate >= *since) {
						kept = append(kept, c)
					}
				}
				done := AgentLedger{Lease: l.Lease, Totals: l.Totals, Total: int64(len(kept)), Standing: l.Standing}
				rows, next := rowsAfter(kept, page)
				done.Charges = schema.FitInside(rows, short, shortCharge, asked, chargesBytes)
				done.Next = nextFrom(len(done.Charges), len(rows), page.After, next)
				done.Shown = int64(len(done.Charges))
				return done, nil
			}
		},
	}
}

// rowsAfter returns the page of a list that is paged by how many rows were given before, and
// where the next page begins.
func rowsAfter[T any](all []T, page schema.Cursor[int64]) ([]T, *string) {
	n := int64(len(all))
	from := min(page.After, n)
	to := min(from+page.Limit, n)
	if to == n {
		return all[from:], nil
	}
	return all[from:to], schema.NextText(&to)
}

// fittingFrom makes the rows of the page that begins behind the first after of all, and tells where
// the next begins.
func fittingFrom[F, S any](page []F, short bool, shorten func(F) S, asked bool, most int, after int64, next *string) ([]schema.Row[F, S], *string) {
	rows := schema.Fit(page, short, shorten, asked, most)
	return rows, nextFrom(len(rows), len(page), after, next)
}

// nextFrom is where the next page begins when given of a page's rows, behind the first after of
// all, fit into the answer.
func nextFrom(given, rows int, after int64, next *string) *string {
	if given == rows {
		return next
	}
	to := after + int64(given)
	return schema.NextText(&to)
}

// ShortArrear are the few fields of an arrear that identify and decide.
type ShortArrear struct {
	LeaseID      int64  `json:"lease_id"`
	Tenant       string `json:"tenant"`
	BalanceCents int64  `json:"balance_cents"`
	DaysOverdue  int64  `json:"days_overdue"`
}

// TenantArrears is what one lease's tenants are behind by.
type TenantArrears struct {
	LeaseID      int64  `json:"lease_id"`
	Tenant       string `json:"tenant"`
	Unit         string `json:"unit"`
	Property     string `json:"property"`
	BalanceCents int64  `json:"balance_cents"`
	Charges      int64  `json:"charges"`
	DaysOverdue  int64  `json:"days_overdue" about:"of the oldest"`
}

// AgentArrears is who is behind, for agents.
type AgentArrears struct {
	Today      exact.Day                         `json:"today"`
	Arrears    []schema.Row[Arrear, ShortArrear] `json:"arrears"`
	TotalCents int64                             `json:"total_cents"`
	Buckets    Buckets                           `json:"buckets"`
	ByTenant   []TenantArrears                   `json:"by_tenant"`
	Tenants    int64                             `json:"tenants" about:"leases that are behind"`
	Shown      int64                             `json:"shown"`
	Total      int64                             `json:"total"`
	Next       *string                           `json:"next" about:"pass it as after; null at the end"`
	Standing
}

// byTenant sums arrears by lease, who owes most first.
func byTenant(all []Arrear) []TenantArrears {
	sums := []TenantArrears{}
	at := map[int64]int{}
	for _, a := range all {
		i, have := at[a.LeaseID]
		if !have {
			i = len(sums)
			at[a.LeaseID] = i
			sums = append(sums, TenantArrears{LeaseID: a.LeaseID, Tenant: a.Tenant, Unit: a.Unit, Property: a.Property, DaysOverdue: a.DaysOverdue})
		}
		sums[i].BalanceCents += a.BalanceCents
		sums[i].Charges++
		sums[i].DaysOverdue = max(sums[i].DaysOverdue, a.DaysOverdue)
	}
	return sortedBy(sums, func(t TenantArrears) int64 { return -t.BalanceCents })
}

func (s *Service) toolArrears() schema.Op {
	row := exampleArrear()
	return schema.Op{
		Name: "arrears_report",
		About: "Who is behind and by how much: every charge past its due date of which something is open, most days first. balance_cents is what is open, " +
			"amount_cents the charge's; total_cents, buckets and by_tenant (one row a lease) sum balances over all; over 120 tenants go on with after. detail short: lease, tenant, balance, days.",
		Response: AgentArrears{Today: exampleDay("2026-11-20"), Arrears: schema.Rows([]Arrear{row}, false, shortArrear), TotalCents: 95_000, Buckets: Buckets{Days1To30: 95_000},
			ByTenant: byTenant([]Arrear{row}), Tenants: 1, Shown: 1, Total: 1},
		Bind: func(f *schema.Form) schema.Handler {
			var after int64
			var short bool
			f.After(&after)
			f.Short(&short)
			return func(ctx context.Context, who db.Caller) (any, error) {
				a, err := s.Arrears(ctx, who)
				if err != nil {
					return nil, err
				}
				return a.page(after, short), nil
			}
		},
	}
}

// How much of the arrears an agent gets at once: an answer stays below 50 KB.
const (
	arrearsAtOnce = 80
	tenantsAtOnce = 120
)

// page returns the arrears behind the first after of them. The sums by tenant are whole
// while they are few; of more each page gives the next, so that all have been given when
// the charges end.
func (a Arrears) page(after int64, short bool) AgentArrears {
	done := AgentArrears{Today: a.Today, TotalCents: a.TotalCents, Buckets: a.Buckets, ByTenant: byTenant(a.Arrears), Total: int64(len(a.Arrears)), Standing: a.Standing}
	if done.Tenants = int64(len(done.ByTenant)); done.Tenants > tenantsAtOnce {
		from := min((after+arrearsAtOnce-1)/arrearsAtOnce*tenantsAtOnce, done.Tenants)
		done.ByTenant = done.ByTenant[from:min(from+tenantsAtOnce, done.Tenants)]
	}
	const most = schema.AnswerBytes * 2 / 3
	rows, next := rowsAfter(a.Arrears, schema.Cursor[int64]{After: after, Limit: arrearsAtOnce})
	done.Arrears, done.Next = fittingFrom(rows, short, shortArrear, false, most, after, next)
	done.Shown = int64(len(done.Arrears))
	return done
}

func shortArrear(a Arrear) ShortArrear {
	return ShortArrear{a.LeaseID, firstOf(a.Tenant, 24), a.BalanceCents, a.DaysOverdue}
}

func exampleArrear() Arrear {
	return Arrear{Charge: exampleCharge(), LeaseID: 4, Unit: "2A", Property: "Harbour House", Tenant: "Ada Brandt",
		TenantEmail: exampleLease().TenantEmail, DaysOverdue: 19}
}

// RollRow is a unit's line of the rent roll with whom it is let to today.
type RollRow struct {
	UnitRoll
	LeaseID *int64  `json:"lease_id" about:"the lease of today"`
	Tenant  *string `json:"tenant"`
}

// ShortRoll are the few fields of a rent roll's line that identify and decide.
type ShortRoll struct {
	Unit             string `json:"unit"`
	OutstandingCents int64  `json:"outstanding_cents"`
}

// AgentRoll is the rent roll for agents.
type AgentRoll struct {
	Month  exact.Month                      `json:"month"`
	Totals Collection                       `json:"totals"`
	Units  []schema.Row[RollRow, ShortRoll] `json:"units"`
	Shown  int64                            `json:"shown"`
	Total  int64                            `json:"total"`
	Next   *string                          `json:"next" about:"pass it as after; null at the end"`
	Standing
}

func (s *Service) toolRentRoll() schema.Op {
	shorten := func(u RollRow) ShortRoll { return ShortRoll{u.Unit, u.OutstandingCents} }
	return schema.Op{
		Name: "rent_roll",
		About: "Billed versus collected for a month. billed = charges due in the month, collected = what is paid of them, whenever, outstanding = the rest; " +
			"received = money that came in in the month, for whichever charges. totals are of all units; detail short: unit and outstanding.",
		Response: AgentRoll{Month: exampleDay("2026-11-01").Month(), Totals: exampleRoll().Totals, Units: schema.Rows([]RollRow{{UnitRoll: exampleRoll().Units[0]}}, false, shorten), Shown: 1, Total: 1},
		Bind: func(f *schema.Form) schema.Handler {
			var month exact.Month // its zero value is no month that a form reads
			var after int64
			var short bool
			f.Month(&month, "month", "the month; left out: this month")
			f.After(&after)
			f.Short(&short)
			return func(ctx context.Context, who db.Caller) (any, error) {
				roll, err := s.RentRoll(ctx, who, given(month))
				if err != nil {
					return nil, err
				}
				units, next := rowsAfter(roll.Units, schema.Cursor[int64]{After: after, Limit: unitsAtOnce})
				page, err := s.withTenants(ctx, units)
				if err != nil {
					return nil, err
				}
				rows, next := fittingFrom(page, short, shorten, false, schema.AnswerBytes, after, next)
				return AgentRoll{roll.Month, roll.Totals, rows, int64(len(rows)), int64(len(roll.Units)), next, roll.Standing}, nil
			}
		},
	}
}

// withTenants adds whom units are let to today.
func (s *Service) withTenants(ctx context.Context, units []UnitRoll) (rows []RollRow, err error) {
	rows = make([]RollRow, len(units))
	return rows, s.db.View(ctx, func(c *db.Conn) error {
		for i, u := range units {
			rows[i].UnitRoll = u
			now, _, err := db.One(c, scanUnit, "SELECT "+unitColumns+unitsOn+" WHERE u.id = ?2", c.Today(), u.UnitID)
			if err != nil {
				return err
			}
			rows[i].LeaseID, rows[i].Tenant = now.LeaseID, now.Tenant
		}
		return nil
	})
}

// unitsAtOnce is how many lines of a rent roll an agent gets at once.
const unitsAtOnce = 150

// given is nil for a month that was left out.
func given(m exact.Month) *exact.Month {
	if m == 0 {
		return nil
	}
	return &m
}
