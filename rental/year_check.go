package rental

import (
	"slices"

	"quartermaster/schema/db"
)

// checkYears: of every house and year, what came in less what went out is its result, less capital, and the change of
// the deposits that are held; both sides come from different rows.
func checkYears(c *db.Conn, found func(string, ...any)) error {
	type houseYear struct{ house, year int64 }
	moved := map[houseYear]int64{}
	err := db.Each(c, func(r *db.Row) error {
		house, day, cents := r.Int(), r.Day(), r.Int()
		moved[houseYear{house, yearOf(day)}] += cents
		return nil
	}, `SELECT u.property_id, t.day, t.cents FROM (
			SELECT lease_id, paid_date AS day, amount_cents AS cents FROM payments WHERE voided_at IS NULL
			AND method NOT IN ('deposit', 'opening')
			UNION ALL SELECT m.lease_id, m.paid_date, m.amount_cents FROM payment_returns b JOIN payments m
			ON m.id = b.payment_id WHERE m.method <> 'deposit'
			UNION ALL SELECT m.lease_id, b.day, -m.amount_cents FROM payment_returns b JOIN payments m ON m.id = b.payment_id
			WHERE m.method <> 'deposit'
			UNION ALL SELECT lease_id, day, -amount_cents FROM payouts) t
		JOIN leases l ON l.id = t.lease_id JOIN units u ON u.id = l.unit_id
		UNION ALL SELECT coalesce(property_id, 0), day, -amount_cents FROM expenses`)
	if err != nil {
		return err
	}
	books, err := yearBooks(c)
	if err != nil {
		return err
	}
	held := map[int64]int64{}
	for year, b := range books {
		for house, y := range b.properties {
			if house == allHouses {
				continue
			}
			d := y.Deposits
			now := y.ResultCents - y.CapitalCents + d.HeldAfterCents - d.TakenOverCents
			if was := moved[houseYear{house, year}]; was != now {
				found("house %d: receipts less payments of %d are %d; its result, capital and deposits say %d", house, year,
					was, now)
			}
			delete(moved, houseYear{house, year})
			if sum := y.spentAndEarned(); sum != y.ResultCents {
				found("house %d: in %d the types and categories are %d, and the result is %d", house, year, sum, y.ResultCents)
			}
			held[house] += d.HeldAfterCents
		}
	}
	for at, cents := range moved {
		if cents != 0 {
			found("house %d: receipts less payments of %d are %d, and its year has nothing", at.house, at.year, cents)
		}
	}
	return db.Each(c, func(r *db.Row) error {
		if house, cents := r.Int(), r.Int(); cents != held[house] {
			found("house %d: its leases hold deposits of %d, and its years %d", house, cents, held[house])
		}
		return nil
	}, `SELECT p.id, (SELECT coalesce(sum(ch.paid_cents), 0) FROM units u JOIN leases l ON l.unit_id = u.id
		JOIN charges ch ON ch.lease_id = l.id AND ch.type = 'deposit' WHERE u.property_id = p.id)
		- (SELECT coalesce(sum(m.amount_cents), 0) FROM units u JOIN leases l ON l.unit_id = u.id JOIN payments m
		ON m.lease_id = l.id
			WHERE u.property_id = p.id AND m.method = 'deposit' AND m.voided_at IS NULL)
		- (SELECT coalesce(sum(o.amount_cents), 0) FROM units u JOIN leases l ON l.unit_id = u.id JOIN payouts o
		ON o.lease_id = l.id WHERE u.property_id = p.id AND o.kind = 'deposit')
		FROM properties p`)
}

// spentAndEarned is the result by the year's lists.
func (y *YearSums) spentAndEarned() int64 {
	sum := y.AdvanceCents - y.CreditReturnedCents - y.ReturnedCents
	for _, t := range y.ByType {
		sum += t.ReceivedCents + t.FromDepositsCents
	}
	for _, s := range y.Spent {
		sum -= s.AmountCents
	}
	return sum
}

// checkClosed: nothing was dated into a closed year after its closing; and every expense is of a category that is kept,
// and its unit one of its house.
func checkClosed(c *db.Conn, found func(string, ...any)) error {
	all, err := closings(c)
	if err != nil {
		return err
	}
	for _, x := range all {
		_, last := yearDays(x.year)
		err := db.Each(c, func(r *db.Row) error {
			found("%s %d is dated %s, and was recorded after %d was closed", r.Text(), r.Int(), r.Day(), x.year)
			return nil
		}, `SELECT iif(method = 'deposit', 'deposit use', 'payment'), id, paid_date FROM payments WHERE paid_date <= ?1
			AND recorded_at > ?2 AND method <> 'opening'
			UNION ALL SELECT 'payout', id, day FROM payouts WHERE day <= ?1 AND recorded_at > ?2
			UNION ALL SELECT 'expense', id, day FROM expenses WHERE day <= ?1 AND recorded_at > ?2
			UNION ALL SELECT 'return of payment', payment_id, day FROM payment_returns WHERE day <= ?1 AND (SELECT voided_at
			FROM payments WHERE id = payment_id) > ?2`, last, x.at)
		if err != nil {
			return err
		}
	}
	known, err := categories(c)
	if err != nil {
		return err
	}
	return db.Each(c, func(r *db.Row) error {
		id, category, fits, back := r.Int(), r.Text(), r.Bool(), r.IntPtr()
		switch {
		case !slices.Contains(known, category):
			found("expense %d has the category %s, which is not kept", id, category)
		case !fits:
			found("expense %d is of a unit of another house", id)
		case back != nil && *back != 0:
			found("expense %d and the one that it reverses differ by %d", id, *back)
		}
		return nil
	}, `SELECT e.id, e.category, e.unit_id IS NULL OR u.property_id = e.property_id, e.amount_cents + x.amount_cents
		FROM expenses e LEFT JOIN units u ON u.id = e.unit_id LEFT JOIN expenses x ON x.id = e.reverses_id`)
}
