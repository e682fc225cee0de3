package rental

import (
	"context"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/session"
)

// TenantRecord is a tenant with the sums of their leases.
type TenantRecord struct {
	Tenant
	Leases       int64 `json:"leases"`
	BalanceCents int64 `json:"balance_cents" about:"what their leases owe"`
	Sessions     int64 `json:"portal_sessions" about:"signed in at the portal"`
}

// Tenants is a page of tenants by id.
type Tenants struct {
	Tenants []TenantRecord `json:"tenants"`
	Next    *int64         `json:"next"`
	Total   int64          `json:"total"`
	Standing
}

var tenantRecord = tenants.Columns() + `, (SELECT count(*) FROM lease_tenants x WHERE x.tenant_id = t.id),
	(SELECT coalesce(sum(c.amount_cents - c.paid_cents), 0) FROM lease_tenants x CROSS JOIN charges c
	ON c.lease_id = x.lease_id WHERE x.tenant_id = t.id AND c.paid_date IS NULL)`

func scanTenantRecord(r *db.Row) TenantRecord {
	return TenantRecord{Tenant: tenants.Row(r), Leases: r.Int(), BalanceCents: r.Int()}
}

// TenantFilter restricts tenants; zero values do not.
type TenantFilter struct {
	schema.Cursor[int64]
	Q string // a part of name, e-mail or phone
}

// Tenants lists the matching tenants; due charges of all leases are posted first.
func (s *Service) Tenants(ctx context.Context, who db.Caller, f TenantFilter) (list Tenants, err error) {
	const match = " WHERE has_words(?1, t.name, t.email, t.phone)"
	list.Standing, err = s.allPosted(ctx, who, func(c *db.Conn) error {
		all, err := db.All(c, scanTenantRecord, "SELECT "+tenantRecord+" FROM tenants t"+match+
			" AND t.id > ?2 ORDER BY t.id LIMIT ?3", f.Q, f.After, f.Fetch())
		if err != nil {
			return err
		}
		list.Tenants, list.Next = schema.Cut(all, f.Limit, func(t TenantRecord) int64 { return t.ID })
		for i := range list.Tenants {
			open, err := session.Of(c, session.Tenant, list.Tenants[i].ID)
			if err != nil {
				return err
			}
			list.Tenants[i].Sessions = int64(len(open))
		}
		list.Total, err = db.Number(c, "SELECT count(*) FROM tenants t"+match, f.Q)
		return err
	})
	return list, err
}

// TenantDetail is a tenant with their leases.
type TenantDetail struct {
	TenantRecord
	LeaseList []Lease           `json:"lease_list"`
	Devices   []session.Session `json:"-"`
	Standing
}

// TenantDetail returns one tenant; an unknown one is not found.
func (s *Service) TenantDetail(ctx context.Context, who db.Caller, id int64) (d TenantDetail, err error) {
	d.Standing, err = s.upToDate(ctx, who, func(c *db.Conn, r *reading) error {
		d = TenantDetail{}
		var err error
		if d.TenantRecord, err = db.ByID(c, scanTenantRecord, "tenant",
			"SELECT "+tenantRecord+" FROM tenants t WHERE t.id = ?", id); err != nil {
			return err
		}
		open, err := session.Of(c, session.Tenant, id)
		if err != nil {
			return err
		}
		d.Sessions, d.Devices = int64(len(open)), open
		d.LeaseList, err = leasesOfTenant(c, id)
		r.await(unpostedOf(d.LeaseList, c.Today()))
		return err
	})
	return d, err
}

// leasesOfTenant lists a tenant's leases, latest first.
func leasesOfTenant(c *db.Conn, tenant int64) ([]Lease, error) {
	return leases.All(c, `WHERE l.id IN (SELECT lease_id FROM lease_tenants WHERE tenant_id = ?)
		ORDER BY l.start_date DESC, l.id DESC`, tenant)
}

func (s *Service) listTenants() schema.Op {
	email := "ada@example.org"
	return schema.Op{
		Name: "list_tenants", About: "List the tenants with what their leases owe.",
		Response: Tenants{Tenants: []TenantRecord{{Tenant: Tenant{ID: 3, Name: "Ada Brandt", Email: &email}, Leases: 1,
			BalanceCents: 95_000}}, Total: 1},
		Bind: schema.Does(func(f *schema.Form, t *TenantFilter) {
			f.Text(&t.Q, "q", "only those with this part of name, e-mail or phone", schema.Most(maxName))
			bindCursor(f, &t.Cursor)
		}, s.Tenants),
		Print: schema.Printed(printTenants), Example: "rental tenants list --q brandt",
	}
}

