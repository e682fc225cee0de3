package page

import (
	"context"

	"quartermaster/rental"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

// portalView is the tenant's first page.
type portalView struct{ rental.Portal }

// owed is what is open of all leases, and credit what they have of it.
func (v portalView) owed() (balance, credit int64) {
	for _, l := range v.Leases {
		balance += l.Totals.BalanceCents
		credit += l.Totals.CreditCents
	}
	return balance, credit
}

// overdue is the part of it that was due before today.
func (v portalView) overdue() (cents int64) {
	for _, l := range v.Leases {
		for _, c := range l.Charges {
			if c.DueDate < v.Today {
				cents += c.BalanceCents
			}
		}
	}
	return cents
}

// several reports whether the tenant rents more than one place now.
func (v portalView) several() bool {
	n := 0
	for _, l := range v.Leases {
		if l.Lease.Status != "ended" {
			n++
		}
	}
	return n > 1
}

func loadPortal(s *rental.Service) func(*schema.Form) page.Loader[portalView] {
	return page.Always(func(ctx context.Context, who db.Caller) (portalView, error) {
		v, err := s.Portal(ctx, who)
		return portalView{v}, err
	})
}

func portal(s *rental.Service) page.Page {
	return page.New(page.Spec[portalView]{
		Path: "/portal", Title: "Your home", Area: page.Tenant,
		Load: loadPortal(s), View: PortalHome,
	})
}

func portalReport(s *rental.Service) page.Page {
	return page.New(page.Spec[portalView]{
		Path: "/portal/report", Title: "Report a problem", Area: page.Tenant,
		Load: loadPortal(s), View: PortalReport,
	})
}

func portalTicket(s *rental.Service) page.Page {
	return page.New(page.Spec[ticketView]{
		Path: "/portal/tickets/:id", Title: "Your report", Area: page.Tenant,
		Load: page.ByID("ticket_id", "the report", func(ctx context.Context, who db.Caller, id int64) (ticketView, error) {
			d, err := s.PortalTicket(ctx, who, id)
			return ticketView{d}, err
		}),
		View: PortalTicket,
	})
}

func portalReceipt(s *rental.Service) page.Page {
	return page.New(page.Spec[rental.Receipt]{
		Path: "/portal/receipts/:id", Title: "Receipt", Area: page.Tenant,
		Load: page.ByID("payment_id", "the payment", s.PortalReceipt), View: Receipt,
	})
}

func portalPicture(s *rental.Service) page.Page {
	return photo("/portal/photos/:id", page.Tenant, s.PortalPhoto)
}

// reportFields are those of the report's form: the place is asked only of a tenant with several.
func reportFields(v portalView) []string {
	fields := []string{"title", "description", "priority", "photo"}
	if v.several() {
		fields = append([]string{"unit"}, fields...)
	}
	return fields
}

func reportFixed(v portalView) map[string]string {
	for _, l := range v.Leases {
		if !v.several() && l.Lease.Status == "active" {
			return map[string]string{"unit": l.Lease.Property + "/" + l.Lease.Unit}
		}
	}
	return nil
}
