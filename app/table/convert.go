package table

import (
	"math"
	"slices"
	"strings"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// converter turns the cells of a file into cells for the tables.
type converter struct {
	Reading                         // for the names in its refusals
	survey   *survey                // set while cells are surveyed without conversion
	dates    *dateFormat            // of all columns; nil: each has its own
	formats  map[string]*dateFormat // of the columns of dates and instants
	comma    bool                   // the decimal separator is a comma
	zone     *time.Location
	currency exact.Currency // the shop's
}

// row converts the cells of one record: those of the layout's targets, in order.
func (c *converter) row(l *layout, r record, cells []string) ([]string, *fault.Error) {
	cells = cells[:0]
	for _, t := range l.targets {
		text := t.value
		if t.at >= 0 {
			if text = ""; t.at < len(r.cells) {
				text = r.cells[t.at]
			}
			if r.kind(t.at) == isError {
				return cells, errorCell(t.arg.Name, t.at, text)
			}
			if e, bad := fault.As(schema.CheckText(t.arg.Name, text, math.MaxInt)); bad {
				return cells, e
			}
		}
		cells = append(cells, text)
	}
	currency := c.currency
	if l.money >= 0 && strings.TrimSpace(cells[l.money]) != "" {
		currency = exact.CurrencyOf(strings.TrimSpace(cells[l.money]))
	}
	for i, t := range l.targets {
		k := isText
		if t.at >= 0 {
			k = r.kind(t.at)
		}
		text, refusal := c.cell(t, cells[i], k, currency)
		if refusal != nil {
			return cells, refusal
		}
		cells[i] = text
	}
	return cells, nil
}

// errorCell refuses a cell with a spreadsheet's error.
func errorCell(name string, at int, text string) *fault.Error {
	return fault.Fieldf(name, "%s: the cell in column %d holds the error %s", name, at+1, schema.Quote(text))
}

// cell converts one cell by the type of its column.
func (c *converter) cell(t target, text string, k kind, currency exact.Currency) (string, *fault.Error) {
	if k == isText {
		text = unquoted(text)
	}
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return text, nil
	}
	switch {
	case t.units:
		return c.units(t, trimmed, k, currency)
	case t.arg.Kind == schema.DayKind:
		return c.day(t.arg.Name, text, k)
	case t.arg.Kind == schema.EnumKind:
		return valueOf(t.arg, trimmed), nil
	case isInstant(t.arg):
		return c.instant(t.arg.Name, text, k)
	case k == isText && t.arg.Kind == schema.NumberKind:
		return c.number(t.arg.Name, trimmed)
	case k == isText && t.arg.Kind == schema.IntKind && c.comma:
		return c.number(t.arg.Name, trimmed)
	}
	return text, nil
}

// otherWords are other programs' and people's words for our values.
var otherWords = map[string][]string{
	"done":          {"complete", "completed", "erledigt", "terminé"},
	"in-progress":   {"in arbeit", "in bearbeitung", "en cours"},
	"open":          {"offen", "ouvert"},
	"cancelled":     {"canceled", "storniert", "annulé"},
	"urgent":        {"dringend"},
	"high":          {"hoch", "haute"},
	"medium":        {"mittel", "moyenne"},
	"low":           {"niedrig", "basse"},
	"cash":          {"bar", "barzahlung", "espèces"},
	"bank_transfer": {"überweisung", "virement"},
	"check":         {"scheck", "chèque"},
	"direct_debit":  {"lastschrift", "prélèvement"},
	"card":          {"credit card", "karte", "kreditkarte", "carte"},

	"operational":     {"in betrieb", "betriebsbereit", "en service"},
	"needs-attention": {"in wartung", "wartung fällig", "en maintenance"},
	"down":            {"außer betrieb", "defekt", "hors service"},
	"retired":         {"ausgemustert", "stillgelegt", "mis au rebut"},
}

// valueOf is the value of a cell, in any case and with any separators. An unknown one stays unchanged, for the table to
// refuse.
func valueOf(a schema.Arg, text string) string {
	if slices.Contains(a.Enum, text) {
		return text
	}
	plain := plainName(text)
	for _, v := range a.Enum {
		if plainName(v) == plain {
			return v
		}
	}
	for _, v := range a.Enum {
		if slices.Contains(otherWords[v], plain) {
			return v
		}
	}
	return text
}

// isInstant reports whether a column holds an instant.
func isInstant(a schema.Arg) bool {
	return a.Kind == schema.TextKind && strings.HasSuffix(a.Name, "_at")
}

