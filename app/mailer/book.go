// Package mailer sends the shop's mail through the owner's server. It has the settings and texts, the one sender, the
// list of messages, and the operations on all of them.
package mailer

import (
	"context"
	"maps"
	"strings"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/limit"
	"quartermaster/schema/mail"
)

// Book is the register of all mail: every kind, and the words of blocks by service.
type Book struct {
	d     *db.DB
	kinds []mail.Kind
	words map[string][]string // by service: the words in its blocks
	names map[string]mail.Kind

	notices []mail.Notice

	password string // overrides the stored one; "" is none

	askers *limit.Counter[limit.Address] // visitors who requested links, known or not
	asked  *limit.Counter[string]        // links by kind and address
}

// NewBook makes the book of the services' kinds and notices, and of the words in their blocks. Without a database it
// can only be described.
func NewBook(d *db.DB, kinds []mail.Kind, words map[string][]string, notices []mail.Notice) *Book {
	b := &Book{d: d, words: words, names: map[string]mail.Kind{}, notices: append(notices, failures()),
		askers: limit.New[limit.Address](20, 10*time.Minute), asked: limit.New[string](3, time.Hour)}
	b.kinds = append(kinds, b.noticeKinds()...)
	for _, k := range b.kinds {
		b.names[k.Name] = k
	}
	return b
}

// UsePassword overrides the stored password, unless it is "".
func (b *Book) UsePassword(password string) { b.password = password }

// wordsKind is the name of the text with the words of a service's blocks.
const wordsKind = "words-"

// texts are the names of all texts that can be changed.
func (b *Book) texts() (names []string) {
	for _, k := range b.kinds {
		names = append(names, k.Name)
	}
	for _, s := range schema.ServiceNames {
		if len(b.words[s]) > 0 {
			names = append(names, wordsKind+s)
		}
	}
	return names
}

// switches are the names of the kinds that can be turned on and off.
func (b *Book) switches() (names []string) {
	for _, k := range b.kinds {
		if !k.Asked {
			names = append(names, k.Name)
		}
	}
	return names
}

func (b *Book) kind(name string) (mail.Kind, error) {
	k, is := b.names[name]
	if !is {
		return k, fault.Fieldf("kind", "kind: %s is not one of %s", schema.Quote(name), strings.Join(b.kindNames(), ", "))
	}
	return k, nil
}

func (b *Book) kindNames() (names []string) {
	for _, k := range b.kinds {
		names = append(names, k.Name)
	}
	return names
}

// KindText is a kind with its present text.
type KindText struct {
	Kind    string `json:"kind"`
	Subject string `json:"subject,omitempty"`
	Body    string `json:"body"`
	Own     bool   `json:"own" about:"it was changed here"`
}

// text is a kind's text: the shop's own, else the default.
func (b *Book) text(c *db.Conn, name string) (t KindText, err error) {
	t, found, err := db.One(c, func(r *db.Row) KindText {
		return KindText{Kind: name, Subject: r.Text(), Body: r.Text(), Own: true}
	}, "SELECT subject, body FROM mail_texts WHERE kind = ?", name)
	if err != nil || found {
		return t, err
	}
	if k, is := b.names[name]; is {
		return KindText{Kind: name, Subject: k.Subject, Body: k.Body}, nil
	}
	service, is := strings.CutPrefix(name, wordsKind)
	if words := b.words[service]; is && len(words) > 0 {
		for _, w := range words {
			t.Body += w + " = " + w + "\n"
		}
		return KindText{Kind: name, Body: t.Body}, nil
	}
	return t, fault.Fieldf("kind", "kind: %s is not one of %s", schema.Quote(name), strings.Join(b.texts(), ", "))
}

// check refuses a text that cannot be filled in.
func (b *Book) check(name, subject, body string) error {
	if service, is := strings.CutPrefix(name, wordsKind); is && len(b.words[service]) > 0 {
		if subject != "" {
			return fault.Fieldf("subject", "subject: words have no subject")
		}
		_, err := mail.ParseWords(body, b.words[service])
		return err
	}
	k, err := b.kind(name)
	if err != nil {
		return err
	}
	_, err = mail.Parse(k, subject, body)
	return err
}

