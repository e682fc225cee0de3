package server

import (
	"context"
	"fmt"
	"slices"

	"quartermaster/app/account"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// demoUser is whose keys serve --demo prints.
const demoUser = "demo"

// demoLabel marks them, so that the next start can put new ones in their place.
const demoLabel = "serve --demo"

// fillDemo fills an empty database with a small shop in every service, once.
func fillDemo(ctx context.Context, d *db.DB, s *Services) error {
	some, err := account.Any(ctx, d)
	if err != nil {
		return err
	}
	if some {
		return refuseReal(ctx, d)
	}
	for _, service := range s.All {
		if service.Demo == nil {
			continue
		}
		if err := service.Demo(ctx, exact.DayOf(d.Now().In(d.Zone()))); err != nil {
			return fmt.Errorf("%s: %w", service.Name, err)
		}
	}
	_, err = account.AddUser(ctx, d, db.CLI(""), demoUser, "admin", Names)
	return err
}

// refuseReal refuses a database that serve --demo has not filled: it is somebody's shop.
func refuseReal(ctx context.Context, d *db.DB) error {
	keys, err := account.KeysOf(ctx, d, db.CLI(""), "")
	if err != nil || slices.ContainsFunc(keys, func(k account.Key) bool { return k.Label == demoLabel }) {
		return err
	}
	return fmt.Errorf("%s is no demo shop, and none is put into it: name another file with --db, or serve it without --demo", d.Path())
}

// DemoKeys makes one new full-access key for each service that listens, by service;
// those of the start before are revoked, since a key is shown only once.
func (s *Server) DemoKeys(ctx context.Context) (map[string]string, error) {
	if err := revokeDemo(ctx, s.db); err != nil {
		return nil, err
	}
	keys := map[string]string{}
	for _, name := range Names {
		if s.Addr(name) == "" {
			continue
		}
		_, key, err := account.CreateKey(ctx, s.db, db.CLI(name), account.NewKey{Service: name, User: demoUser, Scope: "full", Label: demoLabel})
		if err != nil {
			return nil, err
		}
		keys[name] = key
	}
	return keys, nil
}

// revokeDemo revokes the keys that an earlier start printed.
func revokeDemo(ctx context.Context, d *db.DB) error {
	keys, err := account.KeysOf(ctx, d, db.CLI(""), "")
	if err != nil {
		return err
	}
	for _, k := range keys {
		if k.Label != demoLabel || k.RevokedAt != nil {
			continue
		}
		if _, err := account.RevokeKey(ctx, d, db.CLI(k.Service), k.ID); err != nil {
			return err
		}
	}
	return nil
}
