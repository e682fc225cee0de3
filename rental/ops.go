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
		Ops: s.ops(),
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

// ops lists the service's operations: what REST and the command line read, what agents
// read, what is done with money, with leases, with tickets, with records.
func (s *Service) ops() []schema.Op {
	return []schema.Op{
		s.listUnits(), s.listProperties(), s.listLeases(), s.ledger(), s.arrears(), s.rentRoll(), s.listTickets(), s.listTenants(),
		s.unitDetail(), s.propertyDetail(), s.leaseShow(), s.tenantDetail(), s.ticketDetail(),
		s.leaseStatement(), s.propertyStatement(), s.leaseReceipt(),

		s.toolProperties(), s.toolUnits(), s.toolLeases(), s.toolLedger(), s.toolArrears(), s.toolRentRoll(), s.toolTickets(),

		s.recordPayment(), s.receivePayment(), s.reversePayment(), s.addCharge(), s.voidCharge(),
		s.useDepositOp(), s.returnDeposit(), s.returnCredit(),

		s.endLease(), s.cancelLease(), s.setRent(), s.addRecurring(), s.endRecurring(), s.setLateFeeOp(),

		s.createTicket(), s.advanceTicket(), s.addTicketNote(), s.assignTicket(),

		s.saveProperty(), s.saveUnit(), s.saveTenant(), s.saveLease(),
		s.inviteTenant(), s.endTenantSessions(), s.forgetTenant(),
	}
}

// events are what the service tells receivers.
func events() []schema.Event {
	lease, moved := exampleLease(), exampleTicket()
	moved.Status = "in_progress"
	return []schema.Event{
		{Name: "payment.recorded", About: "A payment was recorded.", Data: PaymentEvent{PaymentID: 9, LeaseID: lease.ID, Unit: lease.Unit,
			Property: lease.Property, Tenant: lease.Tenant, Charge: new(examplePaid()), Totals: examplePaidUp, AmountCents: 95_000,
			Allocations: exampleAllocations()}},
		{Name: "maintenance.created", About: "A ticket was opened.", Data: exampleTicket()},
		{Name: "maintenance.status_changed", About: "A ticket moved.", Data: TicketMoved{Ticket: moved, From: "open", To: "in_progress"}},
	}
}
