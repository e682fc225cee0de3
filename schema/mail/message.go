package mail

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"time"

	"quartermaster/schema/fault"
)

// MostBytes is the largest size of a message, in bytes.
const MostBytes = 1 << 20

// Envelope are the headers of a message.
type Envelope struct {
	From, FromName string
	ReplyTo        string // "" is none
	To, ToName     string
	ID             string // NewID's; the same for all attempts
	Date           time.Time
	Person         bool // written by a person: without the marks of an automatic message
}

// NewID makes a message's name, without brackets and domain: 32 hexadecimal digits.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Bytes is the message as sent to the server, with CRLF.
func (e Envelope) Bytes(w Written) []byte {
	var b bytes.Buffer
	head := func(name, value string) { b.WriteString(folded(name+": "+value) + "\r\n") }
	head("From", mailbox(e.FromName, e.From))
	if e.ReplyTo != "" {
		head("Reply-To", e.ReplyTo)
	}
	head("To", mailbox(e.ToName, e.To))
	head("Subject", encoded(w.Subject))
	head("Date", e.Date.Format("Mon, 02 Jan 2006 15:04:05 -0700"))
	head("Message-ID", "<"+e.ID+"@"+domain(e.From)+">")
	head("MIME-Version", "1.0")
	if !e.Person {
		head("Auto-Submitted", "auto-generated")
		head("X-Auto-Response-Suppress", "All")
	}
	boundary := "=_" + e.ID
	head("Content-Type", `multipart/alternative; boundary="`+boundary+`"`)
	b.WriteString("\r\n")
	for _, part := range []struct{ kind, text string }{{"text/plain", w.Text}, {"text/html", w.HTML}} {
		b.WriteString("--" + boundary + "\r\nContent-Type: " + part.kind + "; charset=utf-8\r\n" +
			"Content-Transfer-Encoding: quoted-printable\r\n\r\n")
		q := quotedprintable.NewWriter(&b)
		_, _ = q.Write([]byte(strings.ReplaceAll(part.text, "\n", "\r\n"))) // a buffer accepts everything
		_ = q.Close()
		b.WriteString("\r\n")
	}
	b.WriteString("--" + boundary + "--\r\n")
	return b.Bytes()
}

func domain(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }

// mailbox is a name and an address in a header's format.
func mailbox(name, address string) string {
	if name = OneLine(name); name == "" {
		return address
	}
	if word := mime.BEncoding.Encode("utf-8", name); word != name { // Q encoding leaves characters that end a name
		return word + " <" + address + ">"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `" <` + address + `>`
}

// encoded is a text in a header's format: unchanged if it is ASCII.
func encoded(s string) string {
	s = OneLine(s)
	word := mime.QEncoding.Encode("utf-8", s)
	if word == s && strings.Contains(s, "=?") { // would be read as an encoded word
		return "=?utf-8?q?" + strings.NewReplacer("=", "=3D", "?", "=3F", "_", "=5F", " ", "_").Replace(s) + "?="
	}
	return word
}

// folded breaks a header's line at spaces, into lines of at most 76 characters where possible.
func folded(s string) string {
	var b strings.Builder
	used := 0
	for i, word := range strings.Split(s, " ") {
		switch {
		case i == 0:
		case used+1+len(word) > 76 && word != "" && i > 1:
			b.WriteString("\r\n ")
			used = 1
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += len(word)
	}
	return b.String()
}

// CheckAddress returns an address in its stored form: one plain address. field is its argument.
func CheckAddress(field, written string) (string, error) {
	s := strings.TrimSpace(written)
	if !Plain(s) {
		return "", fault.Fieldf(field, "%s: %q is not one e-mail address such as ann@example.com", field, OneLine(written))
	}
	return s, nil
}

// Plain reports whether s is one address and nothing else.
func Plain(s string) bool {
	a, err := mail.ParseAddress(s)
	local, host, _ := strings.Cut(s, "@")
	return err == nil && a.Name == "" && a.Address == s && len(s) <= 254 && len(local) <= 64 &&
		!strings.ContainsAny(s, " \t\"<>()[],;:\\") && !strings.Contains(host, "@") && host != ""
}

// ASCII reports whether an address needs no SMTPUTF8.
func ASCII(address string) bool {
	return !strings.ContainsFunc(address, func(r rune) bool { return r > 0x7e })
}

// Fold is an address for comparison.
func Fold(address string) string { return strings.ToLower(strings.TrimSpace(address)) }
