package store

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// Noticed are the customers notified of licenses that end soon.
type Noticed struct {
	Sent       []Notice `json:"sent"`
	Skipped    []Notice `json:"skipped"`
	TotalCents int64    `json:"total_cents" about:"0: notices ask for no money"`
}

// Notice is one customer's message.
type Notice struct {
	To       string  `json:"to"`
	Licenses []int64 `json:"licenses" about:"their ids"`
	Reason   *string `json:"reason" about:"why nothing is sent; null when it is"`
}

// ending are the active licenses without a running subscription whose last day is near, of customers who can be mailed
// and were not yet notified of this end.
const ending = `SELECT l.id, l.expires_at, c.id, c.email FROM store_licenses l
	CROSS JOIN store_orders o ON o.id = l.order_id CROSS JOIN store_customers c ON c.id = o.customer_id
	LEFT JOIN store_subscriptions s ON s.id = l.subscription_id
	WHERE l.state = 'active' AND l.expires_at > ?1 AND l.expires_at < ?2 AND (s.id IS NULL OR 'ended' = ` +
	subscriptionState + `)
	AND NOT EXISTS (SELECT 1 FROM store_expiry_notices n WHERE n.license_id = l.id AND n.expires_at = l.expires_at)
	ORDER BY c.id, l.id`

type endingLicense struct {
	id       int64
	expires  exact.Instant
	customer int64
	email    string
}

// sendExpiryNotices queues one message for each customer who has licenses whose last day is today to
// today + days, once a license and end. Refused while mail is not set up, and while the clock is doubted.
func sendExpiryNotices(tx *db.Tx, days int64) (v Noticed, err error) {
	v = Noticed{Sent: []Notice{}, Skipped: []Notice{}}
	if err := mail.CheckSetUp(&tx.Conn); err != nil {
		return v, err
	}
	if err := tx.CheckClock(); err != nil {
		return v, err
	}
	until := exact.InstantOf((tx.Today() + exact.Day(days) + 1).Time(tx.Zone())) // #nosec G115 -- at most 90
	all, err := db.All(&tx.Conn, func(r *db.Row) endingLicense {
		return endingLicense{r.Int(), r.Instant(), r.Int(), r.Text()}
	}, ending, tx.Now(), until)
	if err != nil {
		return v, err
	}
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].customer == all[0].customer {
			n++
		}
		if err := v.notify(tx, all[:n]); err != nil {
			return v, err
		}
		all = all[n:]
	}
	return v, tx.Audit("expiry.sent", "customers", map[string]int{"sent": len(v.Sent), "skipped": len(v.Skipped)})
}

// notify notifies one customer of the licenses, or says why not.
func (v *Noticed) notify(tx *db.Tx, all []endingLicense) error {
	told := Notice{To: all[0].email}
	for _, l := range all {
		told.Licenses = append(told.Licenses, l.id)
	}
	why, err := mail.Unsendable(&tx.Conn, told.To)
	if err != nil {
		return err
	}
	if why != "" {
		told.Reason = &why
		v.Skipped = append(v.Skipped, told)
		return nil
	}
	id, err := expiryKind.Queue(tx, mail.Row{Subject: db.Subject("customer", all[0].customer), Record: told.To,
		To: told.To})
	if err != nil {
		return err
	}
	// a resend is about the same licenses
	tx.Do("UPDATE mails SET note = ?1 WHERE id = ?1", id)
	for _, l := range all {
		tx.Do("INSERT INTO store_expiry_notices VALUES (?, ?, ?)", l.id, l.expires, id)
	}
	v.Sent = append(v.Sent, told)
	return nil
}

// fillExpiry fills in the notice of licenses that end soon: those whose end has not changed.
func fillExpiry(c *db.Conn, w *mail.Writer, r mail.Row) (v mail.Content, err error) {
	var ids []int64
	if r.Note == "" { // a preview
		l, _, err := licenseOf(c, r)
		if err != nil {
			return v, err
		}
		ids = []int64{l.ID}
	} else if ids, err = db.All(c, db.Int, `SELECT n.license_id FROM store_expiry_notices n CROSS JOIN store_licenses l
		ON l.id = n.license_id AND l.expires_at = n.expires_at WHERE n.mail_id = ? ORDER BY n.license_id`,
		r.Note); err != nil {
		return v, err
	}
	var rows [][]string
	for _, id := range ids {
		l, err := findLicense(c, id)
		if err != nil {
			return v, err
		}
		if l.Status != stateActive && r.Note != "" {
			continue
		}
		p, err := findProduct(c, l.SKU)
		if err != nil {
			return v, err
		}
		ends := ""
		if l.ExpiresAt != nil {
			ends = w.Day(w.Zone(*l.ExpiresAt))
		}
		rows = append(rows, []string{p.Name, "..." + KeyEnd(l.Key), ends})
		v.To = l.CustomerEmail
	}
	if len(rows) == 0 {
		v.Untrue = "the licenses no longer end then"
		return v, nil
	}
	k, _, err := findCustomer(c, v.To)
	v.Name = k.Name
	v.Values = map[string]mail.Value{"licenses": mail.Rows(rows), "link": myPage(w)}
	return v, err
}

func (s *Service) sendExpiryNotices() schema.Op {
	return schema.Op{
		Name: "send_expiry_notices", Writes: true, Destructive: true,
		About: "Mail customers whose licenses end soon, once for each end. Licenses renewed by a subscription are " +
			"skipped.",
		Example:  "store send-expiry-notices --days 30",
		Response: Noticed{Sent: []Notice{{To: "ann@example.com", Licenses: []int64{12}}}, Skipped: []Notice{}},
		Refuses:  []fault.Kind{fault.Conflict},
		Bind: schema.Writes(s.db, func(f *schema.Form, days *int64) {
			*days = 14
			f.Int(days, "days", "licenses that end within this many days, 1 to 90", schema.Range(1, 90))
		}, sendExpiryNotices),
		Print: schema.Printed(func(w io.Writer, v Noticed) {
			schema.Tabulate(w, "TO|LICENSES|SKIPPED BECAUSE", append(v.Sent, v.Skipped...), func(n Notice) []any {
				why := schema.Or(n.Reason, "")
				return []any{n.To, strconv.Itoa(len(n.Licenses)), why}
			})
		}),
		Will: schema.Said(func(v Noticed) string {
			to := mail.Few(v.Sent, func(n Notice) string { return n.To })
			told := exact.Plural(len(v.Sent), "customer", "customers") + " will be mailed that licenses end soon: " + to
			return fmt.Sprintf("%s. %s skipped.", strings.TrimSuffix(told, ": "), exact.Plural(len(v.Skipped), "is", "are"))
		}),
		Did: schema.Said(func(v Noticed) string {
			return fmt.Sprintf("%s mailed; %s skipped.", exact.Plural(len(v.Sent), "customer is", "customers are"),
				exact.Plural(len(v.Skipped), "is", "are"))
		}),
		Leads: func(any) string { return "/licenses" },
	}
}
