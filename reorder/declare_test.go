package reorder

import (
	"context"
	"reflect"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/mail"
)

func TestDeclares(t *testing.T) {
	s := open(t)
	d := s.Declare()
	assert.That(t, d.Name == "reorder" && d.Ping == "3.1.6" && d.Health == "3.1.6" && d.Document == "3.1.6",
		"%s, versions %s %s %s", d.Name, d.Ping, d.Health, d.Document)
	var routes, tools, writes, tables []string
	for _, op := range d.Ops {
		if op.Route != "" {
			routes = append(routes, op.Route)
		}
		if op.Tool != "" {
			tools = append(tools, op.Tool)
		}
		if op.Writes {
			writes = append(writes, op.Name)
		}
	}
	for _, table := range d.Tables {
		tables = append(tables, table.Name)
	}
	for _, c := range [][2][]string{
		{routes, {"GET /api/skus", "GET /api/reorder-report", "POST /api/skus/:sku/stock", "POST /api/sales-history"}},
		{tools, {"reorder_report", "list_products", "product_detail", "adjust_stock", "count_stock", "ingest_sales", "sales_report", "list_purchase_orders", "purchase_detail"}},
		{writes, {"adjust_stock", "count_stock", "ingest_sales", "save_sku", "rename_sku", "set_forecast", "save_supplier", "create_purchase", "edit_purchase", "order_purchase", "mail_purchase",
			"receive_purchase", "unreceive_purchase", "cancel_purchase", "suggest_purchases"}},
		{tables, {"skus", "sales", "purchase-orders", "suppliers"}},
	} {
		assert.EqualSlices(t, c[0], c[1])
	}
}

func TestColumnsOfTheTables(t *testing.T) {
	s := open(t)
	for name, want := range map[string][]string{
		"skus": {"sku", "name", "supplier", "supplier_sku", "barcode", "unit", "unit_cost_cents", "current_stock",
			"lead_time_days", "safety_stock_days", "pack_size", "moq", "active"},
		"sales":           {"date", "sku", "qty", "channel"},
		"suppliers":       {"name", "email", "phone", "address", "lead_time_days", "min_order_cents", "notes"},
		"purchase-orders": {"number", "sku", "supplier", "status", "expected_date", "ordered", "received", "unit_cost_cents"},
	} {
		table, _ := s.Declare().Table(name)
		var got []string
		for _, c := range table.Columns() {
			got = append(got, c.Name)
		}
		assert.EqualSlices(t, got, want, "%s", name)
	}
}

// TestAnswersAreAsDeclared: an answer has the members of its documented example, each of its type.
func TestAnswersAreAsDeclared(t *testing.T) {
	s := open(t)
	s.Must(s.Declare().Demo(context.Background(), day(t, "2026-11-20")))
	const number = `{"number":"PO-000002"}` // a draft
	s.Must(db.Exec(context.Background(), s.DB, db.Bookkeeping(), func(tx *db.Tx) error { return tx.SetSetting(mail.SettingHost, "smtp.example.com") }))
	args := map[string]string{
		"list_skus":          `{"limit":3}`,
		"reorder_report":     `{}`,
		"ingest_sales":       `{"rows":[{"date":"2026-11-20","sku":"TEA-GREEN-100","qty":1},{},{"date":"2026-11-20","sku":"TEA-WHITE-50","qty":1}],"replace":true}`,
		"list_products":      `{}`,
		"product_detail":     `{"sku":"TEA-GREEN-100"}`,
		"sales_report":       `{}`,
		"count_stock":        `{"counts":"TEA-GREEN-100=4\nTEA-WHITE-50=2"}`,
		"adjust_stock":       `{"sku":"TEA-GREEN-100","delta":1}`,
		"save_sku":           `{"sku":"NEW","name":"New"}`,
		"rename_sku":         `{"sku":"NEW","code":"NEWER"}`,
		"list_sales":         `{"limit":3}`,
		"sku_sales":          `{"sku":"TEA-GREEN-100"}`,
		"stock_figures":      `{}`,
		"set_forecast":       `{"target_cover_days":14}`,
		"list_suppliers":     `{}`,
		"supplier_detail":    `{"name":"Leaf & Co"}`,
		"save_supplier":      `{"name":"New","min_order_cents":5}`,
		"list_purchases":     `{}`,
		"purchase_detail":    number,
		"create_purchase":    `{"supplier":"New","lines":[{"sku":"TEA-GREEN-100","qty":2}]}`,
		"edit_purchase":      `{"number":"PO-000002","lines":[{"sku":"CUP-LATTE","qty":30}]}`,
		"order_purchase":     number,
		"mail_purchase":      number,
		"receive_purchase":   `{"number":"PO-000002","lines":[{"sku":"CUP-LATTE","qty":1}]}`,
		"unreceive_purchase": `{"number":"PO-000002","sku":"CUP-LATTE","qty":1}`,
		"cancel_purchase":    number,
		"suggest_purchases":  `{}`,
	}
	for _, op := range s.ops() {
		name := op.Name
		got, err := s.call(op, schema.Tool, args[name])
		if op.AgentResponse != nil {
			op.Response = op.AgentResponse
		}
		if err != nil {
			t.Errorf("%s %s: %v", name, args[name], err)
			continue
		}
		assert.That(t, reflect.TypeOf(got) == reflect.TypeOf(op.Response),
			"%s answers a %T, and its example is a %T", name, got, op.Response)
	}
}
