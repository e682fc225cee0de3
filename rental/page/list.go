package page

import (
	"quartermaster/rental"
	"quartermaster/schema"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
)

var leaseSorts = page.Sorts[rental.Lease]{
	"lease":         page.ByText(func(l rental.Lease) string { return l.Property + "/" + l.Unit }),
	"status":        page.ByText(func(l rental.Lease) string { return l.Status }),
	"start_date":    page.By(func(l rental.Lease) exact.Day { return l.StartDate }),
	"end_date":      page.ByPtr(func(l rental.Lease) *exact.Day { return l.EndDate }),
	"rent_cents":    page.By(func(l rental.Lease) int64 { return l.RentCents }),
	"balance_cents": page.By(func(l rental.Lease) int64 { return l.BalanceCents }),
}

var unitSorts = page.Sorts[rental.Unit]{
	"unit":              page.ByText(func(u rental.Unit) string { return u.Property + "/" + u.Name }),
	"status":            page.ByText(func(u rental.Unit) string { return u.Status }),
	"tenant":            page.ByText(func(u rental.Unit) string { return schema.Cell(u.Tenant) }),
	"market_rent_cents": page.By(func(u rental.Unit) int64 { return u.MarketRentCents }),
}

var propertySorts = page.Sorts[rental.Property]{
	"name":           page.ByText(func(p rental.Property) string { return p.Name }),
	"unit_count":     page.By(func(p rental.Property) int64 { return p.UnitCount }),
	"vacant_count":   page.By(func(p rental.Property) int64 { return p.VacantCount }),
	"occupied_count": page.By(func(p rental.Property) int64 { return p.OccupiedCount }),
	"occupancy":      page.By(func(p rental.Property) int64 { return p.Occupancy.Unscaled }),
}

var tenantSorts = page.Sorts[rental.TenantRecord]{
	"name":          page.ByText(func(t rental.TenantRecord) string { return t.Name }),
	"email":         page.ByText(func(t rental.TenantRecord) string { return schema.Cell(t.Email) }),
	"leases":        page.By(func(t rental.TenantRecord) int64 { return t.Leases }),
	"balance_cents": page.By(func(t rental.TenantRecord) int64 { return t.BalanceCents }),
}

var leaseArrearSorts = page.Sorts[rental.LeaseBehind]{
	"tenant":        page.ByText(func(l rental.LeaseBehind) string { return l.Tenant }),
	"days_overdue":  page.By(func(l rental.LeaseBehind) int64 { return l.DaysOverdue }),
	"balance_cents": page.By(func(l rental.LeaseBehind) int64 { return l.BalanceCents }),
}

var arrearSorts = page.Sorts[rental.TenantBehind]{
	"tenant":        page.ByText(func(t rental.TenantBehind) string { return t.Tenant }),
	"days_overdue":  page.By(func(t rental.TenantBehind) int64 { return t.DaysOverdue }),
	"balance_cents": page.By(func(t rental.TenantBehind) int64 { return t.BalanceCents }),
}

// muted is the class of a cell's amount, if that is 0.
func muted(cents int64) string {
	if cents == 0 {
		return "soft"
	}
	return ""
}

// openClass is the class of what is owed: bold, or muted if it is 0.
func openClass(cents int64) string {
	if cents == 0 {
		return "soft"
	}
	return "strong"
}
