package reorder

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// exported returns a table's records, cells separated by "|", below their header.
func (s *fixture) exported(table schema.Table) (rows []string) {
	s.T.Helper()
	var header []string
	for _, c := range table.Columns() {
		header = append(header, c.Name)
	}
	rows = append(rows, strings.Join(header, "|"))
	s.Must(s.DB.View(context.Background(), func(c *db.Conn) error {
		return table.Export(c, func(cells ...string) error {
			rows = append(rows, strings.Join(cells, "|"))
			return nil
		})
	}))
	return rows
}

// imported imports what was exported.
func (s *fixture) imported(table schema.Table, rows []string) {
	s.T.Helper()
	header := strings.Split(rows[0], "|")
	if table.Load != nil {
		var lines []schema.Line
		for i, row := range rows[1:] {
			lines = append(lines, schema.Line{Number: i + 2, Cells: strings.Split(row, "|")})
		}
		loaded := val(table.Load(context.Background(), s.DB, cli, lines, schema.LoadOptions{Columns: header}))
		assert.Must(s.T, len(loaded.Errors) <= 0 && loaded.Imported == len(lines), "%s: %+v", table.Name, loaded)
		return
	}
	for _, row := range rows[1:] {
		cells := map[string]string{}
		for i, cell := range strings.Split(row, "|") {
			cells[header[i]] = cell
		}
		put := val(table.Decode(cells, schema.LoadOptions{}))
		s.Must(db.Exec(context.Background(), s.DB, cli, func(tx *db.Tx) error {
			_, err := put(tx)
			return err
		}))
	}
}

// TestExportReimportsUnchanged: an export makes the same shop elsewhere and changes nothing here.
func TestExportReimportsUnchanged(t *testing.T) {
	a, b := open(t), open(t)
	a.Must(a.Declare().Demo(context.Background(), day(t, "2026-11-20")))
	orders := val(a.Orders(context.Background(), OrderQuery{})).PurchaseOrders
	_, err := a.Receive(context.Background(), cli, orders[0].Number, []Receipt{{SKU: orders[0].Lines[0].SKU, Qty: 8000}})
	a.Must(err)
	for _, table := range a.tables() {
		rows := a.exported(table)
		assert.Must(t, len(rows) >= 4, "%s: only %d rows", table.Name, len(rows)-1)
		before, events := len(a.audit()), len(a.events())
		a.imported(table, rows)
		added := len(a.audit()) - before
		if table.Load == nil && added != 0 || added > 1 || len(a.events()) != events {
			t.Errorf("%s: importing what is there wrote %d audit entries and %d events", table.Name, added, len(a.events())-events)
		}
		assert.EqualSlices(t, a.exported(table), rows, "%s: changed by its own export", table.Name)
		bt, _ := b.Declare().Table(table.Name)
		b.imported(bt, rows)
		assert.EqualSlices(t, b.exported(bt), rows, "%s: other rows in the other shop", table.Name)
	}
	a.sound()
	b.sound()
	one := assert.Value(a.Report(context.Background(), ReportQuery{Status: All}))(a.T)
	other := assert.Value(b.Report(context.Background(), ReportQuery{Status: All}))(b.T)
	assert.That(t, asJSON(t, one) == asJSON(t, other), "the reports differ:\n%s\n%s", asJSON(t, one), asJSON(t, other))
}

