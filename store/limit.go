package store

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// mostSeats bounds a limit of seats.
const mostSeats = 1_000_000

const (
	limitUnlimited = "unlimited"
	limitProduct   = "product"
)

// readLimit parses a license's own limit: a number of seats, unlimited (-1), or the product's, nil, for "product" or an
// empty text.
func readLimit(written string) (*int64, error) {
	text := strings.ToLower(strings.TrimSpace(written))
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case text == limitProduct, text == "":
		return nil, nil
	case text == limitUnlimited:
		n = -1
	case err != nil || n < 0 || n > mostSeats:
		return nil, fmt.Errorf("%s is not allowed; it takes 0 to 1,000,000 seats, %s, or %s for the product's own",
			schema.Quote(written), limitUnlimited, limitProduct)
	}
	return &n, nil
}

// limitCell is a license's own limit as a table has it.
func (l License) limitCell() string {
	if l.ownLimit != nil && *l.ownLimit < 0 {
		return limitUnlimited
	}
	return schema.Cell(l.ownLimit)
}

// setLicenseLimit gives a license its own limit, or its product's again. Seats above it stay. Refused: an unknown
// license, an invalid limit.
func setLicenseLimit(tx *db.Tx, id int64, limit string) (License, error) {
	own, err := readLimit(limit)
	if err != nil {
		return License{}, fault.Fieldf("limit", "limit: %s", err)
	}
	l, err := findLicense(&tx.Conn, id)
	if err != nil {
		return l, err
	}
	if err := setLimit(tx, l, own); err != nil {
		return l, err
	}
	return licenseFor(&tx.Conn, tx.Who(), id)
}

// setLimit stores a license's own limit; one that it has already writes nothing.
func setLimit(tx *db.Tx, l License, own *int64) error {
	is := l
	is.ownLimit = own
	if is.limitCell() == l.limitCell() {
		return nil
	}
	tx.Do("UPDATE store_licenses SET own_limit = ? WHERE id = ?", own, l.ID)
	return tx.Audit("license.limit", subject(l), map[string]string{"from": firstOf(l.limitCell(), limitProduct),
		"to": firstOf(is.limitCell(), limitProduct)})
}

func (s *Service) setLicenseLimit() schema.Op {
	op := s.licenseAct("set_license_limit", "limit",
		"Set a license's own seat limit, no limit, or its product's again. Machines above it keep their seats.",
		"has a new seat limit", nil)
	op.Idempotent = true
	op.Example = "store license limit 12 5\nstore license limit 12 unlimited\nstore license limit 12 product"
	op.Print = schema.Printed(func(w io.Writer, l License) {
		fmt.Fprintf(w, "license %d: %s seats taken\n", l.ID, seats(l))
	})
	op.Did = schema.Said(func(l License) string {
		return fmt.Sprintf("License %d of %s has %s seats taken.", l.ID, l.CustomerEmail, seats(l))
	})
	op.Bind = schema.Writes2(s.db, func(f *schema.Form, id *int64, limit *string) {
		bindLicense(f, id)
		f.Text(limit, "limit",
			"how many machines may hold a seat: 0 to 1,000,000, unlimited, or product for the product's own limit",
			schema.Required, schema.Most(20), schema.Positional("LIMIT"), schema.Example("5"))
	}, setLicenseLimit)
	return op
}
