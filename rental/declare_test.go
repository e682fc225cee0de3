package rental

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema"
)

// TestSurface: the routes and tools of the specification, their arguments, and which of them write.
func TestSurface(t *testing.T) {
	s := open(t, "2026-11-20").Declare()
	if s.Name != "rental" || s.Ping != "" || s.Health != "3.0.0" || s.Document != "3.0.0" {
		t.Errorf("%s %q %s %s", s.Name, s.Ping, s.Health, s.Document)
	}
	names := func(op schema.Op, surface schema.Surface) string {
		var all []string
		for _, a := range op.Args(surface) {
			all = append(all, a.Name)
		}
		return strings.Join(all, ",")
	}
	var routes, tools []string
	for _, op := range s.Ops {
		if op.Route != "" {
			routes = append(routes, fmt.Sprintf("%s %s %v", op.Route, names(op, schema.REST), op.Writes))
		}
		if op.Tool != "" {
			tools = append(tools, fmt.Sprintf("%s %s %v", op.Tool, names(op, schema.Tool), op.Writes))
		}
		if op.Route != "" && op.Creates != (op.Writes && !strings.HasSuffix(op.Path(), "/status")) || op.About == "" || op.Name == "" {
			t.Errorf("%s%s: Creates is %v", op.Route, op.Tool, op.Creates)
		}
	}
	slices.Sort(routes)
	slices.Sort(tools)
	if want := []string{
		"GET /api/arrears  false",
		"GET /api/expenses property,category,year,limit,after false",
		"GET /api/leases status,property,tenant,ends_before,limit,after false",
		"GET /api/leases/:id/ledger lease_id false",
		"GET /api/maintenance status,unit_id,limit,after false",
		"GET /api/units status,property,limit,after false",
		"GET /api/years/:year year,property false",
		"POST /api/expenses property,unit,category,amount_cents,payee,tax_note,day,ticket_id,line_id true",
		"POST /api/leases/:id/payments lease_id,charge_id,amount_cents,method,paid_date true",
		"POST /api/maintenance unit_id,title,description,priority true",
		"POST /api/maintenance/:id/status ticket_id,status true",
	}; !slices.Equal(routes, want) {
		t.Errorf("routes\n%s", strings.Join(routes, "\n"))
	}
	if want := []string{
		"advance_ticket ticket_id,ticket,status,request_key true",
		"arrears_report property,tenant,sort,limit,after,detail false",
		"create_ticket unit_id,unit,title,description,priority,request_key true",
		"lease_detail lease_id,lease,open_only,since,limit,after,detail false",
		"list_leases active,status,unit_id,unit,property,tenant,q,ends_before,sort,limit,after,detail false",
		"list_payments lease_id,lease,property,tenant,from,to,sort,limit,after,detail false",
		"list_properties q,sort,limit,after,detail false",
		"list_tickets q,status,unit_id,unit,sort,limit,after,detail false",
		"list_units q,status,property,on,free_from,sort,limit,after,detail false",
		"record_payment lease_id,lease,charge_id,amount_cents,currency,paid_date,method,request_key true",
		"rent_roll month,from,to,property,sort,limit,after,detail false",
		"update_ticket ticket_id,ticket,status,assigned_to,new_person,note,request_key true",
	}; !slices.Equal(tools, want) {
		t.Errorf("tools\n%s", strings.Join(tools, "\n"))
	}
	var tables []string
	for _, table := range s.Tables {
		var columns []string
		for _, c := range table.Columns() {
			columns = append(columns, c.Name)
		}
		tables = append(tables, table.Name+" "+strings.Join(columns, ","))
	}
	if want := []string{
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
	}; !slices.Equal(tables, want) {
		t.Errorf("tables\n%s", strings.Join(tables, "\n"))
	}
}

// TestExamplesAreFilledIn: each documented example has the shape of a real answer, with no empty list.
func TestExamplesAreFilledIn(t *testing.T) {
	s := open(t, "2026-11-20").Declare()
	check := func(name string, v any) {
		b, err := json.Marshal(v)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(string(b), "[]") || strings.Contains(string(b), `""`) || strings.Contains(string(b), "1970") {
			t.Errorf("%s has holes: %s", name, b)
		}
	}
	for _, op := range s.Ops {
		check(op.Route+" "+op.Tool, op.Response)
	}
	for _, e := range s.Events {
		check(e.Name, e.Data)
	}
	if len(s.Events) != 3 {
		t.Errorf("%d events", len(s.Events))
	}
}
