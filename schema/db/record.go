package db

import (
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"

	"quartermaster/schema/exact"
)

// record says how a table's rows are called in a trial's changes. A table that is not
// listed is called by its own name in the singular, and its rows by their primary key.
type record struct {
	noun string
	key  string // the column that names a row, as the audit trail's subjects do; "": the primary key
	skip bool   // bookkeeping, or derived from other tables by triggers and sums
}

var records = map[string]record{
	"answers": {skip: true}, "audit": {skip: true}, "credential_stamp": {skip: true}, "deliveries": {skip: true},
	"accepted_requests": {skip: true}, "pm_touched": {skip: true}, "sign_ins": {skip: true},
	"works": {skip: true}, "work_notes": {skip: true},
	"events": {skip: true}, "import_choices": {skip: true}, "import_files": {skip: true}, "import_pieces": {skip: true}, "schema_migrations": {skip: true}, "sessions": {skip: true},
	"store_codes":  {skip: true}, // the counts of their batch tell
	"store_expiry": {skip: true}, "store_provider_events": {skip: true}, "store_totals": {skip: true},
	"store_holds": {skip: true}, "store_payments": {skip: true}, "store_payment_names": {skip: true},
	"store_find_orders": {skip: true}, "store_find_orders_data": {skip: true}, "store_find_orders_idx": {skip: true},
	"store_find_orders_docsize": {skip: true}, "store_find_orders_config": {skip: true}, "store_find_orders_content": {skip: true},
	"store_find_customers": {skip: true}, "store_find_customers_data": {skip: true}, "store_find_customers_idx": {skip: true},
	"store_find_customers_docsize": {skip: true}, "store_find_customers_config": {skip: true}, "store_find_customers_content": {skip: true},
	"stock_movements":   {skip: true}, // the SKU's stock tells
	"work_order_counts": {skip: true}, "work_order_sums": {skip: true}, "unit_touched": {skip: true}, "sales_days": {skip: true},
	"sku_texts": {skip: true}, "sku_texts_data": {skip: true}, "sku_texts_idx": {skip: true},
	"sku_texts_docsize": {skip: true}, "sku_texts_config": {skip: true}, "sku_texts_content": {skip: true},

	"endpoints":            {noun: "webhook"},
	"maintenance_settings": {noun: "settings:maintenance"},
	"part_uses":            {noun: "part_use"},
	"purchase_orders":      {noun: "purchase_order", key: "number"},
	"reorder_settings":     {noun: "settings:reorder"},
	"sales":                {noun: "sales"},
	"settings":             {noun: "settings"},
	"skus":                 {noun: "sku", key: "sku"},
	"suppliers":            {noun: "supplier", key: "name"},
	"store_batches":        {noun: "batch", key: "batch"},
	"store_customers":      {noun: "customer", key: "email"},
	"store_orders":         {noun: "order", key: "order_ref"},
	"store_products":       {noun: "product", key: "sku"},
	"store_unbooked":       {noun: "payment"},
}

func recordOf(table string) record {
	r := records[table]
	if r.noun == "" {
		r.noun = strings.TrimPrefix(table, "store_")
		if stem, ok := strings.CutSuffix(r.noun, "ies"); ok {
			r.noun = stem + "y"
		} else {
			r.noun = strings.TrimSuffix(r.noun, "s")
		}
	}
	return r
}

// kind is what a column's whole number stands for, or that its value is not shown.
type kind int

const (
	kindPlain kind = iota
	kindBool
	kindDay
	kindInstant
	kindMilli
	kindSecret  // told as changed, without its values
	kindDerived // not told: it follows from other columns, or from the moment of the change
)

// kinds are the columns whose names do not tell. Days end in _date, instants in _at or
// _until; a column that is checked to be 0 or 1 is a truth value.
var kinds = map[string]kind{
	"channel_sales.day": kindDay, "channel_sales.qty": kindMilli,
	"charges.period_end": kindDay, "charges.period_start": kindDay,
	"charges.fee_day": kindDerived, "late_fee_voids.rent_due": kindDay, "late_fees.from_day": kindDay, "payouts.day": kindDay,
	"leases.last_day": kindDerived, "leases.next_event_day": kindDerived, "leases.next_post_day": kindDerived,
	"recurring_charges.from_day": kindDay, "recurring_charges.to_day": kindDay, "rent_steps.from_day": kindDay,
	"meters.corrected_day": kindDay, "meters.last_day": kindDay, "meters.last_value": kindMilli, "meters.reading": kindMilli,
	"part_uses.qty":      kindMilli,
	"parts.min_quantity": kindMilli, "parts.quantity": kindMilli,
	"pm_plans.baseline": kindMilli, "pm_plans.due_soon_usage": kindMilli, "pm_plans.interval_usage": kindMilli,
	"purchase_order_lines.ordered": kindMilli, "purchase_order_lines.received": kindMilli,
	"readings.day": kindDay, "readings.value": kindMilli,
	"reorder_settings.standing_day": kindDerived,
	"sales.day":                     kindDay, "sales.qty": kindMilli,
	"skus.current_stock": kindMilli, "skus.first_sold": kindDay, "skus.judged_on": kindDerived, "skus.moq": kindMilli,
	"skus.on_order": kindMilli, "skus.sold": kindDerived,
	"store_licenses.license_key": kindSecret, "store_licenses.decided": kindDerived,
	"store_refunds.at": kindInstant, "store_unbooked.at": kindInstant, "store_releases.at": kindInstant, "store_disputes.at": kindInstant,
	"store_invoices.at": kindInstant, "store_invoices.period_end": kindInstant,
	"work_orders.pm_before_baseline": kindDerived, "work_orders.pm_before_by": kindDerived, "work_orders.pm_before_done": kindDerived,
}

