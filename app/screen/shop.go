package screen

import (
	"cmp"
	"context"
	"time"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/mail"
)

// shopSettings are the settings shown on every page.
type shopSettings struct {
	name, address, tax, bank, currency string
	logo                               string // its address
	mailing                            bool   // mail is set up
	zone                               *time.Location
}

// written is an amount in a form's format: 12.50.
func (s shopSettings) written(cents int64, currency string) string {
	currency = cmp.Or(currency, s.currency)
	return exact.CurrencyOf(currency).Plain(cents)
}

// settings reads them.
func (s *Screens) settings(ctx context.Context) (v shopSettings, err error) {
	v = shopSettings{currency: "USD", zone: s.DB.Zone()}
	host := ""
	to := map[string]*string{
		db.SettingCurrency: &v.currency, db.SettingShopName: &v.name, db.SettingShopAddress: &v.address,
		db.SettingShopTax: &v.tax, db.SettingShopBank: &v.bank, db.SettingShopLogo: &v.logo, mail.SettingHost: &host,
	}
	err = s.DB.View(ctx, func(c *db.Conn) error {
		return db.Each(c, func(r *db.Row) error {
			name := r.Text()
			*to[name] = r.Text()
			return nil
		}, "SELECT name, value FROM settings WHERE name IN ('currency', 'shop_name', 'shop_address', 'shop_tax_number', "+
			"'shop_bank_account', 'shop_logo', 'mail.host')")
	})
	v.logo, v.mailing = logoAddress(v.logo), host != ""
	return v, err
}
