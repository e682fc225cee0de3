// Package server is a running appliance: the four services over one database, each on its listener, with the background
// work.
package server

import (
	"context"
	"fmt"
	"slices"

	"quartermaster/app/account"
	"quartermaster/app/audit"
	"quartermaster/app/mailer"
	"quartermaster/app/screen"
	"quartermaster/maintenance"
	"quartermaster/rental"
	"quartermaster/reorder"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/mail"
	"quartermaster/store"
	"quartermaster/webhook"
)

// Names are the services' names in the order of their ports.
var Names = schema.ServiceNames

// Services are the four services over one database.
type Services struct {
	All         []schema.Service // in the order of Names
	Store       *store.Service
	Maintenance *maintenance.Service
	Rental      *rental.Service
	Reorder     *reorder.Service

	Mail  *mailer.Book
	flush []func(context.Context) error // data that services store asynchronously
}

// NewServices builds the services over d. Without a database they can only be described, for the command line's help.
func NewServices(d *db.DB) *Services { return over(d, store.New(d)) }

// On returns the services over d, which may be bound to a transaction. The store's cache is shared with s.
func (s *Services) On(d *db.DB) *Services { return over(d, s.Store.On(d)) }

func over(d *db.DB, shop *store.Service) *Services {
	s := &Services{Store: shop, Maintenance: maintenance.New(d), Rental: rental.New(d), Reorder: reorder.New(d)}
	s.Rental.Sheets = bankSheets
	s.All = []schema.Service{s.Store.Declare(), s.Maintenance.Declare(), s.Rental.Declare(), s.Reorder.Declare()}
	words := map[string][]string{"store": store.MailWords, "rental": rental.MailWords,
		"maintenance": maintenance.MailWords, "reorder": reorder.MailWords}
	s.Mail = mailer.NewBook(d, s.kinds(), words, slices.Concat(
		s.Store.Notices(), s.Maintenance.Notices(), s.Rental.Notices(), s.Reorder.Notices()))
	s.Rental.Letter = s.Mail.Letter
	s.flush = []func(context.Context) error{s.Store.Flush, s.Mail.Flush}
	return s
}

// kinds are all kinds of messages.
func (s *Services) kinds() []mail.Kind {
	return slices.Concat(s.Store.Mails(), s.Rental.Mails(), s.Maintenance.Mails(), s.Reorder.Mails(), account.Mails())
}

// Named finds one of the four.
func (s *Services) Named(name string) (schema.Service, bool) {
	for _, v := range s.All {
		if v.Name == name {
			return v, true
		}
	}
	return schema.Service{}, false
}

// Declared are the declarations of commands and pages: those of the four services, and the appliance's own operations
// under the name "".
func Declared(d *db.DB) []schema.Service {
	s := NewServices(d)
	return append(s.All, Appliance(d, s, account.NewSessions(d), nil))
}

// Appliance are the appliance's own operations, without a service: users, keys, the own account, receivers and their
// deliveries, mail, the audit trail. The sender resends; without one, as at the command line, one is made for it.
func Appliance(d *db.DB, services *Services, sessions *account.Sessions, sender *webhook.Sender) schema.Service {
	senderFor := func(private bool) *webhook.Sender {
		if sender != nil {
			return sender
		}
		return webhook.NewSender(d, webhook.Options{Version: Version, AllowPrivate: private})
	}
	return schema.Service{Title: "Appliance", Ops: slices.Concat(
		account.Ops(d, sessions, Names),
		webhook.Ops(d, services.All, senderFor),
		services.Mail.Ops(),
		[]schema.Op{audit.Op(d, Names), setTimezone(d), switchOn(d)},
		screen.LogoOps(d),
	)}
}

// FindOp finds the command's operation among the declarations over an open database.
func FindOp(all []schema.Service, service string, op schema.Op) (schema.Op, error) {
	for _, s := range all {
		if s.Name != service {
			continue
		}
		for _, o := range s.Ops {
			if o.Name == op.Name && o.Command == op.Command {
				return o, nil
			}
		}
	}
	return schema.Op{}, fmt.Errorf("server: no operation %s of %q is declared", op.Name, service)
}
