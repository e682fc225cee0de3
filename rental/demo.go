package rental

import (
	"context"
	"strings"

	"quartermaster/rental/bank"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// demoLease is one lease of the demo shop. Its tenant has paid everything that was due
// before owesFrom, and nothing since; with the zero day the tenant owes nothing.
type demoLease struct {
	property, unit, tenant, email string
	start                         exact.Day
	end                           *exact.Day
	rent                          int64
	frequency                     string
	dueDay                        int64
	deposit                       int64
	proration                     string
	owesFrom                      exact.Day
}

// demoUnits are two houses with twelve units: property, unit, what it could be let
// for, notes.
var demoUnits = []struct {
	property, unit string
	market         int64
	notes          string
}{
	{"Harbour House", "1A", 98_000, ""},
	{"Harbour House", "1B", 98_000, "Balcony to the yard"},
	{"Harbour House", "2A", 24_500, "Furnished, let by the week"},
	{"Harbour House", "2B", 102_000, ""},
	{"Harbour House", "3A", 112_000, "Freshly painted"},
	{"Harbour House", "3B", 112_000, ""},
	{"Harbour House", "Shop", 195_000, "Ground floor, with cellar"},
	{"4 Mill Lane", "Ground", 86_000, ""},
	{"4 Mill Lane", "First", 92_000, ""},
	{"4 Mill Lane", "Attic", 61_000, "The skylight is old"},
	{"4 Mill Lane", "Garage", 28_500, "Let by the quarter"},
	{"Harbour House", "4A", 118_000, "With roof terrace"},
}

// demoLeases are leases of every status, nearly all by the month: two tenants are behind.
func demoLeases(today exact.Day) []demoLease {
	month := today.Month()
	day := func(ago exact.Month, n int) exact.Day { return (month - ago).Day(n) }
	on := func(d exact.Day) *exact.Day { return &d }
	const harbour, mill = "Harbour House", "4 Mill Lane"
	chloe := today - 7*20 - 2
	return []demoLease{
		{harbour, "1A", "Ada Brandt", "ada@example.org", day(14, 15), nil, 95_000, monthly, 1, 190_000, byDays, 0},
		{harbour, "1B", "Ben Okafor", "ben@example.org", day(9, 1), nil, 92_500, monthly, 1, 185_000, byDays, day(1, 1)},
		{harbour, "2A", "Chloe Martin", "chloe@example.org", chloe, nil, 24_500, weekly, 1, 0, byDays, today - 20},
		{harbour, "2B", "Deniz Kaya", "deniz@example.org", day(13, 1), nil, 99_000, monthly, 1, 198_000, byDays, 0},
		{harbour, "3A", "Emil Novak", "emil@example.org", day(20, 31), on(day(2, 10)), 104_000, monthly, 31, 208_000, byDays,
			0},
		{harbour, "3B", "Freya Lund", "freya@example.org", day(-2, 1), nil, 112_000, monthly, 1, 224_000, byDays, 0},
		{harbour, "Shop", "Quay Coffee Ltd", "office@quaycoffee.example", day(17, 1), on(day(-30, 31)), 190_000, monthly, 1,
			570_000, byDays, 0},
		{mill, "Ground", "Goran Babic", "goran@example.org", day(21, 1), on(day(-1, 15)), 84_000, monthly, 1, 84_000, byDays,
			0},
		{mill, "First", "Hana Sato", "hana@example.org", day(19, 1), nil, 88_000, monthly, 1, 0, byDays, 0},
		{mill, "Garage", "Ada Brandt", "ada@example.org", day(15, 1), on(day(4, 31)), 27_000, quarterly, 1, 0, inFull, 0},
		{mill, "Garage", "Ivo Marek", "ivo@example.org", day(3, 1), nil, 28_500, quarterly, 1, 0, inFull, 0},
		{harbour, "4A", "Ines Costa", "ines@example.org", day(6, 1), nil, 115_000, monthly, 1, 115_000, byDays, 0},
		{mill, "Attic", "Jonas Weber", "jonas@example.org", day(10, 1), nil, 59_000, monthly, 1, 59_000, byDays, 0},
		{harbour, "1B", "Marta Ruiz", "marta@example.org", day(16, 1), on(day(10, 31)), 90_000, monthly, 1, 0, byDays, 0},
		{harbour, "2A", "Paul Ziegler", "paul@example.org", day(15, 1), on(chloe - 5), 98_000, monthly, 1, 0, byDays, 0},
		{harbour, "3B", "Oskar Lang", "oskar@example.org", day(17, 1), on(day(1, 31)), 108_000, monthly, 1, 0, byDays, 0},
	}
}

// demo fills an empty database with two houses and their tenants as they would be on
// the day, in one transaction. Years of payments are history: they emit nothing.
func (s *Service) demo(ctx context.Context, today exact.Day) error {
	who := db.CLI("rental")
	who.User = "demo"
	return db.Exec(ctx, s.db, who, func(tx *db.Tx) error {
		for _, p := range [][2]string{{"Harbour House", "12 Harbour Street"}, {"4 Mill Lane", "4 Mill Lane, rear building"}} {
			if _, err := properties.Create(tx, &Property{Name: p[0], Address: &p[1]}); err != nil {
				return err
			}
		}
		for _, u := range demoUnits {
			unit := Unit{Property: u.property, Name: u.unit, MarketRentCents: u.market, Notes: db.NullText(u.notes)}
			if _, err := putUnit(tx, unit, nil); err != nil {
				return err
			}
		}
		for _, l := range demoLeases(today) {
			if err := l.put(tx, today); err != nil {
				return err
			}
		}
		if err := demoTickets(tx); err != nil {
			return err
		}
		return demoMoney(tx, today)
	})
}

// demoMoney makes the account that tenants pay to, with a statement of this month, and what the houses cost.
func demoMoney(tx *db.Tx, today exact.Day) error {
	a, _, err := saveAccount(tx, BankAccount{Name: "Rent account", IBAN: new("DE89370400440532013000"),
		Holder: new("Brandt & Daughters"), Collects: true},
		func(string) bool { return true })
	if err != nil {
		return err
	}
	on := func(ago exact.Day) string { return strings.ReplaceAll((today - ago).String(), "-", "")[2:] }
	file := ":20:DEMO\n:25:" + *a.IBAN + "\n:60F:C" + on(9) + a.Currency + "8250,00\n" +
		":61:" + on(8) + "C925,00NTRFNONREF\n:86:166?20Rent " + PaymentReference(2) +
		"?31DE02120300000000202051?32Ben Okafor\n" +
		":61:" + on(6) + "C245,00NTRFNONREF\n:86:166?20Rent?31DE02500105170137075030?32C Martin\n" +
		":61:" + on(5) + "D340,00NTRFNONREF\n:86:166?20Invoice 118?31DE02100500000054540402?32Novak Plumbing\n" +
		":61:" + on(3) + "C77,00NTRFNONREF\n:86:166?20Refund?32City Works\n" +
		":62F:C" + on(2) + a.Currency + "9157,00\n-\n"
	statements, _, err := bank.Read([]byte(file))
	if err != nil {
		return err
	}
	if _, err := importBank(tx, BankFile{File: schema.File{Name: "rents.sta", Data: []byte(file)}},
		statements); err != nil {
		return err
	}
	for _, e := range []struct {
		property, category, payee string
		ago                       exact.Day
		cents                     int64
	}{
		{"Harbour House", "repairs", "Novak Plumbing", 40, 21_500}, {"Harbour House", "utilities", "City Works", 71, 66_000},
		{"4 Mill Lane", "insurance", "Alster Insurance", 130, 82_000}, {"", "legal", "Kranz & Partner", 95, 18_000},
	} {
		_, err := addExpense(tx, NewExpense{Property: e.property, Category: e.category, Payee: &e.payee,
			AmountCents: &e.cents, Day: new(today - e.ago)})
		if err != nil {
			return err
		}
	}
	property, _, err := placeOf(&tx.Conn, "Harbour House", "")
	if err != nil {
		return err
	}
	_, err = insertRecurringExpense(tx, RecurringExpense{propertyID: property, Category: "cleaning",
		Payee: new("Stairs & Co"), AmountCents: 12_000,
		Frequency: monthly, From: (today.Month() - 1).Day(15)})
	return err
}

// put makes the lease and posts and pays what is due of it.
func (d demoLease) put(tx *db.Tx, today exact.Day) error {
	if err := putDemoTenant(tx, d.tenant, d.email); err != nil {
		return err
	}
	_, err := putLease(tx, Lease{Property: d.property, Unit: d.unit, StartDate: d.start, Tenant: d.tenant, EndDate: d.end,
		BaseRentCents: d.rent, Frequency: d.frequency, DueDay: d.dueDay, DepositCents: d.deposit, Proration: d.proration},
		givenTerms)
	if err != nil {
		return err
	}
	l, err := leaseKey{property: d.property, unit: d.unit, start: d.start}.lease(&tx.Conn)
	if err != nil {
		return err
	}
	if err := post(tx, l.ID); err != nil {
		return err
	}
	if d.deposit > 0 && d.start <= today {
		if _, err := insertSingle(tx, l.ID, NewCharge{Type: "deposit", AmountCents: d.deposit, DueDate: d.start,
			Label: "Deposit"}); err != nil {
			return err
		}
	}
	charges, err := chargesOf(&tx.Conn, l.ID)
	if err != nil {
		return err
	}
	for i, c := range charges {
		if d.owesFrom != 0 && c.DueDate >= d.owesFrom {
			continue
		}
		late := i % 4 // of those who are behind; the others are late now and then
		if d.owesFrom == 0 {
			late = i % 9 / 8 * 3
		}
		paid := min(c.DueDate+exact.Day(late), today)
		if _, err := payCharge(tx, l.ID, c, nil, methods[1-i%8/7], paid.String()); err != nil {
			return err
		}
	}
	return nil
}

// givenTerms are all that people say of a lease.
func givenTerms(column string) bool { return column != "next_post_day" }

// putDemoTenant makes a tenant, once.
func putDemoTenant(tx *db.Tx, name, email string) error {
	_, err := putTenant(tx, tenantRow{Tenant: Tenant{Name: name, Email: db.NullText(email)},
		has: func(column string) bool { return column == "email" }})
	return err
}

func demoTickets(tx *db.Tx) error {
	for _, k := range []struct{ property, unit, title, description, priority, status string }{
		{"Harbour House", "1A", "Kitchen tap drips", "Since Monday, a bowl stands under it.", "medium", resolved},
		{"Harbour House", "Shop", "Cellar door does not lock", "", "high", "in_progress"},
		{"4 Mill Lane", "Attic", "Skylight leaks", "Water on the floor after every rain.", "urgent", "open"},
		{"Harbour House", "2A", "Bulb on the stairs is out", "", "low", "open"},
	} {
		unit, err := findUnit(&tx.Conn, k.property, k.unit)
		if err != nil {
			return err
		}
		if _, err := insertTicket(tx, 0, NewTicket{UnitID: unit, Title: k.title, Description: k.description,
			Priority: k.priority}, k.status); err != nil {
			return err
		}
	}
	return nil
}
