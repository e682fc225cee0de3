package mail

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

var order = Kind{
	Name: "order", Service: "store",
	Fields: []Field{{Name: "order"}, {Name: "total"}, {Name: "keys", Must: true, Block: true}, {Name: "items", Block: true}, {Name: "link"}},
}

func TestWriteFillsATextIn(t *testing.T) {
	values := map[string]Value{
		"order": Text("A-1"), "total": Text("12.00 EUR"), "shop": Text("Bean & Co"), "link": Text("https://shop.example/my/welcome/x?a=1&b=2"),
		"keys": Rows([][]string{{"Editor", "AB-CD", "", "2 seats"}, {"Plug-in <b>", "EF-GH"}}),
	}
	for _, c := range []struct{ name, body, text, html string }{
		{"a field and a block", "Order {order}\n\n{keys}", "Order A-1\n\nEditor | AB-CD | 2 seats\nPlug-in <b> | EF-GH\n",
			"<td>Plug-in &lt;b&gt;</td>"},
		{"an empty paragraph is left out", "Hello {name},\n\n{items}\n\n{keys}", "Editor | AB-CD | 2 seats\nPlug-in <b> | EF-GH\n", "<table>"},
		{"words stay beside an empty field of two", "Hello {name} of {shop}\n{keys}", "Hello  of Bean & Co\nEditor | AB-CD | 2 seats\nPlug-in <b> | EF-GH\n", "Bean &amp; Co"},
		{"{{ is a brace", "{{x} {{{order}}} {{y\n{keys}", "{x} {A-1} {y\nEditor | AB-CD | 2 seats\nPlug-in <b> | EF-GH\n", "{x} {A-1} {y"},
		{"a link", "Here: {link}\n{keys}", "Here: https://shop.example/my/welcome/x?a=1&b=2\nEditor | AB-CD | 2 seats\nPlug-in <b> | EF-GH\n",
			`<a href="https://shop.example/my/welcome/x?a=1&amp;b=2">`},
	} {
		t.Run(c.name, func(t *testing.T) {
			parsed := assert.Value(Parse(order, "Your order {order}\u2028of {shop}", c.body))(t)
			w := parsed.Write(values)
			assert.That(t, w.Subject == "Your order A-1 of Bean & Co" && w.Text == c.text && strings.Contains(w.HTML, c.html),
				"subject %q\ntext %q, want %q\nhtml %q, want %q in it", w.Subject, w.Text, c.text, w.HTML, c.html)
		})
	}
}

func TestAValueMakesNoMarkupAndNoLink(t *testing.T) {
	bad := `"><script>alert(1)</script> https://evil.example/`
	parsed := assert.Value(Parse(order, "{order}", "{order} {shop}\n{keys}"))(t)
	w := parsed.Write(map[string]Value{"order": Text(bad), "shop": Text(bad), "keys": Rows([][]string{{bad}})})
	assert.That(t, !strings.Contains(w.HTML, "<script") && !strings.Contains(w.HTML, "href"), "%v", w.HTML)
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ subject, body, field, says string }{
		{"x", "{keys}\n{ordr}", "body", "did you mean {order}?"},
		{"{keys}", "{keys}", "subject", "several lines"},
		{"{totl}", "{keys}", "subject", "did you mean {total}?"},
		{"x", "Your keys: {keys}", "body", "alone on a line"},
		{"x", "nothing", "body", "it must contain {keys}"},
		{"x", "{keys}\na { brace", "body", "write {{"},
		{"x", "{keys}\na } brace", "body", "write {{"},
		{"x {", "{keys}", "subject", "write {{"},
		{"", "{keys}", "subject", "empty"},
		{"x", "", "body", "empty"},
		{"a\nb", "{keys}", "subject", "several lines"},
		{strings.Repeat("x", 201), "{keys}", "subject", "200"},
		{"x", "{keys}\n" + strings.Repeat("x", 10_000), "body", "10000"},
	} {
		_, err := Parse(order, c.subject, c.body)
		f, is := fault.As(err)
		if !is || len(f.Fields) != 1 || f.Fields[0].Field != c.field || !strings.Contains(f.Fields[0].Detail, c.says) {
			t.Errorf("%.40q, %.40q: %v; want %s: %s", c.subject, c.body, err, c.field, c.says)
		}
	}
}

func TestParseWords(t *testing.T) {
	ours := []string{"Rent", "Late fee"}
	words, err := ParseWords("Rent = Miete\n\nLate fee=Mahngebühr\n", ours)
	assert.That(t, err == nil && words["Rent"] == "Miete" && words["Late fee"] == "Mahngebühr", "%v %v", words, err)
	for _, bad := range []string{"Rant = Miete", "Rent", "Rent ="} {
		_, err := ParseWords(bad, ours)
		assert.That(t, fault.Is(err, fault.Invalid), "%q: %v", bad, err)
	}
}

