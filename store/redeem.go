package store

import (
	"cmp"
	"context"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Redeemed is the license that a code became, its key in full, and its order. A download has
// an order alone.
type Redeemed struct {
	License *License `json:"license" about:"null for a download"`
	Order   Order    `json:"order"`

	note string
}

// IssuedKey is the key of the license that the code gave, "" without one.
func (r Redeemed) IssuedKey() string {
	if r.License == nil {
		return ""
	}
	return r.License.Key
}

// Note is what the shop says of the product to its buyers.
func (r Redeemed) Note() string { return r.note }

// CodeRedeemed is the data of code.redeemed. The code is not told, and the license
// key is masked: the buyer was shown it.
type CodeRedeemed struct {
	Batch    string   `json:"batch"`
	SKU      string   `json:"sku"`
	Tier     *string  `json:"tier"`
	OrderRef string   `json:"order_ref"`
	License  *License `json:"license" about:"null for a download"`
}

// redeemedOf is the event of a code of b that became order o; l is nil for a download.
func redeemedOf(b Batch, o Order, l *License) CodeRedeemed {
	e := CodeRedeemed{Batch: b.Batch, SKU: b.SKU, Tier: b.Tier, OrderRef: o.OrderRef}
	if l != nil {
		masked := l.masked()
		e.License = &masked
	}
	return e
}

// firstLicense is the license that a redeemed code issued; nil for a download.
func (d OrderDetail) firstLicense() *License {
	if len(d.Licenses) == 0 {
		return nil
	}
	return &d.Licenses[0]
}

// code is a stored redeem code with what it is for.
type code struct {
	status string
	batch  Batch
}

// lookUpCode finds a code by its digest. An unknown code costs the same first
// statement as a known one.
func lookUpCode(c *db.Conn, hash []byte) (code, bool, error) {
	k, found, err := db.One(c, func(r *db.Row) code {
		k := code{status: r.Text()}
		k.batch = scanBatch(r)
		return k
	}, "SELECT k.status, "+batchColumns+" FROM store_codes k CROSS JOIN store_batches b ON b.id = k.batch_id "+
		"CROSS JOIN store_products p ON p.id = b.product_id WHERE k.hash = ?", hash)
	return k, found, err
}

// usable refuses a code that was redeemed or is void.
func (k code) usable() error {
	switch k.status {
	case codeRedeemed:
		return fault.Conflictf("this code was redeemed before")
	case codeVoid:
		return fault.Conflictf("this code is void")
	}
	return nil
}

// redeemedBefore tells the person who redeemed the code, such as by sending the form twice, which order it became.
func redeemedBefore(c *db.Conn, hash []byte, email string) error {
	ref, found, err := db.One(c, (*db.Row).Text, "SELECT o.order_ref FROM store_codes k "+
		"CROSS JOIN store_orders o ON o.id = k.order_id CROSS JOIN store_customers c ON c.id = o.customer_id "+
		"WHERE k.hash = ? AND c.email = ?", hash, email)
	if err != nil || !found {
		return cmp.Or(err, code{status: codeRedeemed}.usable())
	}
	return fault.Conflictf("this code was redeemed before, as order %s; open your purchase with that and your e-mail address", ref)
}

func noCode() error { return fault.NotFoundf("no such code; check its letters and digits").At("code") }

// RedeemCode turns a code into a license: an order of the provider code with total 0, and its license, whose key is
// returned in full. It emits code.redeemed. Refused: an invalid address; an unknown or ill-formed code (not found); a
// redeemed or void one (conflict); and 429 if an address tried too many unknown codes and keys.
func (s *Service) RedeemCode(ctx context.Context, written, email, name, remote string) (Redeemed, error) {
	return s.redeemAs(ctx, buyer(), written, email, name, remote)
}

// redeemAs is RedeemCode for any caller.
func (s *Service) redeemAs(ctx context.Context, who db.Caller, written, email, name, remote string) (Redeemed, error) {
	email, err := foldEmail(email)
	if err != nil {
		return Redeemed{}, err
	}
	if name, err = checkName(name); err != nil {
		return Redeemed{}, err
	}
	hash := digest(written, codeLength)
	known := false
	err = s.db.View(ctx, func(c *db.Conn) error {
		k, found, err := lookUpCode(c, hash)
		if known = found; err != nil || !found {
			return err
		}
		if k.status == codeRedeemed {
			return redeemedBefore(c, hash, email)
		}
		return k.usable()
	})
	if err != nil {
		return Redeemed{}, err
	}
	if !known {
		if err := s.missed(remote); err != nil {
			return Redeemed{}, err
		}
		return Redeemed{}, noCode()
	}
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Redeemed, error) {
		r, batch, err := spend(tx, hash, email, name, tx.Now())
		if err != nil {
			return Redeemed{}, err
		}
		if err := tx.Emit("code.redeemed", redeemedOf(batch, r.Order, r.License)); err != nil {
			return r, err
		}
		p, _, err := lookUpProduct(&tx.Conn, batch.SKU)
		if err != nil {
			return r, err
		}
		r.note = strings.TrimSpace(p.Note)
		return r, mailOrder(tx, OrderDetail{Order: r.Order}, false)
	})
}

