package rental

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

// TestColumns compares the tables' columns with the specification.
func TestColumns(t *testing.T) {
	s := open(t, "2026-11-20").Declare()
	var tables []string
	for _, table := range s.Tables {
		var columns []string
		for _, c := range table.Columns() {
			columns = append(columns, c.Name)
		}
		tables = append(tables, table.Name+" "+strings.Join(columns, ","))
	}
	want := []string{
		"properties name,address,late_fee_grace_days,late_fee_cents,late_fee_percent,late_fee_from", "units property,name,market_rent_cents,notes",
		"tenants name,email,phone,id",
		"rent-roll property,unit,tenant,email,phone,rent_cents,frequency,start_date,end_date,deposit_cents,balance_cents,paid_up_to",
		"leases property,unit,start_date,tenant,end_date,rent_cents,frequency,due_day,deposit_cents,proration,opening_day,opening_balance_cents,opening_deposit_cents,paid_up_to",
		"rents property,unit,lease_start,from,rent_cents", "recurring property,unit,lease_start,type,label,from,amount_cents,to",
		"charges property,unit,lease_start,type,due_date,label,amount_cents",
		"payments property,unit,lease_start,type,due_date,method,paid_date,label,amount_cents,payment",
		"deposits property,unit,lease_start,day,kind,amount_cents,method,type,due_date,label",
		"tickets id,property,unit,title,description,priority,status",
		"bank-accounts name,iban,number,bic,holder,currency,property,collects",
		"recurring-expenses property,unit,category,payee,amount_cents,tax_note,frequency,from,to,id",
		"expenses property,unit,day,category,payee,amount_cents,tax_note,ticket_id,recurring_id,due_day,reverses_id,id",
	}
	assert.That(t, slices.Equal(tables, want),
		"the tables are not those listed here; list a new one, in the order of Declare. They are\n%s",
		strings.Join(tables, "\n"))
}

// TestExamplesAreFilledIn: each documented example has the shape of a real answer, with no empty list.
func TestExamplesAreFilledIn(t *testing.T) {
	s := open(t, "2026-11-20").Declare()
	check := func(name string, v any) {
		b, err := json.Marshal(v)
		assert.NoError(t, err, "%s", name)
		assert.That(t, !strings.Contains(string(b), "[]") && !strings.Contains(string(b), `""`) &&
			!strings.Contains(string(b), "1970"), "%s has holes: %s", name, b)
	}
	for _, op := range s.Ops {
		check(op.Route+" "+op.Tool, op.Response)
	}
	for _, e := range s.Events {
		check(e.Name, e.Data)
	}
	assert.That(t, len(s.Events) == 3, "%d events; a new one is counted here", len(s.Events))
}
