package rest

import (
	"cmp"
	"fmt"
	"math/big"
	"quartermaster/app/apptest"
	"slices"
	"sort"
	"strings"
	"time"
)

// naiveUse is a meter's use computed from its exported readings, each with date and value.
type naiveUse struct {
	known bool
	rate  *big.Rat // per day
	last  time.Time
}

func useOf(rows []map[string]string, tag, meter string, today time.Time) naiveUse {
	type point struct {
		day   time.Time
		value *big.Rat
	}
	var line []point
	var corrected time.Time
	for _, row := range rows {
		if row["asset_tag"] != tag || row["meter"] != meter {
			continue
		}
		day := date(row["read_date"])
		if row["correction"] == "1" {
			line, corrected = nil, day
		}
		if !day.Before(corrected) {
			line = append(line, point{day, rat(row["reading"])})
		}
	}
	line = slices.DeleteFunc(line, func(p point) bool { return p.day.Before(today.AddDate(0, 0, -89)) })
	sort.SliceStable(line, func(i, j int) bool { return line[i].day.Before(line[j].day) })
	if len(line) == 0 || !line[0].day.Before(line[len(line)-1].day) {
		return naiveUse{}
	}
	first, last := line[0], line[len(line)-1]
	moved := new(big.Rat).Sub(last.value, first.value)
	return naiveUse{known: moved.Sign() >= 0, rate: moved.Quo(moved, big.NewRat(int64(last.day.Sub(first.day).Hours()/24), 1)), last: last.day}
}

func date(s string) time.Time {
	d, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return d
}

// naiveDue computes the list of due plans from the exported tables.
func naiveDue(w apptest.Maintenance, today time.Time) (lines []string) {
	w.T.Helper()
	readings, meters, names := table(w, "readings"), map[string]string{}, map[string]string{}
	for _, m := range table(w, "meters") {
		meters[m["asset_tag"]+"/"+m["name"]] = m["reading"]
	}
	for _, a := range table(w, "assets") {
		names[a["asset_tag"]] = a["name"]
	}
	type row struct {
		rank int
		next time.Time
		id   int
		line string
	}
	var rows []row
	for i, p := range table(w, "pm-plans") {
		next, rank, source := time.Time{}, map[string]int{}, "<nil>"
		if p["interval_days"] != "" {
			next = date(p["start_date"])
			if p["last_done_date"] != "" {
				next = date(p["last_done_date"]).AddDate(0, 0, atoi(p["interval_days"]))
			}
			left, soon := next.Sub(today).Hours()/24, min(14, (atoi(p["interval_days"])+4)/5)
			rank["days"] = 2
			if left <= float64(soon) {
				rank["days"] = 1
			}
			if left < 0 {
				rank["days"] = 0
			}
		}
		remaining := "<nil>"
		if p["interval_usage"] != "" {
			left := new(big.Rat).Sub(new(big.Rat).Add(rat(p["baseline_reading"]), rat(p["interval_usage"])), rat(meters[p["asset_tag"]+"/"+p["meter"]]))
			remaining = decimals(left)
			rank["usage"] = 2
			if new(big.Rat).Mul(left, rat("10")).Cmp(rat(p["interval_usage"])) <= 0 {
				rank["usage"] = 1
			}
			if left.Sign() <= 0 {
				rank["usage"] = 0
			}
			if u := useOf(readings, p["asset_tag"], p["meter"], today); u.known && u.rate.Sign() > 0 {
				days := new(big.Rat).Quo(left, u.rate)
				on := u.last.AddDate(0, 0, int(new(big.Int).Div(days.Num(), days.Denom()).Int64()))
				if left.Sign() > 0 && on.Before(today) {
					on = today
				}
				if next.IsZero() || on.Before(next) {
					next = on
				}
			}
		}
		status := 2
		for trigger, r := range rank {
			if status = min(status, r); remaining != "<nil>" && r == minOf(rank) {
				source = trigger
			}
		}
		if len(rank) == 2 && rank["days"] == rank["usage"] {
			source = "both"
		}
		shown, until := "<nil>", "<nil>"
		if !next.IsZero() {
			shown, until = next.Format(time.DateOnly), fmt.Sprint(int(next.Sub(today).Hours()/24))
		}
		rows = append(rows, row{status, next, i + 1, fmt.Sprint(i+1, " ", names[p["asset_tag"]], " ", p["title"], " ", shown, " ", until, " ", []string{"overdue", "due-soon", "ok"}[status], " ", remaining, " ", source)})
	}
	slices.SortFunc(rows, func(a, b row) int {
		if a.next.IsZero() != b.next.IsZero() && a.rank == b.rank {
			return map[bool]int{true: 1, false: -1}[a.next.IsZero()]
		}
		return cmp.Or(cmp.Compare(a.rank, b.rank), a.next.Compare(b.next), cmp.Compare(a.id, b.id))
	})
	for _, r := range rows {
		lines = append(lines, r.line)
	}
	return lines
}

func minOf(ranks map[string]int) int {
	least := 2
	for _, r := range ranks {
		least = min(least, r)
	}
	return least
}

func atoi(s string) int {
	var n int
	if _, err := fmt.Sscan(s, &n); err != nil {
		panic(err)
	}
	return n
}

// decimals writes a number of thousandths without trailing zeros.
func decimals(r *big.Rat) string {
	return strings.TrimSuffix(strings.TrimRight(r.FloatString(3), "0"), ".")
}
