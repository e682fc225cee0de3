package server

import (
	"context"

	"quartermaster/app/screen"
	maintenancepage "quartermaster/maintenance/page"
	rentalpage "quartermaster/rental/page"
	reorderpage "quartermaster/reorder/page"
	"quartermaster/schema"
	"quartermaster/schema/page"
	storepage "quartermaster/store/page"
)

// shown is a service's part of the pages, beside those of all services.
type shown struct {
	front     page.Front
	pages     []page.Page
	portal    []schema.Op // operations of tenants
	buyer     []schema.Op // operations of buyers
	open      []schema.Op // public operations
	once      []page.Once // how one-time answers are drawn
	openBuyer screen.OpenBuyer
}

// shown returns the service's part.
func (s *Services) shown(service string) shown {
	switch service {
	case "store":
		return shown{
			front: storepage.Front(s.Store), pages: storepage.Pages(s.Store), buyer: s.Store.BuyerOps(),
			open: s.Store.RedeemOps(),
			once: storepage.Once(), openBuyer: s.Store.OpenBuyer,
		}
	case "maintenance":
		return shown{
			front: maintenancepage.Front(s.Maintenance), pages: maintenancepage.Pages(s.Maintenance),
			open: maintenancepage.RequestOps(s.Maintenance),
		}
	case "rental":
		return shown{
			front: rentalpage.Front(s.Rental), pages: rentalpage.Pages(s.Rental), portal: rentalpage.PortalOps(s.Rental),
			once: rentalpage.Once(),
		}
	case "reorder":
		return shown{front: reorderpage.Front(s.Reorder), pages: reorderpage.Pages(s.Reorder)}
	}
	return shown{}
}

// waiting names and counts the service's open tasks.
func (s *Services) waiting(service string) (one, many string, count func(context.Context) (int64, error)) {
	switch service {
	case "store":
		return "thing waits", "things wait", s.Store.CountWaiting
	case "maintenance":
		return "job open", "jobs open", s.Maintenance.CountOpen
	case "rental":
		return "lease behind", "leases behind", s.Rental.CountBehind
	case "reorder":
		return "thing to order", "things to order", s.Reorder.CountToOrder
	}
	return "", "", nil
}
