package server

import (
	"context"
	"fmt"
	"io"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Timezone is the shop's time zone as it is kept in the file.
type Timezone struct {
	Timezone string `json:"timezone" about:"an IANA name; it holds from the next start on"`
}

// SetTimezone keeps another time zone in the file. Processes that run go on in theirs.
func SetTimezone(ctx context.Context, d *db.DB, who db.Caller, zone string) (Timezone, error) {
	if _, err := time.LoadLocation(zone); err != nil || zone == "" || zone == "Local" {
		return Timezone{}, fault.Fieldf("timezone", "timezone: %s is no time zone; give an IANA name such as Europe/Berlin or UTC", schema.Quote(zone))
	}
	return db.Update(ctx, d, who, func(tx *db.Tx) (Timezone, error) {
		now := Timezone{zone}
		if err := schema.KeepsWhole(&tx.Conn, who, "the shop's time zone"); err != nil {
			return now, err
		}
		kept, err := tx.Setting(db.SettingTimezone)
		if err != nil || kept == zone {
			return now, err
		}
		if err := tx.SetSetting(db.SettingTimezone, zone); err != nil {
			return now, err
		}
		return now, tx.Audit("settings.timezone", "settings", now)
	})
}

func setTimezone(d *db.DB) schema.Op {
	return schema.Op{
		Name: "set_timezone", About: "Keep another time zone for the shop. It holds from the next start on: a server that runs goes on in the one that it has.",
		Writes: true, Admin: true, Whole: true, Response: Timezone{"Europe/Berlin"},
		Command: "settings timezone ZONE", Example: "settings timezone Europe/Berlin",
		Print: func(w io.Writer, answer any) {
			z, _ := answer.(Timezone)
			fmt.Fprintf(w, "timezone: %s, from the next start on\n", z.Timezone)
		},
		Did: func(answer any, _ schema.Money) string {
			z, _ := answer.(Timezone)
			return fmt.Sprintf("The shop's time zone is %s from the next start on.", z.Timezone)
		},
		Leads: func(any) string { return "/settings" },
		Bind: func(f *schema.Form) schema.Handler {
			var zone string
			f.Text(&zone, "timezone", "an IANA name", schema.Required, schema.Most(100), schema.Positional("ZONE"), schema.Label("Time zone"), schema.Example("Europe/Berlin"))
			return func(ctx context.Context, who db.Caller) (any, error) { return SetTimezone(ctx, d, who, zone) }
		},
	}
}
