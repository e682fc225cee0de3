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
			var a Asset
			f.Text(&a.AssetTag, "asset_tag", "what is written on it; identifies the asset", schema.Required, schema.Most(maxName))
			a.Name, a.Status = a.AssetTag, assetStatuses[0]
			f.Text(&a.Name, "name", "what it is called; the tag when empty", schema.Most(maxName))
			f.TextPtr(&a.Category, "category", "its kind", schema.Most(maxName))
			f.TextPtr(&a.Location, "location", "where it is", schema.Most(maxName))
			f.TextPtr(&a.Manufacturer, "manufacturer", "who made it", schema.Most(maxName))
			f.TextPtr(&a.Model, "model", "the maker's model", schema.Most(maxName))
			f.TextPtr(&a.SerialNumber, "serial_number", "the maker's number", schema.Most(maxName))
			f.Enum(&a.Status, "status", "its state", assetStatuses, schema.Folded, schema.Alias("needs_attention", "needs-attention"))
			f.TextPtr(&a.Notes, "notes", "anything else")
			return func(tx *db.Tx) error { return putAsset(tx, f, a) }
		},
		Export: func(c *db.Conn, emit func(cells ...string) error) error {
			return db.Each(c, func(r *db.Row) error {
				a := scanAsset(r)
				return emit(a.AssetTag, a.Name, cell(a.Category), cell(a.Location), cell(a.Manufacturer), cell(a.Model),
					cell(a.SerialNumber), a.Status, cell(a.Notes))
			}, "SELECT "+assetColumns+" FROM assets ORDER BY id")
		},
	}
}

// putAsset makes the asset that the row names, or makes of it what the row says.
func putAsset(tx *db.Tx, row *schema.Form, a Asset) error {
	held, found, err := db.One(&tx.Conn, scanAsset, "SELECT "+assetColumns+" FROM assets WHERE asset_tag = ?", a.AssetTag)
	if err != nil {
		return err
	}
	if !found {
		id, err := tx.Insert(`INSERT INTO assets (asset_tag, name, category, location, manufacturer, model, serial_number, status, notes)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			a.AssetTag, a.Name, a.Category, a.Location, a.Manufacturer, a.Model, a.SerialNumber, a.Status, a.Notes)
		if err != nil {
			return err
		}
		return tx.Audit("asset.created", subject("asset", id), map[string]string{"asset_tag": a.AssetTag, "name": a.Name, "status": a.Status})
	}
	e := newEdit(row)
	set(e, "name", &held.Name, a.Name)
	setPtr(e, "category", &held.Category, a.Category)
	setPtr(e, "location", &held.Location, a.Location)
	setPtr(e, "manufacturer", &held.Manufacturer, a.Manufacturer)
	setPtr(e, "model", &held.Model, a.Model)
	setPtr(e, "serial_number", &held.SerialNumber, a.SerialNumber)
	set(e, "status", &held.Status, a.Status)
	setPtr(e, "notes", &held.Notes, a.Notes)
	if e.nothing() {
		return nil
	}
	if _, err := tx.Exec(`UPDATE assets SET name = ?, category = ?, location = ?, manufacturer = ?, model = ?, serial_number = ?, status = ?, notes = ?
		WHERE id = ?`, held.Name, held.Category, held.Location, held.Manufacturer, held.Model, held.SerialNumber, held.Status, held.Notes, held.ID); err != nil {
		return err
	}
	return tx.Audit("asset.changed", subject("asset", held.ID), e.changes)
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
