package page

import (
	"context"
	"strings"

	"quartermaster/maintenance"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
	"quartermaster/schema/words"
)

// hitsOfAKind is how many records of a kind a search shows.
const hitsOfAKind = 20

// find finds work orders, assets, plans and parts. A work order's number, a tag and a part's number lead straight to
// their record.
func find(s *maintenance.Service) page.Find {
	return func(ctx context.Context, _ db.Caller, q string) (hits []page.Hit, exact string, err error) {
		all, err := s.Find(ctx, q, hitsOfAKind)
		if err != nil {
			return nil, "", err
		}
		if exact, err = exactly(ctx, s, q, all.Assets, all.Parts); err != nil || exact != "" {
			return nil, exact, err
		}
		for _, a := range all.Assets {
			hits = append(hits, page.Hit{Kind: "Assets", ID: page.Num(a.ID), Path: assetPath(a.ID), Title: a.Name,
				Note: a.AssetTag + " " + schema.Cell(a.Location)})
		}
		for _, wo := range all.WorkOrders {
			hits = append(hits, page.Hit{Kind: "Work orders", ID: page.Num(wo.ID), Path: orderPath(wo.ID),
				Title: headline(wo.Description),
				Note:  "#" + page.Num(wo.ID) + " " + wo.Asset + ", " + wo.Status})
		}
		for _, p := range all.Plans {
			hits = append(hits, page.Hit{Kind: "Plans", ID: page.Num(p.PMID), Path: planPath(p.PMID), Title: p.Title,
				Note: p.Asset})
		}
		for _, p := range all.Parts {
			hits = append(hits, page.Hit{Kind: "Parts", ID: page.Num(p.ID), Path: partPath(p.ID), Title: p.Name,
				Note: p.PartNumber})
		}
		return hits, "", nil
	}
}

// exactly is the page of the one record that the text names, "" if there is none; assets and parts mention it.
func exactly(ctx context.Context, s *maintenance.Service, q string, assets []maintenance.Asset,
	parts []maintenance.Part) (string, error) {
	if id := words.Number(q, "WO", "job"); id > 0 {
		_, err := s.WorkOrder(ctx, id)
		if err == nil {
			return orderPath(id), nil
		}
		if !fault.Is(err, fault.NotFound) {
			return "", err
		}
	}
	for _, a := range assets {
		if strings.EqualFold(a.AssetTag, q) {
			return assetPath(a.ID), nil
		}
	}
	for _, p := range parts {
		if strings.EqualFold(p.PartNumber, q) {
			return partPath(p.ID), nil
		}
	}
	return "", nil
}
