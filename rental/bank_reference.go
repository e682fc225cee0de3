package rental

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// PaymentReference is what tenants of a lease write with a payment (ISO 11649): RF, two check digits, L and the
// lease's number.
func PaymentReference(lease int64) string {
	rest := fmt.Sprintf("L%06d", lease)
	return fmt.Sprintf("RF%02d%s", 98-mod97(rest+"RF00"), rest)
}

// SpacedReference is PaymentReference in groups of four, for people.
func SpacedReference(lease int64) string { return grouped(PaymentReference(lease)) }

// grouped is a number in groups of four, as people read it.
func grouped(n string) string {
	var groups []string
	for chunk := range slices.Chunk([]rune(n), 4) {
		groups = append(groups, string(chunk))
	}
	return strings.Join(groups, " ")
}

var referenceLike = regexp.MustCompile(`RF[0-9]{2}L[0-9]{6,18}`)

// referencesIn finds the leases that texts name by a reference whose check digits are right: in any case, and blanks
// count nowhere. Digits of something else may stand behind it.
func referencesIn(texts ...string) (leases []int64) {
	for _, text := range texts {
		text = strings.ToUpper(strings.Join(strings.Fields(text), ""))
		for _, found := range referenceLike.FindAllString(text, -1) {
			for end := 5 + 6; end <= len(found); end++ {
				id, err := strconv.ParseInt(found[5:end], 10, 64)
				if err == nil && id > 0 && PaymentReference(id) == found[:end] && !slices.Contains(leases, id) {
					leases = append(leases, id)
				}
			}
		}
	}
	return leases
}

// wordsOf are the words of a name, each in the two ways in which it may be written without accents: Müller is mueller
// and muller.
func wordsOf(name string) (words [][2]string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r)
	}) {
		if strings.IndexFunc(w, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
			words = append(words, [2]string{w, w})
			continue
		}
		w = norm.NFC.String(w)
		words = append(words, [2]string{unaccented(umlauts.Replace(w)), unaccented(strings.ReplaceAll(w, "ß", "ss"))})
	}
	return words
}

var umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss")

func unaccented(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(s))
}

// hasWord reports whether a word is among words, in either way of writing.
func hasWord(words [][2]string, w [2]string) bool {
	return slices.ContainsFunc(words, func(x [2]string) bool { return x[0] == w[0] || x[1] == w[1] })
}

// hasName reports whether all words of a name are among words.
func hasName(words, name [][2]string) bool {
	return len(name) > 0 && !slices.ContainsFunc(name, func(w [2]string) bool { return !hasWord(words, w) })
}

// PayTo tells a tenant where to pay, with which reference; Code is the content of a QR code for it, "" where none can
// be.
type PayTo struct {
	Cents     int64
	Currency  string
	Holder    string
	Number    string // an IBAN in groups of four, else the account's number
	Reference string // in groups
	Code      string
}

// maxCode is the greatest amount that a payment's QR code can hold, in cents, and maxCodeBytes all of it.
const (
	maxCode       = 99_999_999_999
	maxCodeBytes  = 331
	maxCodeHolder = 70
)

// PayTo tells where the tenants of a lease pay an amount; nil without an account that collects for its house.
func (s *Service) PayTo(ctx context.Context, lease, cents int64) (*PayTo, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (*PayTo, error) { return payTo(c, lease, cents) })
}

func payTo(c *db.Conn, lease, cents int64) (*PayTo, error) {
	property, found,
		err := db.One(c, db.Int, "SELECT u.property_id FROM leases l CROSS JOIN units u ON u.id = l.unit_id WHERE l.id = ?",
		lease)
	if err != nil || !found || cents <= 0 {
		return nil, err
	}
	a, found, err := collecting(c, property)
	if err != nil || !found {
		return nil, err
	}
	currency, err := c.Currency()
	if err != nil || a.Currency != currency.Code {
		return nil, err
	}
	p := &PayTo{Cents: cents, Currency: a.Currency, Holder: set(a.Holder), Number: set(a.Number),
		Reference: SpacedReference(lease)}
	if a.IBAN != nil {
		p.Number = grouped(*a.IBAN)
		p.Code = paymentCode(a, cents, PaymentReference(lease))
	}
	return p, nil
}

// paymentCode is the content of a QR code for a transfer (EPC069-12, version 2), which there is for EUR alone.
func paymentCode(a BankAccount, cents int64, reference string) string {
	if a.IBAN == nil || a.Holder == nil || a.Currency != "EUR" || cents < 1 || cents > maxCode {
		return ""
	}
	holder := strings.TrimSpace(cutText(flat(*a.Holder), maxCodeHolder))
	for {
		code := strings.Join([]string{"BCD", "002", "1", "SCT", set(a.BIC), holder, *a.IBAN,
			"EUR" + exact.CurrencyOf("EUR").Plain(cents), "", reference}, "\n")
		if len(code) <= maxCodeBytes {
			return code
		}
		holder = cutText(holder, len([]rune(holder))-1)
	}
}
