package rental

import "quartermaster/schema"

// version is the interface's version, which health and the document report; ping
// reports the program's.
const version = "3.0.0"

// Declare returns all that the service declares.
func (s *Service) Declare() schema.Service {
	return schema.Service{
		Name: "rental", Addr: "127.0.0.1:8083", Agents: true,
		Elsewhere: "Charges, deposits, rents, leases and tenants are changed on the screens and with `quartermaster " +
			"rental`; payments are reversed there too.",
		DemoPath: "/api/arrears",
		Title:    "Rental service",
		About: "What each tenant owes, what was paid and who is behind; units, leases and maintenance tickets. " +
			"Every amount is a whole number of cents. Reading a ledger first posts every billing period due by today.",
		Health: version, Document: version,
		Ops: s.ops(),
		Records: []schema.Record{
			{Noun: "lease", Page: "/leases/"}, {Noun: "ticket", Page: "/maintenance/"},
			{Noun: "maintenance_request", Page: "/maintenance/"},
			{Noun: "tenant", Page: "/tenants/"}, {Noun: "property", Page: "/properties/"}, {Noun: "unit", Page: "/units/"},
			{Noun: "payment", Page: "/payments/"}, {Noun: "bank_line", Page: "/bank/"}, {Noun: "bank_statement"},
			{Noun: "bank_account"},
			{Noun: "expense"}, {Noun: "recurring_expense"}, {Noun: "year", Page: "/years/"},
			{Noun: "charge", Within: "SELECT 'lease:' || lease_id FROM charges WHERE id = ?"},
			{Noun: "recurring", Within: "SELECT 'lease:' || lease_id FROM recurring_charges WHERE id = ?"},
		},
		Tables:  s.tables(),
		Reports: s.reports(),
		Journal: s.Journal,
		Events:  events(),
		Check:   s.check,
		Demo:    s.demo,
	}
}

