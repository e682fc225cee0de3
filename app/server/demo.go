package server

import (
	"context"
	"fmt"
	"slices"

	"quartermaster/app/account"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// demoUser is the user of the keys that serve --demo prints.
const demoUser = "demo"

// demoLabel is their label.
const demoLabel = "serve --demo"

// demoKey is the setting that holds a service's demo key, so that it is the same at every start. Nothing else stores a
// key in clear, and only a demo has these settings.
const demoKey = "demo_key."

// fillDemo fills an empty database with a small shop in every service, in one transaction: an interrupted start leaves
// nothing that looks like a real shop.
func fillDemo(ctx context.Context, d *db.DB, s *Services) error {
	some, err := account.Any(ctx, d)
	if err != nil {
		return err
	}
	if some {
		return refuseReal(ctx, d)
	}
	return d.Together(ctx, func(d *db.DB) error {
		for _, service := range s.On(d).All {
			if service.Demo == nil {
				continue
			}
			if err := service.Demo(ctx, exact.DayOf(d.Now().In(d.Zone()))); err != nil {
				return fmt.Errorf("%s: %w", service.Name, err)
			}
		}
		if err := db.Exec(ctx, d, db.Bookkeeping(), func(tx *db.Tx) error {
			for _, s := range [][2]string{
				{db.SettingShopName, "Brandt & Daughters"}, {db.SettingShopAddress, "12 Harbour Street\nPort Ansel"},
				{db.SettingShopTax, "US 98-7654321"}, {db.SettingShopBank, "Harbour Bank, DE89 3704 0044 0532 0130 00"},
			} {
				if err := tx.SetSetting(s[0], s[1]); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
		if _, err := account.AddUser(ctx, d, db.CLI(""), demoUser, "admin", Names); err != nil {
			return err
		}
		if err := s.On(d).Mail.FillDemo(ctx, demoUser); err != nil {
			return err
		}
		for _, name := range Names {
			if _, err := makeDemoKey(ctx, d, name); err != nil {
				return err
			}
		}
		return nil
	})
}

// refuseReal refuses a database that serve --demo has not filled: it is a real shop.
func refuseReal(ctx context.Context, d *db.DB) error {
	keys, err := account.KeysOf(ctx, d, db.CLI(""), "")
	if err != nil || slices.ContainsFunc(keys, func(k account.Key) bool { return k.Label == demoLabel }) {
		return err
	}
	return fmt.Errorf("%s is not a demo shop: name another file with --db, or serve it without --demo", d.Path())
}

func makeDemoKey(ctx context.Context, d *db.DB, service string) (key string, err error) {
	_, key, err = account.CreateKey(ctx, d, db.CLI(service), account.NewKey{Service: service, User: demoUser,
		Scope: "full", Label: demoLabel})
	if err != nil {
		return "", err
	}
	return key, db.Exec(ctx, d, db.Bookkeeping(), func(tx *db.Tx) error { return tx.SetSetting(demoKey+service, key) })
}

// DemoKeys returns the full-access key of each listening service: the same at every start, unless one was revoked.
func (s *Server) DemoKeys(ctx context.Context) (map[string]string, error) {
	keys := map[string]string{}
	for _, name := range Names {
		if s.Addr(name) == "" {
			continue
		}
		key, err := s.demoKey(ctx, name)
		if err != nil {
			return nil, err
		}
		keys[name] = key
	}
	return keys, nil
}

func (s *Server) demoKey(ctx context.Context, service string) (key string, err error) {
	key, err = db.Read(ctx, s.db, func(c *db.Conn) (string, error) { return c.Setting(demoKey + service) })
	if err != nil {
		return "", err
	}
	if key != "" {
		_, err := s.keys.Authenticate(ctx, service, "Bearer "+key, "127.0.0.1")
		if err == nil || !fault.Is(err, fault.Unauthorized) {
			return key, err
		}
	}
	return makeDemoKey(ctx, s.db, service)
}
