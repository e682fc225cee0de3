package rental

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/words"
)

// Arrear is an overdue charge that is not paid in full, with its tenant.
type Arrear struct {
	Charge
	LeaseID     int64   `json:"lease_id"`
	Unit        string  `json:"unit"`
	Property    string  `json:"property"`
	Tenant      string  `json:"tenant"`
	TenantEmail *string `json:"tenant_email"`
	DaysOverdue int64   `json:"days_overdue"`

	tenants []LeaseTenant
}

// Buckets are the arrears by age, in cents.
type Buckets struct {
	Days1To30  int64 `json:"days_1_30"`
	Days31To60 int64 `json:"days_31_60"`
	Days61To90 int64 `json:"days_61_90"`
	DaysOver90 int64 `json:"days_over_90"`
}

func (b *Buckets) add(days, cents int64) {
	switch {
	case days <= 30:
		b.Days1To30 += cents
	case days <= 60:
		b.Days31To60 += cents
	case days <= 90:
		b.Days61To90 += cents
	default:
		b.DaysOver90 += cents
	}
}

// Arrears are all overdue charges, most days first.
type Arrears struct {
	Today      exact.Day `json:"today"`
	Arrears    []Arrear  `json:"arrears"`
	TotalCents int64     `json:"total_cents"`
	Buckets    Buckets   `json:"buckets"`
	Standing
}

// Arrears lists every unpaid charge due before today, of every lease, including ended ones; due charges are posted
// first. Its time grows with the unpaid charges.
func (s *Service) Arrears(ctx context.Context, who db.Caller) (a Arrears, err error) {
	a.Standing, err = s.allPosted(ctx, who, func(c *db.Conn) error {
		a = Arrears{Today: c.Today()}
		a.Arrears, err = overdue(c)
		for _, r := range a.Arrears {
			a.TotalCents += r.BalanceCents
			a.Buckets.add(r.DaysOverdue, r.BalanceCents)
		}
		return err
	})
	return a, err
}

const overdueQuery = "SELECT " + chargeColumns + `, u.name, p.name, ` + tenantsColumn +
	` FROM charges c INDEXED BY charges_unpaid
	CROSS JOIN leases l ON l.id = c.lease_id ` + joinsOfLease + `
	WHERE c.paid_date IS NULL AND c.due_date < ?`

// overdue lists the unpaid charges that were due before today, most days first. The
// index of what is unpaid gives them lease by lease, so that each lease's names are
// read once.
func overdue(c *db.Conn) ([]Arrear, error) {
	today := c.Today()
	all := []Arrear{}
	err := db.Each(c, func(r *db.Row) error {
		a := Arrear{Charge: scanCharge(r)}
		a.LeaseID, a.DaysOverdue = a.lease, int64(today-a.DueDate)
		if n := len(all); n > 0 && all[n-1].LeaseID == a.LeaseID {
			same := &all[n-1]
			a.Unit, a.Property, a.Tenant, a.TenantEmail = same.Unit, same.Property, same.Tenant, same.TenantEmail
			a.tenants = same.tenants
		} else {
			a.Unit, a.Property = r.Text(), r.Text()
			a.tenants = parseTenants(r.Text())
			a.Tenant, a.TenantEmail = namesOf(a.tenants)
		}
		all = append(all, a)
		return nil
	}, overdueQuery, today)
	slices.SortFunc(all, func(a, b Arrear) int {
		return cmp.Or(cmp.Compare(a.DueDate, b.DueDate), cmp.Compare(a.ID, b.ID))
	})
	return all, err
}

func (s *Service) arrears() schema.Op {
	row := exampleArrear()
	return schema.Op{
		Name: "arrears_report", Print: schema.Printed(printArrears), Example: "rental arrears",
		About: "Who is behind and by how much: every overdue charge, the oldest first. What is due by today is posted " +
			"first.",
		Response: Arrears{Today: exampleDay("2026-11-20"), Arrears: []Arrear{row}, TotalCents: 95_000,
			Buckets: Buckets{Days1To30: 95_000}},
		Says: "Who is behind",
		AgentAbout: "Who is behind: every charge past its due date that is not paid in full. balance_cents is open, " +
			"amount_cents is the whole charge. " +
			"total_cents, buckets and by_tenant sum over all that match. detail short: lease, unit, tenant, e-mail, due day, " +
			"days, balance.",
		AgentResponse: exampleFoundArrears(),
		Bind:          schema.Agents(s.bindFoundArrears, schema.Acts(s.Arrears)),
	}
}

