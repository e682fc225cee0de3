package server

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"quartermaster/app/account"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// SwitchedOn is a service that was off.
type SwitchedOn struct {
	Service  string   `json:"service"`
	Services []string `json:"services" about:"the services that are on"`
}

// SwitchOn turns on a service that `init --for` omitted, and makes the admins of all other services admins of it. A
// server serves it from its next start on.
func SwitchOn(ctx context.Context, d *db.DB, who db.Caller, service string) (SwitchedOn, error) {
	who.Service = ""
	return db.Update(ctx, d, who, func(tx *db.Tx) (SwitchedOn, error) {
		on, err := schema.ServicesOn(&tx.Conn)
		v := SwitchedOn{Service: service, Services: append(slices.Clone(on), service)}
		switch {
		case err != nil:
			return v, err
		case slices.Contains(on, service):
			return v, fault.Conflictf("the service %s is on already", service)
		}
		if err := schema.KeepsWhole(&tx.Conn, who, "switching a service on"); err != nil {
			return v, err
		}
		if err := account.AdminsOfAll(tx, on, service); err != nil {
			return v, err
		}
		if err := tx.SetSetting(db.SettingServices, strings.Join(v.Services, ",")); err != nil {
			return v, err
		}
		return v, tx.Audit("settings.services", "settings", v)
	})
}

func switchOn(d *db.DB) schema.Op {
	return schema.Op{
		Name: "switch_on", About: "Turn a service on. Admins of all other services become its admins; it is served from " +
			"the next start on.",
		Writes: true, Admin: true, Whole: true, Asks: true,
		Response: SwitchedOn{Service: "rental", Services: []string{"store", "rental"}},
		Refuses:  []fault.Kind{fault.Conflict},
		Command:  "settings switch-on SERVICE", Example: "settings switch-on rental",
		Will: func(answer any, _ schema.Money) string {
			return fmt.Sprintf("The service %s is on for good, once the program was stopped and started again. Admins of all "+
				"other services become its admins.", answer.(SwitchedOn).Service)
		},
		Did: func(answer any, _ schema.Money) string {
			return fmt.Sprintf("The service %s is on. Stop the program and start it again: then it is in the menu.",
				answer.(SwitchedOn).Service)
		},
		Thing: func(answer any) string { return answer.(SwitchedOn).Service + " on" },
		Leads: func(any) string { return "/settings" },
		Bind: func(f *schema.Form) schema.Handler {
			var service string
			f.Enum(&service, "service", "the service: "+strings.Join(Names, ", "), Names, schema.Required,
				schema.Positional("SERVICE"))
			return func(ctx context.Context, who db.Caller) (any, error) { return SwitchOn(ctx, d, who, service) }
		},
	}
}