func TestImportSKUs(t *testing.T) {
	s := open(t)
	s.sku("sku", "A")
	if k := s.record("A").SKU; k.Name != "A" || k.LeadTimeDays != 7 || k.SafetyStockDays != 3 || k.PackSize != 1 || !k.Active || k.CurrentStock != 0 || k.MOQ != 0 {
		t.Errorf("the defaults are %+v", k)
	}
	s.sku("sku,name,supplier,supplier_sku,barcode,unit,unit_cost_cents,current_stock,lead_time_days,safety_stock_days,pack_size,moq,active",
		"A,Apple,Orchard,O-1,400638,kg,120,7.250,10,0,6,2.5,false")
	const whole = "A|Apple|Orchard|O-1|400638|kg|120|7.25|10|0|6|2.5|0"
	assert.Equal(t, s.exported(skuTable())[1], whole, "stored")
	before := len(s.audit())
	s.sku("sku,name", "A,Apple") // an absent column changes nothing
	s.sku("sku,active,current_stock", "A,0,7.25")
	if got := s.exported(skuTable()); got[1] != whole || len(s.audit()) != before {
		t.Errorf("a row that changes nothing left %s and %d audit entries", got[1], len(s.audit())-before)
	}
	s.On("2026-11-27") // nor does it move the window's day
	s.sku("sku,name", "A,Apple")
	s.sku("sku,name,lead_time_days,active,supplier", "A,,,,") // an empty cell is the default
	assert.Equal(t, s.exported(skuTable())[1], "A|A||O-1|400638|kg|120|7.25|7|0|6|2.5|1", "emptied")
	entries := s.audit()
	if last := entries[len(entries)-1]; last != `sku.changed sku:A {"active":[false,true],"lead_time_days":[10,7],"name":["Apple","A"],"supplier":["Orchard",""]}` {
		t.Errorf("audit entry %s", last)
	}
	s.sound()
	for _, c := range []struct{ header, cells, says string }{
		{"sku", "", "sku is missing"},
		{"sku", " ", "sku is missing"},
		{"sku", strings.Repeat("x", 65), "at most 64"},
		{"sku,unit_cost_cents", "A,1.5", "unit_cost_cents"},
		{"sku,unit_cost_cents", "A,-1", "unit_cost_cents"},
		{"sku,unit_cost_cents", "A,10000000001", "unit_cost_cents"},
		{"sku,current_stock", "A,-1", "current_stock"},
		{"sku,current_stock", "A,1.0005", "current_stock"},
		{"sku,current_stock", "A,1000000001", "current_stock"},
		{"sku,lead_time_days", "A,3651", "lead_time_days"},
		{"sku,safety_stock_days", "A,-1", "safety_stock_days"},
		{"sku,pack_size", "A,0", "pack_size"},
		{"sku,pack_size", "A,1.5", "pack_size"},
		{"sku,moq", "A,-0.001", "moq"},
		{"sku,active", "A,yes", "active"},
		{"sku,name", "A," + strings.Repeat("x", 201), "at most 200"},
		{"sku,name", "A,\x01", "control character"},
	} {
		s.Refused(s.row(skuTable(), c.header, c.cells), fault.Invalid, c.says)
	}
	viewer := db.Caller{Service: "reorder", User: "vera", Role: "viewer", Scope: "full"}
	put := val(skuTable().Decode(map[string]string{"sku": "A", "name": "B"}, schema.LoadOptions{}))
	s.Refused(db.Exec(context.Background(), s.DB, viewer, func(tx *db.Tx) error {
		_, err := put(tx)
		return err
	}), fault.Forbidden)
}

func TestImportPurchaseOrders(t *testing.T) {
	s := open(t)
	for _, sku := range []string{"A", "B"} {
		s.sku("sku,current_stock,unit_cost_cents", sku+",10,250")
	}
	put := func(header, cells string) {
		t.Helper()
		s.Must(s.row(s.orderTable(), header, cells))
	}
	put("number,sku,supplier,status,expected_date,ordered,received,unit_cost_cents", "X-7,A,Acme,partial,2026-12-01,12.5,2,")
	put("number,sku,ordered", "X-7,B,4")
	s.holds("A", "10", "10.5") // the stock stays unchanged
	s.holds("B", "10", "4")
	if got := s.exported(s.orderTable()); !slices.Equal(got[1:], []string{"X-7|A|Acme|partial|2026-12-01|12.5|2|250", "X-7|B|Acme|partial|2026-12-01|4|0|250"}) {
		t.Errorf("stored %q", got)
	}
	before := len(s.audit())
	put("number,sku,status", "X-7,A,partial")
	put("number,sku,unit_cost_cents", "X-7,A,")
	assert.That(t, len(s.audit()) == before, "a row that changes nothing was audited")
	put("number,sku,unit_cost_cents", "X-7,A,300")
	put("number,sku,unit_cost_cents", "X-7,A,") // the SKU's own again
	assert.Equal(t, s.exported(s.orderTable())[1], "X-7|A|Acme|partial|2026-12-01|12.5|2|250", "an empty price")
	put("number,sku,unit_cost_cents", "X-7,A,300")
	put("number,sku,status,expected_date", "X-7,B,cancelled,") // of the whole order
	s.holds("B", "10", "0")
	put("number,sku,ordered", "X-8,A,1") // a draft by default
	s.holds("A", "10", "0")
	put("number,sku,status", "X-8,A,ordered")
	s.holds("A", "10", "1")
	if got := s.exported(s.orderTable()); !slices.Equal(got[1:], []string{"X-7|A|Acme|closed||12.5|2|300", "X-7|B|Acme|closed||4|0|250", "X-8|A||ordered||1|0|250"}) {
		t.Errorf("stored %q", got)
	}
	for _, c := range []struct {
		header, cells string
		kind          fault.Kind
		says          string
	}{
		{"number,sku", "X-9,A", fault.Invalid, "ordered"},
		{"number,sku,ordered", "X-9,A,0", fault.Invalid, "more than 0"},
		{"number,sku,ordered", "X-9,C,1", fault.NotFound, `"C"`},
		{"number,sku,ordered", ",A,1", fault.Invalid, "number is missing"},
		{"number,sku,ordered,received", "X-9,A,1,2", fault.Invalid, "received"},
		{"number,sku,ordered,received", "X-9,A,2,1", fault.Invalid, "draft"},
		{"number,sku,ordered,status", "X-9,A,2,open", fault.Invalid, "draft, ordered, partial, received, cancelled"},
		{"number,sku,status", "X-7,A,draft", fault.Invalid, "closed is final"},
		{"number,sku,status", "X-8,A,draft", fault.Invalid, "cannot move to draft"},
		{"number,sku,ordered,expected_date", "X-9,A,2,2026-02-29", fault.Invalid, "expected_date"},
	} {
		s.Refused(s.row(s.orderTable(), c.header, c.cells), c.kind, c.says)
	}
	s.sound()
}