// TenantBehind is a tenant, with those who share the leases, who is behind: the overdue sum of all leases on which the
// tenant is the contact.
type TenantBehind struct {
	TenantID     int64
	Tenant       string // all names of the first lease
	Forgotten    bool   // there is no contact
	BalanceCents int64
	DaysOverdue  int64 // of the oldest charge
	Charges      []Arrear
}

// ByLease groups arrears by lease, which is behind longest first.
func (a Arrears) ByLease() (all []LeaseBehind) {
	at := map[int64]int{}
	for _, x := range a.Arrears {
		i, have := at[x.LeaseID]
		if !have {
			i = len(all)
			at[x.LeaseID] = i
			all = append(all, LeaseBehind{LeaseID: x.LeaseID, Tenant: x.Tenant, Unit: x.Unit, Property: x.Property})
		}
		all[i].BalanceCents += x.BalanceCents
		all[i].DaysOverdue = max(all[i].DaysOverdue, x.DaysOverdue)
	}
	return all
}

// ByPerson groups arrears by the tenant who is written to, who is behind longest first.
func (a Arrears) ByPerson() []TenantBehind {
	var all []TenantBehind
	at := map[int64]int{}
	for _, x := range a.Arrears {
		var first LeaseTenant
		if len(x.tenants) > 0 {
			first = x.tenants[0]
		}
		i, have := at[first.ID]
		if !have {
			i = len(all)
			at[first.ID] = i
			all = append(all, TenantBehind{TenantID: first.ID, Tenant: x.Tenant, Forgotten: first.Forgotten()})
		}
		g := &all[i]
		g.BalanceCents += x.BalanceCents
		g.DaysOverdue = max(g.DaysOverdue, x.DaysOverdue)
		g.Charges = append(g.Charges, x)
	}
	return all
}

// ShortArrear are the few fields of an arrear that identify and decide.
type ShortArrear struct {
	LeaseID      int64     `json:"lease_id"`
	Unit         string    `json:"unit"`
	Tenant       string    `json:"tenant"`
	TenantEmail  *string   `json:"tenant_email,omitempty"`
	DueDate      exact.Day `json:"due_date"`
	DaysOverdue  int64     `json:"days_overdue"`
	BalanceCents int64     `json:"balance_cents"`
}

func (a Arrear) short() ShortArrear {
	return ShortArrear{a.LeaseID, a.Unit, schema.Shorten(a.Tenant, 24), a.TenantEmail, a.DueDate, a.DaysOverdue,
		a.BalanceCents}
}

// TenantArrears is a tenant's overdue sum of all leases on which the tenant is the contact.
type TenantArrears struct {
	TenantID      int64     `json:"tenant_id"`
	Tenant        string    `json:"tenant"`
	TenantEmail   *string   `json:"tenant_email"`
	BalanceCents  int64     `json:"balance_cents"`
	Charges       int       `json:"charges"`
	Leases        int       `json:"leases"`
	OldestDueDate exact.Day `json:"oldest_due_date"`
	DaysOverdue   int64     `json:"days_overdue" about:"of the oldest"`
}

func (t TenantArrears) same() TenantArrears { return t }

// FoundArrears are the arrears for agents: a page of the charges, the sums on the first.
type FoundArrears struct {
	Today      exact.Day                         `json:"today"`
	Arrears    []schema.Row[Arrear, ShortArrear] `json:"arrears"`
	TotalCents *int64                            `json:"total_cents,omitempty"`
	Buckets    *Buckets                          `json:"buckets,omitempty"`
	ByTenant   []TenantArrears                   `json:"by_tenant,omitempty" about:"who owes most first"`
	Tenants    int                               `json:"tenants" about:"how many are behind"`
	Shown      int                               `json:"shown"`
	Total      int                               `json:"total"`
	Next       *string                           `json:"next" about:"pass it as after; null at the end"`
	Standing
}

