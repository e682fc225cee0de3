package reorder

import (
	"context"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
	"quartermaster/schema/words"
)

// Supplier is a supplier's record beside the name at their SKUs. A SKU may name one without a record.
type Supplier struct {
	Name          string        `json:"name"`
	Email         string        `json:"email"`
	Phone         string        `json:"phone"`
	Address       string        `json:"address"`
	LeadTimeDays  *int64        `json:"lead_time_days" about:"for its SKUs without their own; null is 7"`
	MinOrderCents int64         `json:"min_order_cents" about:"the minimum total of an order"`
	Notes         string        `json:"notes"`
	SKUs          int64         `json:"skus" about:"active SKUs that name it"`
	CreatedAt     exact.Instant `json:"created_at"`
	UpdatedAt     exact.Instant `json:"updated_at"`

	id int64
}

var suppliers = record.New("supplier", "suppliers",
	record.ID(func(k *Supplier) *int64 { return &k.id }),
	record.Text("name", func(k *Supplier) *string { return &k.Name }, "the supplier, as its SKUs name it",
		schema.Required, schema.Most(maxName), schema.Example(sample.Supplier)).Key(),
	record.Text("email", func(k *Supplier) *string { return &k.Email }, "where orders are sent", schema.Most(maxName)),
	record.Text("phone", func(k *Supplier) *string { return &k.Phone }, "its telephone number", schema.Most(maxName)),
	record.Text("address", func(k *Supplier) *string { return &k.Address }, "its postal address, for the printed order",
		schema.Most(maxNotes)),
	record.OptInt("lead_time_days", func(k *Supplier) **int64 { return &k.LeadTimeDays },
		"days from order to delivery; the default of its new SKUs, empty is 7", schema.Range(0, maxDays)),
	record.Int("min_order_cents", func(k *Supplier) *int64 { return &k.MinOrderCents },
		"the minimum total of an order, in cents", schema.Range(0, maxMinOrder)),
	record.Text("notes", func(k *Supplier) *string { return &k.Notes }, "notes",
		schema.Most(maxNotes)),
	record.Moment("created_at", func(k *Supplier) *exact.Instant { return &k.CreatedAt }).Once(),
	record.Moment("updated_at", func(k *Supplier) *exact.Instant { return &k.UpdatedAt }),
	record.Int("skus", func(k *Supplier) *int64 { return &k.SKUs }, "").
		From("(SELECT count(*) FROM skus WHERE supplier = suppliers.name AND active = 1)"),
).ByKey().Sorted("name").Empties().Check(func(tx *db.Tx, held, now *Supplier) error {
	if now.UpdatedAt = tx.Now(); held == nil {
		now.CreatedAt = tx.Now()
	}
	return nil
})

func lookUpSupplier(c *db.Conn, name string) (Supplier, bool, error) {
	return suppliers.One(c, "WHERE name = ?", name)
}

// Suppliers is a page of the suppliers, in the order of their names.
type Suppliers struct {
	Suppliers []Supplier `json:"suppliers"`
	Next      *string    `json:"next" about:"pass it as after; null at the end"`
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
		return suppliers.Each(c, func(one *Supplier) error {
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
			page.Suppliers = append(page.Suppliers, *one)
			return nil
		}, "ORDER BY name")
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
		err = fault.NotFoundf("there is no record of a supplier %s; `reorder suppliers list` lists them", schema.Quote(name))
	}
	return one, err
}

// usualLeadTime is the default of a SKU without its own and whose supplier has none.
const usualLeadTime = 7

// mention makes the record of a supplier that a SKU names for the first time.
func mention(tx *db.Tx, name string) error {
	if name == "" {
		return nil
	}
	if _, found, err := db.One(&tx.Conn, db.Int, "SELECT 1 FROM suppliers WHERE name = ?", name); err != nil || found {
		return err
	}
	_, err := suppliers.Create(tx, &Supplier{Name: name})
	return err
}

// leadTimeOf is the lead time of a supplier's SKUs without their own. It reads one column: the whole record counts the
// supplier's SKUs, which made an import of 250,000 SKUs of 99 suppliers take 16 minutes in place of one.
func leadTimeOf(c *db.Conn, supplier string) (int64, error) {
	days, found, err := db.One(c, db.Int, "SELECT coalesce(lead_time_days, ?) FROM suppliers WHERE name = ?",
		usualLeadTime, supplier)
	if !found {
		days = usualLeadTime
	}
	return days, err
}

// supplierTable is the suppliers as CSV.
func supplierTable() schema.Table {
	return suppliers.Table("suppliers", "Suppliers, one row each. lead_time_days applies to SKUs without their own; "+
		"min_order_cents is the minimum total of an order.")
}

// Cells is the supplier as a row of its table; SupplierColumns are their names.
func (k Supplier) Cells() []string { return suppliers.Cells(k) }

// SupplierColumns are the columns of the suppliers as CSV.
func SupplierColumns() []string { return suppliers.Header() }

// SupplierChoices lists the suppliers to choose from, ChannelChoices the channels.
func SupplierChoices(c *db.Conn, f schema.Find) ([]schema.Choice, error) {
	return schema.Among(func(c *db.Conn) (all []schema.Choice, err error) {
		names, err := supplierNames(c)
		for _, name := range names {
			all = append(all, schema.Choice{Value: name, Text: name})
		}
		return all, err
	})(c, f)
}

// ChannelChoices lists the channels to choose from.
func ChannelChoices(c *db.Conn, f schema.Find) ([]schema.Choice, error) { return anyChannel(c, f) }

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
	return db.All(c, db.Text,
		"SELECT DISTINCT supplier FROM skus WHERE supplier <> '' UNION SELECT name FROM suppliers ORDER BY 1")
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
	return "", fault.Fieldf("supplier", "supplier: there is no supplier %s; %s", schema.Quote(name),
		schema.ThereAre(name, names))
}