// TestDoctorNamesAMissingSKU: a broken reference is named, and doctor checks the rest.
func TestDoctorNamesAMissingSKU(t *testing.T) {
	s := open(t)
	s.sku("sku,current_stock", "A,30")
	order := val(s.create("Acme", true, "A=5"))
	_ = db.Exec(context.Background(), s.DB, cli, func(tx *db.Tx) error {
		for _, change := range []string{"PRAGMA defer_foreign_keys = ON", "DELETE FROM skus"} {
			val(tx.Exec(change))
		}
		breaches, err := check(&tx.Conn)
		if err != nil || len(breaches) != 1 || !strings.HasPrefix(breaches[0], "purchase order "+order.Number+": a line of a SKU that is not there") {
			t.Errorf("%q (%v)", breaches, err)
		}
		return context.Canceled
	})
	s.sound()
}

func TestDoctorFindsWhatDiffers(t *testing.T) {
	for _, c := range []struct{ change, says string }{
		{"UPDATE skus SET sold = sold + 1 WHERE sku = 'A'", "SKU A: sold in the 30 days to 2026-11-20 is kept as 60.001, its sales add up to 60"},
		{"UPDATE sales SET qty = qty + 1", "SKU A: sold in the 30 days to 2026-11-20 is kept as 60, its sales add up to 60.001"},
		{"UPDATE skus SET first_sold = NULL WHERE sku = 'A'", "SKU A: its first sale is kept as never, its sales begin on 2026-10-22"},
		{"UPDATE skus SET is_below = 1 - is_below WHERE sku = 'A'", "SKU A: for 2026-11-20 it is kept as below = true, recomputed it is false"},
		{"UPDATE skus SET judged_on = judged_on + 1, is_below = 1 WHERE sku = 'A'", "SKU A: for 2026-11-21 it is kept as below = true, recomputed it is false"},
		{"UPDATE skus SET current_stock = 20000 WHERE sku = 'A'", "SKU A: for 2026-11-20 it is kept as below = false, recomputed it is true"},
		{"UPDATE skus SET on_order = on_order + 1 WHERE sku = 'A'", "SKU A: on order is kept as 5.001, of its purchase orders 5 is outstanding"},
		{"UPDATE purchase_orders SET status = 'draft'", "SKU A: on order is kept as 5, of its purchase orders 0 is outstanding"},
		{"INSERT INTO sales VALUES (0, 77, 1)", "sales of 1970-01-01: a row of a SKU that is not there (id 77)"},
		{"UPDATE reorder_settings SET standing_day = standing_day + 1", "SKU A: sold in the 30 days to 2026-11-21 is kept as 60, its sales add up to 0"},
	} {
		s := open(t)
		s.sku("sku,current_stock", "0,1")
		s.Must(db.Exec(context.Background(), s.DB, cli, func(tx *db.Tx) error { // A and Z are of a later group than id 77
			_, err := tx.Exec("UPDATE skus SET id = ?", 2*mostTallies)
			return errors.Join(err, tx.Audit("test", "test", nil))
		}))
		s.sku("sku,current_stock", "A,30")
		s.sku("sku,current_stock", "Z,1")
		s.upload(`{"rows":[{"date":"2026-10-22","sku":"A","qty":60},{"date":"2026-10-22","sku":"Z","qty":1}]}`)
		val(s.create("Acme", true, "A=5"))
		s.sound()
		s.Must(db.Exec(context.Background(), s.DB, cli, func(tx *db.Tx) error {
			if _, err := tx.Exec(c.change); err != nil {
				return err
			}
			return tx.Audit("test", "test", nil)
		}))
		s.Must(s.DB.View(context.Background(), func(conn *db.Conn) error {
			breaches, err := check(conn)
			assert.That(t, slices.Contains(breaches, c.says), "%s: found %q, want %q", c.change, breaches, c.says)
			return err
		}))
	}
}
