package rental

import (
	"fmt"
	"math/big"
	"strings"
	"time"
)

// naive walks a lease's calendar without the program's arithmetic, by package time.
type naive struct {
	start     time.Time
	frequency string
	dueDay    int
}

func (n naive) due(d time.Time) bool {
	switch n.frequency {
	case "weekly", "fortnightly":
		every := map[string]int{"weekly": 7, "fortnightly": 14}[n.frequency]
		return n.daysBetween(n.start, d)%every == 0
	}
	last := time.Date(d.Year(), d.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	if d.Day() != min(n.dueDay, last) {
		return false
	}
	apart := d.Year()*12 + int(d.Month()) - n.start.Year()*12 - int(n.start.Month())
	every := map[string]int{"monthly": 1, "quarterly": 3, "yearly": 12}[n.frequency]
	return apart%every == 0
}

func (naive) daysBetween(a, b time.Time) int {
	return int(b.Sub(a) / (24 * time.Hour))
}

func tomorrow(d time.Time) time.Time  { return d.AddDate(0, 0, 1) }
func yesterday(d time.Time) time.Time { return d.AddDate(0, 0, -1) }

// halfUp rounds through the decimal text of r + 1/2, cut at the point.
func halfUp(r *big.Rat) int64 {
	whole, _, _ := strings.Cut(new(big.Rat).Add(r, big.NewRat(1, 2)).FloatString(9), ".")
	var n int64
	_, _ = fmt.Sscan(whole, &n)
	return n
}
