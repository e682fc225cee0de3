package rest

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// demoWorkshop is the demo's maintenanceFixture plus some days of readings and jobs, checked on every other evening.
func demoWorkshop(t *testing.T, look func(apptest.Maintenance)) apptest.Maintenance {
	t.Helper()
	w := apptest.Maintenance{Fixture: apptest.StartFilled(t)}
	r := rand.New(rand.NewPCG(3, 14))
	at := map[int]int64{}
	for day := range 16 {
		w.Clock.Set(apptest.Noon.AddDate(0, 0, day))
		for id := 1; id <= 6; id++ {
			if r.IntN(3) == 0 {
				continue
			}
			asset, now := meter(w, id)
			at[id] = now + r.Int64N(400_000)
			correction := ""
			if r.IntN(12) == 0 {
				at[id], correction = now-r.Int64N(now), `,"correction":true`
			}
			w.MustPost(201, fmt.Sprintf("/api/assets/%d/readings", asset), fmt.Sprintf(`{"meter":%d,"reading":%d.%03d%s}`, id, at[id]/1000, at[id]%1000, correction))
		}
		id := w.Open(fmt.Sprintf(`{"asset_id":%d,"description":"Job","labor_minutes":%d,"parts_cost":%d.%02d,"downtime_minutes":%d}`, 1+r.IntN(5), r.IntN(500), r.IntN(900), r.IntN(100), r.IntN(90)))
		if day%3 != 0 {
			w.Run("use-part", fmt.Sprint(id), "FUSE-10A", fmt.Sprintf("0.%03d", 1+r.IntN(999)))
		}
		w.MustCLI("maintenance", "labor-rate", fmt.Sprint(5400+r.IntN(500)))
		if day%2 == 0 {
			w.Close(id)
		} else {
			look(w)
		}
	}
	return w
}

// meter is a meter's asset and value, in thousandths.
func meter(w apptest.Maintenance, id int) (asset, reading int64) {
	w.T.Helper()
	var page struct {
		Assets []struct {
			ID     int64
			Meters []struct {
				ID      int
				Reading json.Number
			}
		}
	}
	w.Into(w.MustGet("/api/assets"), &page)
	for _, a := range page.Assets {
		for _, m := range a.Meters {
			if m.ID == id {
				return a.ID, new(big.Int).Div(new(big.Rat).Mul(rat(m.Reading.String()), rat("1000")).Num(), big.NewInt(1)).Int64()
			}
		}
	}
	w.T.Fatalf("no meter %d", id)
	return 0, 0
}

func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic("not a number: " + s)
	}
	return r
}

// table is an exported table, row by row.
func table(w apptest.Maintenance, name string) (rows []map[string]string) {
	w.T.Helper()
	all := assert.Value(csv.NewReader(strings.NewReader(w.MustCLI("export", "maintenance", name))).ReadAll())(w.T)
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, c := range cells {
			row[all[0][i]] = c
		}
		rows = append(rows, row)
	}
	return rows
}

// numbers reads JSON and keeps its numbers as written.
func numbers(w apptest.Maintenance, body string) (m map[string]any) {
	w.T.Helper()
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	assert.OK(w.T, d.Decode(&m))
	return m
}

