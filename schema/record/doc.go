// Package record has the one list of a noun's columns. It gives the columns of SELECT, INSERT and UPDATE, the scan, the
// fields of a form, the header and cells of a CSV file, and an edit's changes.
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
// A column has its name (in the table, the form, the file and the audit entry alike), its place in the struct, its
// description ("": people do not set it) and the options of its form field. Methods add what differs:
//
//	Key()                 identifies the record for people; an edit does not change it
//	Told()                is in the audit entry of a new record; with none, the whole record is
//	Else(f)               f sets the default, from the columns before it
//	Stored("cents")       has another name in the table
//	From("a.tag")         is read by this expression and never written
//	Once()                is written with a new record; later only by operations of its own
//	InFile()              is in the CSV file although people do not set it
//	FileOnly()            is in the CSV file and in no form
//	Field(f)              is bound by f
//	Shown(f)              is formatted by f in audit entries
//
// A noun's own type has a Kind, and its column is made by Of. The noun then serves its operations:
//
//	parts.ByID(c, id)                  the record; a refusal without one
//	parts.One(c, "WHERE name = ?", n)  the record, and whether it exists
//	parts.All(c, "WHERE ...", args...) records
//	parts.Bind(f)                      the fields of a form, or a row's columns
//	parts.Edits(f)                     the same, and which of them the call has
//	parts.Put(tx, p, f.Given)          makes or changes it; reports New, Changed or Same
//	parts.Table(name, about)           the whole CSV table
//	parts.Fill(c, given)               the values of the Edit form
//
// Standing(f) fills the fields that follow from the day too, when a record is read by One, ByID, All or Each. A noun
// without a form and a file is a View, made by Read from its columns, its FROM and a scan.
//
// Rules over several fields, forbidden states and references by name are functions of the noun: Check is called before
// each row is written. A noun that is read by several FROM clauses writes those queries itself, with Columns and Row.
//
// The form, the file's header and the OpenAPI document follow the order of the columns.
package record
