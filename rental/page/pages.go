// Package page has the rental service's pages: this month, arrears, leases with their ledgers, units, properties,
// tenants, tickets, the rent roll, prints, and the tenants' portal. Loaders call the service's exported functions; the
// templates are markup only.
package page

import (
	"cmp"
	"context"
	"strings"

	"quartermaster/rental"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

// Pages are the pages of the service.
func Pages(s *rental.Service) []page.Page {
	return []page.Page{
		month(s),                                    // /
		arrears(s), leases(s), lease(s), opening(s), // these, and tenants, are a phone's tabs
		tenants(s), tenant(s),
		reminders(s), board(s), ticket(s), picture(s),
		units(s), unit(s), properties(s), property(s),
		rentRoll(s), expenses(s), years(s), year(s),
		bank(s), bankImport(), bankLine(s),
		statement(s), receipt(s), reminder(s), tenantReminder(s), letters(s),
		portal(s), portalTicket(s), portalReport(s), portalReceipt(s), portalPicture(s),
	}
}

// PortalOps are what a tenant may do.
func PortalOps(s *rental.Service) []schema.Op { return s.PortalOps() }

// Once is how answers are drawn that are shown once.
func Once() []page.Once {
	return []page.Once{page.OnceOf("invite_tenant", Invitation)}
}

func leaseLook(status string) (string, string) {
	switch status {
	case "active":
		return page.Good, "Active"
	case "upcoming":
		return page.Todo, "Upcoming"
	}
	return page.Idle, "Ended"
}

func ticketLook(status string) (string, string) {
	look := page.Going
	switch status {
	case "open":
		look = page.Todo
	case "resolved":
		look = page.Good
	}
	return look, page.Word(status)
}

func priorityLook(priority string) (string, string) {
	switch priority {
	case "urgent":
		return page.Bad, "Urgent"
	case "high":
		return page.High, "High"
	}
	return page.Idle, page.Word(priority)
}

// moveWord is the label of a button that moves a ticket.
func moveWord(from, to string) string {
	switch {
	case to == "resolved":
		return "Resolve"
	case to == "in_progress":
		return "Start"
	case from == "resolved":
		return "Reopen"
	case to == "open":
		return "Put back"
	}
	return page.Word(to)
}

func methodWord(method string) string {
	if method == "opening" {
		return "Taken over"
	}
	return page.Word(method)
}

// brought reports whether money came with a payment of this method, which then has a receipt.
func brought(method string) bool { return method != "deposit" && method != "opening" }

// tenantName is a tenant's address in a letter.
func tenantName(l rental.Lease) string { return strings.ReplaceAll(l.Tenant, " & ", "\n") }

// hitsOfAKind is how many records of a kind a search shows.
const hitsOfAKind = 10

func find(s *rental.Service) page.Find {
	first := schema.First(hitsOfAKind)
	return func(ctx context.Context, who db.Caller, q string) ([]page.Hit, string, error) {
		leases, ofLeases := s.LeaseList(ctx, who, rental.LeaseFilter{Q: q, Cursor: first})
		tenants, ofTenants := s.Tenants(ctx, who, rental.TenantFilter{Q: q, Cursor: first})
		units, ofUnits := s.Units(ctx, rental.UnitFilter{Q: q, Cursor: first})
		properties, ofProperties := s.Properties(ctx, rental.PropertyFilter{Q: q, Cursor: first})
		tickets, ofTickets := s.Tickets(ctx, rental.TicketFilter{Q: q, Cursor: first})
		if err := cmp.Or(ofLeases, ofTenants, ofUnits, ofProperties, ofTickets); err != nil {
			return nil, "", err
		}
		var hits []page.Hit
		add := func(kind, at string, id int64, title, note string) {
			n := page.Num(id)
			hits = append(hits, page.Hit{Kind: kind, ID: n, Title: title, Path: page.Path(at, n), Note: note})
		}
		for _, l := range leases.Leases {
			add("Leases", "leases", l.ID, l.Property+" / "+l.Unit+", "+l.Tenant, "from "+l.StartDate.String())
		}
		for _, t := range tenants.Tenants {
			add("Tenants", "tenants", t.ID, t.Name, schema.Cell(t.Email))
		}
		for _, u := range units.Units {
			add("Units", "units", u.ID, u.Property+" / "+u.Name, u.Status)
		}
		for _, p := range properties.Properties {
			add("Properties", "properties", p.ID, p.Name, schema.Cell(p.Address))
		}
		for _, k := range tickets.Tickets {
			add("Tickets", "maintenance", k.ID, k.Title, k.Property+" / "+k.Unit)
		}
		return hits, "", nil
	}
}
