package reorder

import (
	"context"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/words"
)

// Supplier is who delivers: what is known of them beside the name that stands with
// their SKUs. A SKU may name one of which no record is kept.
type Supplier struct {
	Name          string        `json:"name"`
	Email         string        `json:"email"`
	Phone         string        `json:"phone"`
	Address       string        `json:"address"`
	LeadTimeDays  *int64        `json:"lead_time_days" about:"for its SKUs that say nothing else; null is the usual 7"`
	MinOrderCents int64         `json:"min_order_cents" about:"the least total of an order"`
	Notes         string        `json:"notes"`
	SKUs          int64         `json:"skus" about:"active SKUs that name it"`
	CreatedAt     exact.Instant `json:"created_at"`
	UpdatedAt     exact.Instant `json:"updated_at"`

	id int64
}

// supplierSets are the columns of a supplier that people set, with their values: one list
// for INSERT, UPDATE and scanSupplier.
const supplierSets db.Columns = "email, phone, address, lead_time_days, min_order_cents, notes, updated_at"

func (k Supplier) sets() []any {
	return []any{k.Email, k.Phone, k.Address, k.LeadTimeDays, k.MinOrderCents, k.Notes, k.UpdatedAt}
}

const supplierColumns = "id, name, " + string(supplierSets) +
	", created_at, (SELECT count(*) FROM skus WHERE supplier = suppliers.name AND active = 1)"

func scanSupplier(r *db.Row) Supplier {
	return Supplier{
		id: r.Int(), Name: r.Text(), Email: r.Text(), Phone: r.Text(), Address: r.Text(), LeadTimeDays: r.IntPtr(), MinOrderCents: r.Int(),
		Notes: r.Text(), UpdatedAt: r.Instant(), CreatedAt: r.Instant(), SKUs: r.Int(),
	}
}

func lookUpSupplier(c *db.Conn, name string) (Supplier, bool, error) {
	return db.One(c, scanSupplier, "SELECT "+supplierColumns+" FROM suppliers WHERE name = ?", name)
}

// Suppliers is a page of the suppliers, in the order of their names.
type Suppliers struct {
	Suppliers []Supplier `json:"suppliers"`
	Next      *string    `json:"next" about:"give it as after for the next page; null at the end"`
	Total     int64      `json:"total" about:"how many there are in all"`
}

// SupplierQuery narrows the list: Q is looked for in name, e-mail and notes.
type SupplierQuery struct {
	Q string
	schema.Cursor[string]
}

// Suppliers lists the suppliers of which a record is kept.
func (s *Service) Suppliers(ctx context.Context, q SupplierQuery) (page Suppliers, err error) {
	page.Suppliers = []Supplier{}
	wanted := words.Of(q.Q)
	err = s.db.View(ctx, func(c *db.Conn) error {
		return db.Each(c, func(r *db.Row) error {
			one := scanSupplier(r)
			if !wanted.In(one.Name, one.Email, one.Notes) {
				return nil
			}
			page.Total++
			if one.Name <= q.After {
				return nil
			}
			if n := int64(len(page.Suppliers)); q.Limit > 0 && n == q.Limit {
				page.Next = &page.Suppliers[n-1].Name
				return nil
			}
			page.Suppliers = append(page.Suppliers, one)
			return nil
		}, "SELECT "+supplierColumns+" FROM suppliers ORDER BY name")
	})
	return page, err
}

// Supplier returns one supplier's record. Refused: an unknown name.
func (s *Service) Supplier(ctx context.Context, name string) (Supplier, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Supplier, error) { return findSupplier(c, name) })
}

func findSupplier(c *db.Conn, name string) (Supplier, error) {
	one, found, err := lookUpSupplier(c, name)
	if err == nil && !found {
		err = fault.NotFoundf("no record of a supplier %s; `reorder suppliers list` lists them", schema.Quote(name))
	}
	return one, err
}

// usualLeadTime is of a SKU that says nothing, and whose supplier says nothing.
const usualLeadTime = 7

