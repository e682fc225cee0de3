package store

import (
	"context"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// currencies are the alphabetic codes of ISO 4217, sorted, including recently withdrawn ones, for history.
const currencies = "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP " +
	"BYN BZD " +
	"CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS " +
	"GIP GMD GNF GTQ GYD " +
	"HKD HNL HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD " +
	"MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN " +
	"PYG QAR " +
	"RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS " +
	"UAH UGX USD USN UYI UYU UYW UZS VED VEF VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG ZWL"

// checkCurrency reads an ISO 4217 code in any case.
func checkCurrency(written string) (string, error) {
	code := strings.ToUpper(strings.TrimSpace(written))
	if len(code) != 3 || !strings.Contains(" "+currencies+" ", " "+code+" ") {
		return "", fault.Fieldf("currency", "currency: %s is not a currency code; give three letters (ISO 4217), such as "+
			"USD or EUR", schema.Quote(written))
	}
	return code, nil
}

// Settings are what the shop decides for itself.
type Settings struct {
	Currency string `json:"currency" about:"the currency of orders that name none (ISO 4217)"`
}

// Settings returns the settings as they stand.
func (s *Service) Settings(ctx context.Context) (Settings, error) {
	return db.Read(ctx, s.db, settings)
}

func settings(c *db.Conn) (Settings, error) {
	currency, err := c.Currency()
	return Settings{Currency: currency.Code}, err
}

// SetCurrency makes currency the shop's default; existing orders keep theirs. A code outside ISO 4217 is refused.
func (s *Service) SetCurrency(ctx context.Context, who db.Caller, currency string) (Settings, error) {
	code, err := checkCurrency(currency)
	if err != nil {
		return Settings{}, err
	}
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Settings, error) {
		set := Settings{Currency: code}
		if err := schema.KeepsWhole(&tx.Conn, who, "the shop's currency"); err != nil {
			return set, err
		}
		if err := tx.SetSetting(db.SettingCurrency, code); err != nil {
			return set, err
		}
		return set, tx.Audit("settings.currency", "settings", set)
	})
}
