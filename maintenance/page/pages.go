// Package page has the pages of the maintenance service: the board, work orders, assets with their meters, the due
// list, plans, parts, figures, and the request page for people without an account.
package page

import (
	"quartermaster/maintenance"
	"quartermaster/schema"
	"quartermaster/schema/page"
)

// Pages are the service's pages.
func Pages(s *maintenance.Service) []page.Page {
	return []page.Page{
		board(s),
		orders(s),
		order(s),
		jobSheet(s), finish(s),
		photo(s),
		due(s),
		assets(s),
		asset(s),
		assetLabel(s), labels(s),
		parts(s),
		part(s),
		plans(s), plan(s),
		figures(s),
		request(s),
	}
}

// RequestOps are the operations of people without an account.
func RequestOps(s *maintenance.Service) []schema.Op { return []schema.Op{s.RequestOp()} }

func orderPath(id int64) string { return page.Path("work-orders", page.Num(id)) }
func assetPath(id int64) string { return page.Path("assets", page.Num(id)) }
func planPath(id int64) string  { return page.Path("plans", page.Num(id)) }
func partPath(id int64) string  { return page.Path("parts", page.Num(id)) }
