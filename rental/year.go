package rental

import (
	"cmp"
	"context"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// TypeIncome is the income of a type of charges in a year.
type TypeIncome struct {
	Type              string `json:"type"`
	ReceivedCents     int64  `json:"received_cents"`
	FromDepositsCents int64  `json:"from_deposits_cents" about:"deposits that were used for it"`
}

// CategorySpent is what was spent for a category in a year.
type CategorySpent struct {
	Category    string `json:"category"`
	AmountCents int64  `json:"amount_cents"`
}

// YearDeposits are the deposits that are held for tenants: after = before + taken over + received - used - returned.
type YearDeposits struct {
	HeldBeforeCents int64 `json:"held_before_cents"`
	TakenOverCents  int64 `json:"taken_over_cents"`
	ReceivedCents   int64 `json:"received_cents"`
	UsedCents       int64 `json:"used_cents"`
	ReturnedCents   int64 `json:"returned_cents" about:"paid back, or taken back by the bank"`
	HeldAfterCents  int64 `json:"held_after_cents"`
}

// YearUnit is a unit's part of a year.
type YearUnit struct {
	Unit        string `json:"unit"`
	IncomeCents int64  `json:"income_cents"`
	SpentCents  int64  `json:"spent_cents"`
	ResultCents int64  `json:"result_cents"`
}

// YearSums is money by the days on which it moved. Income = types + advance - credit returned - returned; result =
// income - spent; capital is below the result.
type YearSums struct {
	ReceivedCents       int64           `json:"received_cents" about:"money that came in, deposits too"`
	ByType              []TypeIncome    `json:"by_type"`
	AdvanceCents        int64           `json:"advance_cents" about:"of what came in: for later years, or not used; less those of earlier years that became deposits"`
	CreditReturnedCents int64           `json:"credit_returned_cents"`
	ReturnedCents       int64           `json:"returned_cents" about:"payments of closed years that were reversed"`
	IncomeCents         int64           `json:"income_cents"`
	Spent               []CategorySpent `json:"spent"`
	SpentCents          int64           `json:"spent_cents"`
	ResultCents         int64           `json:"result_cents"`
	CapitalCents        int64           `json:"capital_cents" about:"purchases, loan principal, the owner's draw"`
	Deposits            YearDeposits    `json:"deposits"`
}

// PropertyYear is the year of a house; the one without a house is of all houses.
type PropertyYear struct {
	PropertyID *int64  `json:"property_id"`
	Property   *string `json:"property"`
	YearSums
	Units []YearUnit `json:"units"`
}

// YearReport is a year by money. It has only what is not 0.
type YearReport struct {
	Year       int64          `json:"year"`
	Closed     bool           `json:"closed"`
	Properties []PropertyYear `json:"properties"`
	Totals     YearSums       `json:"totals"`
	Standing
}

func (y *YearSums) add(e entry, p yearPart) {
	switch p.what {
	case partIncome:
		i := slices.IndexFunc(y.ByType, func(t TypeIncome) bool { return t.Type == p.name })
		if i < 0 {
			i = len(y.ByType)
			y.ByType = append(y.ByType, TypeIncome{Type: p.name})
		}
		if e.method == byDeposit {
			y.ByType[i].FromDepositsCents += p.cents
		} else {
			y.ByType[i].ReceivedCents += p.cents
		}
		y.IncomeCents += p.cents
	case partAdvance:
		y.AdvanceCents += p.cents
		y.IncomeCents += p.cents
	case partCreditReturned:
		y.CreditReturnedCents -= p.cents
		y.IncomeCents += p.cents
	case partReturned:
		y.ReturnedCents -= p.cents
		y.IncomeCents += p.cents
	case partSpent:
		y.spend(p.name, -p.cents)
	case partDeposit:
		y.Deposits.add(e, p.cents)
	}
	y.ResultCents = y.IncomeCents - y.SpentCents
}

func (y *YearSums) spend(category string, cents int64) {
	if category == capital {
		y.CapitalCents += cents
		return
	}
	y.SpentCents += cents
	i := slices.IndexFunc(y.Spent, func(s CategorySpent) bool { return s.Category == category })
	if i < 0 {
		i = len(y.Spent)
		y.Spent = append(y.Spent, CategorySpent{Category: category})
	}
	y.Spent[i].AmountCents += cents
}

func (d *YearDeposits) add(e entry, cents int64) {
	switch {
	case e.kind == entryOpening:
		d.TakenOverCents += cents
	case e.method == byDeposit: // a use, or a reversed one
		d.UsedCents -= cents
	case e.kind == entryPayout, e.kind == entryReturn:
		d.ReturnedCents -= cents
	default:
		d.ReceivedCents += cents
	}
	d.HeldAfterCents += cents
}

// allHouses is the place of the sums of all houses.
const allHouses = -1

// yearBook adds entries up by house and unit.
type yearBook struct {
	properties map[int64]*YearSums
	units      map[int64]*YearUnit
	of         map[int64]int64 // the unit's property
}

func newYearBook() *yearBook {
	return &yearBook{map[int64]*YearSums{}, map[int64]*YearUnit{}, map[int64]int64{}}
}

func (b *yearBook) property(id int64) *YearSums {
	if b.properties[id] == nil {
		b.properties[id] = &YearSums{ByType: []TypeIncome{}, Spent: []CategorySpent{}}
	}
	return b.properties[id]
}

func (b *yearBook) add(e entry) {
	var alone YearSums
	for _, y := range []*YearSums{b.property(e.property), b.property(allHouses), &alone} {
		if e.kind == entryPayment {
			y.ReceivedCents += e.moved()
		}
		for _, p := range e.parts {
			y.add(e, p)
		}
	}
	if e.unit == 0 {
		return
	}
	if b.units[e.unit] == nil {
		b.units[e.unit], b.of[e.unit] = &YearUnit{}, e.property
	}
	u := b.units[e.unit]
	u.IncomeCents += alone.IncomeCents
	u.SpentCents += alone.SpentCents
	u.ResultCents = u.IncomeCents - u.SpentCents
}

// heldBefore adds the deposits that were held before a day.
func (b *yearBook) heldBefore(c *db.Conn, day exact.Day) error {
	before := daySpan{always.from, day - 1}
	hold := func(e entry) {
		for _, p := range e.parts {
			for _, house := range []int64{e.property, allHouses} {
				if d := &b.property(house).Deposits; p.what == partDeposit {
					d.HeldBeforeCents += p.cents
					d.HeldAfterCents += p.cents
				}
			}
		}
	}
	err := eachDeposit(c, func(e entry, _ exact.Day, cents int64) {
		if before.has(e.day) {
			e.add(partDeposit, "", cents)
			hold(e)
		}
	})
	if err != nil {
		return err
	}
	err = db.Each(c, func(r *db.Row) error {
		e := entry{property: r.Int()}
		e.add(partDeposit, "", -r.Int())
		hold(e)
		return nil
	}, `SELECT u.property_id, m.amount_cents FROM payments m INDEXED BY payments_deposit CROSS JOIN leases l
		ON l.id = m.lease_id
		CROSS JOIN units u ON u.id = l.unit_id WHERE m.method = 'deposit' AND m.voided_at IS NULL AND m.paid_date < ?`, day)
	if err != nil {
		return err
	}
	if err := payoutEntries(c, before, hold); err != nil {
		return err
	}
	return returnEntries(c, before, hold)
}

// zero reports whether there was no money.
func (y *YearSums) zero() bool {
	return y.ReceivedCents == 0 && len(y.ByType) == 0 && y.AdvanceCents == 0 && y.CreditReturnedCents == 0 &&
		y.ReturnedCents == 0 &&
		len(y.Spent) == 0 && y.CapitalCents == 0 && y.Deposits == YearDeposits{}
}

// tidy removes zeros and sorts types and categories.
func (y *YearSums) tidy(order []string) {
	y.ByType = slices.DeleteFunc(slices.Clone(y.ByType), func(t TypeIncome) bool {
		return t.ReceivedCents == 0 &&
			t.FromDepositsCents == 0
	})
	y.Spent = slices.DeleteFunc(slices.Clone(y.Spent), func(s CategorySpent) bool { return s.AmountCents == 0 })
	slices.SortFunc(y.ByType, func(a, b TypeIncome) int {
		return cmp.Compare(slices.Index(chargeTypes, a.Type), slices.Index(chargeTypes, b.Type))
	})
	slices.SortFunc(y.Spent, func(a, b CategorySpent) int {
		return cmp.Compare(slices.Index(order, a.Category), slices.Index(order, b.Category))
	})
}

// report is what the book says, of all houses or of one.
func (b *yearBook) report(c *db.Conn, year int64, only *int64) (y YearReport, err error) {
	closed, err := closedThrough(c)
	if err != nil {
		return y, err
	}
	all := schema.Or(only, int64(allHouses))
	y = YearReport{Year: year, Closed: year <= closed, Properties: []PropertyYear{}, Totals: *b.property(all)}
	order, err := categories(c)
	if err != nil {
		return y, err
	}
	type named struct {
		id   int64
		name string
	}
	scan := func(r *db.Row) named { return named{r.Int(), r.Text()} }
	houses, err := db.All(c, scan, "SELECT id, name FROM properties ORDER BY name, id")
	if err != nil {
		return y, err
	}
	for _, h := range append(houses, named{}) {
		sums := b.properties[h.id]
		if only != nil && h.id != *only || sums == nil && only == nil {
			continue
		}
		p := PropertyYear{YearSums: *b.property(h.id), Units: []YearUnit{}}
		if p.tidy(order); p.zero() && only == nil {
			continue
		}
		if h.id != 0 {
			p.PropertyID, p.Property = &h.id, &h.name
			units, err := db.All(c, scan, "SELECT id, name FROM units WHERE property_id = ? ORDER BY name", h.id)
			if err != nil {
				return y, err
			}
			for _, u := range units {
				if x := b.units[u.id]; x != nil && *x != (YearUnit{}) {
					x.Unit = u.name
					p.Units = append(p.Units, *x)
				}
			}
		}
		y.Properties = append(y.Properties, p)
	}
	y.Totals.tidy(order)
	return y, nil
}

// yearReport adds a year up, of all houses or of one.
func yearReport(c *db.Conn, year int64, only *int64) (YearReport, error) {
	b := newYearBook()
	first, last := yearDays(year)
	if err := b.heldBefore(c, first); err != nil {
		return YearReport{}, err
	}
	if err := moneyEntries(c, daySpan{first, last}, b.add); err != nil {
		return YearReport{}, err
	}
	return b.report(c, year, only)
}

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
