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

// makeLabels returns the labels of assets. Only an admin may turn requests on for them; among several, a retired one
// has a label without requests.
func makeLabels(tx *db.Tx, m schema.Chosen, requests bool) (none Labels, err error) {
	if who := tx.Who(); requests && who.Role != "admin" {
		return none, fault.Forbiddenf("only an admin may turn requests on; the user %s has the role %s", who.User, who.Role)
	}
	ids, err := m.All(&tx.Conn, matchingAssets)
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
		if a.Status == retired && len(ids) > 1 {
			continue
		}
		if _, err := setRequests(tx, id, true); err != nil {
			return none, err
		}
	}
	return labelsOf(&tx.Conn, ids)
}

// mostLabels is how many labels are made at once.
const mostLabels = 1000

// matchingAssets lists the assets of the filters in the list's address.
func matchingAssets(c *db.Conn, query string) ([]int64, error) {
	f := AssetFilter{Cursor: schema.First(mostLabels)}
	err := schema.Filters(query, func(form *schema.Form) {
		BindAssetStatus(form, &f.Status)
		bindAssetQ(form, &f.Q)
	})
	if err != nil {
		return nil, err
	}
	list, err := listAssets(c, f)
	if err == nil && list.Next != nil {
		err = fault.Invalidf("more than %d assets match; narrow the filters", mostLabels)
	}
	return schema.Map(list.Assets, func(a Asset) int64 { return a.ID }), err
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
		Bind: schema.Writes2(s.db, func(f *schema.Form, m *schema.Chosen, requests *bool) {
			m.Bind(f, "asset", mostLabels, schema.Positional("ASSET"), schema.Lookup(assetNamed), schema.NameFirst)
			f.Bool(requests, "requests", "turn requests on for all of them", schema.Label("Turn requests on"))
		}, makeLabels),
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
