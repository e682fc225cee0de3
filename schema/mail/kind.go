// Package mail is what the shop mails: the kinds of messages with their texts, how a text is filled
// in by the values of a record, how days and amounts are written in the shop's locale, how a message
// is written for a mail server, and what a server's reply means. The queue is rows of the acts that
// cause the messages; package app/mail sends them.
package mail

import (
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/session"
)

// Kind is one kind of message.
type Kind struct {
	Name    string  // "order"
	Service string  // who sends it: "store"; "" is the appliance
	About   string  // who gets it and when, for the page of its text: "The buyer, when an order is paid."
	Asked   bool    // each was asked for, so that it has no switch
	Off     bool    // off until an admin turns it on
	Person  bool    // written by a person to a business partner, not by a machine: a purchase order
	Fields  []Field // beside those of Common
	Subject string  // the text as it comes with the program
	Body    string

	// Fill reads what the message says, at each try. It may call w.Link, which makes a link.
	Fill func(c *db.Conn, w *Writer, r Row) (Content, error)
	// Newest gives the newest record that a message of the kind could be about, for a preview.
	Newest func(c *db.Conn) (r Row, found bool, err error)
	// Find gives the record that people call so, for a preview; nil: only the newest is shown.
	Find func(c *db.Conn, name string) (r Row, err error)
	// Persons finds who is meant by what a visitor typed who asks for a link; nil: none can be asked for.
	Persons func(c *db.Conn, typed string) ([]Row, error)
}

// Field is one that a text may hold: {total}, or a block, {charges}, alone on its line.
type Field struct {
	Name  string
	Must  bool // the text is of no use without it
	Block bool // rows of cells
}

// Common are the fields of every kind.
var Common = []Field{{Name: "shop"}, {Name: "shop_address"}, {Name: "name"}}

// All are the kind's fields, those of every kind first.
func (k Kind) All() []Field { return append(append([]Field{}, Common...), k.Fields...) }

// Row is a message as it is queued: what it is about. It holds no text and no secret.
type Row struct {
	Service string // "" is the appliance
	Kind    string
	Subject string // what it is about, as the audit trail names it: "order:12"
	Record  string // the same as people call it: "A-1001"
	Person  string // who of several it is to, as the audit trail names them: "tenant:3"; "" where the subject tells
	To      string // the address as it was when the row was made; each try reads it anew
	Note    string // what belongs to this message alone, such as the day on which a license ends
	Link    bool   // a link that a visitor asked for: it goes first and waits one hour at most
	ID      int64  // 0 for a preview
}

// Content is what a message says, read from the record.
type Content struct {
	To, Name string // of the one who gets it
	Untrue   string // why it is not true any more, so that it is cancelled; "" when it is
	Values   map[string]Value
}

// Value is a field's: a text, or the rows of a block.
type Value struct {
	Text string
	Rows [][]string
}

// Text is a value of one text.
func Text(s string) Value { return Value{Text: s} }

// Rows are a block's value.
func Rows(rows [][]string) Value { return Value{Rows: rows} }

func (v Value) empty() bool { return v.Text == "" && len(v.Rows) == 0 }

// Writer writes what a message shows in the shop's locale, and makes its links.
type Writer struct {
	Locale
	Currency exact.Currency
	Base     string // the service's public address: "https://shop.example"; "" when it never ran
	Now      exact.Instant
	Zone     func(exact.Instant) exact.Day
	Time     func(exact.Instant) string // "14:05"
	Words    map[string]string          // the shop's own words in blocks, by ours
	Masked   bool                       // it is shown here, not sent: keys and links are left out

	Maker Maker // makes the message's links; nil: it is shown here
}

// Maker makes the secrets of links and codes; only their hashes are kept.
type Maker interface {
	// Token makes a link's token for the person of the kind and id, good for life seconds.
	Token(kind session.Kind, person int64, life exact.Instant) (token string, until exact.Instant, err error)
	// Code makes a tenant's code to type, "7GQ2-M4XD".
	Code(tenant int64, by string) (code string, err error)
}

// Link makes a link for the person of the kind and id, to path and its token below w.Base, and says until when
// it is good. asked: a visitor asked for it, so that it is good for an hour. Where the message is only shown, the
// token is masked.
func (w *Writer) Link(kind session.Kind, person int64, path string, asked bool) (url Value, until exact.Instant,
	err error) {
	life := kind.LinkLife(asked)
	if w.Maker == nil {
		return Text(w.Base + path + Mask), w.Now + life, nil
	}
	token, until, err := w.Maker.Token(kind, person, life)
	return Text(w.Base + path + token), until, err
}

// Code makes a code to type for the tenant; masked where the message is only shown.
func (w *Writer) Code(tenant int64, by string) (Value, error) {
	if w.Maker == nil {
		return Text(Mask), nil
	}
	code, err := w.Maker.Code(tenant, by)
	return Text(code), err
}

// Word is a word of a block as the shop writes it.
func (w *Writer) Word(ours string) string {
	if own, is := w.Words[ours]; is {
		return own
	}
	return ours
}

// Money writes an amount with its currency.
func (w *Writer) Money(cents int64) string { return w.Locale.Money(cents, w.Currency) }

// Until writes the moment at which a link ends: "1 December 2026, 14:05".
func (w *Writer) Until(i exact.Instant) string { return w.Day(w.Zone(i)) + ", " + w.Time(i) }

// Mask is what stands for a key or a link where a message is only shown.
const Mask = "••••••••"
