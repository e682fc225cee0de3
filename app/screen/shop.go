package screen

import (
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
	if currency == "" {
		currency = s.currency
	}
	return exact.CurrencyOf(currency).Plain(cents)
}

// shopNow reads them.
func (x *exchange) shopNow(ctx context.Context) (v shopSettings, err error) {
	v = shopSettings{name: "Quartermaster", currency: "USD", zone: x.s.DB.Zone()}
	err = x.s.DB.View(ctx, func(c *db.Conn) error {
		type pair struct{ name, value string }
		all, err := db.All(c, func(r *db.Row) pair { return pair{r.Text(), r.Text()} },
			"SELECT name, value FROM settings WHERE name IN ('currency', 'shop_name', 'shop_address', 'shop_tax_number', "+
				"'shop_bank_account', 'shop_logo', 'mail.host')")
		for _, p := range all {
			switch p.name {
			case db.SettingCurrency:
				v.currency = p.value
			case db.SettingShopName:
				v.name = p.value
			case db.SettingShopAddress:
				v.address = p.value
			case db.SettingShopTax:
				v.tax = p.value
			case db.SettingShopBank:
				v.bank = p.value
			case db.SettingShopLogo:
				v.logo = logoAddress(p.value)
			case mail.SettingHost:
				v.mailing = p.value != ""
			}
		}
		return err
	})
	return v, err
}
