package mailer

import (
	"cmp"
	"context"
	"encoding/json"
	"net/netip"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
	"quartermaster/schema/strict"
	"quartermaster/webhook"
)

// Settings are the mail server and the sender's name. The password is never shown.
type Settings struct {
	Host     string `json:"host"`
	Port     int64  `json:"port"`
	Security string `json:"security" enum:"tls,starttls,none"`
	User     string `json:"user,omitempty"`
	Password bool   `json:"password" about:"one is kept"`
	From     string `json:"from"`
	FromName string `json:"from_name,omitempty" about:"without one the shop's name"`
	ReplyTo  string `json:"reply_to,omitempty"`
	Rate     int64  `json:"rate" about:"messages a minute, at most"`
	PlainOK  bool   `json:"plain_ok,omitempty"`
	secret   string
}

var securities = []string{"tls", "starttls", "none"}

const defaultRate = 30

// The names of the settings, beside mail.SettingHost.
const (
	settingPaused   = "mail.paused"
	settingTrouble  = "mail.trouble"
	settingPassword = "mail.password"
)

// settings reads the mail server; Host is "" if there is none.
func settings(c *db.Conn) (s Settings, err error) {
	kept := map[string]string{}
	err = db.Each(c, func(r *db.Row) error {
		name := r.Text()
		kept[name] = r.Text()
		return nil
	}, "SELECT name, value FROM settings WHERE name >= 'mail.' AND name < 'mail/'")
	s = Settings{
		Host: kept[mail.SettingHost], Security: kept["mail.security"], User: kept["mail.user"], From: kept["mail.from"],
		FromName: kept["mail.from_name"], ReplyTo: kept["mail.reply_to"], PlainOK: kept["mail.plain_ok"] != "",
		secret: kept[settingPassword], Password: kept[settingPassword] != "",
	}
	s.Port, _ = strconv.ParseInt(kept["mail.port"], 10, 64)
	s.Rate, _ = strconv.ParseInt(kept["mail.rate"], 10, 64)
	return s, err
}

// Form is what the form of the mail server holds at first, by field; nothing before there is one.
func (s Settings) Form() map[string]string {
	if s.Host == "" {
		return nil
	}
	return map[string]string{
		"host": s.Host, "port": strconv.FormatInt(s.Port, 10), "security": s.Security, "user": s.User, "from": s.From,
		"from_name": s.FromName, "reply_to": s.ReplyTo, "rate": strconv.FormatInt(s.Rate, 10),
		"plain_ok": strconv.FormatBool(s.PlainOK),
	}
}

// keep keeps the settings; those without a host take all away.
func (s Settings) keep(tx *db.Tx) error {
	kept := s.Form()
	if !s.PlainOK {
		delete(kept, "plain_ok")
	}
	for _, name := range []string{"host", "port", "security", "user", "from", "from_name", "reply_to", "rate",
		"plain_ok"} {
		if err := tx.SetSetting("mail."+name, kept[name]); err != nil {
			return err
		}
	}
	if err := tx.SetSetting(settingPassword, s.secret); err != nil {
		return err
	}
	return tx.SetSetting(settingTrouble, "")
}

// Change are the arguments of set_mail; nil leaves a setting, empty removes it.
type Change struct {
	Host, Security, User, Password, From, FromName, ReplyTo *string
	Port, Rate                                              *int64
	PlainOK                                                 *bool
}

