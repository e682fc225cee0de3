package rental

import (
	"context"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// PayTo tells a tenant where to pay, with which reference; Code is the content of a QR code for it, "" where none can
// be.
type PayTo struct {
	Cents     int64
	Currency  string
	Holder    string
	Number    string // an IBAN in groups of four, else the account's number
	Reference string // in groups
	Code      string
}

// maxCode is the greatest amount that a payment's QR code can hold, in cents, and maxCodeBytes all of it.
const (
	maxCode       = 99_999_999_999
	maxCodeBytes  = 331
	maxCodeHolder = 70
)

// PayTo tells where the tenants of a lease pay an amount; nil without an account that collects for its house.
func (s *Service) PayTo(ctx context.Context, lease, cents int64) (*PayTo, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (*PayTo, error) { return payTo(c, lease, cents) })
}

func payTo(c *db.Conn, lease, cents int64) (*PayTo, error) {
	property, found,
		err := db.One(c, db.Int, "SELECT u.property_id FROM leases l CROSS JOIN units u ON u.id = l.unit_id WHERE l.id = ?",
		lease)
	if err != nil || !found || cents <= 0 {
		return nil, err
	}
	a, found, err := collecting(c, property)
	if err != nil || !found {
		return nil, err
	}
	currency, err := c.Currency()
	if err != nil || a.Currency != currency.Code {
		return nil, err
	}
	p := &PayTo{Cents: cents, Currency: a.Currency, Holder: set(a.Holder), Number: set(a.Number),
		Reference: SpacedReference(lease)}
	if a.IBAN != nil {
		p.Number = grouped(*a.IBAN)
		p.Code = paymentCode(a, cents, PaymentReference(lease))
	}
	return p, nil
}

// paymentCode is the content of a QR code for a transfer (EPC069-12, version 2), which there is for EUR alone.
func paymentCode(a BankAccount, cents int64, reference string) string {
	if a.IBAN == nil || a.Holder == nil || a.Currency != "EUR" || cents < 1 || cents > maxCode {
		return ""
	}
	holder := strings.TrimSpace(cutText(flat(*a.Holder), maxCodeHolder))
	for {
		code := strings.Join([]string{"BCD", "002", "1", "SCT", set(a.BIC), holder, *a.IBAN,
			"EUR" + exact.CurrencyOf("EUR").Plain(cents), "", reference}, "\n")
		if len(code) <= maxCodeBytes {
			return code
		}
		holder = cutText(holder, len([]rune(holder))-1)
	}
}