// mention keeps a record of a supplier that a SKU names for the first time.
func mention(tx *db.Tx, name string) error {
	if name == "" {
		return nil
	}
	if _, found, err := db.One(&tx.Conn, db.Int, "SELECT 1 FROM suppliers WHERE name = ?", name); err != nil || found {
		return err
	}
	_, err := putSupplier(tx, supplierEdit{name: name})
	return err
}

// leadTimeOf is the lead time of a supplier's SKUs that say nothing else.
func leadTimeOf(c *db.Conn, supplier string) (int64, error) {
	if supplier == "" {
		return usualLeadTime, nil
	}
	one, _, err := lookUpSupplier(c, supplier)
	if one.LeadTimeDays == nil {
		return usualLeadTime, err
	}
	return *one.LeadTimeDays, err
}

// supplierEdit is one row about a supplier: whom it names and what it sets.
type supplierEdit struct {
	name string
	set  []func(*Supplier)
}

// bindSupplier reads a row. What is not given sets nothing; what is empty sets the
// default.
func bindSupplier(f *schema.Form) supplierEdit {
	var e supplierEdit
	f.Text(&e.name, "name", "the supplier, as its SKUs name it", schema.Required, schema.Most(maxName), schema.Example(sample.Supplier))
	var k Supplier
	text := func(p *string, most int, name, about string, set func(*Supplier)) {
		field(f, &e.set, name, set, func(opts ...schema.Opt) { f.Text(p, name, about, append(opts, schema.Most(most))...) })
	}
	text(&k.Email, maxName, "email", "where orders are sent", func(to *Supplier) { to.Email = k.Email })
	text(&k.Phone, maxName, "phone", "its telephone number", func(to *Supplier) { to.Phone = k.Phone })
	text(&k.Address, maxNotes, "address", "its postal address, for the printed order", func(to *Supplier) { to.Address = k.Address })
	field(f, &e.set, "lead_time_days", func(to *Supplier) { to.LeadTimeDays = k.LeadTimeDays }, func(opts ...schema.Opt) {
		f.IntPtr(&k.LeadTimeDays, "lead_time_days", "days from order to delivery, for its SKUs that say nothing else; 7 when empty", append(opts, schema.Range(0, maxDays))...)
	})
	field(f, &e.set, "min_order_cents", func(to *Supplier) { to.MinOrderCents = k.MinOrderCents }, func(opts ...schema.Opt) {
		f.Int(&k.MinOrderCents, "min_order_cents", "the least total of an order, in cents", append(opts, schema.Range(0, maxMinOrder))...)
	})
	text(&k.Notes, maxNotes, "notes", "whatever else is worth knowing", func(to *Supplier) { to.Notes = k.Notes })
	return e
}

// putSupplier makes the supplier's record, or makes of it what the row says. A row that
// changes nothing writes nothing.
func putSupplier(tx *db.Tx, e supplierEdit) (schema.Outcome, error) {
	was, found, err := lookUpSupplier(&tx.Conn, e.name)
	if err != nil {
		return schema.Outcome{}, err
	}
	now := was
	now.Name, now.UpdatedAt = e.name, tx.Now()
	for _, set := range e.set {
		set(&now)
	}
	if !found {
		now.CreatedAt = tx.Now()
		id, err := tx.InsertRow("suppliers", "name, created_at, "+supplierSets, append([]any{now.Name, now.CreatedAt}, now.sets()...)...)
		if err != nil {
			return schema.Outcome{}, err
		}
		return schema.Outcome{ID: id, New: true}, tx.Audit("supplier.created", supplierSubject(e.name), now)
	}
	changes := supplierDifferences(was, now)
	if len(changes) == 0 {
		return schema.Outcome{ID: now.id}, nil
	}
	if err := tx.UpdateRow("suppliers", now.id, supplierSets, now.sets()...); err != nil {
		return schema.Outcome{}, err
	}
	return schema.Changed(now.id, changes), tx.Audit("supplier.changed", supplierSubject(e.name), changes)
}

func supplierSubject(name string) string { return "supplier:" + name }

