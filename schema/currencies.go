package schema

import "quartermaster/schema/db"

// Currencies are the most frequent currencies; any other ISO 4217 code may be typed.
var Currencies = Among(func(*db.Conn) (all []Choice, _ error) {
	for _, c := range [][2]string{
		{"EUR", "Euro"}, {"USD", "US dollar"}, {"GBP", "Pound sterling"}, {"CHF", "Swiss franc"},
		{"AUD", "Australian dollar"}, {"BRL", "Brazilian real"},
		{"CAD", "Canadian dollar"}, {"CNY", "Chinese yuan"}, {"CZK", "Czech koruna"}, {"DKK", "Danish krone"},
		{"HKD", "Hong Kong dollar"}, {"HUF", "Forint"},
		{"IDR", "Rupiah"}, {"ILS", "New shekel"}, {"INR", "Indian rupee"}, {"ISK", "Icelandic krona"}, {"JPY", "Yen"},
		{"KRW", "Won"}, {"KWD", "Kuwaiti dinar"},
		{"MXN", "Mexican peso"}, {"MYR", "Ringgit"}, {"NOK", "Norwegian krone"}, {"NZD", "New Zealand dollar"},
		{"PHP", "Philippine peso"}, {"PLN", "Zloty"},
		{"RON", "Romanian leu"}, {"SAR", "Saudi riyal"}, {"SEK", "Swedish krona"}, {"SGD", "Singapore dollar"},
		{"THB", "Baht"}, {"TRY", "Turkish lira"},
		{"UAH", "Hryvnia"}, {"AED", "UAE dirham"}, {"ZAR", "Rand"},
	} {
		all = append(all, Choice{Value: c[0], Text: c[0], More: c[1]})
	}
	return all, nil
})