// structured is a tool's answer with its numbers as written.
func structured(w apptest.Maintenance, tool, arguments string) map[string]any {
	w.T.Helper()
	a := w.Post("maintenance", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`)
	content, _ := numbers(w, a.Body)["result"].(map[string]any)["structuredContent"].(map[string]any)
	return content
}

// TestWorkOrderFiguresAreTheSameEverywhere compares every order and its cost over REST, as agents see it, in the
// export, at the command line and in exact fractions.
func TestWorkOrderFiguresAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	w := demoWorkshop(t, func(apptest.Maintenance) {})
	rest := numbers(w, w.MustGet("/api/work-orders"))["work_orders"].([]any)
	found := structured(w, "list_workorders", `{"limit":200}`)
	if w.Equal("the list", apptest.JSONText(found["work_orders"]), apptest.JSONText(rest)); fmt.Sprint(found["total"]) != fmt.Sprint(len(rest)) || len(rest) < 29 {
		t.Fatalf("%v of %d orders", found["total"], len(rest))
	}
	exported := map[string]map[string]string{}
	for _, row := range table(w, "work-orders") {
		exported[row["id"]] = row
	}
	tags := map[string]string{}
	for _, a := range numbers(w, w.MustGet("/api/assets"))["assets"].([]any) {
		tags[fmt.Sprint(a.(map[string]any)["id"])] = a.(map[string]any)["asset_tag"].(string)
	}
	open := 0
	for _, o := range rest {
		order := o.(map[string]any)
		id := fmt.Sprint(order["id"])
		w.Equal("order "+id, apptest.JSONText(numbers(w, w.MustGet("/api/work-orders/"+id))), apptest.JSONText(order))
		for column, cell := range exported[id] {
			want, is := order[column]
			if column == "asset_tag" {
				want, is = tags[fmt.Sprint(order["asset_id"])], true
			}
			if column == "checklist" {
				want = linesOf(want.([]any))
			}
			if text := fmt.Sprint(want); !is || cell != text && (cell != "" || want != nil) {
				t.Errorf("order %s: %s is exported as %q, and is %v", id, column, cell, want)
			}
		}
		detail := structured(w, "workorder_detail", `{"id":`+id+`}`)
		cost := detail["cost"].(map[string]any)
		used := new(big.Rat)
		for _, p := range detail["parts"].([]any) {
			part := p.(map[string]any)
			exact := new(big.Rat).Mul(rat(fmt.Sprint(part["qty"])), rat(fmt.Sprint(part["unit_cost_cents"])))
			assert.That(t, fmt.Sprint(part["cost_cents"]) == halfUp(exact), "order %s: %v costs %s", id, part, halfUp(exact))
			used.Add(used, rat(fmt.Sprint(part["cost_cents"])))
		}
		typed := new(big.Rat).Mul(rat(fmt.Sprint(order["parts_cost"])), rat("100"))
		sum := new(big.Rat).Add(rat(fmt.Sprint(order["labor_cost_cents"])), new(big.Rat).Add(typed, used))
		w.Equal("the cost of order "+id, fmt.Sprint(order["labor_cost_cents"], order["parts_cost_cents"], order["total_cost_cents"], cost["parts_typed_cents"], cost["parts_used_cents"], cost["total_cents"], cost["labor_cents"]),
			fmt.Sprint(order["labor_cost_cents"], json.Number(halfUp(new(big.Rat).Add(typed, used))), json.Number(halfUp(sum)), json.Number(halfUp(typed)), json.Number(halfUp(used)), json.Number(halfUp(sum)), order["labor_cost_cents"]))
		if order["status"] == "open" || order["status"] == "in-progress" {
			open++
		}
	}
	assert.Must(t, open >= 5, "%d orders are open", open)
	laborFollowsTheRate(w, rest)
}

// linesOf is a check list as a CSV cell: one step per line, "[x] " before a done one.
func linesOf(steps []any) string {
	lines := make([]string, len(steps))
	for i, s := range steps {
		step := s.(map[string]any)
		if lines[i] = fmt.Sprint(step["text"]); step["done"] == true {
			lines[i] = "[x] " + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

// laborFollowsTheRate sets a rate and recomputes the labor of open orders; closed ones keep theirs. The bulk command
// returns the same order as REST.
func laborFollowsTheRate(w apptest.Maintenance, before []any) {
	w.T.Helper()
	w.MustCLI("maintenance", "labor-rate", "7777")
	for i, o := range numbers(w, w.MustGet("/api/work-orders"))["work_orders"].([]any) {
		now, was := o.(map[string]any), before[i].(map[string]any)
		want := fmt.Sprint(was["labor_cost_cents"])
		if now["status"] == "open" || now["status"] == "in-progress" {
			want = halfUp(new(big.Rat).Quo(new(big.Rat).Mul(rat(fmt.Sprint(now["labor_minutes"])), rat("7777")), rat("60")))
		}
		w.Equal(fmt.Sprintf("labor of order %v at another rate", now["id"]), fmt.Sprint(now["labor_cost_cents"]), want)
		if now["status"] == "open" {
			moved := numbers(w, w.Run("move", "in-progress", fmt.Sprint(now["id"]), "--json"))["moved"].([]any)[0]
			w.Equal("as the command gives it", apptest.JSONText(moved), apptest.JSONText(numbers(w, w.MustGet(fmt.Sprintf("/api/work-orders/%v", now["id"])))))
		}
	}
}

// halfUp rounds a non-negative fraction to a whole number.
func halfUp(r *big.Rat) string {
	n := new(big.Int).Mul(r.Num(), big.NewInt(2))
	n.Add(n, r.Denom())
	return n.Quo(n, new(big.Int).Mul(r.Denom(), big.NewInt(2))).String()
}

// TestDueFiguresAreTheSameEverywhere compares what is due over REST, as agents see it and as computed from the exported
// tables, on many days.
func TestDueFiguresAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	look := func(w apptest.Maintenance) { dueIsTheSame(w, seen) }
	w := demoWorkshop(t, look)
	useIsTheSame(w, "2026-12-05")
	for _, days := range []int{16, 19, 27, 48, 103, 247} {
		w.Clock.Set(apptest.Noon.AddDate(0, 0, days))
		look(w)
	}
	for _, kind := range []string{"overdue by <nil>", "ok by <nil>", "due-soon by <nil>",
		"overdue by usage", "due-soon by usage", "overdue by days", "due-soon by days", "ok by both", "overdue by both"} {
		assert.That(t, seen[kind] != 0, "nothing was %s: %v", kind, seen)
	}
}

// useIsTheSame compares each meter's use per day with a direct calculation.
func useIsTheSame(w apptest.Maintenance, today string) {
	w.T.Helper()
	readings, known := table(w, "readings"), 0
	for _, a := range numbers(w, w.MustGet("/api/assets"))["assets"].([]any) {
		asset := a.(map[string]any)
		for _, m := range asset["meters"].([]any) {
			meter, perDay := m.(map[string]any), "<nil>"
			if u := useOf(readings, asset["asset_tag"].(string), meter["name"].(string), date(today)); u.known {
				perDay = rat(u.rate.FloatString(4)).RatString()
				known++
			}
			got := fmt.Sprint(meter["avg_per_day"])
			if got != "<nil>" {
				got = rat(got).RatString()
			}
			w.Equal(fmt.Sprint(meter["name"], " of ", asset["asset_tag"]), got, perDay)
		}
	}
	assert.That(w.T, known >= 4, "the use of %d meters is known", known)
}

// dueIsTheSame compares what is due today; seen counts the kinds of rows.
func dueIsTheSame(w apptest.Maintenance, seen map[string]int) {
	w.T.Helper()
	rest := numbers(w, w.MustGet("/api/pm-due"))
	w.Equal("as agents see it", apptest.JSONText(w.WholeDue(structured(w, "pm_due", `{}`))), apptest.JSONText(rest))
	var got []string
	for _, r := range rest["pm_due"].([]any) {
		row := r.(map[string]any)
		got = append(got, fmt.Sprint(row["pm_id"], " ", row["asset"], " ", row["title"], " ", row["next_due"], " ", row["days_until"], " ", row["due_status"], " ", row["usage_remaining"], " ", row["due_source"]))
		seen[fmt.Sprint(row["due_status"], " by ", row["due_source"])]++
	}
	want := naiveDue(w, date(rest["today"].(string)))
	w.Equal(fmt.Sprint("on ", rest["today"]), strings.Join(got, "\n"), strings.Join(want, "\n"))
}