func supplierDifferences(was, now Supplier) map[string][2]any {
	d := map[string][2]any{}
	addDifference(d, "email", was.Email, now.Email)
	addDifference(d, "phone", was.Phone, now.Phone)
	addDifference(d, "address", was.Address, now.Address)
	addDifference(d, "lead_time_days", orNull(was.LeadTimeDays), orNull(now.LeadTimeDays))
	addDifference(d, "min_order_cents", was.MinOrderCents, now.MinOrderCents)
	addDifference(d, "notes", was.Notes, now.Notes)
	return d
}

func addDifference(d map[string][2]any, name string, was, now any) {
	if was != now {
		d[name] = [2]any{was, now}
	}
}

// orNull is what p points to, or nil: comparable, and null in JSON.
func orNull[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// supplierTable is the suppliers as CSV.
func (s *Service) supplierTable() schema.Table {
	return schema.Table{
		Name:  "suppliers",
		About: "Who delivers, one row a supplier. lead_time_days is what a SKU of theirs has that says nothing itself; min_order_cents is the least total of an order.",
		Row: func(f *schema.Form) schema.Put {
			e := bindSupplier(f)
			return func(tx *db.Tx) (schema.Outcome, error) { return putSupplier(tx, e) }
		},
		Find: func(c *db.Conn, cell func(string) string) ([]string, bool, error) {
			one, found, err := lookUpSupplier(c, cell("name"))
			return one.cells(), found, err
		},
		Export: func(c *db.Conn, emit func(cells ...string) error) error {
			return db.Each(c, func(r *db.Row) error { return emit(scanSupplier(r).cells()...) }, "SELECT "+supplierColumns+" FROM suppliers ORDER BY name")
		},
	}
}

// cells is the supplier as a row of the table.
func (k Supplier) cells() []string {
	return []string{k.Name, k.Email, k.Phone, k.Address, intOrEmpty(k.LeadTimeDays), intText(k.MinOrderCents), k.Notes}
}

// Cells is the supplier as a row of its table; SupplierColumns are their names.
func (k Supplier) Cells() []string { return k.cells() }

// SupplierColumns are the columns of the suppliers as CSV.
func (s *Service) SupplierColumns() []string {
	var names []string
	for _, a := range s.supplierTable().Columns() {
		names = append(names, a.Name)
	}
	return names
}

// SupplierChoices lists the suppliers to choose from, ChannelChoices the channels.
func SupplierChoices(c *db.Conn) ([]schema.Choice, error) {
	names, err := supplierNames(c)
	if err != nil || len(names) > mostChoices {
		return nil, err
	}
	all := make([]schema.Choice, len(names))
	for i, name := range names {
		all[i] = schema.Choice{Value: name, Text: name}
	}
	return all, nil
}

// ChannelChoices lists the channels to choose from.
func ChannelChoices(c *db.Conn) ([]schema.Choice, error) { return anyChannel(c) }

// KnownSupplier returns the supplier's record, or an empty one when none is kept.
func (s *Service) KnownSupplier(ctx context.Context, name string) (one Supplier, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		one, _, err = lookUpSupplier(c, name)
		return err
	})
	return one, err
}

// SupplierNames are the names that SKUs and records give suppliers, in order.
func (s *Service) SupplierNames(ctx context.Context) ([]string, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) ([]string, error) { return supplierNames(c) })
}

func supplierNames(c *db.Conn) ([]string, error) {
	return db.All(c, db.Text, "SELECT DISTINCT supplier FROM skus WHERE supplier <> '' UNION SELECT name FROM suppliers ORDER BY 1")
}

// saveSupplier makes or changes a supplier's record.
func (s *Service) saveSupplier(ctx context.Context, who db.Caller, e supplierEdit) (Supplier, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Supplier, error) {
		if _, err := putSupplier(tx, e); err != nil {
			return Supplier{}, err
		}
		return findSupplier(&tx.Conn, e.name)
	})
}

// anyCase finds a supplier by its name in any case. Refused: a name that no SKU and no
// record has, with those that there are.
func anyCase(c *db.Conn, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	names, err := supplierNames(c)
	if err != nil || slices.Contains(names, name) {
		return name, err
	}
	for _, n := range names {
		if folded(n) == folded(name) {
			return n, nil
		}
	}
	return "", fault.Fieldf("supplier", "supplier: there is no supplier %s; %s", schema.Quote(name), schema.ThereAre(name, names))
}
