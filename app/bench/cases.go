//go:build linux

package main

import (
	"fmt"
	"sync/atomic"

	"quartermaster/schema"
)

// runner does one turn.
type runner func() (sample, error)

// floor is a case's baseline.
type floor struct {
	name string
	run  runner
}

// oneCase is one path: the appliance and its baselines.
type oneCase struct {
	name    string
	clients int
	ours    runner
	floors  []floor
}

// readers is the number of clients of the reads: enough to keep the server busy.
const readers = 16

// ask makes a runner of one request after another.
func (b *bench) ask(p *process, service string, clients int, next func(client, n int) []byte) runner {
	return func() (sample, error) { return load(p, p.addrs[service], clients, b.slice, next) }
}

// always repeats one request.
func always(r []byte) func(client, n int) []byte {
	return func(int, int) []byte { return r }
}

// get requests a path of a service with its key.
func (s *shop) get(service, path string) []byte { return request("GET", path, s.keys[service], "") }

// reads are paths that change nothing.
func (b *bench) reads(p *process, nothing floor) []oneCase {
	s := b.shop
	bare := func(query string, args ...any) []floor {
		return []floor{{"bare statement", b.bareQuery(query, args...)}}
	}
	beside := func(bare []floor, others ...floor) []floor { return append(others, bare...) }
	orderColumns := `w.id, w.asset_id, a.name, w.description, w.priority, w.wo_type, w.status, w.assigned_to,
		w.labor_minutes,
		w.labor_rate_cents, w.typed_cents, w.used_cents, w.downtime_minutes, w.resolution, w.pm_id, w.created_by,
		w.created_at,
		w.started_at, w.completed_at, w.updated_at FROM work_orders w CROSS JOIN assets a ON a.id = w.asset_id`
	afresh := func(service, path string) floor { return b.afresh(p, service, s.get(service, path)) }
	many := func(service string, next func(client, n int) []byte) runner { return b.ask(p, service, readers, next) }
	same := func(service, path string) runner { return many(service, always(s.get(service, path))) }
	ledger := fmt.Sprintf("/api/leases/%d/ledger", s.leases/2)
	cases := []oneCase{
		{name: "ping with key", clients: readers, floors: []floor{nothing},
			ours: same("store", "/api/ping")},
		{name: "work order by id", clients: readers,
			floors: beside(bare("SELECT "+orderColumns+" WHERE w.id = ?", 7), nothing,
				afresh("maintenance", "/api/work-orders/7")),
			ours: many("maintenance", func(c, n int) []byte {
				return s.get("maintenance", fmt.Sprintf("/api/work-orders/%d", 1+(c*7919+n*104729)%(s.orders/5)))
			})},
		{name: "license check", clients: readers, floors: []floor{nothing},
			ours: many("store", s.license("check"))},
		{name: "license activate, known seat", clients: readers, floors: []floor{nothing},
			ours: many("store", s.license("activate"))},
		{name: "200 work orders", clients: readers,
			floors: beside(bare("SELECT "+orderColumns+" ORDER BY w.id DESC LIMIT 200"), nothing,
				afresh("maintenance", "/api/work-orders")),
			ours: same("maintenance", "/api/work-orders")},
		{name: "200 orders of the store", clients: readers,
			floors: []floor{nothing, afresh("store", "/api/orders?limit=200")},
			ours:   same("store", "/api/orders?limit=200")},
		{name: "store stats", clients: readers, floors: []floor{nothing},
			ours: same("store", "/api/stats")},
		{name: "ledger of a lease", clients: readers, floors: beside(bare(`SELECT id, type, label, due_date, amount_cents,
			period_start, period_end, rent_cents, paid_date, method
			FROM charges WHERE lease_id = ? ORDER BY due_date, id`, s.leases/2), nothing, afresh("rental", ledger)),
			ours: same("rental", ledger)},
		{name: "arrears of all leases", clients: 1, floors: bare(`SELECT c.id, c.lease_id, c.due_date, c.amount_cents,
			t.name, u.name FROM charges c JOIN leases l ON l.id = c.lease_id
			JOIN lease_tenants x ON x.lease_id = l.id JOIN tenants t ON t.id = x.tenant_id JOIN units u ON u.id = l.unit_id
			WHERE c.paid_date IS NULL`),
			ours: afresh("rental", "/api/arrears").run},
		{name: "what is due of all plans", clients: 1, floors: bare(`SELECT p.id, p.title,
			p.interval_days, p.interval_usage, p.last_done_date, p.baseline, a.id, a.name, a.asset_tag,
			m.name, m.unit, m.reading, m.read_date, m.last_day, m.last_value, r.day, r.value
			FROM pm_plans p CROSS JOIN assets a ON a.id = p.asset_id LEFT JOIN meters m ON m.id = p.meter_id
			LEFT JOIN readings r ON r.meter_id = m.id AND r.epoch = m.epoch AND (r.day, r.seq) = (SELECT day, seq FROM readings
				WHERE meter_id = m.id AND epoch = m.epoch AND day >= ? ORDER BY day, seq LIMIT 1)`, int(s.today)-90),
			ours: afresh("maintenance", "/api/pm-due").run},
	}
	return append(append(cases, b.lists(p, nothing)...), b.reports(p)...)
}

