package maintenance

import (
	"context"
	"fmt"
	"io"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// Asset returns one asset with its meters; 404 if there is none.
func (s *Service) Asset(ctx context.Context, id int64) (Asset, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Asset, error) { return assetByID(c, id) })
}

func assetByID(c *db.Conn, id int64) (Asset, error) {
	a, err := assets.ByID(c, id)
	if err != nil {
		return a, err
	}
	return a.withMeters(c)
}

// RemovedAsset is an asset that was removed.
type RemovedAsset struct {
	ID       int64  `json:"id"`
	AssetTag string `json:"asset_tag"`
	Name     string `json:"name"`
}

// removeAsset removes an asset without references: no work order, no plan, and no meter with a reading. Meters without
// readings are removed with it.
func removeAsset(tx *db.Tx, id int64) (none RemovedAsset, err error) {
	a, err := assets.ByID(&tx.Conn, id)
	if err != nil {
		return none, err
	}
	refers, err := referring(&tx.Conn, id,
		reference{"work order", "work orders", "SELECT count(*) FROM work_orders WHERE asset_id = ?"},
		reference{"plan", "plans", "SELECT count(*) FROM pm_plans WHERE asset_id = ?"},
		reference{"reading", "readings", "SELECT coalesce(sum(posted), 0) FROM meters WHERE asset_id = ?"})
	if err != nil {
		return none, err
	}
	if refers != "" {
		return none, fault.Conflictf("asset %d (%s) has %s and cannot be removed; set its status to retired instead", a.ID,
			a.Name, refers)
	}
	tx.Do("DELETE FROM meters WHERE asset_id = ?", id)
	tx.Do("DELETE FROM assets WHERE id = ?", id)
	gone := RemovedAsset{ID: a.ID, AssetTag: a.AssetTag, Name: a.Name}
	return gone, tx.Audit("asset.removed", db.Subject("asset", id), gone)
}

// reference is a kind of reference to a record, with their number.
type reference struct{ one, many, count string }

// referring names the references to a record, in words; "" if there are none.
func referring(c *db.Conn, id int64, list ...reference) (string, error) {
	var all []string
	for _, ref := range list {
		n, _, err := db.One(c, db.Int, ref.count, id)
		switch {
		case err != nil:
			return "", err
		case n == 1:
			all = append(all, "1 "+ref.one)
		case n > 1:
			all = append(all, fmt.Sprintf("%d %s", n, ref.many))
		}
	}
	return strings.Join(all, ", "), nil
}

func bindAssetID(f *schema.Form, name string, id *int64) {
	f.ID(id, name, "the asset, by its id or tag", schema.Required, assetPositional, schema.Choices(assetChoices),
		schema.Label("Asset"))
}

func (s *Service) saveAsset() schema.Op {
	return schema.Op{
		Keys: []string{"asset_tag"},
		Rare: []string{"manufacturer", "model", "serial_number", "notes", "status"},
		Name: "save_asset", About: "Create or change an asset, identified by asset_tag.",
		Writes: true, Idempotent: true, Response: sampleAsset,
		Fill: assets.Fill,
		Bind: record.Saves(s.db, assets, assets.Put, func(c *db.Conn, _ Asset, id int64) (Asset, error) {
			return assetByID(c, id)
		}),
		Example: "maintenance assets save LATHE-1 --name Lathe --location \"hall 1\"",
		Did:     schema.Said(func(a Asset) string { return fmt.Sprintf("%s, %s, is saved.", a.AssetTag, a.Name) }),
		Leads:   leadsToAsset,
	}
}

func leadsToAsset(answer any) string { return assetPage(answer.(Asset).ID) }

func (s *Service) saveMeter() schema.Op {
	return schema.Op{
		Keys: []string{"asset_tag", "name"},
		Name: "save_meter", About: "Create or change a meter, identified by asset_tag and name. A lower reading is a " +
			"correction: use correct_reading.",
		Writes: true, Idempotent: true, Response: sampleAsset,
		Fill: s.meterTable().Save(s.db, schema.Op{}).Fill,
		Bind: func(f *schema.Form) schema.Handler {
			m := bindMeter(f)
			return func(ctx context.Context, who db.Caller) (any, error) {
				return db.Update(ctx, s.db, who, func(tx *db.Tx) (Asset, error) {
					id, _, err := putMeter(tx, f, m)
					if err != nil {
						return Asset{}, err
					}
					return assetByID(&tx.Conn, id)
				})
			}
		},
		Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Example: "maintenance meters save LATHE-1 hours --unit h --reading 1250.5",
		Did: schema.Said(func(a Asset) string {
			names := schema.Map(a.Meters, func(m Meter) string {
				return strings.TrimSpace(fmt.Sprintf("%s %v %s", m.Name, m.Reading, m.Unit))
			})
			return a.Name + " has the " + map[bool]string{true: "meter", false: "meters"}[len(names) == 1] + " " +
				strings.Join(names, ", ") + "."
		}),
		Leads: leadsToAsset,
	}
}

