package mailer

import (
	"context"
	"time"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/limit"
	"quartermaster/schema/mail"
)

// mostPersons is the largest number of people with one address who are mailed a requested link.
const mostPersons = 3

// settingAsked is written if no person matches, so that such a request also waits for the disk.
const settingAsked = "mail.asked"

// Ask mails a link of the kind to each person who matches the visitor's text: at most three per hour and address, more
// silently none. No answer shows whether anyone matched. It refuses if mail is not set up (not found), and after 20
// requests from one network address in 10 minutes.
func (b *Book) Ask(ctx context.Context, kind, typed, remote string) error {
	k, is := b.names[kind]
	if err := b.Asks(ctx); err != nil || !is {
		return err
	}
	if wait := b.askers.Add(limit.AddressOf(remote), b.d.Now()); wait > 0 {
		e := fault.New(fault.Limited,
			"too many links were requested from here; wait %d minutes", (wait+time.Minute-1)/time.Minute)
		e.Retry = wait
		return e
	}
	who := db.Caller{User: "request", Role: "member", Scope: "full", Via: "request", Service: k.Service}
	persons, err := db.Read(ctx, b.d, func(c *db.Conn) ([]mail.Row, error) { return k.Persons(c, typed) })
	if err != nil {
		return err
	}
	var rows []mail.Row
	addresses := map[string]bool{}
	for _, r := range persons[:min(len(persons), mostPersons)] {
		address := kind + " " + mail.Fold(r.To)
		may, counted := addresses[address]
		if !counted {
			may = b.asked.Add(address, b.d.Now()) == 0
			addresses[address] = may
		}
		if may {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return db.Exec(ctx, b.d, db.Bookkeeping(), func(tx *db.Tx) error {
			return tx.SetSetting(settingAsked, tx.Now().String())
		})
	}
	return db.Exec(ctx, b.d, who, func(tx *db.Tx) error {
		for _, r := range rows {
			r.Link = true
			id, err := k.Queue(tx, r)
			if err != nil {
				return err
			}
			if err := tx.Audit("link.asked", r.Subject, map[string]any{"kind": kind, "mail": id}); err != nil {
				return err
			}
		}
		return nil
	})
}

// Asks refuses as not found if links cannot be requested: mail is not set up.
func (b *Book) Asks(ctx context.Context) error {
	is, err := db.Read(ctx, b.d, mail.SetUp)
	if err == nil && !is {
		err = fault.NotFoundf("mail is not set up, so this page is off; ask the shop for a link")
	}
	return err
}

// Demo reports whether this is a demo, which sends nothing: a purchase opens there by its order, as without mail.
func (b *Book) Demo(ctx context.Context) bool {
	is, err := db.Read(ctx, b.d, func(c *db.Conn) (string, error) { return c.Setting(settingDemo) })
	return err == nil && is != ""
}
