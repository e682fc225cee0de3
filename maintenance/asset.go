package maintenance

import (
	"context"
	"maps"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// Asset is a machine, a vehicle or anything else that is maintained, with its meters.
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

var assetStatuses = []string{"operational", "needs-attention", "down", retired}

var assets = record.New("asset", "assets",
	record.ID(func(a *Asset) *int64 { return &a.ID }),
	record.Text("asset_tag", func(a *Asset) *string { return &a.AssetTag }, "what is written on it; identifies the asset",
		schema.Required, schema.Most(maxName), schema.Label("Tag")).Key().Told(),
	record.Text("name", func(a *Asset) *string { return &a.Name }, "its name; empty is the tag",
		schema.Most(maxName)).Else(func(a *Asset) { a.Name, a.Status = a.AssetTag, assetStatuses[0] }).Told(),
	record.OptText("category", func(a *Asset) **string { return &a.Category }, "its kind",
		append(used("assets", "category"), schema.Most(maxName))...),
	record.OptText("location", func(a *Asset) **string { return &a.Location }, "where it is",
		append(used("assets", "location"), schema.Most(maxName))...),
	record.OptText("manufacturer", func(a *Asset) **string { return &a.Manufacturer }, "who made it",
		schema.Most(maxName)),
	record.OptText("model", func(a *Asset) **string { return &a.Model }, "the maker's model", schema.Most(maxName)),
	record.OptText("serial_number", func(a *Asset) **string { return &a.SerialNumber }, "the maker's number",
		schema.Most(maxName)),
	record.Enum("status", func(a *Asset) *string { return &a.Status }, assetStatuses, "its state",
		schema.Folded, schema.Alias("needs_attention", "needs-attention")).Told(),
	record.OptText("notes", func(a *Asset) **string { return &a.Notes }, "anything else", schema.Lines),
).Derive(func(a *Asset) { a.Meters = []Meter{} })

// assetTable is the assets as CSV.
func assetTable() schema.Table {
	return assets.Table("assets", "Assets, one row each. Their meters are a table of their own.")
}

// AssetColumns are the columns of Cells.
func AssetColumns() []string { return assets.Header() }

// Cells is the asset as a row of the table.
func (a Asset) Cells() []string { return assets.Cells(a) }

func bindAssetStatus(f *schema.Form, p *string, about string, opts ...schema.Opt) {
	f.Enum(p, "status", about, assetStatuses,
		append(opts, schema.Folded, schema.Alias("needs_attention", "needs-attention"))...)
}

// assetByTag finds the asset of a file's row: by its tag, else by a unique name.
func assetByTag(c *db.Conn, tag string) (Asset, error) {
	a, found, err := assets.One(c, "WHERE asset_tag = ?", tag)
	if err != nil || found || tag == "" {
		return a, err
	}
	named, err := assets.All(c, "WHERE name = ? LIMIT 2", tag)
	if len(named) == 1 {
		return named[0], err
	}
	if err == nil {
		err = fault.NotFoundf("asset_tag: there is no asset %q; import the assets first", tag)
	}
	return a, err
}

// takesWork refuses new work on a retired asset, which the field names.
func (a Asset) takesWork(field string) error {
	if a.Status == retired {
		return fault.Invalidf(
			"%s: asset %d (%s) is retired and cannot have new work orders; only operational, needs-attention and down assets can",
			field, a.ID, a.Name)
	}
	return nil
}

// Assets is one page of the assets.
type Assets struct {
	Assets []Asset `json:"assets"`
	Next   *int64  `json:"next" about:"pass it as after; null at the end"`
}

// AssetFilter restricts the list of assets: to a state ("" is any), to those with Q as a part of their tag, name,
// category or location, after an id, at most Limit.
type AssetFilter struct {
	Status string
	Q      string
	schema.Cursor[int64]

	Sort    string // one of AssetSorts, in place of the id
	Falling bool   // in descending order
	Skip    int64  // with Sort, instead of After: the number of earlier rows
}

// assetSorts are the columns that the list can be sorted by, as SQL.
var assetSorts = map[string]string{"name": "name",
	"status":   "CASE status WHEN 'down' THEN 0 WHEN 'needs-attention' THEN 1 WHEN 'operational' THEN 2 ELSE 3 END",
	"location": "location IS NULL, location"}

// AssetSorts lists the columns that assets can be sorted by.
func AssetSorts() []string { return slices.Sorted(maps.Keys(assetSorts)) }

// BindAssetStatus binds the state that restricts a list.
func BindAssetStatus(f *schema.Form, p *string) { bindAssetStatus(f, p, "only those in this state") }

func bindAssetQ(f *schema.Form, p *string) {
	f.Text(p, "q", "words of tag, name, category, location or serial number, in any case", schema.Most(maxName),
		schema.Label("Search"))
}

func (f AssetFilter) where() (t db.Where) {
	t.And(f.Status != "", "status = ?", f.Status)
	t.And(f.Q != "", "has_words(?, asset_tag, name, category, location, serial_number)", f.Q)
	return t
}

// Assets lists assets with their meters, by id.
func (s *Service) Assets(ctx context.Context, f AssetFilter) (Assets, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Assets, error) { return listAssets(c, f) })
}