func TestLocalesWriteDaysAndAmounts(t *testing.T) {
	day := exact.DateOf(2026, time.December, 1)
	for _, c := range []struct{ locale, day, amount string }{
		{"en-GB", "1 December 2026", "1,200.00\u00a0EUR"},
		{"en-US", "December 1, 2026", "1,200.00\u00a0EUR"},
		{"iso", "2026-12-01", "1,200.00\u00a0EUR"},
		{"sv-SE", "2026-12-01", "1\u202f200,00\u00a0EUR"},
		{"de-DE", "01.12.2026", "1.200,00\u00a0EUR"},
		{"de-CH", "01.12.2026", "1'200.00\u00a0EUR"},
		{"pl-PL", "01.12.2026", "1\u202f200,00\u00a0EUR"},
		{"fr-FR", "01/12/2026", "1\u202f200,00\u00a0EUR"},
		{"es-ES", "01/12/2026", "1.200,00\u00a0EUR"},
		{"it-IT", "01/12/2026", "1.200,00\u00a0EUR"},
		{"nl-NL", "01-12-2026", "1.200,00\u00a0EUR"},
		{"", "1 December 2026", "1,200.00\u00a0EUR"},
	} {
		l := LocaleOf(c.locale)
		assert.Equal(t, l.Day(day), c.day, "%s", c.locale)
		assert.Equal(t, l.Money(120000, exact.CurrencyOf("EUR")), c.amount, "%s", c.locale)
	}
	assert.Equal(t, LocaleOf("en-GB").Money(1200, exact.CurrencyOf("JPY")), "1,200\u00a0JPY")
	assert.Equal(t, LocaleOf("de-DE").Money(-123456789, exact.CurrencyOf("EUR")), "-1.234.567,89\u00a0EUR")
	assert.Equal(t, LocaleOf("de-DE").Qty(1250500), "1.250,5")
}

func TestReplyCodes(t *testing.T) {
	for _, c := range []struct {
		stage Stage
		code  int
		text  string
		means Outcome
		block bool
	}{
		{To, 550, "5.1.1 unknown", Refused, true},
		{To, 550, "5.2.1 disabled", Refused, true},
		{To, 550, "5.7.1 relay denied", Refused, false},
		{To, 550, "no", Refused, true},
		{To, 551, "moved", Refused, true},
		{To, 553, "no", Refused, true},
		{To, 554, "no", Refused, false},
		{To, 552, "5.2.2 full", Again, false},
		{To, 450, "4.2.0 greylisted", Again, false},
		{To, 0, "connection lost", Again, false},
		{Data, 552, "5.3.4 too large", Refused, false},
		{Data, 550, "5.1.1 spam", Refused, false},
		{Data, 451, "later", Again, false},
		{Data, 0, "connection lost", Again, false},
		{Data, 250, "queued as 1", Sent, false},
		{Auth, 535, "5.7.8 wrong", Trouble, false},
		{From, 550, "no", Trouble, false},
		{From, 450, "no", Trouble, false},
		{Connect, 554, "no", Trouble, false},
		{Connect, 0, "refused", Trouble, false},
		{TLS, 0, "certificate", Trouble, false},
	} {
		if means, block := (Reply{c.stage, c.code, c.text}).Means(); means != c.means || block != c.block {
			t.Errorf("%s %d %s: %s %v, want %s %v", c.stage, c.code, c.text, means, block, c.means, c.block)
		}
	}
}

// TestTriesOfOneMessage: a server that answers 451 at once, each time.
func TestTriesOfOneMessage(t *testing.T) {
	made := exact.InstantOf(time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC))
	play := func(link bool) (times []string, tries int64) {
		for at := made; ; {
			times = append(times, at.Time().Format("2 15:04"))
			tries++
			next, ok := Next(made, at, tries, link)
			if !ok {
				return times, tries
			}
			at = next
		}
	}
	times, tries := play(false)
	want := "1 10:00, 1 10:01, 1 10:06, 1 10:21, 1 10:51, 1 11:51, 1 13:51, 1 17:51"
	got := strings.Join(times[:8], ", ")
	assert.That(t, got == want && tries == 18 && times[17] == "3 09:51", "%v %v %v", got, tries, times[17])
	if times, tries = play(true); tries != 5 || times[4] != "1 10:51" {
		t.Error(tries, times)
	}
	var rests []exact.Instant
	for n := int64(1); n < 7; n++ {
		rests = append(rests, Rest(Connect, n)/60, Rest(Auth, n)/60)
	}
	assert.Equal(t, fmt.Sprint(int64s(rests)), "[1 15 5 30 15 60 30 60 60 60 60 60]")
}

