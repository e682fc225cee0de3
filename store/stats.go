package store

import (
	"context"
	"fmt"
	"io"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// Stats are the store's totals. Amounts of different currencies are never added up.
type Stats struct {
	OrdersPaid     int64        `json:"orders_paid" about:"orders that are paid, redeemed codes included"`
	OrdersRefunded int64        `json:"orders_refunded" about:"orders that were refunded in full"`
	Customers      int64        `json:"customers"`
	Licenses       LicenseCount `json:"licenses"`
	Activations    int64        `json:"activations" about:"seats that are taken"`
	Codes          CodeCount    `json:"codes"`
	Revenue        []Revenue    `json:"revenue" about:"one entry a currency"`
}

// LicenseCount counts licenses by status.
type LicenseCount struct {
	Active    int64 `json:"active"`
	Expired   int64 `json:"expired"`
	Suspended int64 `json:"suspended"`
	Revoked   int64 `json:"revoked"`
}

// of is how many have a status; of all, "".
func (n LicenseCount) of(status string) int64 {
	switch status {
	case stateActive:
		return n.Active
	case statusExpired:
		return n.Expired
	case stateSuspended:
		return n.Suspended
	case stateRevoked:
		return n.Revoked
	}
	return n.Active + n.Expired + n.Suspended + n.Revoked
}

// CodeCount counts redeem codes by status.
type CodeCount struct {
	Unused   int64 `json:"unused"`
	Redeemed int64 `json:"redeemed"`
	Void     int64 `json:"void"`
}

// Revenue is what one currency brought: net is gross less refunded.
type Revenue struct {
	Currency      string `json:"currency"`
	GrossCents    int64  `json:"gross_cents"`
	RefundedCents int64  `json:"refunded_cents"`
	NetCents      int64  `json:"net_cents"`
}

// Stats returns the totals as of now. They are kept up to date by every change, so
// that reading them costs a few rows, however many orders there are.
func (s *Service) Stats(ctx context.Context) (Stats, error) {
	return db.Read(ctx, s.db, stats)
}

func stats(c *db.Conn) (Stats, error) {
	totals, err := readTotals(c)
	if err != nil {
		return Stats{}, err
	}
	over, err := expired(c)
	if err != nil {
		return Stats{}, err
	}
	n := func(kind string) int64 { return totals[total{kind, totalsWithoutOne}] }
	return Stats{
		OrdersPaid: n(ordersPaid), OrdersRefunded: n(ordersRefunded), Customers: n(customersKnown),
		Activations: n(seatsTaken),
		Licenses: LicenseCount{
			Active: n(licensesPrefix+stateActive) - over, Expired: over,
			Suspended: n(licensesPrefix + stateSuspended), Revoked: n(licensesPrefix + stateRevoked),
		},
		Codes: CodeCount{Unused: n(codesPrefix + codeUnused), Redeemed: n(codesPrefix + codeRedeemed),
			Void: n(codesPrefix + codeVoid)},
		Revenue: revenue(totals),
	}, nil
}

// total names one sum.
type total struct{ kind, currency string }

func readTotals(c *db.Conn) (map[total]int64, error) {
	totals := map[total]int64{}
	err := db.Each(c, func(r *db.Row) error {
		t := total{kind: r.Text(), currency: r.Text()}
		totals[t] = r.Int()
		return nil
	}, "SELECT kind, currency, n FROM store_totals")
	return totals, err
}

// revenue lists the currencies in which money came in, by name.
func revenue(totals map[total]int64) []Revenue {
	list := []Revenue{}
	for _, currency := range strings.Fields(currencies) {
		r := Revenue{
			Currency:      currency,
			GrossCents:    totals[total{grossCents, currency}],
			RefundedCents: totals[total{refundedCents, currency}],
		}
		if r.NetCents = r.GrossCents - r.RefundedCents; r.GrossCents != 0 {
			list = append(list, r)
		}
	}
	return list
}

func (s *Service) getStats() schema.Op {
	return schema.Op{
		Name:    "store_stats",
		About:   "The store's totals, by currency.",
		Example: "store stats", Print: schema.Printed(printStats),
		Response: Stats{
			OrdersPaid: 38, OrdersRefunded: 2, Customers: 31,
			Licenses: LicenseCount{Active: 30, Expired: 4, Suspended: 1, Revoked: 3}, Activations: 42,
			Codes: CodeCount{Unused: 140, Redeemed: 8, Void: 2},
			Revenue: []Revenue{{Currency: "EUR", GrossCents: 41300, RefundedCents: 0, NetCents: 41300},
				{Currency: "USD", GrossCents: 98000, RefundedCents: 4900, NetCents: 93100}},
		},
		Bind: schema.Asks(s.Stats),
	}
}

func printStats(w io.Writer, t Stats) {
	fmt.Fprintf(w, "orders: %d paid, %d refunded, of %d customers\n", t.OrdersPaid, t.OrdersRefunded, t.Customers)
	fmt.Fprintf(w, "licenses: %d active, %d expired, %d suspended, %d revoked; %d seats taken\n",
		t.Licenses.Active, t.Licenses.Expired, t.Licenses.Suspended, t.Licenses.Revoked, t.Activations)
	fmt.Fprintf(w, "codes: %d unused, %d redeemed, %d void\n", t.Codes.Unused, t.Codes.Redeemed, t.Codes.Void)
	for _, r := range t.Revenue {
		money := exact.CurrencyOf(r.Currency)
		fmt.Fprintf(w, "revenue in %s: %s sold, %s refunded, %s net\n", r.Currency, money.Plain(r.GrossCents),
			money.Plain(r.RefundedCents), money.Plain(r.NetCents))
	}
}
