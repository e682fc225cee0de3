package store

import (
	"cmp"
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// licenseChoices lists licenses, the newest first: "PLUGIN, ann@example.com, …K4XQ".
func licenseChoices(c *db.Conn, f schema.Find) (list []schema.Choice, err error) {
	var found []License
	if f.Value != "" {
		id, wrong := strconv.ParseInt(f.Value, 10, 64)
		if wrong != nil {
			return nil, nil //nolint:nilerr // no license has that number
		}
		l, err := findLicense(c, id)
		if err != nil {
			return nil, unlessMissing(err)
		}
		found = []License{l}
	} else if found, err = (LicenseFilter{Q: f.Words}).list(c, int64(f.Most)); err != nil {
		return nil, err
	}
	for _, l := range found {
		text := l.SKU + ", " + l.CustomerEmail
		if n := len(l.Key); n > 4 {
			text += ", …" + l.Key[n-4:]
		}
		if l.ExpiresAt != nil {
			text += ", until " + schema.DaysInWords(l.ExpiresAt.Day(c.Zone()).String())
		}
		list = append(list, schema.Choice{Value: strconv.FormatInt(l.ID, 10), Text: text, More: l.Status})
	}
	return list, nil
}

// seatChoices finds a seat: the list of all is on its license's page.
func seatChoices(c *db.Conn, f schema.Find) ([]schema.Choice, error) {
	a, found, err := activations.One(c, "WHERE id = ?", f.Value)
	if err != nil || !found {
		return nil, err
	}
	return []schema.Choice{a.choice()}, nil
}

// mySeatChoices lists the seats of a buyer's session.
func mySeatChoices(c *db.Conn, who db.Caller, f schema.Find) (list []schema.Choice, err error) {
	mine, err := licensesOfBuyer(c, who.Subject)
	for _, l := range mine {
		seats, err := allSeats(c, l.ID)
		if err != nil {
			return nil, err
		}
		for _, a := range seats {
			if seat := a.choice(); f.Value == "" || f.Value == seat.Value {
				list = append(list, seat)
			}
		}
	}
	return list, err
}

func (a Activation) choice() schema.Choice {
	return schema.Choice{Value: strconv.FormatInt(a.ID, 10), Text: cmp.Or(a.Label, a.Fingerprint)}
}

// orderChoices lists orders, the newest first.
func orderChoices(c *db.Conn, f schema.Find) (list []schema.Choice, err error) {
	var found []Order
	if f.Value != "" {
		d, err := findOrder(c, f.Value)
		if err != nil {
			return nil, unlessMissing(err)
		}
		found = []Order{d.Order}
	} else if found, err = (OrderFilter{Q: f.Words}).list(c, int64(f.Most)); err != nil {
		return nil, err
	}
	for _, o := range found {
		v := schema.Choice{Value: o.OrderRef, Text: o.OrderRef, More: exact.CurrencyOf(o.Currency).Format(o.TotalCents)}
		if o.Customer.Email != "" {
			v.Text += ", " + o.Customer.Email
		}
		list = append(list, v)
	}
	return list, nil
}

func unlessMissing(err error) error {
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// batchChoices lists batches of redeem codes, the newest first.
func batchChoices(c *db.Conn, f schema.Find) ([]schema.Choice, error) {
	return schema.Among(func(c *db.Conn) (list []schema.Choice, err error) {
		all, err := listBatches(c, f.Value, "", schema.Cursor[int64]{Limit: 500})
		for _, b := range all {
			list = append(list, schema.Choice{Value: b.Batch, Text: b.Batch, More: b.SKU + ", " +
				exact.Plural(b.Unused, "unused code", "unused codes")})
		}
		return list, err
	})(c, f)
}

// signingChoices lists the keys that sign license files.
func signingChoices(c *db.Conn, f schema.Find) ([]schema.Choice, error) {
	return schema.Among(func(c *db.Conn) ([]schema.Choice, error) {
		return db.All(c, func(r *db.Row) schema.Choice {
			v := schema.Choice{Value: r.Text()}
			if v.Text = v.Value; r.Bool() {
				v.More = "signs now"
			}
			return v
		}, "SELECT key_id, signs FROM store_signing_keys ORDER BY id DESC")
	})(c, f)
}
