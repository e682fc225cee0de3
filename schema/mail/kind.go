// Package mail has the kinds of messages with their texts, the filling in of a text from a record, dates and amounts in
// the shop's locale, the message format, and the meaning of a mail server's replies. The queue is rows of the
// transactions that cause the messages; package app/mail sends them.
package mail

import (
	"strconv"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/session"
)

// Kind is a kind of message.
type Kind struct {
	Name    string  // "order"
	Service string  // its sender: "store"; "" is the appliance
	About   string  // recipient and occasion, for the page of its text: "The buyer, when an order is paid."
	Asked   bool    // each one is requested, so that it has no switch
	Off     bool    // off until an admin turns it on
	Person  bool    // from a person to a business partner, not automatic: a purchase order
	Fields  []Field // beside those of Common
	Subject string  // the default text
	Body    string

	// Fill reads the content from the record, at each attempt. It may call w.Link, which makes a link.
	Fill func(c *db.Conn, w *Writer, r Row) (Content, error)
	// Newest returns the newest record for a message of the kind, for a preview.
	Newest func(c *db.Conn) (r Row, found bool, err error)
	// Find returns the record of the name, for a preview; nil: only the newest is shown.
	Find func(c *db.Conn, name string) (r Row, err error)
	// Persons finds the people whom a visitor means who requests a link; nil: links cannot be requested.
	Persons func(c *db.Conn, typed string) ([]Row, error)
}

// Field is a placeholder of a text: {total}, or a block, {charges}, alone on its line.
type Field struct {
	Name  string
	Must  bool // the text must contain it
	Block bool // rows of cells
}

// Common are the fields of every kind.
var Common = []Field{{Name: "shop"}, {Name: "shop_address"}, {Name: "name"}}

// All are the kind's fields, common ones first.
func (k Kind) All() []Field { return append(append([]Field{}, Common...), k.Fields...) }

// Row is a queued message: its subject. It holds no text and no secret.
type Row struct {
	Service string // "" is the appliance
	Kind    string
	Subject string // its subject in the audit trail's form: "order:12"
	Record  string // the same as people name it: "A-1001"
	// the recipient, if there may be several, in the audit trail's form: "tenant:3"; "" if the subject implies it
	Person string
	To     string // the address at queueing time; each attempt reads it again
	Note   string // data of this message alone, such as the day on which a license ends
	Link   bool   // a link that a visitor requested: sent first, expires after an hour
	ID     int64  // 0 for a preview
}

// Number is the id in the subject; 0 for one without.
func (r Row) Number() int64 {
	_, text, _ := strings.Cut(r.Subject, ":")
	id, _ := strconv.ParseInt(text, 10, 64)
	return id
}

// Content is a message's content, read from the record.
type Content struct {
	To, Name string // of the recipient
	Untrue   string // why it is no longer true and is cancelled; "" if it is true
	Values   map[string]Value
}

// Value is the value of a field: a text, or the rows of a block.
type Value struct {
	Text string
	Rows [][]string
}

// Text is a value of one text.
func Text(s string) Value { return Value{Text: s} }

// Rows are a block's value.
func Rows(rows [][]string) Value { return Value{Rows: rows} }

func (v Value) empty() bool { return v.Text == "" && len(v.Rows) == 0 }

// Writer formats values in the shop's locale and makes a message's links.
type Writer struct {
	Locale
	Currency exact.Currency
	Base     string // the service's public address: "https://shop.example"; "" if it never ran
	Now      exact.Instant
	Zone     func(exact.Instant) exact.Day
	Time     func(exact.Instant) string // "14:05"
	Words    map[string]string          // the shop's own words in blocks, by the default words
	Masked   bool                       // shown, not sent: keys and links are omitted

	Maker Maker // makes the message's links; nil: the message is only shown
}

// Maker makes the secrets of links and codes; only their hashes are stored.
type Maker interface {
	// Token makes a link's token for the person of the kind and id, valid for life seconds.
	Token(kind session.Kind, person int64, life exact.Instant) (token string, until exact.Instant, err error)
	// Code makes a tenant's code to type, "7GQ2-M4XD".
	Code(tenant int64, by string) (code string, err error)
}

// Link makes a link for the person of the kind and id, to path and its token below w.Base, and returns its end. asked:
// a visitor requested it, so that it is valid for an hour. In a message that is only shown the token is masked.
func (w *Writer) Link(kind session.Kind, person int64, path string, asked bool) (url Value, until exact.Instant,
	err error) {
	life := kind.LinkLife(asked)
	if w.Maker == nil {
		return Text(w.Base + path + Mask), w.Now + life, nil
	}
	token, until, err := w.Maker.Token(kind, person, life)
	return Text(w.Base + path + token), until, err
}

// Code makes a code for the tenant to type; masked in a message that is only shown.
func (w *Writer) Code(tenant int64, by string) (Value, error) {
	if w.Maker == nil {
		return Text(Mask), nil
	}
	code, err := w.Maker.Code(tenant, by)
	return Text(code), err
}

// Word is a block's word in the shop's version.
func (w *Writer) Word(ours string) string {
	if own, is := w.Words[ours]; is {
		return own
	}
	return ours
}

// Money writes an amount with its currency.
func (w *Writer) Money(cents int64) string { return w.Locale.Money(cents, w.Currency) }

// Until writes the end of a link: "1 December 2026, 14:05".
func (w *Writer) Until(i exact.Instant) string { return w.Day(w.Zone(i)) + ", " + w.Time(i) }

// Mask replaces a key or a link in a message that is only shown.
const Mask = "••••••••"
