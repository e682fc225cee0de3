package server

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"quartermaster/app/account"
	"quartermaster/app/screen"
	"quartermaster/schema/db"
	"quartermaster/webhook"
)

// screens adds the pages to the APIs that listen already, since a page links to the other services by their actual
// addresses.
func (s *Server) screens(c *Config, trusted []netip.Prefix) error {
	if err := s.keepAddresses(c); err != nil {
		return err
	}
	if !c.Screens {
		return nil
	}
	s.shows = map[string]*screen.Screens{}
	var places []screen.Place
	for _, service := range s.services.All {
		if l, ok := s.listeners[service.Name]; ok {
			one, many, count := s.services.waiting(service.Name)
			places = append(places, screen.Place{
				Name: service.Name, Title: strings.TrimSuffix(service.Title, " service"), URL: c.PublicURL(service.Name, l.addr),
				Front: s.services.shown(service.Name).front, One: one, Many: many, Waits: count,
			})
		}
	}
	for _, service := range s.services.All {
		l, ok := s.listeners[service.Name]
		if !ok {
			continue
		}
		show := s.services.shown(service.Name)
		o := operations(s.db, s.services, service.Name, show, s.sessions, s.sender)
		o.API, o.Mail = l.api, s.services.Mail
		o.Doctor, o.Places, o.Log, o.Version, o.Trusted = s.desk, places, s.log, Version, trusted
		o.Secure, o.OwnTLS, o.Observe = c.TLS() || c.BehindProxy, c.TLS(), s.meters.observe
		o.Background = func(work func(context.Context)) { s.every.Go(func() { work(s.long) }) }
		o.Pages, o.Once, o.OpenBuyer = show.pages, show.once, show.openBuyer
		o.On = func(d *db.DB) screen.Options {
			bound := s.services.On(d)
			return operations(d, bound, service.Name, bound.shown(service.Name), account.NewSessions(d), nil)
		}
		screens, err := screen.New(o)
		if err != nil {
			return fmt.Errorf("%s: %w", service.Name, err)
		}
		s.shows[service.Name] = screens
		l.server.Handler = trackRequests(screens, l.memory)
	}
	return nil
}

// operations are the operations of a service's pages over d, which may be bound to a transaction.
func operations(d *db.DB, all *Services, name string, show shown, sessions *account.Sessions,
	sender *webhook.Sender) screen.Options {
	service, _ := all.Named(name)
	common := Appliance(d, all, sessions, sender).Ops
	if name != "store" {
		common = append(common, all.Store.CurrencyOp())
	}
	return screen.Options{
		Service: service, Common: common, DB: d, Sessions: sessions,
		Portal: show.portal, Buyer: show.buyer, Open: show.open,
	}
}

// Screens are a service's pages; nil if pages are off.
func (s *Server) Screens(service string) *screen.Screens { return s.shows[service] }

// DemoLink is the link that signs in as the demo's user by one button; "" if pages are off or nothing listens on
// loopback, since it signs in without a password.
func (s *Server) DemoLink(c *Config) string {
	if !c.Screens {
		return ""
	}
	for _, name := range []string{"maintenance", "store", "rental", "reorder"} {
		l, ok := s.listeners[name]
		if !ok {
			continue
		}
		if host, _, err := net.SplitHostPort(l.addr); err == nil && loopback(host) {
			return c.PublicURL(name, l.addr) + "/welcome/" + s.sessions.Demo(demoUser)
		}
	}
	return ""
}

// PublicURL is the browsers' address of a service that listens on addr.
func (c *Config) PublicURL(service, addr string) string {
	if u := *c.URLs[service]; u != "" {
		return strings.TrimSuffix(u, "/")
	}
	host, port, err := net.SplitHostPort(addr)
	if ip, perr := netip.ParseAddr(host); err == nil && (host == "" || perr == nil && ip.IsUnspecified()) {
		addr = net.JoinHostPort("127.0.0.1", port)
	}
	return c.BaseURL(addr)
}

// keepAddresses stores the public addresses in the file, so that commands print the right links.
func (s *Server) keepAddresses(c *Config) error {
	return db.Exec(context.Background(), s.db, db.Bookkeeping(), func(tx *db.Tx) error {
		for _, name := range Names {
			l, ok := s.listeners[name]
			if !ok {
				continue
			}
			address := ""
			if c.Screens {
				address = c.PublicURL(name, l.addr)
			}
			key := db.SettingAddress + "." + name
			now, err := tx.Setting(key)
			if err != nil {
				return err
			}
			if now == address {
				continue
			}
			if err := tx.SetSetting(key, address); err != nil {
				return err
			}
		}
		return nil
	})
}