// call is an agent's call of a tool.
func (s *shop) call(service, tool, arguments string) []byte {
	return request("POST", "/mcp", s.keys[service],
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments))
}

// lists are those whose time must depend only on their rows, however much is stored: growth shows it.
func (b *bench) lists(p *process, nothing floor) []oneCase {
	s := b.shop
	var cases []oneCase
	for _, l := range []struct {
		name, service string
		request       []byte
	}{
		{"list: units that are vacant", "rental", s.get("rental", "/api/units?status=vacant&limit=50")},
		{"list: leases that ended", "rental", s.get("rental", "/api/leases?status=ended&limit=50")},
		{"list: SKUs with a text that none has", "reorder", s.get("reorder", "/api/skus?q=no-such-text")},
		{"list: plans that are overdue", "maintenance", s.get("maintenance", "/api/pm-due?status=overdue")},
		{"list: the first 20 of the reorder report", "reorder", s.call("reorder", "reorder_report", `{"limit":20}`)},
		{"list: an assignee's work orders, their number and cost", "maintenance", s.call("maintenance", "list_workorders",
			`{"assigned_to":"ana","limit":20}`)},
	} {
		cases = append(cases, oneCase{name: l.name, clients: 1, floors: []floor{nothing},
			ours: b.afresh(p, l.service, l.request).run})
	}
	return cases
}

// reports stand beside their own statement.
func (b *bench) reports(p *process) []oneCase {
	const allRows = `SELECT id, active, current_stock, on_order, sold, first_sold, is_below, judged_on, lead_time_days,
		safety_stock_days, pack_size, moq, unit_cost_cents, created_at, updated_at, sku, name, supplier, supplier_sku,
		barcode, unit FROM skus WHERE active = 1`
	floors := []floor{{"bare statement", b.bareQuery(allRows)}}
	return []oneCase{
		{name: "reorder report, all", clients: 1, floors: floors,
			ours: b.afresh(p, "reorder", b.shop.get("reorder", "/api/reorder-report?status=all")).run},
		{name: "reorder report, flagged", clients: 1, floors: floors,
			ours: b.afresh(p, "reorder", b.shop.get("reorder", "/api/reorder-report")).run},
	}
}

// license requests a known seat of one license after another.
func (s *shop) license(act string) func(client, n int) []byte {
	all := schema.Map(s.licenses, func(key string) []byte {
		return request("POST", "/license/"+act, "", fmt.Sprintf(`{"license_key":%q,"fingerprint":"machine"}`, key))
	})
	return func(c, n int) []byte { return all[(c*31+n)%len(all)] }
}

// agents are the agents' calls next to the same over REST. Only one of their figures counts: the additional processor
// time of a call.
func (b *bench) agents(p *process) []oneCase {
	s := b.shop
	ledger := fmt.Sprintf("/api/leases/%d/ledger", s.leases/2)
	one := []struct{ name, service, path, tool, arguments string }{
		{"agent: a ledger", "rental", ledger, "lease_detail", fmt.Sprintf(`{"lease_id":%d}`, s.leases/2)},
		{"agent: a work order", "maintenance", "/api/work-orders/7", "workorder_detail", `{"id":7}`},
	}
	var cases []oneCase
	for _, c := range one {
		tool, rest := s.call(c.service, c.tool, c.arguments), s.get(c.service, c.path)
		cases = append(cases,
			oneCase{name: c.name, clients: 4, ours: b.ask(p, c.service, 4, always(tool)),
				floors: []floor{{"same over REST", b.ask(p, c.service, 4, always(rest))}}},
			oneCase{name: c.name + ", after a change", clients: 1,
				ours:   b.afresh(p, c.service, tool).run,
				floors: []floor{{"same over REST", b.afresh(p, c.service, rest).run}}})
	}
	return cases
}

// writes are single durable writes, each acknowledged before its client sends the next.
func (b *bench) writes(p *process) []oneCase {
	var cases []oneCase
	for _, clients := range []int{1, 8, 64} {
		cases = append(cases, oneCase{
			name: fmt.Sprintf("meter reading, %d clients", clients), clients: clients,
			floors: []floor{{"plain commits", b.plainCommits}},
			ours:   b.ask(p, "maintenance", clients, b.reading()),
		})
	}
	return cases
}

// reading posts a meter's reading, rising each time; each client has its own machines.
func (b *bench) reading() func(client, n int) []byte {
	s := b.shop
	return func(c, _ int) []byte {
		return request("POST", fmt.Sprintf("/api/assets/%d/readings", 1+c%s.assets), s.keys["maintenance"],
			fmt.Sprintf(`{"reading":%d}`, atomic.AddInt64(&s.shown, 1)))
	}
}
