package maintenance

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
)

// assetTable is the assets as CSV.
func (s *Service) assetTable() schema.Table {
	return schema.Table{
		Name:  "assets",
		About: "Assets, one row each. Their meters are a table of their own.",
		Row: func(f *schema.Form) schema.Put {
			a := bindAsset(f)
			return schema.Untold(func(tx *db.Tx) error {
				_, err := putAsset(tx, f, a)
				return err
			})
		},
		Export: func(c *db.Conn, emit func(cells ...string) error) error {
			return db.Each(c, func(r *db.Row) error { return emit(scanAsset(r).Cells()...) }, "SELECT "+assetColumns+" FROM assets ORDER BY id")
		},
		Find: func(c *db.Conn, given func(column string) string) ([]string, bool, error) {
			a, found, err := db.One(c, scanAsset, "SELECT "+assetColumns+" FROM assets WHERE asset_tag = ?", given("asset_tag"))
			return a.Cells(), found, err
		},
	}
}

// Cells is the asset as a row of the table.
func (a Asset) Cells() []string {
	return []string{a.AssetTag, a.Name, cell(a.Category), cell(a.Location), cell(a.Manufacturer), cell(a.Model), cell(a.SerialNumber), a.Status, cell(a.Notes)}
}

// bindAsset binds what an asset is made of: a row's columns, the fields of its form.
func bindAsset(f *schema.Form) (a Asset) {
	f.Text(&a.AssetTag, "asset_tag", "what is written on it; identifies the asset", schema.Required, schema.Most(maxName), schema.Label("Tag"))
	a.Name, a.Status = a.AssetTag, assetStatuses[0]
	f.Text(&a.Name, "name", "what it is called; the tag when empty", schema.Most(maxName))
	f.TextPtr(&a.Category, "category", "its kind", schema.Most(maxName))
	f.TextPtr(&a.Location, "location", "where it is", schema.Most(maxName))
	f.TextPtr(&a.Manufacturer, "manufacturer", "who made it", schema.Most(maxName))
	f.TextPtr(&a.Model, "model", "the maker's model", schema.Most(maxName))
	f.TextPtr(&a.SerialNumber, "serial_number", "the maker's number", schema.Most(maxName))
	bindAssetStatus(f, &a.Status, "its state")
	f.TextPtr(&a.Notes, "notes", "anything else", schema.Lines)
	return a
}

func bindAssetStatus(f *schema.Form, p *string, about string, opts ...schema.Opt) {
	f.Enum(p, "status", about, assetStatuses, append(opts, schema.Folded, schema.Alias("needs_attention", "needs-attention"))...)
}

// assetSets are the columns of an asset that people set, with their values: one list for
// INSERT, UPDATE and scanAsset.
const assetSets db.Columns = "name, category, location, manufacturer, model, serial_number, status, notes"

func (a Asset) sets() []any {
	return []any{a.Name, a.Category, a.Location, a.Manufacturer, a.Model, a.SerialNumber, a.Status, a.Notes}
}

// putAsset makes the asset that the row names, or makes of it what the row says.
func putAsset(tx *db.Tx, row *schema.Form, a Asset) (id int64, err error) {
	held, found, err := db.One(&tx.Conn, scanAsset, "SELECT "+assetColumns+" FROM assets WHERE asset_tag = ?", a.AssetTag)
	if err != nil {
		return 0, err
	}
	if !found {
		id, err := tx.InsertRow("assets", "asset_tag, "+assetSets, append([]any{a.AssetTag}, a.sets()...)...)
		if err != nil {
			return 0, err
		}
		return id, tx.Audit("asset.created", db.Subject("asset", id), map[string]string{"asset_tag": a.AssetTag, "name": a.Name, "status": a.Status})
	}
	e := newEdit(row.Given)
	set(e, "name", &held.Name, a.Name)
	setPtr(e, "category", &held.Category, a.Category)
	setPtr(e, "location", &held.Location, a.Location)
	setPtr(e, "manufacturer", &held.Manufacturer, a.Manufacturer)
	setPtr(e, "model", &held.Model, a.Model)
	setPtr(e, "serial_number", &held.SerialNumber, a.SerialNumber)
	set(e, "status", &held.Status, a.Status)
	setPtr(e, "notes", &held.Notes, a.Notes)
	if e.nothing() {
		return held.ID, nil
	}
	if err := tx.UpdateRow("assets", held.ID, assetSets, held.sets()...); err != nil {
		return 0, err
	}
	return held.ID, tx.Audit("asset.changed", db.Subject("asset", held.ID), e.changes)
}

// cell is a text that may be unset as a cell.
func cell(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// cellOf is any other value that may be unset as a cell.
func cellOf[T interface{ String() string }](v *T) string {
	if v == nil {
		return ""
	}
	return (*v).String()
}
