package maintenance

import (
	"cmp"
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// RenamedAsset is an asset with a new name, a new tag, or both.
type RenamedAsset struct {
	ID       int64  `json:"id"`
	AssetTag string `json:"asset_tag"`
	Name     string `json:"name"`
	WasTag   string `json:"was_tag"`
	WasName  string `json:"was_name"`
}

// renameAsset gives an asset another name or tag; an empty one stays. One of another asset is a conflict. Jobs, plans
// and readings stay.
func renameAsset(tx *db.Tx, id int64, name, tag string) (none RenamedAsset, err error) {
	a, err := assets.ByID(&tx.Conn, id)
	if err != nil {
		return none, err
	}
	done := RenamedAsset{ID: id, AssetTag: cmp.Or(tag, a.AssetTag), Name: cmp.Or(name, a.Name), WasTag: a.AssetTag,
		WasName: a.Name}
	changes := map[string][2]string{}
	for _, c := range []struct{ column, field, is, was string }{
		{"asset_tag", "code", done.AssetTag, done.WasTag}, {"name", "name", done.Name, done.WasName}} {
		if c.is == c.was {
			continue
		}
		changes[c.column] = [2]string{c.was, c.is}
		other, found, err := db.One(&tx.Conn, db.Text, "SELECT name || ' (' || asset_tag || ')' FROM assets WHERE "+c.column+
			" = ? AND id <> ?", c.is, id)
		if err != nil {
			return none, err
		}
		if found {
			return none, fault.Conflictf("%s is in use: %s has it", schema.Quote(c.is), other).At(c.field)
		}
	}
	if len(changes) == 0 {
		return done, nil
	}
	tx.Do("UPDATE assets SET asset_tag = ?, name = ? WHERE id = ?", done.AssetTag, done.Name,
		id)
	return done, tx.Audit("asset.renamed", db.Subject("asset", id), changes)
}

func (s *Service) renameAsset() schema.Op {
	return schema.Op{
		Name: "rename_asset", Writes: true, Idempotent: true,
		About:    "Rename an asset, or change its tag. Its jobs, plans and readings stay; import files must use the new tag.",
		Response: RenamedAsset{ID: 1, AssetTag: "LATHE-2", Name: "Old lathe", WasTag: "LATHE-1", WasName: "Lathe"},
		Refuses:  []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: schema.Writes3(s.db, func(f *schema.Form, id *int64, name *string, tag *string) {
			bindAssetID(f, "asset_id", id)
			f.Text(name, "name", "the new name", schema.Most(maxName))
			f.Text(tag, "code", "the new tag", schema.Most(maxName), schema.Label("Tag"))
			if !f.Describing() && *name == "" && *tag == "" {
				f.Refuse("name", "name is missing: give a new name or a new tag")
			}
		}, renameAsset),
		Example: "maintenance assets rename LATHE-1 --name \"Old lathe\" --code LATHE-2",
		Did: schema.Said(func(r RenamedAsset) string {
			if r.WasName == r.Name && r.WasTag == r.AssetTag {
				return fmt.Sprintf("%s (%s) keeps its name and tag.", r.Name, r.AssetTag)
			}
			return fmt.Sprintf("%s (%s) is now %s (%s).", r.WasName, r.WasTag, r.Name, r.AssetTag)
		}),
		Leads: func(answer any) string { return assetPage(answer.(RenamedAsset).ID) },
	}
}