// byTenant sums arrears by the tenant who is written to, who owes most first.
func (a Arrears) byTenant() []TenantArrears {
	sums := []TenantArrears{}
	for _, g := range a.ByPerson() {
		first := g.Charges[0]
		t := TenantArrears{TenantID: g.TenantID, Tenant: g.Tenant, TenantEmail: first.TenantEmail,
			BalanceCents: g.BalanceCents,
			Charges:      len(g.Charges), DaysOverdue: g.DaysOverdue, OldestDueDate: first.DueDate}
		leases := map[int64]bool{}
		for _, c := range g.Charges {
			leases[c.LeaseID] = true
			t.OldestDueDate = min(t.OldestDueDate, c.DueDate)
		}
		t.Leases = len(leases)
		sums = append(sums, t)
	}
	slices.SortStableFunc(sums, func(a, b TenantArrears) int { return cmp.Compare(b.BalanceCents, a.BalanceCents) })
	return sums
}

// of filters arrears by properties (default: all) and by a part of a tenant's name, and returns their sums.
func (a Arrears) of(filtered bool, properties []string, tenant string) Arrears {
	kept := Arrears{Today: a.Today, Standing: a.Standing, Arrears: []Arrear{}}
	for _, x := range a.Arrears {
		if filtered && !slices.Contains(properties, x.Property) || !x.isOf(tenant) {
			continue
		}
		kept.Arrears = append(kept.Arrears, x)
		kept.TotalCents += x.BalanceCents
		kept.Buckets.add(x.DaysOverdue, x.BalanceCents)
	}
	return kept
}

func (a Arrear) isOf(tenant string) bool {
	id, one := words.Number(tenant), strings.HasPrefix(tenant, "#")
	return tenant == "" || slices.ContainsFunc(a.tenants, func(t LeaseTenant) bool {
		return t.ID == id || (!one || id == 0) && words.Of(tenant).In(t.Name, set(t.Email))
	})
}

// FindArrears is Arrears for agents.
func (s *Service) FindArrears(ctx context.Context, who db.Caller, property, tenant string, l schema.Listing,
	sort string) (done FoundArrears, err error) {
	if err := s.known(ctx, &property, &tenant); err != nil {
		return done, err
	}
	a, err := s.Arrears(ctx, who)
	if err != nil {
		return done, err
	}
	properties, err := s.propertiesOf(ctx, property)
	if err != nil {
		return done, err
	}
	a = a.of(property != "", properties, tenant)
	if sort == sortBalance {
		slices.SortStableFunc(a.Arrears, func(a, b Arrear) int { return cmp.Compare(b.BalanceCents, a.BalanceCents) })
	}
	sums := a.byTenant()
	done = FoundArrears{Today: a.Today, Tenants: len(sums), Total: len(a.Arrears), Standing: a.Standing}
	most := schema.AnswerBytes
	if l.First() {
		done.TotalCents, done.Buckets, most = &a.TotalCents, &a.Buckets, most/2
		if l.Limit > 0 {
			sums = sums[:min(l.Limit, int64(len(sums)))]
		}
		for _, t := range schema.FitInside(sums, true, TenantArrears.same, l.Asked, most) {
			done.ByTenant = append(done.ByTenant, *t.Short)
		}
	}
	done.Arrears, done.Next = schema.PageOf(a.Arrears, l, Arrear.short, most)
	done.Shown = len(done.Arrears)
	return done, nil
}

func (s *Service) bindFoundArrears(f *schema.Form) schema.Handler {
	var property, tenant string
	var l schema.Listing
	sort := "days"
	bindFilters(f, &property, &tenant)
	f.Enum(&sort, "sort", "days: the oldest first; balance: the most first", []string{"days", sortBalance})
	l.Asked = f.Int(&l.Limit, "limit", "return at most this many charges and tenants", schema.Range(1, 200))
	f.After(&l.After)
	f.Short(&l.Short)
	return func(ctx context.Context, who db.Caller) (any, error) {
		return s.FindArrears(ctx, who, property, tenant, l, sort)
	}
}

func exampleArrear() Arrear {
	return Arrear{Charge: exampleCharge(), LeaseID: 4, Unit: "2A", Property: "Harbour House", Tenant: "Ada Brandt",
		TenantEmail: exampleLease().TenantEmail, DaysOverdue: 19}
}

func exampleFoundArrears() FoundArrears {
	row, cents := exampleArrear(), int64(95_000)
	return FoundArrears{Today: exampleDay("2026-11-20"), Arrears: schema.Rows([]Arrear{row}, false, Arrear.short),
		TotalCents: &cents, Buckets: &Buckets{Days1To30: cents},
		ByTenant: Arrears{Arrears: []Arrear{row}}.byTenant(), Tenants: 1, Shown: 1, Total: 1}
}