func listAssets(c *db.Conn, f AssetFilter) (page Assets, err error) {
	t := f.where()
	t.And(true, "id > ?", f.After)
	order, skip := " ORDER BY id", int64(0)
	if by := assetSorts[f.Sort]; by != "" {
		order, skip = " ORDER BY "+by, f.Skip
		if f.Falling {
			order += " DESC"
		}
		order += ", id"
	}
	page.Assets, err = assets.All(c, t.SQL()+order+" LIMIT ? OFFSET ?", append(t.Args, f.Fetch(), skip)...)
	if err != nil {
		return page, err
	}
	page.Assets, page.Next = schema.Cut(page.Assets, f.Limit, func(one Asset) int64 { return one.ID })
	for i := range page.Assets {
		if page.Assets[i].Meters, err = metersOf(c, page.Assets[i].ID); err != nil {
			return page, err
		}
	}
	return page, nil
}

// CountAssets returns the number of assets of the filter, without its After and Limit.
func (s *Service) CountAssets(ctx context.Context, f AssetFilter) (int64, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (int64, error) { return countAssets(c, f) })
}

func countAssets(c *db.Conn, f AssetFilter) (int64, error) {
	t := f.where()
	return assets.Count(c, t.SQL(), t.Args...)
}

// withMeters completes an asset.
func (a Asset) withMeters(c *db.Conn) (_ Asset, err error) {
	a.Meters, err = metersOf(c, a.ID)
	return a, err
}

// setAssetStatus sets an asset's status; an equal one changes nothing. An unknown asset is 404.
func setAssetStatus(tx *db.Tx, id int64, status string) (none Asset, err error) {
	if err := turnAsset(tx, id, status); err != nil {
		return none, err
	}
	return assetByID(&tx.Conn, id)
}

func turnAsset(tx *db.Tx, id int64, status string) error {
	a, err := assets.ByID(&tx.Conn, id)
	if err != nil || a.Status == status {
		return err
	}
	tx.Do("UPDATE assets SET status = ? WHERE id = ?", status, id)
	return tx.Audit("asset.status", db.Subject("asset", id), [2]string{a.Status, status})
}

func (s *Service) listAssets() schema.Op {
	next := int64(1)
	return schema.Op{
		Name: "list_assets", Says: "Which machines there are",
		About:         "Assets with their meters, by id.",
		AgentAbout:    "Assets (machines, vehicles) with their meters. detail short gives id, tag, name and status.",
		Response:      Assets{Assets: []Asset{sampleAsset}, Next: &next},
		AgentResponse: FoundAssets{Assets: []schema.Row[Asset, ShortAsset]{{Full: &sampleAsset}}, Shown: 1, Total: 1},
		Bind: func(f *schema.Form) schema.Handler {
			var a AssetFilter
			bindAssetStatus(f, &a.Status, "only those in this state")
			if f.Surface() != schema.REST {
				bindAssetQ(f, &a.Q)
			}
			if f.Surface() == schema.Tool {
				return s.bindFoundAssets(f, a)
			}
			f.Limit(&a.Limit)
			f.After(&a.After)
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.Assets(ctx, a) }
		},
		Example: "maintenance assets list --status down\nmaintenance assets list --csv",
		Print:   printAssets,
	}
}

// FoundAssets is the assets for agents.
type FoundAssets struct {
	Assets []schema.Row[Asset, ShortAsset] `json:"assets"`
	Shown  int                             `json:"shown"`
	Total  int64                           `json:"total" about:"how many match in all"`
	Next   *string                         `json:"next" about:"pass it as after; null at the end"`
	Near   []string                        `json:"near,omitempty" about:"those similar to q, if nothing matches"`
}

// ShortAsset is what identifies an asset and decides about it.
type ShortAsset struct {
	ID       int64  `json:"id"`
	AssetTag string `json:"asset_tag"`
	Name     string `json:"name"`
	Status   string `json:"status"`
}

func (a Asset) short() ShortAsset {
	return ShortAsset{ID: a.ID, AssetTag: schema.Shorten(a.AssetTag, 24), Name: schema.Shorten(a.Name, 24),
		Status: a.Status}
}

// bindFoundAssets binds the agents' arguments beside the filters.
func (s *Service) bindFoundAssets(f *schema.Form, a AssetFilter) schema.Handler {
	short, sort := false, "added"
	f.Enum(&sort, "sort", "", []string{"added", "name", "status"})
	asked := f.Limit(&a.Limit)
	f.After(&a.After)
	f.Short(&short)
	if sort != "added" {
		a.Sort, a.Skip, a.After = sort, a.After, 0
	}
	return func(ctx context.Context, _ db.Caller) (any, error) {
		return db.Read(ctx, s.db, func(c *db.Conn) (found FoundAssets, err error) {
			page, err := listAssets(c, a)
			if err != nil {
				return found, err
			}
			rows := schema.Fit(page.Assets, short, Asset.short, asked, schema.AnswerBytes)
			if n := len(rows); n < len(page.Assets) {
				page.Next = &page.Assets[n-1].ID
			}
			if a.Sort != "" && page.Next != nil {
				*page.Next = a.Skip + int64(len(rows))
			}
			found = FoundAssets{Assets: rows, Shown: len(rows), Next: schema.NextText(page.Next)}
			if found.Total, err = countAssets(c, a); err != nil || a.Q == "" || found.Total > 0 {
				return found, err
			}
			names, err := assetNames(c)
			found.Near = schema.Near(a.Q, names, 5)
			return found, err
		})
	}
}
