// Package record keeps the one list of a noun's columns. From the list come the columns of a
// SELECT, INSERT and UPDATE, the scan, the fields of a form, the header and cells of a CSV file,
// and what an edit changed.
//
// A noun is declared beside its struct:
//
//	var parts = record.New("part", "parts",
//		record.ID(func(p *Part) *int64 { return &p.ID }),
//		record.Text("part_number", func(p *Part) *string { return &p.PartNumber }, "identifies the part",
//			schema.Required, schema.Most(maxName)).Key().Told(),
//		record.Text("name", func(p *Part) *string { return &p.Name }, "its name; empty is the number",
//			schema.Most(maxName)).Else(func(p *Part) { p.Name = p.PartNumber }).Told(),
//		record.Milli("quantity", func(p *Part) *exact.Milli { return &p.Quantity }, "how much is in stock").Told(),
//	).Derive(func(p *Part) { p.LowStock = lowStock(p.Quantity, p.MinQuantity) })
//
// A column has its name (of the table, the form, the file and the audit entry alike), its place
// in the struct, what it is ("": people do not set it) and the options of its form field. What
// deviates is said behind it:
//
//	Key()                 identifies the record for people; an edit does not change it
//	Told()                is in the audit entry of a new record; with none, all of the record is
//	Else(f)               f sets the default, from the columns before it
//	Stored("cents")       has another name in the table
//	From("a.tag")         is read by this expression and never written
//	Once()                is written with a new record; later by acts of its own
//	InFile()              is in the CSV file although people do not set it
//	FileOnly()            is in the CSV file and in no form
//	Field(f)              is bound by f
//	Shown(f)              is in audit entries as f gives it: shortened
//
// A type of the noun's own is a Kind, and its column is made by Of. The noun then serves its
// operations:
//
//	parts.One(c, "WHERE id = ?", id)   the record, and whether it is there
//	parts.All(c, "WHERE ...", args...) records
//	parts.Bind(f)                      the fields of a form, or a row's columns
//	parts.Edits(f)                     the same, and which of them the call brought
//	parts.Put(tx, p, f.Given)          makes it or changes it; says New, Changed or Same
//	parts.Table(name, about)           the whole CSV table
//	parts.Fill(c, given)               the values of the form that edits it
//
// Rules over several fields, what a state forbids and references by name are functions of the
// noun: Check is called before each row is written. A noun that is read by several FROM clauses
// writes those queries itself, with Columns and Row.
//
// The form, the file's header and the OpenAPI document follow the order of the columns.
package record
