package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// importProvider is the default provider of the orders that imported licenses bring.
const importProvider = "import"

// licenseTable is `import store licenses`: keys sold elsewhere, identified by the key.
func (s *Service) licenseTable() schema.Table {
	return schema.Table{
		Name: "licenses", Secret: true,
		About: "License keys that were sold elsewhere, known by the key. A new one comes with its order, sends nothing and " +
			"mails nobody; " +
			"of one that is there the given columns change it, seats are added and never taken, and what is revoked stays so.",
		Row: func(f *schema.Form) schema.Put {
			r := bindLicenseRow(f)
			return func(tx *db.Tx) (schema.Outcome, error) { return (&licenseImport{Service: s}).put(tx, r) }
		},
		Load: func(ctx context.Context, d *db.DB, who db.Caller, lines []schema.Line, o schema.LoadOptions) (schema.Loaded,
			error) {
			return s.On(d).loadLicenses(ctx, who, lines, o)
		},
		Together: []string{"license_key"},
		Written:  func(*db.Conn) (int, error) { return exportedColumns, nil },
		Export:   exportLicenses,
	}
}

func exportLicenses(c *db.Conn, emit func(cells ...string) error) error {
	type whole struct {
		License
		order Order
		name  string
	}
	scan := scanLicense(c.Now())
	return db.Each(c, func(r *db.Row) error {
		l := whole{License: scan(r)}
		l.order.Provider, l.order.ProviderRef, l.name = r.Text(), r.Text(), r.Text()
		var seats []Activation
		if l.ActivationCount > 0 {
			var err error
			if seats, err = activations.All(c, "WHERE license_id = ? ORDER BY id", l.ID); err != nil {
				return err
			}
		}
		cells, err := l.cells(l.order, l.name, seats)
		if err != nil {
			return err
		}
		return emit(cells...)
	}, "SELECT "+licenseColumns+", o.provider, o.provider_ref, c.name FROM "+licenseTables+" ORDER BY l.id")
}

// licenseImport is the state of one import.
type licenseImport struct {
	*Service
	lines map[string]int // of the keys so far
	goods theirNames
	done  schema.Loaded

	// Of the present row.
	remarks []string
	unknown *schema.Unknown
}

// loadLicenses accepts rows in any batches in which those of one key come together.
func (s *Service) loadLicenses(ctx context.Context, who db.Caller, lines []schema.Line, o schema.LoadOptions) (
	schema.Loaded, error) {
	im := licenseImport{Service: s, lines: map[string]int{}, done: schema.Loaded{Errors: []schema.Refused{}}}
	rows := readLicenseRows(lines, o)
	err := db.Exec(ctx, s.db, who, func(tx *db.Tx) error {
		for _, r := range rows {
			if err := ctx.Err(); err != nil {
				return err
			}
			im.remarks, im.unknown = nil, nil
			out, err := schema.Put(func(tx *db.Tx) (schema.Outcome, error) { return im.put(tx, r) }).Try(tx)
			if e, ofRow := fault.As(err); ofRow && (e.Kind == fault.Invalid || e.Kind == fault.Conflict ||
				e.Kind == fault.NotFound) {
				im.refused(r, e)
				continue
			}
			if err != nil {
				return fmt.Errorf("line %d: %w", r.number, err)
			}
			im.done.Note(out, r.number)
			for _, text := range im.remarks {
				im.done.Remark(text, r.number)
			}
		}
		return nil
	})
	return im.done, err
}

func (im *licenseImport) refused(r *licenseRow, e *fault.Error) {
	told := schema.Refused{Line: r.number, Reason: e.Detail}
	if len(e.Fields) > 0 {
		told.Column = e.Fields[0].Field
	}
	im.done.Errors = append(im.done.Errors, told)
	if im.unknown != nil {
		im.done.Miss(*im.unknown)
	}
}

func readLicenseRows(lines []schema.Line, o schema.LoadOptions) []*licenseRow {
	rows := make([]*licenseRow, 0, len(lines))
	schema.BindLines(lines, o, bindLicenseRow, func(number int, _ map[string]string, r *licenseRow, refusal error) {
		r.number = number
		_ = r.add(refusal) // of Decode, which gives refusals alone
		rows = append(rows, r)
	})
	return rows
}

