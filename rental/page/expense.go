package page

import (
	"context"
	"slices"
	"strings"

	"quartermaster/rental"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

func expenses(s *rental.Service) page.Page {
	return page.New(page.Spec[rental.ExpenseBook]{
		Path: "/expenses", Title: "Expenses", Menu: "Expenses", Key: "x",
		Load: func(f *schema.Form) page.Loader[rental.ExpenseBook] {
			var p page.Paging
			var x rental.ExpenseFilter
			p.Bind(f)
			bindHouse(f, &x.Property)
			f.Text(&x.Category, "category", "Of this category", schema.Most(200), schema.Choices(rental.CategoryChoices))
			bindYear(f, &x.Year)
			x.Cursor = p.Cursor()
			return func(ctx context.Context, _ db.Caller) (rental.ExpenseBook, error) { return s.ExpenseBook(ctx, x) }
		},
		View: Expenses,
		CSV: func(v rental.ExpenseBook) page.Sheet {
			return page.SheetOf("expenses", rental.ExpenseColumns, v.Expenses.Expenses, rental.Expense.Cells)
		},
	})
}

// stands reports whether the expense can be reversed.
func stands(e rental.Expense) bool { return e.ReversesID == nil && e.ReversedByID == nil }

// expenseFields are the fields of a form that enters another expense like it, of a line.
func expenseFields(line int64, e *rental.Expense) []string {
	fields := []string{"line_id", page.Num(line), "category", e.Category}
	property, unit := e.Place()
	for _, field := range [][2]string{{"property", schema.Cell(property)}, {"unit", schema.Cell(unit)},
		{"payee", schema.Cell(e.Payee)}, {"tax_note", schema.Cell(e.TaxNote)}} {
		if field[1] != "" {
			fields = append(fields, field[:]...)
		}
	}
	return fields
}

// told are the texts that are there, parted by dots.
func told(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), " · ")
}

// houseOf is what an expense was for.
func houseOf(e rental.Expense) string {
	switch {
	case e.Property == nil:
		return "All houses"
	case e.Unit != nil:
		return *e.Property + " / " + *e.Unit
	}
	return *e.Property
}
