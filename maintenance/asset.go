package maintenance

import (
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Asset is a machine, a vehicle or whatever else is maintained, with its meters.
type Asset struct {
	ID           int64   `json:"id"`
	AssetTag     string  `json:"asset_tag"`
	Name         string  `json:"name"`
	Category     *string `json:"category"`
	Location     *string `json:"location"`
	Manufacturer *string `json:"manufacturer"`
	Model        *string `json:"model"`
	SerialNumber *string `json:"serial_number"`
	Status       string  `json:"status" enum:"operational,needs-attention,down,retired"`
	Notes        *string `json:"notes"`
	Meters       []Meter `json:"meters"`
}

const retired = "retired"

var (
	assetStatuses   = []string{"operational", "needs-attention", "down", retired}
	alsoAssetStatus = map[string]string{"needs_attention": "needs-attention"}
)

const assetColumns = "id, asset_tag, name, category, location, manufacturer, model, serial_number, status, notes"

func scanAsset(r *db.Row) Asset {
	return Asset{ID: r.Int(), AssetTag: r.Text(), Name: r.Text(), Category: r.TextPtr(), Location: r.TextPtr(), Manufacturer: r.TextPtr(),
		Model: r.TextPtr(), SerialNumber: r.TextPtr(), Status: r.Text(), Notes: r.TextPtr(), Meters: []Meter{}}
}

// findAsset finds an asset, without its meters; one that is not there is 404.
func findAsset(c *db.Conn, id int64) (Asset, error) {
	a, found, err := db.One(c, scanAsset, "SELECT "+assetColumns+" FROM assets WHERE id = ?", id)
	if err == nil && !found {
		err = fault.NotFoundf("there is no asset %d", id)
	}
	return a, err
}

// assetByTag finds the asset that a row of a file names.
func assetByTag(c *db.Conn, tag string) (Asset, error) {
	a, found, err := db.One(c, scanAsset, "SELECT "+assetColumns+" FROM assets WHERE asset_tag = ?", tag)
	if err == nil && !found {
		err = fault.NotFoundf("asset_tag: there is no asset %q; import it with the assets first", tag)
	}
	return a, err
}

// takesWork refuses new work on a retired asset, which the field names.
func (a Asset) takesWork(field string) error {
	if a.Status == retired {
		return fault.Invalidf("%s: asset %d (%s) is retired and takes no new work order; only operational, needs-attention and down ones do",
			field, a.ID, a.Name)
	}
	return nil
}

// Assets is one page of the assets.
type Assets struct {
	Assets []Asset `json:"assets"`
	Next   *int64  `json:"next" about:"ask for the next page with after; null at the end"`
}

// AssetFilter says which assets to list: those in a state ("" is any) that come after
// an id, at most Limit.
type AssetFilter struct {
	Status string
	After  int64
	Limit  int64
}

// Assets lists assets with their meters, by id.
func (s *Service) Assets(ctx context.Context, f AssetFilter) (page Assets, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		page, err = listAssets(c, f)
		return err
	})
	return page, err
}

func listAssets(c *db.Conn, f AssetFilter) (page Assets, err error) {
	const list = "SELECT " + assetColumns + " FROM assets WHERE "
	if f.Status == "" {
		page.Assets, err = db.All(c, scanAsset, list+"id > ? ORDER BY id LIMIT ?", f.After, f.Limit+1)
	} else {
		page.Assets, err = db.All(c, scanAsset, list+"status = ? AND id > ? ORDER BY id LIMIT ?", f.Status, f.After, f.Limit+1)
	}
	if err != nil {
		return page, err
	}
	if int64(len(page.Assets)) > f.Limit {
		page.Assets = page.Assets[:f.Limit]
		page.Next = &page.Assets[f.Limit-1].ID
	}
	for i := range page.Assets {
		if page.Assets[i].Meters, err = metersOf(c, page.Assets[i].ID); err != nil {
			return page, err
		}
	}
	return page, nil
}

// withMeters completes an asset.
func (a Asset) withMeters(c *db.Conn) (_ Asset, err error) {
	a.Meters, err = metersOf(c, a.ID)
	return a, err
}

// SetAssetStatus sets an asset's status; the one that it has changes nothing. An
// unknown asset is 404, an unknown status 422.
func (s *Service) SetAssetStatus(ctx context.Context, who db.Caller, id int64, status string) (Asset, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (none Asset, err error) {
		if status, err = ParseAssetStatus(status); err != nil {
			return none, err
		}
		a, err := findAsset(&tx.Conn, id)
		if err != nil {
			return none, err
		}
		if a.Status != status {
			if _, err := tx.Exec("UPDATE assets SET status = ? WHERE id = ?", status, id); err != nil {
				return none, err
			}
			if err := tx.Audit("asset.status", subject("asset", id), [2]string{a.Status, status}); err != nil {
				return none, err
			}
			a.Status = status
		}
		return a.withMeters(&tx.Conn)
	})
}

func (s *Service) listAssets() schema.Op {
	next := int64(1)
	return schema.Op{
		Route:    "GET /api/assets",
		About:    "Assets with their meters, by id.",
		Response: Assets{Assets: []Asset{sampleAsset}, Next: &next},
		Bind: func(f *schema.Form) schema.Handler {
			var a AssetFilter
			f.Enum(&a.Status, "status", "only those in this state", assetStatuses, schema.Folded, schema.Alias("needs_attention", "needs-attention"))
			f.Limit(&a.Limit)
			f.ID(&a.After, "after", "the next of the page before")
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.Assets(ctx, a) }
		},
	}
}