// put stores one row; all its faults are refused together.
func (im *licenseImport) put(tx *db.Tx, r *licenseRow) (o schema.Outcome, err error) {
	if line := im.lines[r.key]; line != 0 {
		r.refuse("license_key", "license_key: line %d has the same key", line)
	} else if im.lines != nil {
		im.lines[r.key] = r.number
	}
	was, known, err := im.find(&tx.Conn, r)
	if err != nil {
		return o, err
	}
	product, err := im.product(&tx.Conn, r, known)
	if err != nil {
		return o, err
	}
	if r.email == "" && (!known || r.given("email")) &&
		!slices.ContainsFunc(r.bad, func(f fault.Field) bool { return f.Field == "email" }) {
		r.refuse("email", "email is missing: the buyer's address is needed")
	}
	ends, created, err := r.times(tx)
	if err != nil {
		return o, err
	}
	if err := r.refusal(); err != nil {
		return o, err
	}
	if known {
		return im.change(tx, r, was, product, ends, created)
	}
	return schema.Outcome{New: true}, im.create(tx, r, product, ends, created)
}

// find returns the license of the row's key. A key that reads the same but is written differently is refused: a text
// never means two licenses.
func (im *licenseImport) find(c *db.Conn, r *licenseRow) (was License, known bool, err error) {
	hash, loose := stored(r.key)
	id, known, err := db.One(c, db.Int, "SELECT id FROM store_licenses WHERE key_hash = ?", hash)
	if err != nil {
		return was, false, err
	}
	if known {
		if was, err = findLicense(c, id); err == nil && was.Key != r.key {
			r.refuse("license_key", "license_key: license %d has the same key in another spelling", id)
		}
		return was, true, err
	}
	if len(loose) > 0 {
		_, alike, err := db.One(c, db.Int, "SELECT id FROM store_licenses WHERE loose_hash = ? LIMIT 1", loose)
		if alike {
			im.remarks = append(im.remarks, "must be typed exactly: another key differs only in capitals, spaces or hyphens")
		}
		return was, false, err
	}
	return was, false, nil
}

// product finds the product of the row's sku: ours, the mapped one for the provider, or the only product of that name.
// A known license needs none.
func (im *licenseImport) product(c *db.Conn, r *licenseRow, known bool) (p Product, err error) {
	if r.sku == "" && r.their == "" {
		if !known {
			r.refuse("sku", "sku is missing: the product is needed")
		}
		return p, nil
	}
	p, tier, found, err := im.goods.meant(c, r.provider, r.sku, r.their)
	if err != nil {
		return p, err
	}
	r.tier = cmp.Or(r.tier, tier)
	switch {
	case !found:
		im.unknown = r.unknownProduct()
	case !known && p.Kind != kindLicense:
		r.refuse("sku", "sku: %s is not licensed; its kind is %s", p.SKU, p.Kind)
	default:
		return p, r.add(p.takesTier(r.tier))
	}
	return p, nil
}

// unknownProduct refuses an unknown product's name, with the operation that maps it.
func (r *licenseRow) unknownProduct() *schema.Unknown {
	name := firstOf(r.sku, r.their)
	if !slices.Contains(mapped, r.provider) {
		r.refuse("sku", "sku: no single product is called %s; add it first", schema.Quote(name))
		return nil
	}
	r.refuse("sku", "sku: %s of %s is not a product here; map it with `store provider map %s NAME SKU`",
		schema.Quote(name), r.provider, r.provider)
	u := unknownName(r.provider, name)
	if r.their != "" && r.their != name {
		u.Name = r.their + " (" + name + ")"
	}
	return &u
}

// times parses when the license ends, nil for never, and when it was made, 0 if the row does not say.
func (r *licenseRow) times(tx *db.Tx) (ends *exact.Instant, created exact.Instant, err error) {
	if r.expires != "" {
		at, wrong := momentOf(&tx.Conn, "expires_at", r.expires)
		if err := r.add(wrong); err != nil {
			return nil, 0, err
		}
		ends = &at
	}
	if r.created != "" {
		at, wrong := momentOf(&tx.Conn, "created_at", r.created)
		if wrong == nil && at > tx.Now()+day {
			wrong = fault.Fieldf("created_at", "created_at: %s is in the future", at)
		}
		if err := r.add(wrong); err != nil {
			return nil, 0, err
		}
		created = at
	}
	return ends, created, nil
}