// kindOf reports what a column of a table holds. sql is the table's declaration.
func kindOf(table, column, declared, sql string) kind {
	if k, ok := kinds[table+"."+column]; ok {
		return k
	}
	switch {
	case declared == "BLOB", strings.HasSuffix(column, "secret"), strings.HasSuffix(column, "hash"), strings.HasSuffix(column, "token"),
		strings.HasPrefix(column, "password"):
		return kindSecret
	case column == "updated_at":
		return kindDerived
	case declared != "INTEGER":
		return kindPlain
	case strings.HasSuffix(column, "_at"), strings.HasSuffix(column, "_until"):
		return kindInstant
	case strings.HasSuffix(column, "_date"):
		return kindDay
	case strings.Contains(sql, "CHECK ("+column+" IN (0, 1))"):
		return kindBool
	}
	return kindPlain
}

// notShown stands for a value that is not to be shown, or no text.
const notShown = "(not shown)"

// value is a column's value as a person reads it, and as JSON writes it; nil for NULL.
func (k kind) value(v sqlite.Value) any {
	switch {
	case v.Type() == sqlite.TypeNull:
		return nil
	case k == kindSecret:
		return notShown
	case v.Type() == sqlite.TypeText:
		return v.Text()
	}
	n := v.Int64()
	switch k {
	case kindBool:
		return n != 0
	case kindDay:
		return exact.Day(n) // #nosec G115 -- it was written as a day
	case kindInstant:
		return exact.Instant(n)
	case kindMilli:
		return exact.Milli(n)
	}
	return n
}

// column is one column of a table that a trial watches.
type column struct {
	name  string
	kind  kind
	inKey int // its place in the primary key; 0: none
}

// watched is a table with its columns, as a changeset numbers them.
type watched struct {
	record
	name    string
	columns []column
}

// watchable lists the tables whose changes a trial tells.
func watchable(c *Conn) (map[string]*watched, error) {
	type table struct{ name, sql string }
	tables, err := All(c, func(r *Row) table { return table{r.Text(), r.Text()} },
		"SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND sql NOT LIKE 'CREATE VIRTUAL%'")
	if err != nil {
		return nil, err
	}
	all := map[string]*watched{}
	for _, t := range tables {
		w := &watched{record: recordOf(t.name), name: t.name}
		if w.skip {
			continue
		}
		keyed := false
		err := Each(c, func(r *Row) error {
			name, declared, pk := r.Text(), r.Text(), int(r.Int())
			keyed = keyed || pk > 0
			w.columns = append(w.columns, column{name, kindOf(t.name, name, declared, t.sql), pk})
			return nil
		}, "SELECT name, type, pk FROM pragma_table_info(?)", t.name)
		if err != nil {
			return nil, err
		}
		if keyed {
			all[t.name] = w
		}
	}
	return all, nil
}

// called returns a row its name, such as "work_order:12". at reads a column of the row.
func (w *watched) called(c *Conn, at func(column int) sqlite.Value) (string, error) {
	var where, parts []string
	var args []any
	for i, col := range w.columns {
		if col.name == w.key && at(i).Type() != sqlite.TypeNull {
			return fmt.Sprintf("%s:%v", w.noun, col.kind.value(at(i))), nil
		}
		if col.inKey == 0 || col.name == "only" {
			continue
		}
		v := at(i)
		parts = append(parts, fmt.Sprint(col.kind.value(v)))
		where = append(where, fmt.Sprintf("%s = ?%d", col.name, len(args)+1))
		if v.Type() == sqlite.TypeText {
			args = append(args, v.Text())
		} else {
			args = append(args, v.Int64())
		}
	}
	if w.key != "" {
		name, found, err := One(c, Text, fmt.Sprintf("SELECT %s FROM %s WHERE %s", w.key, w.name, strings.Join(where, " AND ")), args...) // #nosec G201 -- names of the schema
		if err != nil {
			return "", err
		}
		if found {
			return w.noun + ":" + name, nil
		}
	}
	return strings.Join(append([]string{w.noun}, parts...), ":"), nil
}
