package store

import (
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// resendOrder sends an order's event again, with its present data, marked as resent. An unknown order is refused as not
// found.
func resendOrder(tx *db.Tx, ref string) (OrderDetail, error) {
	d, err := findOrder(&tx.Conn, ref)
	if err != nil {
		return d, err
	}
	if d.Status == statusVoid {
		return d, fault.Conflictf("order %s is void: there is nothing to send", d.OrderRef)
	}
	name, data := "order.paid", any(d)
	batch, redeemed, err := db.One(&tx.Conn, scanBatch, "SELECT "+batchColumns+
		" FROM store_codes k CROSS JOIN store_batches b ON b.id = k.batch_id "+
		"CROSS JOIN store_products p ON p.id = b.product_id WHERE k.order_id = ?", d.id)
	if err != nil {
		return d, err
	}
	if redeemed {
		name, data = "code.redeemed", redeemedOf(batch, d.Order, d.firstLicense())
	}
	if err := tx.Audit("order.resent", "order:"+d.OrderRef, map[string]string{"event": name}); err != nil {
		return d, err
	}
	return d.shownTo(tx.Who()), tx.Emit(name, db.Resent{Data: data})
}

// buyerURL is the address of the buyer's page; "" while no server has told where the
// store is reached.
func buyerURL(c *db.Conn) (string, error) {
	base, err := c.Setting(db.SettingAddress + ".store")
	if err != nil || base == "" {
		return "", err
	}
	return base + "/my", nil
}
