package server

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Timezone is the stored time zone of the shop.
type Timezone struct {
	Timezone string `json:"timezone" about:"an IANA name"`
}

// SetTimezone stores another time zone in the file. Set on a page it applies at once in the serving process, and
// overrides --timezone from then on; other running processes keep theirs.
func SetTimezone(ctx context.Context, d *db.DB, who db.Caller, zone string) (Timezone, error) {
	loaded, err := time.LoadLocation(zone)
	if err != nil || zone == "" || zone == "Local" {
		return Timezone{}, fault.Fieldf("timezone", "timezone: %s is not a time zone; give an IANA name such as "+
			"Europe/Berlin or UTC", schema.Quote(zone))
	}
	page := who.Via == "web"
	set, err := db.Update(ctx, d, who, func(tx *db.Tx) (Timezone, error) {
		now := Timezone{zone}
		if err := schema.KeepsWhole(&tx.Conn, who, "the shop's time zone"); err != nil {
			return now, err
		}
		kept, err := tx.Setting(db.SettingTimezone)
		if err != nil || kept == zone && !page {
			return now, err
		}
		if page {
			if err := tx.SetSetting(db.SettingZoneChosen, "page"); err != nil {
				return now, err
			}
		}
		if err := tx.SetSetting(db.SettingTimezone, zone); err != nil {
			return now, err
		}
		return now, tx.Audit("settings.timezone", "settings", now)
	})
	if err == nil && page && !d.Trying() {
		d.UseZone(loaded)
	}
	return set, err
}

func setTimezone(d *db.DB) schema.Op {
	return schema.Op{
		Name: "set_timezone", About: "Set the shop's time zone. It wins over --timezone; a server that is running uses it " +
			"at once if it is set on a page, else from its next start on.",
		Writes: true, Admin: true, Whole: true, Response: Timezone{"Europe/Berlin"},
		Command: "settings timezone ZONE", Example: "settings timezone Europe/Berlin",
		Print: schema.Printed(func(w io.Writer, z Timezone) {
			fmt.Fprintf(w, "timezone: %s, from the next start on\n", z.Timezone)
		}),
		Did:   schema.Said(func(z Timezone) string { return fmt.Sprintf("The shop's time zone is %s.", z.Timezone) }),
		Leads: func(any) string { return "/settings" },
		Bind: func(f *schema.Form) schema.Handler {
			var zone string
			f.Text(&zone, "timezone", "an IANA name", schema.Required, schema.Most(100), schema.Positional("ZONE"),
				schema.Label("Time zone"), schema.Example("Europe/Berlin"),
				schema.Help("Type a city, for example Berlin."), schema.Choices(zones))
			return func(ctx context.Context, who db.Caller) (any, error) { return SetTimezone(ctx, d, who, zone) }
		},
	}
}

//go:embed zones.txt
var zoneNames string

// zones lists the time zones with their present time.
var zones = schema.Among(func(c *db.Conn) (all []schema.Choice, err error) {
	for name := range strings.Lines(zoneNames) {
		name = strings.TrimSpace(name)
		loaded, err := time.LoadLocation(name)
		if err != nil {
			continue // a system may know fewer
		}
		all = append(all, schema.Choice{Value: name, Text: name, More: time.Unix(int64(c.Now()), 0).In(loaded).Format(
			"15:04") + " now"})
	}
	return all, nil
})
