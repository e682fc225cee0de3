package rental

import "quartermaster/schema/db"

// checkLines: a line has what its state says and nothing else, what it is linked with stands and is of its sum, and
// the parts of a split are the line.
func checkLines(c *db.Conn, found func(string, ...any)) error {
	err := db.Each(c, func(r *db.Row) error {
		line, state, links, made, standing, parts, sum, cents := r.Int(), r.Text(), r.Int(), r.Int(), r.Int(), r.Int(),
			r.Int(), r.Int()
		switch {
		case state == lineBooked && (links != 1 || made != 1 || standing != 1):
			found("bank line %d is booked, and has %d links of which %d made a payment and %d stand", line, links, made,
				standing)
		case state == lineLinked && (links == 0 || made != 0 || standing != links):
			found("bank line %d is linked, and of its %d links %d stand", line, links, standing)
		case state == lineReturned && links == 0:
			found("bank line %d is returned, and names no payment", line)
		case (state == lineFree || state == lineIgnored || state == lineSplit) && links != 0:
			found("bank line %d is %s, and has %d links", line, state, links)
		case (state == lineSplit) != (parts > 0) || parts > 0 && sum != cents:
			found("bank line %d over %d is %s, and has %d parts over %d", line, cents, state, parts, sum)
		}
		return nil
	}, `SELECT b.id, b.state, (SELECT count(*) FROM bank_links WHERE line_id = b.id), (SELECT coalesce(sum(made), 0)
		FROM bank_links WHERE line_id = b.id),
		(SELECT count(*) FROM bank_links k LEFT JOIN payments m ON m.id = k.payment_id WHERE k.line_id = b.id
		AND (k.payment_id IS NULL OR m.voided_at IS NULL
			OR b.state = 'linked' AND `+returnedByBank+`)),
		(SELECT count(*) FROM bank_lines WHERE parent_id = b.id), (SELECT coalesce(sum(amount_cents), 0) FROM bank_lines
		WHERE parent_id = b.id), b.amount_cents
		FROM bank_lines b ORDER BY b.id`)
	if err != nil {
		return err
	}
	err = db.Each(c, func(r *db.Row) error {
		if line, cents, sum := r.Int(), r.Int(), r.Int(); cents != sum {
			found("bank line %d over %d is settled by records over %d", line, cents, sum)
		}
		return nil
	}, `SELECT b.id, b.amount_cents, (SELECT coalesce(sum(m.amount_cents), 0) FROM bank_links k JOIN payments m
		ON m.id = k.payment_id WHERE k.line_id = b.id)
		- (SELECT coalesce(sum(o.amount_cents), 0) FROM bank_links k JOIN payouts o ON o.id = k.payout_id
		WHERE k.line_id = b.id)
		- (SELECT coalesce(sum(e.amount_cents), 0) FROM bank_links k JOIN expenses e ON e.id = k.expense_id
		WHERE k.line_id = b.id)
		FROM bank_lines b WHERE b.state IN ('booked', 'linked')
		AND NOT EXISTS (SELECT 1 FROM bank_links k JOIN bank_links o ON (o.payment_id = k.payment_id
		OR o.payout_id = k.payout_id OR o.expense_id = k.expense_id) AND o.line_id <> b.id WHERE k.line_id = b.id)`)
	if err != nil {
		return err
	}
	return db.Each(c, func(r *db.Row) error {
		if payment, cents, sum := r.Int(), r.Int(), r.Int(); cents != sum {
			found("payment %d over %d is linked with bank lines over %d", payment, cents, sum)
		}
		return nil
	}, `SELECT m.id, m.amount_cents, sum(b.amount_cents) FROM bank_links k JOIN payments m ON m.id = k.payment_id
		JOIN bank_lines b ON b.id = k.line_id
		WHERE m.voided_at IS NULL GROUP BY m.id HAVING count(*) > 1`)
}

// checkStatements: a statement that is balanced adds up.
func checkStatements(c *db.Conn, found func(string, ...any)) error {
	return db.Each(c, func(r *db.Row) error {
		statement, state, opening, sum, closing := r.Int(), r.Text(), r.IntPtr(), r.Int(), r.IntPtr()
		whole := opening != nil && closing != nil
		if whole != (state != "unchecked") || whole && (*opening+sum == *closing) != (state == "balanced") {
			found("bank statement %d is %s, and its lines are %d", statement, state, sum)
		}
		return nil
	}, "SELECT id, state, opening_cents, sum_cents, closing_cents FROM bank_statements")
}
