package rental

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// ownCategories are the categories that the shop added, sorted.
func ownCategories(c *db.Conn) ([]string, error) {
	kept, err := c.Setting(settingCategories)
	if err != nil || kept == "" {
		return nil, err
	}
	return strings.Split(kept, "\n"), nil
}

const settingCategories = "expense_categories"

func categories(c *db.Conn) ([]string, error) {
	own, err := ownCategories(c)
	return append(slices.Clone(expenseCategories), own...), err
}

// categoryOf finds a category, in any case, with blanks or - for _.
func categoryOf(c *db.Conn, said string) (string, error) {
	all, err := categories(c)
	if err != nil {
		return "", err
	}
	plainly := strings.NewReplacer(" ", "_", "-", "_")
	for _, name := range all {
		if strings.EqualFold(plainly.Replace(name), plainly.Replace(strings.TrimSpace(said))) {
			return name, nil
		}
	}
	return "", fault.Fieldf("category",
		"category: %s is not a category; choose one of %s", schema.Quote(said), strings.Join(all, ", "))
}

// CategoryList is what set_categories answers.
type CategoryList struct {
	Own        []string `json:"own"`
	Categories []string `json:"categories" about:"all that expenses may have"`
}

// setCategories sets the shop's own categories. One that an expense has stays.
func setCategories(tx *db.Tx, names []string) (done CategoryList, err error) {
	was, err := ownCategories(&tx.Conn)
	if err != nil {
		return done, err
	}
	done.Own = []string{}
	for _, name := range names {
		name = flat(name)
		same := func(other string) bool { return strings.EqualFold(other, name) }
		switch {
		case name == "":
			continue
		case slices.ContainsFunc(expenseCategories, same):
			return done, fault.Fieldf("names", "names: every shop has the category %s already", name)
		case slices.ContainsFunc(done.Own, same):
			return done, fault.Fieldf("names", "names: %s is named twice", name)
		}
		done.Own = append(done.Own, name)
	}
	slices.SortFunc(done.Own, func(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) })
	for _, name := range was {
		if slices.Contains(done.Own, name) {
			continue
		}
		id, used, err := db.One(&tx.Conn, db.Int, `SELECT id FROM expenses WHERE category = ?1
			UNION ALL SELECT id FROM recurring_expenses WHERE category = ?1 LIMIT 1`, name)
		if err != nil {
			return done, err
		}
		if used {
			return done, fault.Conflictf("the category %s is in use, by expense %d among others", schema.Quote(name),
				id).At("names")
		}
	}
	if err := tx.SetSetting(settingCategories, strings.Join(done.Own, "\n")); err != nil {
		return done, err
	}
	if done.Categories, err = categories(&tx.Conn); err != nil {
		return done, err
	}
	return done, tx.Audit("expense_categories.changed", "settings", map[string]any{"before": was, "after": done.Own})
}

func exampleExpense() Expense {
	return Expense{ID: 12, Property: new("Harbour House"), Unit: new("1A"), Day: exampleDay("2026-11-12"),
		Category: "repairs", Payee: new("Novak Plumbing"),
		AmountCents: 34_000, TaxNote: new("invoice 2026-118"), TicketID: new(int64(3)), LineID: new(int64(61)),
		ReversesID:   new(int64(11)),
		ReversedByID: new(int64(13)), RecurringID: new(int64(2))}
}

func exampleRecurringExpense() RecurringExpense {
	return RecurringExpense{ID: 2, Property: new("Harbour House"), Unit: new("1A"), Category: "insurance",
		Payee: new("Alster Insurance"), AmountCents: 5500,
		TaxNote: new("contract 77"), Frequency: monthly, From: exampleDay("2026-01-31"), To: new(exampleDay("2026-12-31")),
		NextDay: new(exampleDay("2026-11-30"))}
}

// bindRef binds a property or a unit: from a list on pages, elsewhere by id or name.
func bindRef(f *schema.Form, p *string, name, about string, lookup func(*db.Conn, string) (int64, error),
	list schema.List) {
	if f.Surface() != schema.Page {
		f.Ref(p, name, about, schema.Example("Harbour House"))
		return
	}
	var id int64
	if f.ID(&id, name, about, schema.Lookup(lookup), schema.Choices(list)) && id > 0 {
		*p = fmt.Sprint(id)
	}
}

// bindExpense binds what an expense and a recurring one have in common.
func bindExpense(f *schema.Form, n *NewExpense, required bool) {
	bindRef(f, &n.Property, "property", "the house (default: all houses)", lookupProperty, propertyChoices)
	bindRef(f, &n.Unit, "unit", "the unit, if the expense is for one", lookupUnit, unitChoices)
	f.Text(&n.Category, "category", "what it was for", schema.Required, schema.Most(maxName),
		schema.Choices(CategoryChoices), schema.Example("repairs"))
	opts := []schema.Opt{schema.Range(-maxCents, maxCents), schema.Example(34_000)}
	if required {
		opts = append(opts, schema.Required)
	}
	f.IntPtr(&n.AmountCents, "amount_cents", "how much, in cents; below 0: money back", opts...)
	f.TextPtr(&n.Payee, "payee", "who was paid", schema.Most(maxName), schema.Example("Novak Plumbing"))
	f.TextPtr(&n.TaxNote, "tax_note", "a note for the tax adviser", schema.Most(maxText))
}