// ops is the table of contents (route, tool, command, function): what REST and the command line read, what agents
// read, what is done with money, with leases, with tickets, with records.
func (s *Service) ops() []schema.Op {
	return append([]schema.Op{
		schema.At("GET /api/units", "list_units", "rental units list", s.listUnits()),
		schema.At("", "list_properties", "rental properties list", s.listProperties()),
		schema.At("GET /api/leases", "list_leases", "rental leases list", s.listLeases()),
		schema.At("GET /api/leases/:id/ledger", "lease_detail", "rental ledger LEASE_ID", s.ledger()),
		schema.At("GET /api/arrears", "arrears_report", "rental arrears", s.arrears()),
		schema.At("", "rent_roll", "rental rent-roll", s.rentRoll()),
		schema.At("GET /api/maintenance", "list_tickets", "rental tickets list", s.listTickets()),
		schema.At("", "", "rental tenants list", s.listTenants()),
		schema.At("", "", "rental units show UNIT_ID", s.unitDetail()),
		schema.At("", "", "rental properties show PROPERTY_ID", s.propertyDetail()),
		schema.At("", "", "rental leases show LEASE_ID", s.leaseShow()),
		schema.At("", "", "rental tenants show TENANT_ID", s.tenantDetail()),
		schema.At("", "", "rental tickets show TICKET_ID", s.ticketDetail()),
		schema.At("", "", "rental statement LEASE_ID", s.leaseStatement()),
		schema.At("", "", "rental property-statement PROPERTY_ID", s.propertyStatement()),
		schema.At("", "", "rental receipt PAYMENT_ID", s.leaseReceipt()),
		schema.At("GET /api/years/:year", "", "rental year YEAR", s.yearReport()),
		schema.At("GET /api/expenses", "", "rental expenses list", s.listExpenses()),

		schema.At("", "list_payments", "", s.listPayments()),
		schema.At("", "update_ticket", "", s.updateTicket()),

		schema.At("POST /api/leases/:id/payments", "record_payment", "rental pay LEASE_ID", s.recordPayment()),
		schema.At("", "", "rental receive LEASE_ID", s.receivePayment()),
		schema.At("", "", "rental reverse-payment PAYMENT_ID", s.reversePayment()),
		schema.At("", "", "rental charge LEASE_ID", s.addCharge()),
		schema.At("", "", "rental void-charge CHARGE_ID", s.voidCharge()),
		schema.At("", "", "rental use-deposit CHARGE_ID", s.useDepositOp()),
		schema.At("", "", "rental return-deposit LEASE_ID", s.payoutOp("deposit")),
		schema.At("", "", "rental return-credit LEASE_ID", s.payoutOp("credit")),

		schema.At("", "", "rental end-lease LEASE_ID", s.endLease()),
		schema.At("", "", "rental set-first-day LEASE_ID", s.setFirstDay()),
		schema.At("", "", "rental cancel-lease LEASE_ID", s.cancelLease()),
		schema.At("", "", "rental set-rent LEASE_ID", s.setRent()),
		schema.At("", "", "rental add-recurring LEASE_ID", s.addRecurring()),
		schema.At("", "", "rental end-recurring ID", s.endRecurring()),
		schema.At("", "", "rental set-opening LEASE_ID", s.setOpening()),
		schema.At("", "", "rental set-late-fee PROPERTY", s.setLateFeeOp()),

		schema.At("", "", "rental bank accounts", s.listBankAccounts()),
		schema.At("", "", "rental bank account NAME", s.saveBankAccount()),
		schema.At("", "", "rental bank import FILE...", s.importBank()),
		schema.At("", "", "rental bank lines", s.listBankLines()),
		schema.At("", "", "rental bank book [LINE=LEASE...]", s.bookLines()),
		schema.At("", "", "rental bank link LINE...", s.linkLinesOp()),
		schema.At("", "", "rental bank split LINE CENTS...", s.splitLineOp()),
		schema.At("", "", "rental bank return LINE PAYMENT", s.bookReturn()),
		schema.At("", "", "rental bank ignore LINE...", s.ignoreLines()),
		schema.At("", "", "rental bank free LINE", s.freeLineOp()),

		schema.At("POST /api/expenses", "", "rental expense add", s.addExpense()),
		schema.At("", "", "rental expense reverse ID", s.reverseExpense()),
		schema.At("", "", "rental expense add-recurring", s.addRecurringExpense()),
		schema.At("", "", "rental expense end-recurring ID", s.endRecurringExpense()),
		schema.At("", "", "rental expense post", s.postExpenses()),
		schema.At("", "", "rental expense categories [NAME...]", s.setCategories()),
		schema.At("", "", "rental close-year YEAR", s.closeYear()),
		schema.At("", "", "rental open-year YEAR", s.openYear()),

		schema.At("POST /api/maintenance", "create_ticket", "rental ticket create UNIT_ID", s.createTicket()),
		schema.At("POST /api/maintenance/:id/status", "advance_ticket", "rental ticket move TICKET_ID STATUS",
			s.advanceTicket()),
		schema.At("", "", "rental ticket note TICKET_ID", s.addTicketNote()),
		schema.At("", "", "rental ticket assign TICKET_ID", s.assignTicket()),

		schema.At("", "", "rental property save NAME", s.saveProperty()),
		schema.At("", "", "rental property rename PROPERTY", s.renameProperty()),
		schema.At("", "", "rental unit save PROPERTY NAME", s.saveUnit()),
		schema.At("", "", "rental unit rename UNIT_ID", s.renameUnit()),
		schema.At("", "", "rental tenant save NAME", s.saveTenant()),
		schema.At("", "", "rental lease save PROPERTY UNIT START_DATE", s.saveLease()),
		schema.At("", "", "rental tenant invite TENANT_ID", s.inviteTenant()),
		schema.At("", "", "rental tenant mail-invitation TENANT_ID", s.mailPortalInvitation()),
		schema.At("", "", "rental tenant end-sessions TENANT_ID", s.endTenantSessions()),
		schema.At("", "", "rental tenant forget TENANT_ID", s.forgetTenant()),
	}, s.mailOps()...)
}

// tables lists the CSV tables, in the order in which an empty database imports them.
func (s *Service) tables() []schema.Table {
	return []schema.Table{
		propertyTable(),
		unitTable(),
		tenantTable(),
		s.rentRollTable(),
		leaseTable(),
		s.rentTable(),
		s.recurringTable(),
		s.chargeTable(),
		s.paymentTable(),
		s.depositTable(),
		ticketTable(),
		bankAccountTable(),
		recurringExpenseTable(),
		expenseTable(),
	}
}

func events() []schema.Event {
	lease, moved := exampleLease(), exampleTicket()
	moved.Status = "in_progress"
	return []schema.Event{
		{Name: "payment.recorded", About: "A payment was recorded.", Data: PaymentEvent{PaymentID: 9, LeaseID: lease.ID,
			Unit:     lease.Unit,
			Property: lease.Property, Tenant: lease.Tenant, Charge: new(examplePaid()), Totals: examplePaidUp,
			AmountCents: 95_000,
			Allocations: exampleAllocations()}},
		{Name: "maintenance.created", About: "A ticket was opened.", Data: exampleTicket()},
		{Name: "maintenance.status_changed", About: "A ticket moved.", Data: TicketMoved{Ticket: moved, From: "open",
			To: "in_progress"}},
	}
}
