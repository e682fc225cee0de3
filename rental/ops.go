package rental

import "quartermaster/schema"

// version is the interface's version, which health and the document report; ping
// reports the program's.
const version = "3.0.0"

// Declare tells everything that the service is.
func (s *Service) Declare() schema.Service {
	return schema.Service{
		Name: "rental", Addr: "127.0.0.1:8083", Agents: true, Elsewhere: "Payments are recorded over REST (POST /api/leases/{id}/payments), on the screens or with `quartermaster rental`; charges, deposits, leases and tenants on the screens and the command line.",
		DemoPath: "/api/arrears",
		Title:    "Rental service",
		About: "What each tenant owes, what was paid and who is behind; units, leases and maintenance tickets. " +
			"Every amount is an integer number of cents. Asking for a ledger first posts every billing period that is due by today.",
		Health: version, Document: version,
		Ops: []schema.Op{
			s.listUnits(),
			s.listProperties(),
			s.listLeases(),
			s.toolLeases(),
			s.ledger(),
			s.recordPayment(),
			s.arrears(),
			s.rentRoll(),
			s.listTickets(),
			s.createTicket(),
			s.advanceTicket(),
		},
		Tables: []schema.Table{
			s.propertyTable(),
			s.unitTable(),
			s.tenantTable(),
			s.leaseTable(),
			s.rentTable(),
			s.recurringTable(),
			s.chargeTable(),
			s.paymentTable(),
			s.depositTable(),
			s.ticketTable(),
		},
		Events: events(),
		Check:  s.check,
		Demo:   s.demo,
	}
}

// events are what the service tells receivers.
func events() []schema.Event {
	lease, moved := exampleLease(), exampleTicket()
	moved.Status = "in_progress"
	return []schema.Event{
		{Name: "payment.recorded", About: "A payment was recorded.", Data: PaymentEvent{PaymentID: 9, LeaseID: lease.ID, Unit: lease.Unit,
			Property: lease.Property, Tenant: lease.Tenant, Charge: new(examplePaid()), Totals: examplePaidUp, AmountCents: 95_000,
			Allocations: exampleAllocations(), Method: "bank_transfer", PaidDate: exampleDay("2026-11-20")}},
		{Name: "maintenance.created", About: "A ticket was opened.", Data: exampleTicket()},
		{Name: "maintenance.status_changed", About: "A ticket moved.", Data: TicketMoved{Ticket: moved, From: "open", To: "in_progress"}},
	}
}