// CategoryChoices lists the categories to choose from.
var CategoryChoices = schema.Among(func(c *db.Conn) (list []schema.Choice, err error) {
	all, err := categories(c)
	for _, name := range all {
		list = append(list, schema.Choice{Value: name, Text: strings.ReplaceAll(name, "_", " ")})
	}
	return list, err
})

func (s *Service) addExpense() schema.Op {
	return schema.Op{
		Name: "add_expense", Writes: true, Creates: true,
		About: "Enter money that went out: for a house, a unit, or all houses. With line_id it has that bank line's day " +
			"and amount; " +
			"with ticket_id it is for the ticket's unit.",
		Response: exampleExpense(), Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: schema.Writes(s.db, func(f *schema.Form, n *NewExpense) {
			var ticket, line int64
			bindExpense(f, n, false)
			f.DayPtr(&n.Day, "day", "when it was paid (default: today)", schema.Example("2026-11-12"), schema.Today)
			f.ID(&ticket, "ticket_id", "the ticket that it was for", schema.Label("Ticket"), schema.Choices(ticketChoices))
			f.ID(&line, "line_id", "its bank line, which gives amount and day", schema.Label("Bank line"),
				schema.Choices(lineChoices))
			if !f.Describing() && n.AmountCents == nil && line == 0 {
				f.Refuse("amount_cents", "amount_cents is missing: enter what was paid, in cents")
			}
			n.TicketID, n.LineID = db.NullID(ticket), db.NullID(line)
		}, addExpense),
		Example: "rental expense add --property 'Harbour House' --category repairs --amount-cents 34000 --payee 'Novak " +
			"Plumbing'",
		Did: schema.SaidIn(func(e Expense, m schema.Money) string {
			return fmt.Sprintf("The expense of %s is entered on %s, %s.", m(e.AmountCents), e.Day, spaced(e.Category))
		}),
		Leads: leadsExpenses,
		Undo: func(a any) *schema.Undo {
			return &schema.Undo{Op: "reverse_expense", Label: "Reverse",
				Fields: map[string]string{"expense_id": fmt.Sprint(a.(Expense).ID), "reason": "entered by mistake"}}
		},
	}
}

func leadsExpenses(any) string { return "/expenses" }

// spaced is a category in a sentence: "bank fees".
func spaced(category string) string { return strings.ReplaceAll(category, "_", " ") }

func (s *Service) reverseExpense() schema.Op {
	return schema.Op{
		Name: "reverse_expense", Writes: true, Destructive: true,
		About: "Reverse an expense: minus its amount is entered on its day (today if that year is closed). Both stay; " +
			"its bank line is free again.",
		Response: exampleExpense(), Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: schema.Writes3(s.db, func(f *schema.Form, id *int64, reason *string, day **exact.Day) {
			f.ID(id, "expense_id", "the expense", schema.Required, schema.Positional("ID"), schema.Example(12),
				schema.Choices(expenseChoices))
			f.Text(reason, "reason", "why", schema.Required, schema.Most(maxText), schema.Example("entered twice"))
			f.DayPtr(day, "day", "on which day (default: the expense's; in a closed year today)")
		}, reverseExpense),
		Example: `rental expense reverse 12 --reason "entered twice"`,
		Did: schema.SaidIn(func(e Expense, m schema.Money) string {
			return fmt.Sprintf("Expense %d is reversed: %s on %s.", *e.ReversesID, m(e.AmountCents), e.Day)
		}),
		Will: schema.SaidIn(func(e Expense, m schema.Money) string {
			return fmt.Sprintf("%s of %s is entered on %s. Both entries stay; a bank line of it is free again.",
				m(e.AmountCents), spaced(e.Category), e.Day)
		}),
		Leads: leadsExpenses,
	}
}

