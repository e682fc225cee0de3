package page

import (
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"quartermaster/schema/exact"
	"quartermaster/schema/page"
	"quartermaster/store"
)

func buyerName(b store.Buyer) string {
	if b.Name != "" {
		return b.Name
	}
	return b.Email
}

func tierOf(tier *string) string {
	if tier == nil {
		return ""
	}
	return ", " + *tier
}

// amount is an amount without its currency, which the column's head names.
func amount(cents int64, currency string) templ.Component {
	return page.Figure(strconv.FormatInt(cents, 10), exact.CurrencyOf(currency).Amount(cents))
}

func licenseHead(v orderView) string {
	if len(v.Renews) > 0 {
		return "Licenses that it renewed"
	}
	return "Licenses"
}

// netChart is what is left of the sales of each day or month, in one currency.
func netChart(title string, days []store.Figure, currency string) page.Chart {
	c := page.Chart{Title: title, Label: "Day", Names: [2]string{"Net, " + currency, ""},
		Show: exact.CurrencyOf(currency).Amount}
	for _, d := range days {
		p := page.Point{Value: d.NetCents}
		switch {
		case d.Day != nil:
			p.Day = *d.Day
		case d.Month != nil:
			p.Label, c.Label = page.MonthText(*d.Month), "Month"
		}
		c.Bars = append(c.Bars, p)
	}
	return c
}

// monthsChart is a chart of the last 12 months, nothing where all are 0.
func monthsChart(title, name string, months []store.MonthSum, show func(int64) string) page.Chart {
	c := page.Chart{Title: title, Label: "Month", Names: [2]string{name, ""}, Show: show}
	some := false
	for _, m := range months {
		some = some || m.N > 0
		c.Bars = append(c.Bars, page.Point{Label: page.MonthText(m.Month), Value: m.N})
	}
	if !some {
		return page.Chart{}
	}
	return c
}

// rowsOfCodes are the codes as the rows of a file, cells separated by tabulators.
func rowsOfCodes(m store.Minted) string {
	var b strings.Builder
	for _, c := range m.Codes {
		b.WriteString(c + "\t" + m.SKU + "\t" + m.Batch + "\n")
	}
	return b.String()
}
