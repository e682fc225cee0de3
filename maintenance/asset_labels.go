package maintenance

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Labels are the assets on one sheet of labels.
type Labels struct {
	Labels []Label `json:"labels"`
}

// Label is an asset's label: its name, its tag, and the address for requests without an account, while that is on.
type Label struct {
	AssetTag string `json:"asset_tag"`
	Requests
}

// Labels reads the labels of assets; an unknown one is 404.
func (s *Service) Labels(ctx context.Context, ids []int64) (Labels, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Labels, error) { return labelsOf(c, ids) })
}

func labelsOf(c *db.Conn, ids []int64) (l Labels, err error) {
	l.Labels = make([]Label, len(ids))
	for i, id := range ids {
		a, err := assets.ByID(c, id)
		if err != nil {
			return l, err
		}
		if l.Labels[i].Requests, err = requestsOf(c, id); err != nil {
			return l, err
		}
		l.Labels[i].AssetTag = a.AssetTag
	}
	return l, nil
}

// makeLabelsOf returns the labels of assets. Only an admin may turn requests on for them; among several, a retired one
// has a label without requests.
func (s *Service) makeLabelsOf(ctx context.Context, who db.Caller, of func(*db.Conn) ([]int64, error), requests bool) (
	Labels, error) {
	if requests && who.Role != "admin" {
		return Labels{}, fault.Forbiddenf("only an admin may turn requests on; the user %s has the role %s", who.User,
			who.Role)
	}
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (none Labels, err error) {
		ids, err := of(&tx.Conn)
		if err != nil {
			return none, err
		}
		for _, id := range ids {
			if !requests {
				break
			}
			a, err := assets.ByID(&tx.Conn, id)
			if err != nil {
				return none, err
			}
			if a.Status == "retired" && len(ids) > 1 {
				continue
			}
			if _, err := setRequests(tx, id, true); err != nil {
				return none, err
			}
		}
		return labelsOf(&tx.Conn, ids)
	})
}

// mostLabels is how many labels are made at once.
const mostLabels = 1000

// assetsThatMatch lists the assets of the filters in the list's address.
func assetsThatMatch(c *db.Conn, query string) ([]int64, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, fault.Fieldf("match", "match: %s is not the query of an address", schema.Quote(query))
	}
	f := AssetFilter{Q: values.Get("q"), Status: values.Get("status")}
	f.Limit = mostLabels
	list, err := listAssets(c, f)
	if err == nil && list.Next != nil {
		err = fault.Invalidf("more than %d assets match; narrow the filters", mostLabels)
	}
	ids := make([]int64, len(list.Assets))
	for i, a := range list.Assets {
		ids[i] = a.ID
	}
	return ids, err
}

func (s *Service) makeLabels() schema.Op {
	path := "/request/Kx3mB1tqS9yZ0aVw7uN2Lg"
	return schema.Op{
		Name: "make_labels",
		About: "Labels of assets on one sheet, each with a QR code of the asset's page. With requests, a second code " +
			"lets people without an account report problems.",
		Writes: true, Idempotent: true,
		Response: Labels{
			Labels: []Label{{AssetTag: "LATHE-1", Requests: Requests{AssetID: 1, Asset: "Lathe", On: true, Path: &path}}}},
		Bind: func(f *schema.Form) schema.Handler {
			var ids []int64
			var requests bool
			some := f.IDs(&ids, "id", "the assets", mostLabels, schema.Positional("ASSET"), schema.Lookup(assetNamed),
				schema.NameFirst, schema.Label("Assets"))
			f.Bool(&requests, "requests", "turn requests on for all of them", schema.Label("Turn requests on"))
			match := ""
			if f.Surface() == schema.Page {
				f.Text(&match, "match", "in place of the assets: all that match these filters of the list's address",
					schema.Label("All that match"), schema.Help("Filters of the list, in place of marked rows."))
			}
			if !f.Describing() && !some && match == "" {
				f.Refuse("id", "id is missing: mark at least one asset")
			}
			return func(ctx context.Context, who db.Caller) (any, error) {
				return s.makeLabelsOf(ctx, who, func(c *db.Conn) ([]int64, error) {
					if match == "" {
						return ids, nil
					}
					return assetsThatMatch(c, match)
				}, requests)
			}
		},
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance labels LATHE-1 VAN-1 --requests",
		Did: func(answer any, _ schema.Money) string {
			if n := len(answer.(Labels).Labels); n != 1 {
				return fmt.Sprintf("The labels of %d assets are ready to print.", n)
			}
			return "The label is ready to print."
		},
		Leads: func(answer any) string {
			q := url.Values{}
			for _, l := range answer.(Labels).Labels {
				q.Add("id", strconv.FormatInt(l.AssetID, 10))
			}
			return "/labels?" + q.Encode()
		},
	}
}