// writer formats values in the shop's locale. Without maker its links are masked.
func (b *Book) writer(c *db.Conn, service string, maker mail.Maker) (*mail.Writer, error) {
	locale, err := c.Setting(mail.SettingLocale)
	if err != nil {
		return nil, err
	}
	currency, err := c.Currency()
	if err != nil {
		return nil, err
	}
	w := &mail.Writer{
		Locale: mail.LocaleOf(locale), Currency: currency, Maker: maker, Masked: maker == nil, Now: c.Now(),
		Zone: func(i exact.Instant) exact.Day { return i.Day(c.Zone()) },
		Time: func(i exact.Instant) string { return i.Time().In(c.Zone()).Format("15:04") },
	}
	if w.Base, err = c.Setting(db.SettingAddress + "." + service); err != nil {
		return nil, err
	}
	w.Base = strings.TrimSuffix(w.Base, "/")
	if words := b.words[service]; len(words) > 0 {
		t, err := b.text(c, wordsKind+service)
		if err != nil {
			return nil, err
		}
		if w.Words, err = mail.ParseWords(t.Body, words); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// filled is a message as it would be written now.
type filled struct {
	mail.Content
	mail.Written
}

// fill reads a message's present content; text is the kind's, or one that is being tried.
func (b *Book) fill(c *db.Conn, k mail.Kind, r mail.Row, t KindText, maker mail.Maker) (f filled, err error) {
	parsed, err := mail.Parse(k, t.Subject, t.Body)
	if err != nil {
		return f, err
	}
	w, err := b.writer(c, k.Service, maker)
	if err != nil {
		return f, err
	}
	if f.Content, err = k.Fill(c, w, r); err != nil || f.Untrue != "" {
		return f, err
	}
	values := map[string]mail.Value{"name": mail.Text(f.Name)}
	for field, setting := range map[string]string{"shop": db.SettingShopName, "shop_address": db.SettingShopAddress} {
		text, err := c.Setting(setting)
		if err == nil && text == "" && field == "shop" { // a shop without a name is called as its sender
			text, err = c.Setting("mail.from_name")
		}
		if err != nil {
			return f, err
		}
		values[field] = mail.Text(text)
	}
	maps.Copy(values, f.Values)
	f.Written = parsed.Write(values)
	return f, nil
}

// Letter writes a kind's text for a printed letter, with the content of fill; it needs no mail server. The default text
// replaces one that can no longer be filled in.
func (b *Book) Letter(c *db.Conn, kind string, fill func(*mail.Writer) (mail.Content, error)) (p mail.Printed,
	err error) {
	k, err := b.kind(kind)
	if err != nil {
		return p, err
	}
	t, err := b.text(c, kind)
	if err != nil {
		return p, err
	}
	k.Fill = func(_ *db.Conn, w *mail.Writer, _ mail.Row) (mail.Content, error) {
		p.Today = w.Day(c.Today())
		return fill(w)
	}
	f, err := b.fill(c, k, mail.Row{}, t, nil)
	if fault.Is(err, fault.Invalid) {
		f, err = b.fill(c, k, mail.Row{}, KindText{Subject: k.Subject, Body: k.Body}, nil)
	}
	p.Written = f.Written
	return p, err
}

// Preview shows a kind's text filled in from a record, with masked keys and links.
func (b *Book) Preview(ctx context.Context, name, record string, subject, body *string) (mail.Written, error) {
	return db.Read(ctx, b.d, func(c *db.Conn) (mail.Written, error) {
		if err := mail.CheckSetUp(c); err != nil {
			return mail.Written{}, err
		}
		k, err := b.kind(name)
		if err != nil {
			return mail.Written{}, err
		}
		r, err := sample(c, k, record)
		if err != nil {
			return mail.Written{}, err
		}
		t, err := b.text(c, name)
		if err != nil {
			return mail.Written{}, err
		}
		put(&t.Subject, subject)
		put(&t.Body, body)
		f, err := b.fill(c, k, r, t, nil)
		if err == nil && f.Untrue != "" {
			err = fault.Conflictf("this message would not be sent: %s", f.Untrue)
		}
		return f.Written, err
	})
}

// sample is the record of a preview.
func sample(c *db.Conn, k mail.Kind, record string) (r mail.Row, err error) {
	if record != "" && k.Find != nil {
		r, err = k.Find(c, record)
	} else {
		var found bool
		r, found, err = k.Newest(c)
		if err == nil && (!found || record != "" && record != r.Record) {
			err = fault.Conflictf("there is no record yet to show a message of the kind %s", k.Name)
		}
	}
	r.Service, r.Kind = k.Service, k.Name
	return r, err
}

// Texts lists the texts that can be changed, with their switches.
func (b *Book) Texts(c *db.Conn) (all []TextRow, err error) {
	for _, name := range b.texts() {
		t, err := b.text(c, name)
		if err != nil {
			return nil, err
		}
		k, is := b.names[name]
		row := TextRow{KindText: t, Service: k.Service, About: k.About, Switch: is && !k.Asked}
		if !is {
			row.Service = strings.TrimPrefix(name, wordsKind)
			row.About = "The words in tables of messages and letters."
		}
		if row.Switch {
			if row.On, err = k.On(c); err != nil {
				return nil, err
			}
		}
		if is {
			row.Fields = k.All()
		}
		all = append(all, row)
	}
	return all, nil
}

// TextRow is a changeable text in a page's list.
type TextRow struct {
	KindText
	Service, About string
	Switch, On     bool // Switch: it can be turned on and off
	Fields         []mail.Field
}

// save stores the shop's own text of a kind.
func (b *Book) save(ctx context.Context, who db.Caller, name string, subject, body *string) (KindText, error) {
	return update(ctx, b, who, func(tx *db.Tx) (KindText, error) {
		t, err := b.text(&tx.Conn, name)
		if err != nil {
			return t, err
		}
		put(&t.Subject, subject)
		if body != nil {
			t.Body = strings.ReplaceAll(*body, "\r\n", "\n")
		}
		t.Own = true
		if err := b.check(name, t.Subject, t.Body); err != nil {
			return t, err
		}
		if _, err := tx.Exec(`INSERT INTO mail_texts VALUES (?, ?, ?, ?) ON CONFLICT (kind) DO UPDATE
			SET subject = excluded.subject, body = excluded.body, changed_at = excluded.changed_at`, name, t.Subject, t.Body,
			tx.Now()); err != nil {
			return t, err
		}
		return t, tx.Audit("mail.text", "mail_text:"+name, t)
	})
}

// reset removes the shop's own text.
func (b *Book) reset(ctx context.Context, who db.Caller, name string) (KindText, error) {
	return update(ctx, b, who, func(tx *db.Tx) (KindText, error) {
		if _, err := b.text(&tx.Conn, name); err != nil {
			return KindText{}, err
		}
		if _, err := tx.Exec("DELETE FROM mail_texts WHERE kind = ?", name); err != nil {
			return KindText{}, err
		}
		t, err := b.text(&tx.Conn, name)
		if err != nil {
			return t, err
		}
		return t, tx.Audit("mail.text", "mail_text:"+name, t)
	})
}

// turn turns a kind on or off.
func (b *Book) turn(ctx context.Context, who db.Caller, v Switched) (Switched, error) {
	return whenSetUp(ctx, b, who, func(tx *db.Tx) (Switched, error) {
		k, is := b.names[v.Kind]
		if !is || k.Asked {
			return v, fault.Fieldf("kind", "kind: %s has no switch; those that have one are %s", schema.Quote(v.Kind),
				strings.Join(b.switches(), ", "))
		}
		if err := k.Switch(tx, v.On); err != nil {
			return v, err
		}
		return v, tx.Audit("mail.kind", "mail_text:"+v.Kind, v)
	})
}

// Switched is a kind that was turned on or off.
type Switched struct {
	Kind string `json:"kind"`
	On   bool   `json:"on"`
}

// TextOf is one text that can be changed.
func (b *Book) TextOf(c *db.Conn, name string) (TextRow, error) {
	all, err := b.Texts(c)
	for _, t := range all {
		if t.Kind == name {
			return t, err
		}
	}
	if err == nil {
		err = fault.NotFoundf("there are no messages of the kind %s", schema.Quote(name))
	}
	return TextRow{}, err
}