func put[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// apply applies the changes.
func (c Change) apply(s Settings) (Settings, error) {
	before := s
	put(&s.Host, c.Host)
	s.Host = strings.TrimSpace(s.Host)
	put(&s.User, c.User)
	put(&s.FromName, c.FromName)
	put(&s.ReplyTo, c.ReplyTo)
	put(&s.From, c.From)
	put(&s.PlainOK, c.PlainOK)
	put(&s.Port, c.Port)
	put(&s.Security, c.Security)
	if s.Port == 0 {
		s.Port = 587
		if s.Security == "tls" {
			s.Port = 465
		}
	}
	if s.Security == "" || c.Security == nil && c.Port != nil && before.Port != s.Port && before.Security != "none" {
		s.Security = map[bool]string{true: "tls", false: "starttls"}[s.Port == 465]
	}
	s.Rate = max(s.Rate, 0)
	s.Rate = cmp.Or(s.Rate, defaultRate)
	put(&s.Rate, c.Rate)
	if s.Host != before.Host || s.Port != before.Port || s.Security != before.Security || s.User == "" {
		s.secret = ""
	}
	put(&s.secret, c.Password)
	s.Password = s.secret != ""
	return s, s.check(c)
}

func (s *Settings) check(c Change) (err error) {
	if err := checkHost(s.Host); err != nil {
		return err
	}
	if s.From, err = mail.CheckAddress("from", s.From); err != nil {
		return err
	}
	if s.ReplyTo != "" {
		if s.ReplyTo, err = mail.CheckAddress("reply_to", s.ReplyTo); err != nil {
			return err
		}
	}
	if c.Password != nil && *c.Password != "" && s.User == "" {
		return fault.Fieldf("password", "password: give the user too")
	}
	if s.Security == "none" && !isLoopback(s.Host) {
		switch {
		case !s.PlainOK:
			return fault.Fieldf("security", "security: none sends unencrypted, which is only for a server on this machine; "+
				"choose starttls or tls, or confirm with plain_ok that the network is trusted")
		case s.User != "":
			return fault.Fieldf("security", "security: none would send the password unencrypted; choose starttls or tls, or "+
				"remove the user")
		}
	}
	return nil
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// checkHost refuses what is not a mail server's name or address.
func checkHost(host string) error {
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	switch {
	case host == "":
		return fault.Fieldf("host", "host is missing: the name of your mail server, such as smtp.example.com")
	case err == nil && webhook.Internal(a), strings.EqualFold(strings.TrimSuffix(host, "."), "metadata.google.internal"):
		return fault.Fieldf("host", "host: %s is an internal address of the network or cloud; give your mail server's "+
			"name", host)
	case err == nil:
		return nil
	case len(host) > 253 || strings.Trim(strings.ToLower(host), "abcdefghijklmnopqrstuvwxyz0123456789-._") != "" ||
		strings.Trim(host, "0123456789.") == "":
		return fault.Fieldf("host", "host: %s is not a server name; give one such as smtp.example.com", schema.Quote(host))
	}
	return nil
}

// update is db.Update on the appliance's own data: its audit entries belong to no service.
func update[T any](ctx context.Context, b *Book, who db.Caller, fn func(*db.Tx) (T, error)) (T, error) {
	who.Service = ""
	return db.Update(ctx, b.d, who, fn)
}

// whenSetUp is update where mail is set up.
func whenSetUp[T any](ctx context.Context, b *Book, who db.Caller, fn func(*db.Tx) (T, error)) (T, error) {
	return update(ctx, b, who, func(tx *db.Tx) (T, error) {
		if err := mail.CheckSetUp(&tx.Conn); err != nil {
			var none T
			return none, err
		}
		return fn(tx)
	})
}

// set stores the mail server.
func (b *Book) set(ctx context.Context, who db.Caller, change Change) (Settings, error) {
	return update(ctx, b, who, func(tx *db.Tx) (Settings, error) {
		before, err := settings(&tx.Conn)
		if err != nil {
			return before, err
		}
		s, err := change.apply(before)
		if err != nil {
			return s, err
		}
		if err := s.keep(tx); err != nil {
			return s, err
		}
		return s, tx.Audit("mail.settings", "settings", s)
	})
}

// unset removes the mail server; waiting rows stay.
func (b *Book) unset(ctx context.Context, who db.Caller) (Count, error) {
	return whenSetUp(ctx, b, who, func(tx *db.Tx) (v Count, err error) {
		if err := (Settings{}).keep(tx); err != nil {
			return v, err
		}
		if v, err = waiting(&tx.Conn); err != nil {
			return v, err
		}
		return v, tx.Audit("mail.settings", "settings", map[string]any{"host": nil})
	})
}

// Count is the number of waiting messages.
type Count struct {
	Waiting int64 `json:"waiting"`
}

func waiting(c *db.Conn) (v Count, err error) {
	v.Waiting, _, err = db.One(c, db.Int, "SELECT count(*) FROM mails WHERE state IN ('queued', 'held')")
	return v, err
}

// pause holds all messages except tests, or releases them.
func (b *Book) pause(ctx context.Context, who db.Caller, hold bool) (Count, error) {
	return whenSetUp(ctx, b, who, func(tx *db.Tx) (v Count, err error) {
		value, action := "", "mail.resumed"
		if hold {
			value, action = "1", "mail.paused"
		}
		if err := tx.SetSetting(settingPaused, value); err != nil {
			return v, err
		}
		if v, err = waiting(&tx.Conn); err != nil {
			return v, err
		}
		return v, tx.Audit(action, "settings", v)
	})
}

// Locale is the format of dates and amounts in messages and letters.
type Locale struct {
	Locale string `json:"locale"`
}

func (b *Book) setLocale(ctx context.Context, who db.Caller, name string) (Locale, error) {
	if name == "" {
		return db.Read(ctx, b.d, func(c *db.Conn) (Locale, error) {
			kept, err := c.Setting(mail.SettingLocale)
			return Locale{mail.LocaleOf(kept).Name}, err
		})
	}
	return update(ctx, b, who, func(tx *db.Tx) (Locale, error) {
		v := Locale{name}
		if err := tx.SetSetting(mail.SettingLocale, name); err != nil {
			return v, err
		}
		return v, tx.Audit("mail.settings", "settings", v)
	})
}

// trouble is a problem that blocks all messages.
type trouble struct {
	Stage mail.Stage    `json:"stage"`
	Code  int           `json:"code"`
	Reply string        `json:"reply"`
	Count int64         `json:"count"` // attempts in a row
	Next  exact.Instant `json:"-"`
	At    int64         `json:"next"`
}

func troubleNow(c *db.Conn) (t trouble, is bool, err error) {
	kept, err := c.Setting(settingTrouble)
	if err != nil || kept == "" {
		return t, false, err
	}
	err = json.Unmarshal([]byte(kept), &t)
	t.Next = exact.Instant(t.At)
	return t, true, err
}

func (t trouble) keep(tx *db.Tx) error {
	t.At = int64(t.Next)
	text, err := strict.Marshal(t)
	if err != nil {
		return err
	}
	return tx.SetSetting(settingTrouble, string(text))
}

// Status is whether mail is set up, and what blocks it.
type Status struct {
	Settings
	SetUp, Paused bool
	Demo          bool // sends nothing
	Trouble       bool
	Stage, Reply  string // of the trouble
	Next          exact.Instant
	Refused       int64 // messages refused in the last seven days
	Locale        string
}

// Status reads whether mail is set up, and what blocks it.
func (b *Book) Status(c *db.Conn) (v Status, err error) {
	if v.Settings, err = settings(c); err != nil {
		return v, err
	}
	v.SetUp = v.Host != ""
	demo, err := c.Setting(settingDemo)
	if v.Demo = demo != ""; err != nil {
		return v, err
	}
	locale, err := c.Setting(mail.SettingLocale)
	if err != nil {
		return v, err
	}
	v.Locale = mail.LocaleOf(locale).Name
	paused, err := c.Setting(settingPaused)
	if err != nil || !v.SetUp {
		return v, err
	}
	v.Paused = paused != ""
	t, is, err := troubleNow(c)
	if err != nil {
		return v, err
	}
	if v.Trouble = is; is {
		v.Stage, v.Reply, v.Next = string(t.Stage), t.Reply, t.Next
		if t.Code != 0 {
			v.Reply = strconv.Itoa(t.Code) + " " + t.Reply
		}
	}
	v.Refused, _, err = db.One(c, db.Int, "SELECT count(*) FROM mails WHERE state = 'refused' AND created_at > ?",
		c.Now()-7*24*60*60)
	return v, err
}