// number parses a number. One in the tables' format stays unchanged.
func (c *converter) number(name, text string) (string, *fault.Error) {
	if c.survey != nil {
		c.survey.number(text, -1)
		return text, nil
	}
	if !c.comma && !strings.ContainsAny(text, ", '\u00a0\u202f\u2019") {
		return text, nil
	}
	plain, ok := c.plain(text)
	if !ok {
		return "", fault.Fieldf(name, "%s: %s is not a number with a decimal %s, such as %s",
			name, schema.Quote(text), pick(c.comma, "comma", "point"), pick(c.comma, "1.234,5", "1,234.5"))
	}
	return plain, nil
}

func pick(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

// ungrouped removes the separators that group digits and are never decimal.
var ungrouped = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "'", "", "\u2019", "")

// plain parses a number with the file's decimal separator; the other one groups thousands.
func (c *converter) plain(text string) (string, bool) {
	decimal, group := ".", ","
	if c.comma {
		decimal, group = group, decimal
	}
	rest, negative := strings.CutPrefix(text, "-")
	whole, fraction, has := strings.Cut(rest, decimal)
	if has && !digits(fraction) {
		return "", false
	}
	groups := strings.FieldsFunc(whole, func(r rune) bool { return strings.ContainsRune(group+" \u00a0\u202f'\u2019", r) })
	for i, g := range groups {
		if !digits(g) || i > 0 && len(g) != 3 || i == 0 && len(groups) > 1 && len(g) > 3 {
			return "", false
		}
	}
	if len(groups) == 0 {
		return "", false
	}
	plain := strings.Join(groups, "")
	if negative {
		plain = "-" + plain
	}
	if has {
		plain += "." + fraction
	}
	return plain, true
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// units parses an amount in currency units as cents.
func (c *converter) units(t target, text string, k kind, currency exact.Currency) (string, *fault.Error) {
	refused := func() (string, *fault.Error) {
		return "", fault.Fieldf(t.arg.Name, "%s: cannot read the amount %s. Write it in %s with at most %d decimals, such "+
			"as %s",
			t.arg.Name, schema.Quote(text), currency.Code, currency.Places, currency.Plain(4900))
	}
	plain, ok := text, true
	if k == isText {
		bare, negative := bareAmount(text, currency.Code)
		if c.survey != nil {
			c.survey.number(bare, currency.Places)
			return "0", nil
		}
		plain, ok = c.plain(bare)
		if negative {
			plain = "-" + plain
		}
	}
	if !ok {
		return refused()
	}
	n, err := currency.Parse(plain)
	if err != nil {
		return refused()
	}
	return exact.Decimal{Unscaled: n}.String(), nil
}

// bareAmount removes the currency's symbol or code, at either end, and one sign of the number, before or after it:
// -1.00, 1.00-, +1.00 and (1.00), which is negative. A second sign stays, and is refused.
func bareAmount(text, code string) (bare string, negative bool) {
	trim := func(s string) string { return strings.Trim(s, " \u00a0\u202f") }
	text = strings.ReplaceAll(text, "\u2212", "-")
	signed := strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")")
	if signed {
		text, negative = text[1:len(text)-1], true
	}
	sign := func() {
		for _, s := range []string{"-", "+"} {
			rest, before := strings.CutPrefix(text, s)
			if !before {
				rest, before = strings.CutSuffix(text, s)
			}
			if before && !signed {
				text, signed, negative = trim(rest), true, s == "-"
			}
		}
	}
	sign()
	for _, money := range []string{code, "$", "€", "£", "¥"} {
		text = trim(strings.TrimSuffix(strings.TrimPrefix(text, money), money))
	}
	sign()
	return text, negative
}

// Safe returns a text for an export: one that a spreadsheet would run as a formula gets a leading ', which an import
// removes. So does one that looks like that already.
func Safe(text string) string {
	if dangerous(text) {
		return "'" + text
	}
	return text
}

// guarded is a foreign file's cell for a file of refused rows: with the ' of Safe, unless it has one or is a number.
func guarded(cell string) string {
	signed := strings.HasPrefix(cell, "-") || strings.HasPrefix(cell, "+")
	if !dangerous(cell) || cell[0] == '\'' || signed && strings.Trim(cell[1:], "0123456789.,") == "" {
		return cell
	}
	return "'" + cell
}

// dangerous reports whether a text begins like a formula, after any '.
func dangerous(text string) bool {
	bare := strings.TrimLeft(text, "'")
	return bare != "" && strings.IndexByte("=+-@\t\r", bare[0]) >= 0
}

// unquoted removes the ' of Safe.
func unquoted(text string) string {
	if len(text) > 1 && text[0] == '\'' && dangerous(text) {
		return text[1:]
	}
	return text
}