func (s *Service) removeAsset() schema.Op {
	return schema.Op{
		Name: "remove_asset", About: "Remove an asset without work orders, plans and readings.",
		Writes: true, Destructive: true, Response: RemovedAsset{ID: 1, AssetTag: "LATHE-1", Name: "Lathe"},
		Bind: schema.Writes(s.db, func(f *schema.Form, id *int64) {
			bindAssetID(f, "id", id)
		}, removeAsset),
		Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Example: "maintenance assets remove LATHE-9",
		Did: func(answer any, _ schema.Money) string {
			return answer.(RemovedAsset).Name + " is removed."
		},
		Thing: func(answer any) string {
			return answer.(RemovedAsset).Name + " (" + answer.(RemovedAsset).AssetTag + ")"
		},
		Will: schema.Said(func(a RemovedAsset) string {
			return fmt.Sprintf("%s (%s) will be removed for good. Nothing refers to it.", a.Name, a.AssetTag)
		}),
		Leads: func(any) string { return "/assets" },
	}
}

func (s *Service) setAssetStatus() schema.Op {
	return schema.Op{
		Name: "set_asset_status", About: "Set an asset's status: operational, needs-attention, down or retired. A retired " +
			"asset has no due services and no new work orders.",
		Writes: true, Idempotent: true, Response: sampleAsset,
		Bind: schema.Writes2(s.db, func(f *schema.Form, id *int64, status *string) {
			f.ID(id, "id", "the asset, by its id or tag", schema.Required, named(assetNamed, "ID"),
				schema.Choices(assetChoices), schema.Label("Asset"))
			bindAssetStatus(f, status, "its state", schema.Required, schema.Positional("STATUS"))
		}, setAssetStatus),
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance asset-status 3 down\nmaintenance asset-status VAN-3 operational --as alice",
		Print: schema.Printed(func(w io.Writer, a Asset) {
			fmt.Fprintf(w, "%d, %s: %s\n", a.ID, a.Name, a.Status)
		}),
		Did:   schema.Said(func(a Asset) string { return fmt.Sprintf("%s is %s.", a.Name, a.Status) }),
		Leads: leadsToAsset,
	}
}

func (s *Service) showAsset() schema.Op {
	return schema.Op{
		Name: "show_asset", About: "One asset with its meters.", Response: sampleAsset,
		Bind: schema.Reads(func(f *schema.Form, id *int64) {
			bindAssetID(f, "id", id)
		}, s.Asset),
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance assets show LATHE-1",
		Print: schema.Printed(func(w io.Writer, a Asset) {
			schema.Facts(w, "asset", fmt.Sprintf("%d, %s", a.ID, a.AssetTag), "name", a.Name, "status", a.Status, "category",
				schema.Cell(a.Category), "location", schema.Cell(a.Location),
				"manufacturer", schema.Cell(a.Manufacturer), "model", schema.Cell(a.Model),
				"serial number", schema.Cell(a.SerialNumber), "notes",
				schema.Cell(a.Notes))
			for _, m := range a.Meters {
				fmt.Fprintf(w, "  %s: %v %s, read %s\n", m.Name, m.Reading, m.Unit, dayOrNever(m.ReadDate))
			}
		}),
	}
}

// printAssets is a list of assets as a table for a terminal.
func printAssets(w io.Writer, answer any) {
	schema.Tabulate(w, "ID|TAG|NAME|STATUS|LOCATION|METERS", answer.(Assets).Assets, func(a Asset) []any {
		meters := schema.Map(a.Meters, func(m Meter) string { return strings.TrimSpace(m.Reading.String() + " " + m.Unit) })
		return []any{a.ID, a.AssetTag, schema.Shorten(a.Name, 32), a.Status, schema.Shorten(schema.Cell(a.Location), 24),
			strings.Join(meters, ", ")}
	})
}