func (s *Service) addRecurringExpense() schema.Op {
	return schema.Op{
		Name: "add_recurring_expense", Writes: true, Creates: true,
		About: "Add a recurring expense, due on the first day and once each period after it. post_expenses enters what is " +
			"due.",
		Response: exampleRecurringExpense(), Refuses: []fault.Kind{fault.NotFound},
		Bind: schema.Writes2(s.db, func(f *schema.Form, n *NewExpense, x *RecurringExpense) {
			x.Frequency = monthly
			bindExpense(f, n, true)
			f.Enum(&x.Frequency, "frequency", "how often it comes (default: monthly)", frequencies, schema.Folded)
			f.Day(&x.From, "from", "the first day", schema.Required, schema.Example("2026-01-31"))
			f.DayPtr(&x.To, "to", "the last day (default: open-ended)", schema.Example("2026-12-31"))
		}, addRecurringExpense),
		Example: "rental expense add-recurring --property 'Harbour House' --category insurance --amount-cents 5500 --from " +
			"2026-01-31",
		Did: schema.SaidIn(func(x RecurringExpense, m schema.Money) string {
			return fmt.Sprintf("%s of %s is due %s from %s.", m(x.AmountCents), spaced(x.Category), x.Frequency, x.From)
		}),
		Leads: leadsExpenses,
	}
}

func (s *Service) endRecurringExpense() schema.Op {
	return schema.Op{
		Name: "end_recurring_expense", Writes: true,
		About: "End a recurring expense after a day. Entered expenses stay.", Response: exampleRecurringExpense(),
		Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: schema.Writes2(s.db, func(f *schema.Form, id *int64, to *exact.Day) {
			f.ID(id, "id", "the recurring expense", schema.Required, schema.Positional("ID"), schema.Example(2),
				schema.Choices(repeatedExpenses))
			f.Day(to, "to", "the last day on which it is due", schema.Required, schema.Example("2026-12-31"))
		}, endRecurringExpense),
		Example: "rental expense end-recurring 2 --to 2026-12-31",
		Did: schema.Said(func(x RecurringExpense) string {
			return fmt.Sprintf("Recurring expense %d ends on %s.", x.ID, x.To)
		}),
		Leads: leadsExpenses,
	}
}

func (s *Service) postExpenses() schema.Op {
	return schema.Op{
		Name: "post_expenses", Writes: true, Idempotent: true,
		About:    "Enter the recurring expenses that are due by today, each once.",
		Response: Posted{Entered: 1, SumCents: 34_000, Expenses: []Expense{exampleExpense()}},
		Bind:     schema.Writes0(s.db, postExpenses),
		Example:  "rental expense post",
		Did: schema.SaidIn(func(p Posted, m schema.Money) string {
			return fmt.Sprintf("%s entered, %s.", exact.Plural(p.Entered, "expense is", "expenses are"), m(p.SumCents))
		}),
		Leads: leadsExpenses,
	}
}

func (s *Service) setCategories() schema.Op {
	return schema.Op{
		Name: "set_categories", Writes: true, Admin: true, Idempotent: true,
		About: "Set the shop's own expense categories, besides the standard ones. A category in use stays.",
		Response: CategoryList{Own: []string{"garden"},
			Categories: append(expenseCategories[:len(expenseCategories):len(expenseCategories)], "garden")},
		Refuses: []fault.Kind{fault.Conflict},
		Bind: schema.Writes(s.db, func(f *schema.Form, names *[]string) {
			f.Texts(names, "names",
				"all of the shop's own categories; empty removes them", 100, 60, schema.Positional("NAME"),
				schema.Example([]string{"garden"}))
		}, setCategories),
		Example: "rental expense categories garden lift",
		Did: func(a any, _ schema.Money) string {
			return exact.Plural(len(a.(CategoryList).Own), "own category is", "own categories are") + " kept."
		},
		Leads: leadsExpenses,
	}
}

func (s *Service) listExpenses() schema.Op {
	return schema.Op{
		Name: "expenses", About: "The expenses, newest day first.", Example: "rental expenses list --year 2026",
		Response: Expenses{Expenses: []Expense{exampleExpense()}, Next: new(int64(12)), Total: 3, SumCents: 182_000},
		Refuses:  []fault.Kind{fault.NotFound},
		Bind: schema.Reads(func(f *schema.Form, x *ExpenseFilter) {
			bindRef(f, &x.Property, "property", "only expenses of this house, by id or name", lookupProperty, propertyChoices)
			f.Text(&x.Category, "category", "only expenses of this category", schema.Most(maxName),
				schema.Choices(CategoryChoices),
				schema.Example("repairs"))
			f.Int(&x.Year, "year", "only expenses of this calendar year", schema.Range(1900, 9999), schema.Example(2026))
			bindCursor(f, &x.Cursor)
		}, s.Expenses),
		Print: schema.Printed(printExpenses),
	}
}

func printExpenses(w io.Writer, list Expenses) {
	schema.Tabulate(w, "ID|DAY|AMOUNT|CATEGORY|PAYEE|PROPERTY|UNIT|REVERSES", list.Expenses, func(e Expense) []any {
		reverses := schema.Cell(e.ReversesID)
		return []any{e.ID, e.Day, plain(e.AmountCents), e.Category, set(e.Payee), set(e.Property), set(e.Unit), reverses}
	})
	fmt.Fprintf(w, "%d in all, %s\n", list.Total, plain(list.SumCents))
}
