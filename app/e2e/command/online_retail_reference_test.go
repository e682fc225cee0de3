package command

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"quartermaster/schema/assert"
)

// reference computes what the report must say, SKU by SKU, from the files alone, in fractions, following the contract.
func (r *retail) reference(t *testing.T, todayText string) map[string]map[string]string {
	t.Helper()
	today := day(t, todayText)
	type history struct {
		sold  *big.Rat
		first time.Time
	}
	sold := map[string]*history{}
	for _, s := range r.sales {
		q, ok := new(big.Rat).SetString(s["qty"])
		if !ok || q.Sign() <= 0 {
			continue
		}
		h := sold[s["sku"]]
		d := day(t, s["date"])
		if h == nil {
			h = &history{sold: new(big.Rat), first: d}
			sold[s["sku"]] = h
		}
		if d.Before(h.first) {
			h.first = d
		}
		if today.Sub(d) < 30*24*time.Hour {
			h.sold.Add(h.sold, q)
		}
	}
	wants := map[string]map[string]string{}
	for _, s := range r.skus {
		if s["active"] != "1" {
			continue
		}
		days, in := int64(30), new(big.Rat)
		if h := sold[s["sku"]]; h != nil {
			in = h.sold
			if since := int64(today.Sub(h.first)/(24*time.Hour)) + 1; since < 30 {
				days = max(since, 7)
			}
		}
		wants[s["sku"]] = expect(s, in, days, today)
	}
	return wants
}

func expect(s map[string]string, sold *big.Rat, days int64, today time.Time) map[string]string {
	num := func(field string) *big.Rat { q, _ := new(big.Rat).SetString(s[field]); return q }
	times := func(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
	avg := new(big.Rat).Quo(sold, big.NewRat(days, 1))
	ahead := new(big.Rat).Add(num("lead_time_days"), num("safety_stock_days"))
	point, stock := times(avg, ahead), num("current_stock")
	want := map[string]string{
		"sold_in_window": short(sold, 3), "demand_days": fmt.Sprint(days), "current_stock": short(stock, 3),
		"avg_daily_demand": short(avg, 4), "reorder_point": short(point, 2), "days_of_stock": "<nil>", "stockout_date": "<nil>",
		"on_order": "0", "status": "healthy", "suggested_qty": "0", "est_cost_cents": "0",
	}
	switch {
	case stock.Cmp(point) <= 0:
		want["status"] = "below"
	case stock.Cmp(times(point, big.NewRat(5, 4))) <= 0:
		want["status"] = "near"
	}
	if avg.Sign() > 0 {
		cover := new(big.Rat).Quo(stock, avg)
		want["days_of_stock"] = short(cover, 2)
		left := new(big.Int).Quo(cover.Num(), cover.Denom())
		want["stockout_date"] = today.AddDate(0, 0, int(left.Int64())).Format(time.DateOnly)
	}
	need := new(big.Rat).Sub(times(avg, new(big.Rat).Add(ahead, big.NewRat(30, 1))), stock)
	want["need"] = short(need, 2)
	if want["status"] != "healthy" && need.Sign() > 0 {
		q := need
		if moq := num("moq"); moq.Cmp(q) > 0 {
			q = moq
		}
		pack := num("pack_size")
		packs := new(big.Rat).Quo(q, pack)
		n := new(big.Int).Quo(packs.Num(), packs.Denom())
		if !packs.IsInt() {
			n.Add(n, big.NewInt(1))
		}
		qty := times(new(big.Rat).SetInt(n), pack)
		want["suggested_qty"] = short(qty, 0)
		want["est_cost_cents"] = short(times(qty, num("unit_cost_cents")), 0)
	}
	return want
}

// short rounds half up and writes the number without trailing zeros.
func short(q *big.Rat, places int) string {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	scaled := new(big.Rat).Mul(q, new(big.Rat).SetInt(scale))
	scaled.Add(scaled, big.NewRat(1, 2))
	n := new(big.Int).Div(scaled.Num(), scaled.Denom()) // Div rounds down for a positive divisor
	text := new(big.Rat).SetFrac(n, scale).FloatString(places)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		text = "0"
	}
	return text
}

func day(t *testing.T, s string) time.Time {
	t.Helper()
	d := assert.Value(time.Parse(time.DateOnly, s))(t)
	return d
}
