package db

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"quartermaster/schema/exact"
)

// Names of settings. Those of the four services' public addresses are SettingAddress + "." + the service.
const (
	SettingCurrency     = "currency"     // the default currency
	SettingTimezone     = "timezone"     // the IANA name of the shop's zone
	SettingZoneChosen   = "zone_chosen"  // "page": it was chosen there and overrides --timezone
	SettingInstallation = "installation" // 8 hexadecimal digits, made with the file
	SettingShopName     = "shop_name"    // for prints
	SettingShopAddress  = "shop_address"
	SettingShopTax      = "shop_tax_number"
	SettingShopBank     = "shop_bank_account"
	SettingShopLogo     = "shop_logo" // names the bytes of the logo; "" without one
	SettingServices     = "services"  // those that are turned on, separated by commas; "" is all
	SettingAddress      = "address"   // "address.store": https://shop.example
)

// Setting returns a setting's value; "" if it is not set.
func (c *Conn) Setting(name string) (string, error) {
	value, _, err := One(c, Text, "SELECT value FROM settings WHERE name = ?", name)
	return value, err
}

// Currency is the shop's currency, US dollars by default.
func (c *Conn) Currency() (exact.Currency, error) {
	code, err := c.Setting(SettingCurrency)
	return exact.CurrencyOf(cmp.Or(code, "USD")), err
}

// SetSetting sets a setting; an empty value removes it. The caller audits it.
func (tx *Tx) SetSetting(name, value string) (err error) {
	if value == "" {
		_, err = tx.Exec("DELETE FROM settings WHERE name = ?", name)
	} else {
		_, err = tx.Exec("INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name,
			value)
	}
	return err
}

// MachineZone is the IANA name of the machine's time zone; UTC if unknown.
func MachineZone() string {
	if tz, set := os.LookupEnv("TZ"); set {
		return zoneName(strings.TrimPrefix(tz, ":"))
	}
	if target, err := filepath.EvalSymlinks("/etc/localtime"); err == nil {
		if _, name, found := strings.Cut(filepath.ToSlash(target), "zoneinfo/"); found {
			return zoneName(name)
		}
	}
	name, _ := os.ReadFile("/etc/timezone")
	return zoneName(strings.TrimSpace(string(name)))
}

// zoneName is the zone's name, or UTC if it has none.
func zoneName(zone string) string {
	if zone == "" || zone == "Local" {
		return "UTC"
	}
	if _, err := time.LoadLocation(zone); err != nil {
		return "UTC"
	}
	return zone
}

// given reports whether the options name a zone. time.Local is the default.
func (o Options) given() bool { return o.Zone != nil && o.Zone != time.Local }

// zoneToKeep is the name of the zone to store in a file without one.
func (o Options) zoneToKeep() string {
	if o.given() {
		return zoneName(o.Zone.String())
	}
	return MachineZone()
}

// chooseZone decides the process's zone: that of the options, else the file's, else the machine's.
func (d *DB) chooseZone(ctx context.Context, o Options) error {
	kept, chosen := "", ""
	err := d.View(ctx, func(c *Conn) (err error) {
		if kept, err = c.Setting(SettingTimezone); err != nil {
			return err
		}
		chosen, err = c.Setting(SettingZoneChosen)
		return err
	})
	if err != nil {
		return err
	}
	if kept == "" && o.KeepZone {
		kept = o.zoneToKeep()
		err := Exec(ctx, d, CLI(""), func(tx *Tx) error {
			if err := tx.SetSetting(SettingTimezone, kept); err != nil {
				return err
			}
			return tx.Audit("settings.timezone", "settings", map[string]string{"timezone": kept})
		})
		if err != nil {
			return err
		}
	}
	if o.given() && (chosen == "" || o.Zone.String() == kept) {
		if name := o.Zone.String(); kept != "" && name != kept && o.Notice != nil {
			o.Notice(fmt.Sprintf(
				"the time zone %s holds for this process; the file's is %s (`quartermaster settings timezone %s` changes it)", name,
				kept, name))
		}
		return nil
	}
	if kept == "" {
		kept = MachineZone()
	}
	zone, err := time.LoadLocation(kept)
	if err != nil {
		return fmt.Errorf("%s: the time zone %q of the file is not known: %w", d.path, kept, err)
	}
	if o.given() && o.Notice != nil {
		o.Notice(fmt.Sprintf("the time zone %s, chosen in Settings, applies; --timezone %s is ignored", kept, o.Zone))
	}
	d.UseZone(zone)
	return nil
}