func int64s(all []exact.Instant) (n []int64) {
	for _, i := range all {
		n = append(n, int64(i))
	}
	return n
}

func TestAReplyIsKeptWithoutTheAddress(t *testing.T) {
	r := Reply{To, 550, "5.1.1 <Ann@Example.com>: no\r\nsuch user \x07" + strings.Repeat("é", 600)}
	got := r.Kept("ann@example.com")
	if !strings.HasPrefix(got, "5.1.1 <recipient>: no such user") || len([]rune(got)) != 500 || strings.Contains(got, "\x07") {
		t.Error(got)
	}
}

func TestCheckAddress(t *testing.T) {
	for _, good := range []string{"ann@example.com", " ann+x@example.com ", "ü@example.com", "root@localhost", "a.b@[127.0.0.1]"} {
		_, err := CheckAddress("to", good)
		assert.That(t, err == nil || good == "a.b@[127.0.0.1]", "%q: %v", good, err)
	}
	for _, bad := range []string{"", "ann", "Ann <ann@example.com>", "a@b.c, d@e.f", "a@b.c\nBcc: x@y.z", "a@@b", "a b@c.d", "<a@b.c>",
		"a@b.c\r\nRCPT TO:<x@y.z>", strings.Repeat("x", 250) + "@b.c", "\"a b\"@c.d", "a@", "@b.c"} {
		_, err := CheckAddress("to", bad)
		assert.That(t, fault.Is(err, fault.Invalid), "%q was accepted", bad)
	}
}

// TestAMessageReadsBack: another reader than the writer parses a message.
func TestAMessageReadsBack(t *testing.T) {
	subject := "Ihre Bestellung Ä " + strings.Repeat("lang ", 30) + "\nBcc: x@y.z"
	w := Written{Subject: OneLine(subject), Text: "Grüße\n.\n.dot\n" + strings.Repeat("ä", 2000) + "\n", HTML: "<p>Grüße</p>\n"}
	e := Envelope{From: "shop@example.com", FromName: `Bean "&" Co, Zürich`, ReplyTo: "help@example.com", To: "ann@example.com",
		ToName: "Ann\r\nBcc: x@y.z", ID: NewID(), Date: time.Date(2026, 11, 22, 20, 0, 0, 0, time.UTC)}
	raw := e.Bytes(w)
	for line := range bytes.SplitSeq(raw, []byte("\r\n")) {
		assert.Must(t, !bytes.ContainsAny(line, "\r\n") && len(line) <= 998 &&
			!bytes.ContainsFunc(line, func(r rune) bool { return r > 0x7e }), "a line of the message: %q", line)
	}
	m := assert.Value(netmail.ReadMessage(bytes.NewReader(raw)))(t)
	got, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	assert.That(t, err == nil && got == w.Subject, "%q, want %q (%v)", got, w.Subject, err)
	from, err := m.Header.AddressList("From")
	assert.That(t, err == nil && from[0].Name == e.FromName && from[0].Address == e.From, "%v %v", from, err)
	to, err := m.Header.AddressList("To")
	assert.That(t, err == nil && len(to) == 1 && to[0].Name == "Ann Bcc: x@y.z" && to[0].Address == e.To, "%v %v", to, err)
	id := m.Header.Get("Message-ID")
	assert.That(t, id == "<"+e.ID+"@example.com>" && len(e.ID) == 32, "%v", id)
	if m.Header.Get("Bcc") != "" || m.Header.Get("Auto-Submitted") != "auto-generated" || m.Header.Get("X-Auto-Response-Suppress") != "All" {
		t.Error(m.Header)
	}
	_, err = m.Header.Date()
	assert.NoError(t, err)
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	assert.OK(t, err)
	parts := multipart.NewReader(m.Body, params["boundary"])
	for _, want := range []string{w.Text, w.HTML} {
		p := assert.Value(parts.NextRawPart())(t)
		got, err := io.ReadAll(quotedprintable.NewReader(p))
		assert.That(t, err == nil && strings.ReplaceAll(string(got), "\r\n", "\n") == want,
			"%q, want %q (%v)", got, want, err)
	}
	e.Person = true
	if raw := e.Bytes(w); bytes.Contains(raw, []byte("Auto-Submitted")) {
		t.Error("a person's message says that a machine made it")
	}
}
