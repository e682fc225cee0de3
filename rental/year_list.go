package rental

import (
	"context"
	"slices"

	"quartermaster/schema/db"
)

// YearReport returns a year; property is an id or a name, "" for all. Due charges are posted first.
func (s *Service) YearReport(ctx context.Context, who db.Caller, year int64, property string) (y YearReport,
	err error) {
	y.Standing, err = s.allPosted(ctx, who, func(c *db.Conn) error {
		only, _, err := placeOf(c, property, "")
		if err != nil {
			return err
		}
		y, err = yearReport(c, year, only)
		return err
	})
	return y, err
}

// yearBooks are the books of all years that have money, by year.
func yearBooks(c *db.Conn) (map[int64]*yearBook, error) {
	all := map[int64]*yearBook{}
	err := moneyEntries(c, always, func(e entry) {
		y := yearOf(e.day)
		if all[y] == nil {
			all[y] = newYearBook()
		}
		all[y].add(e)
	})
	return all, err
}

// yearReports are the reports of all years that have money, the first one first, of all houses or of one.
func yearReports(c *db.Conn, only *int64) (list []YearReport, err error) {
	books, err := yearBooks(c)
	if err != nil {
		return nil, err
	}
	held := map[int64]int64{}
	var years []int64
	for y := range books {
		years = append(years, y)
	}
	slices.Sort(years)
	for _, y := range years {
		b := books[y]
		for id, cents := range held {
			d := &b.property(id).Deposits
			d.HeldBeforeCents, d.HeldAfterCents = cents, d.HeldAfterCents+cents
		}
		for id, sums := range b.properties {
			held[id] = sums.Deposits.HeldAfterCents
		}
		r, err := b.report(c, y, only)
		if err != nil {
			return nil, err
		}
		if only == nil || !r.Totals.zero() {
			list = append(list, r)
		}
	}
	return list, nil
}

// Years returns the reports of all years that have money, the last one first; property is an id or a name.
func (s *Service) Years(ctx context.Context, who db.Caller, property string) (list []YearReport, standing Standing,
	err error) {
	standing, err = s.allPosted(ctx, who, func(c *db.Conn) error {
		only, _, err := placeOf(c, property, "")
		if err != nil {
			return err
		}
		list, err = yearReports(c, only)
		slices.Reverse(list)
		return err
	})
	return list, standing, err
}