func (s *Service) tenantDetail() schema.Op {
	email := "ada@example.org"
	return schema.Op{
		Name: "tenant_detail", About: "One tenant with their leases.", Refuses: []fault.Kind{fault.NotFound},
		Response: TenantDetail{TenantRecord: TenantRecord{Tenant: Tenant{ID: 3, Name: "Ada Brandt", Email: &email}, Leases: 1,
			BalanceCents: 95_000}, LeaseList: []Lease{exampleLease()}},
		Bind:  schema.Does(bindTenantID, s.TenantDetail),
		Print: schema.Printed(printTenant), Example: "rental tenants show 'Ada Brandt'",
	}
}

// Unit returns one unit; an unknown one is not found.
func (s *Service) Unit(ctx context.Context, id int64) (Unit, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Unit, error) { return unitByID(c, id) })
}

func unitByID(c *db.Conn, id int64) (Unit, error) {
	u, found, err := db.One(c, scanUnit, "SELECT "+unitColumns+unitsOn+" WHERE u.id = ?2", c.Today(), id)
	if err == nil && !found {
		err = fault.NotFoundf("there is no unit %d", id)
	}
	return u, err
}

func (s *Service) unitDetail() schema.Op {
	return schema.Op{
		Name: "unit_detail", About: "One unit, with the lease that covers today.", Response: exampleUnit(),
		Refuses: []fault.Kind{fault.NotFound},
		Bind:    schema.Reads(bindUnitID, s.Unit),
		Print:   schema.Printed(printUnit), Example: "rental units show 'Harbour House/2A'",
	}
}

// PropertyDetail is a property with its units.
type PropertyDetail struct {
	Property
	Units []Unit `json:"units"`
}

// Property returns one property; an unknown one is not found.
func (s *Service) Property(ctx context.Context, id int64) (PropertyDetail, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (d PropertyDetail, err error) {
		p, found, err := db.One(c, scanProperty, "SELECT "+propertyColumns+" FROM properties p WHERE p.id = ?2", c.Today(),
			id)
		if err == nil && !found {
			err = fault.NotFoundf("there is no property %d", id)
		}
		if err != nil {
			return d, err
		}
		d.Property = p
		if d.LateFee, err = feeOf(c, id); err != nil {
			return d, err
		}
		d.Units, err = db.All(c, scanUnit, "SELECT "+unitColumns+unitsOn+" WHERE u.property_id = ?2 ORDER BY u.name",
			c.Today(), id)
		return d, err
	})
}

func (s *Service) propertyDetail() schema.Op {
	return schema.Op{
		Name: "property_detail", About: "One property with its late fee and units.",
		Response: PropertyDetail{exampleProperty(), []Unit{exampleUnit()}}, Refuses: []fault.Kind{fault.NotFound},
		Bind: schema.Reads(func(f *schema.Form, id *int64) {
			bindProperty(f, id, "PROPERTY_ID", schema.NameFirst)
		}, s.Property),
		Print: schema.Printed(printProperty), Example: "rental properties show 'Harbour House'",
	}
}

// ShownLease is a lease by itself, with what is charged with each of its periods.
type ShownLease struct {
	Lease
	Recurring []Recurring `json:"recurring"`
	Standing
}

func (s *Service) leaseShow() schema.Op {
	return schema.Op{
		Name: "show_lease", About: "One lease with its terms and balance.", Response: ShownLease{Lease: exampleLease(),
			Recurring: []Recurring{exampleRecurring().Recurring}}, Refuses: []fault.Kind{fault.NotFound},
		Bind: func(f *schema.Form) schema.Handler {
			var id int64
			bindLeaseID(f, &id)
			return func(ctx context.Context, who db.Caller) (any, error) {
				l, err := s.Ledger(ctx, who, id)
				if err != nil {
					return nil, err
				}
				shown := ShownLease{Lease: l.Lease, Standing: l.Standing}
				shown.Recurring, err = db.Read(ctx, s.db, func(c *db.Conn) ([]Recurring, error) { return recurringOf(c, id) })
				return shown, err
			}
		},
		Print: schema.Printed(printShownLease), Example: "rental leases show 'Harbour House/2A'",
	}
}

// pageOf finds the page of the record whose id the query gives for the cells of these
// columns.
func pageOf(base, query string, columns ...string) func(*db.Conn, func(string) string) (string, error) {
	return func(c *db.Conn, cell func(string) string) (string, error) {
		id, found, err := db.One(c, db.Int, query, schema.Map(columns, func(name string) any { return cell(name) })...)
		if err != nil || !found {
			return strings.TrimSuffix(base, "/"), err
		}
		return base + strconv.FormatInt(id, 10), nil
	}
}