// spend turns the code of the digest into an order with its license.
func spend(tx *db.Tx, hash []byte, email, name string, at exact.Instant) (Redeemed, Batch, error) {
	k, found, err := lookUpCode(&tx.Conn, hash)
	switch {
	case err != nil:
		return Redeemed{}, k.batch, err
	case !found:
		return Redeemed{}, k.batch, noCode()
	}
	if err := k.usable(); err != nil {
		return Redeemed{}, k.batch, err
	}
	d, err := bookCode(tx, k.batch, email, name, at)
	if err != nil {
		return Redeemed{}, k.batch, err
	}
	tx.Do("UPDATE store_codes SET status = 'redeemed', order_id = ?, redeemed_at = ? WHERE hash = ?", d.id,
		at, hash)
	if err := tx.Audit("code.redeemed", "batch:"+k.batch.Batch, map[string]string{"order_ref": d.OrderRef}); err != nil {
		return Redeemed{}, k.batch, err
	}
	// The holder of a code may give any address: the name stored for it is not theirs to learn.
	d.Customer.Name = name
	countCodes(tx, k.batch.id, codeRedeemed, 1)
	return Redeemed{License: d.firstLicense(), Order: d.Order}, k.batch, nil
}

// bookCode books the order that a code of the batch becomes: it comes to nothing.
func bookCode(tx *db.Tx, b Batch, email, name string, at exact.Instant) (OrderDetail, error) {
	p, err := findProduct(&tx.Conn, b.SKU)
	if err != nil {
		return OrderDetail{}, err
	}
	set, err := settings(&tx.Conn)
	if err != nil {
		return OrderDetail{}, err
	}
	return book(tx, sale{
		lines: []line{{product: p, tier: schema.Cell(b.Tier), qty: 1, licensed: p.Kind != kindDownload}}, email: email,
		name:     name,
		currency: set.Currency, provider: "code", paidAt: at,
	}, false)
}

func (s *Service) redeemCode() schema.Op {
	order := exampleDetail().Order
	order.Provider, order.ProviderRef = "code", order.OrderRef
	order.Items[0].UnitCents, order.Items[0].TotalCents, order.SubtotalCents, order.TotalCents = 0, 0, 0, 0
	license := exampleLicense()
	license.ActivationCount, license.LastCheckedAt = 0, nil
	return schema.Op{
		Name:   "redeem_code",
		About:  "Redeem a code for a license. The answer has the full license key.",
		Public: true, MaxBody: deviceBody, Writes: true, Creates: true, Refuses: []fault.Kind{fault.Limited},
		Own: []schema.Refusal{
			{Kind: fault.NotFound, Detail: "There is no such code."},
			{Kind: fault.Conflict, Detail: "The code was redeemed already, or is void."},
		},
		Response: Redeemed{License: &license, Order: order},
		Bind: func(f *schema.Form) schema.Handler {
			var written, email, name, remote string
			f.Text(&written, "code", "the redeem code; case and separators do not matter",
				schema.Required, schema.Example("7Q4Z-J0M3-RT9W-XYAB"))
			f.Text(&email, "email", "who redeems it", schema.Required, schema.Most(254), schema.Example("ann@example.com"))
			f.Text(&name, "name", "the person's name", schema.Most(200), schema.Example("Ann Lee"))
			f.Remote(&remote)
			return func(ctx context.Context, _ db.Caller) (any, error) {
				return s.RedeemCode(ctx, written, email, name, remote)
			}
		},
	}
}
