package mailer

import (
	"context"
	"fmt"
	"io"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// Ops are the operations on mail. Without a database they can only be described.
func (b *Book) Ops() []schema.Op {
	return []schema.Op{
		b.setMail(), b.unsetMail(), b.testMail(), b.setKind(), b.saveText(), b.resetText(), b.preview(), b.listMails(),
		b.showMail(),
		b.resendMail(), b.cancelMail(), b.blockAddress(), b.unblockAddress(),
		b.pauseMail("pause_mail", "Hold all messages except tests until mail is resumed.", "mail pause", true),
		b.pauseMail("resume_mail", "Send the messages that were held.", "mail resume", false),
		b.localeOp(), b.sendDigests(), b.setTimer(),
	}
}

func toSettings(any) string { return "/settings/mail" }

var exampleSettings = Settings{Host: "smtp.example.com", Port: 587, Security: "starttls", User: "shop@example.com",
	Password: true,
	From:     "shop@example.com", Rate: defaultRate}

func (b *Book) setMail() schema.Op {
	return schema.Op{
		Name: "set_mail", Writes: true, Admin: true, Idempotent: true, Credential: false,
		About: "Set the mail server and the sender's address. What you leave out stays as it is. " +
			"A change of host, port or security deletes the stored password.",
		Command: "mail set", Example: "mail set --host smtp.example.com --from shop@example.com",
		Response: exampleSettings,
		Bind: schema.Does(func(f *schema.Form, c *Change) {
			may := func(p **string, name, about string, opts ...schema.Opt) { // an empty one removes the stored one
				var clear bool
				if f.TextPtr(p, name, about, append(opts, schema.Clear(&clear))...); clear {
					*p = new(string)
				}
			}
			f.TextPtr(&c.Host, "host", "the mail server, such as smtp.example.com", schema.Most(253),
				schema.Label("Mail server"))
			f.IntPtr(&c.Port, "port", "the port: 465 with TLS, others with STARTTLS (default: 587)", schema.Range(1, 65535))
			var security string
			if f.Enum(&security, "security", "TLS at port 465, STARTTLS at others; none only for a server on this machine",
				securities) {
				c.Security = &security
			}
			may(&c.User, "user", "the user name at the server; empty for none", schema.Most(254))
			f.TextPtr(&c.Password, "password", "the password at the server; empty keeps the stored one", schema.Secret)
			f.TextPtr(&c.From, "from",
				"the sender's address, which the server must accept", schema.Most(254), schema.Label("From"),
				schema.Example("shop@example.com"))
			may(&c.FromName, "from_name", "the sender's name (default: the shop's name)", schema.Most(200),
				schema.Label("Sender's name"))
			may(&c.ReplyTo, "reply_to", "where answers go (default: the sender's address)", schema.Most(254),
				schema.Label("Answers go to"))
			f.IntPtr(&c.Rate, "rate",
				"the most messages a minute (default: 30)", schema.Range(1, 600), schema.Label("Messages a minute"))
			var plain bool
			if f.Bool(&plain, "plain_ok",
				"allow security none: the network to the server is trusted", schema.Label("Trusted network")) {
				c.PlainOK = &plain
			}
		}, b.set),
		Fill: func(c *db.Conn, _ map[string]string) (map[string]string, bool, error) {
			s, err := settings(c)
			return s.Form(), true, err
		},
		Did: schema.Said(func(s Settings) string {
			return fmt.Sprintf("Mail is sent by %s from %s. Send a test to see whether it arrives.", s.Host, s.From)
		}),
		Leads: toSettings,
	}
}

func (b *Book) unsetMail() schema.Op {
	return schema.Op{
		Name: "unset_mail", Writes: true, Admin: true, Destructive: true,
		About: "Remove the mail server and its password. Nothing is mailed from then on; waiting messages fail after " +
			"two days.",
		Command: "mail unset", Response: Count{Waiting: 2}, Bind: schema.Acts(b.unset),
		Will: schema.Said(func(v Count) string {
			return fmt.Sprintf("The mail server and its password will be removed. Nothing is mailed from then on; %d "+
				"messages wait.", v.Waiting)
		}),
		Did:   func(any, schema.Money) string { return "The mail server is removed." },
		Leads: toSettings,
	}
}

func (b *Book) testMail() schema.Op {
	code := int64(250)
	return schema.Op{
		Name: "test_mail", Writes: true, Admin: true, Several: true,
		About:   "Send a test message now, and show what the mail server answered.",
		Command: "mail test [TO]", Example: "mail test ann@example.com",
		Response: Tested{OK: true, Stage: "data", Code: &code, Reply: "2.0.0 Ok: queued as 4ABC"},
		Bind: schema.Does(func(f *schema.Form, to *string) {
			f.Text(to, "to", "the address that gets it (default: your own)", schema.Most(254), schema.Positional("TO"),
				schema.Example("ann@example.com"))
		}, b.test),
		Did: schema.Said(func(t Tested) string {
			said := t.Reply
			if t.Code != nil {
				said = fmt.Sprintf("%d %s", *t.Code, said)
			}
			if t.OK {
				return fmt.Sprintf("The mail server accepted the test for %s: %s", t.To, said)
			}
			if t.Stage == string(mail.Connect) { // the last words of a dialler are the reason
				return "The mail server was not reached: " + strings.TrimSpace(said[strings.LastIndex(said, ":")+1:])
			}
			return fmt.Sprintf("The test was not sent (%s): %s", t.Stage, said)
		}),
		Leads: toSettings,
	}
}

// mayList refuses viewers: the list of mail is for members.
func mayList(who db.Caller) error {
	if who.Role != "member" && who.Role != "admin" {
		return fault.Forbiddenf("only members and admins may see mail; %s has the role %s", who.User, who.Role)
	}
	return nil
}

var exampleMail = mail.ExampleListed("store", "order", "ORD-7Q4ZJ0M3RT")

func (b *Book) listMails() schema.Op {
	return schema.Op{
		Name: "list_mails", About: "Mailed and waiting messages, newest first.",
		Command: "mail list", Example: "mail list --state refused", Response: List{Mails: []Mail{exampleMail}, Total: 1},
		Refuses: []fault.Kind{fault.Conflict},
		Bind: schema.Does(func(f *schema.Form, v *Filter) {
			f.Enum(&v.State, "state", "only messages in this state", States)
			f.Enum(&v.Kind, "kind", "only messages of this kind", append(b.kindNames(), testKind))
			f.Text(&v.Record, "record", "only messages about this record", schema.Most(300))
			f.Text(&v.Q, "q", "part of the address", schema.Most(254), schema.Label("Address"))
			f.After(&v.Page.After)
			f.Limit(&v.Page.Limit)
		}, func(ctx context.Context, who db.Caller, v Filter) (l List, err error) {
			if err = mayList(who); err == nil {
				l, err = b.List(ctx, who, v)
			}
			return l, err
		}),
		Print: schema.Printed(func(w io.Writer, l List) { printMails(w, l.Mails) }),
	}
}

func printMails(w io.Writer, all []Mail) {
	schema.Tabulate(w, "ID|STATE|KIND|RECORD|TO|TRIES|MADE|ANSWER", all, func(m Mail) []any {
		said := schema.Cell(m.Code)
		if m.Code != nil {
			said += " "
		}
		return []any{m.ID, m.State, m.Kind, m.Record, m.To, m.Tries, m.CreatedAt, said + schema.Cell(m.Reply)}
	})
}

func (b *Book) showMail() schema.Op {
	return schema.Op{
		Name: "show_mail", About: "One message, mailed or waiting.",
		Command: "mail show ID", Example: "mail show 7", Response: exampleMail,
		Refuses: []fault.Kind{fault.Conflict, fault.NotFound},
		Bind: schema.Does(func(f *schema.Form, id *int64) {
			f.ID(id, "id", "the message's number", schema.Required, schema.Positional("ID"), schema.Label("Message"))
		}, func(ctx context.Context, who db.Caller, id int64) (Mail, error) {
			if err := mayList(who); err != nil {
				return Mail{}, err
			}
			v, err := b.Read(ctx, who, id)
			return v.Mail, err
		}),
		Print: schema.Printed(func(w io.Writer, m Mail) { printMails(w, []Mail{m}) }),
	}
}

// several is an operation on messages by number.
func (b *Book) several(name, about, word string, act func(context.Context, db.Caller, []int64) (Again,
	error)) schema.Op {
	return schema.Op{
		Name: name, Writes: true, About: about, Command: "mail " + word + " ID...", Example: "mail " + word + " 7",
		Response: Again{Mails: []Mail{exampleMail}}, Refuses: []fault.Kind{fault.Conflict, fault.NotFound},
		Bind: schema.Does(func(f *schema.Form, ids *[]int64) {
			f.IDs(ids, "id", "the message's number; several may be given", 200, schema.Required, schema.Positional("ID"),
				schema.Label("Messages"), schema.Help("Their numbers, one a line."))
		}, act),
		Print: schema.Printed(func(w io.Writer, a Again) { printMails(w, a.Mails) }),
		Leads: func(any) string { return "/mail" },
	}
}

// named lists the addresses of messages, the first few by name.
func named(a Again) string {
	return mail.Few(a.Mails, func(m Mail) string { return m.To + " (" + m.Kind + " " + m.Record + ")" })
}

func (b *Book) resendMail() schema.Op {
	op := b.several("resend_mail", "Send messages again that were sent, refused, failed or cancelled.", "resend", b.resend)
	op.Destructive = true
	op.Will = schema.Said(func(a Again) string { return "Mail again to " + named(a) + "." })
	op.Did = schema.Said(func(a Again) string { return "Queued again for " + named(a) + "." })
	return op
}

func (b *Book) cancelMail() schema.Op {
	op := b.several("cancel_mail", "Cancel messages that wait.", "cancel", b.cancel)
	op.Did = schema.Said(func(a Again) string { return "Cancelled: " + named(a) + "." })
	return op
}

func emailArg(f *schema.Form, p *string, more ...schema.Opt) {
	f.Text(p, "email", "the address", append(more, schema.Required, schema.Most(254), schema.Positional("EMAIL"),
		schema.Label("E-mail"), schema.Example("ann@example.com"))...)
}

func (b *Book) blockAddress() schema.Op {
	return schema.Op{
		Name: "block_address", Writes: true, Idempotent: true, About: "Stop mail to an address, for example after a bounce.",
		Command: "mail block EMAIL", Example: "mail block ann@example.com --reason \"no such mailbox\"",
		Response: Address{Email: "ann@example.com"},
		Bind: schema.Does2(func(f *schema.Form, email, reason *string) {
			emailArg(f, email)
			f.Text(reason, "reason", "why", schema.Most(200))
		}, b.block),
		Did:   schema.Said(func(a Address) string { return "Nothing is mailed to " + a.Email + " any more." }),
		Leads: toSettings,
	}
}

func (b *Book) unblockAddress() schema.Op {
	return schema.Op{
		Name: "unblock_address", Writes: true, About: "Mail to a blocked address again.",
		Command: "mail unblock EMAIL", Example: "mail unblock ann@example.com", Response: Address{Email: "ann@example.com"},
		Refuses: []fault.Kind{fault.NotFound},
		Bind: schema.Does(func(f *schema.Form, email *string) {
			emailArg(f, email, schema.Choices(schema.Listed(
				"SELECT address, address, ifnull(reason, '') FROM blocked_addresses WHERE {} ORDER BY address LIMIT ?2", "address",
				"address")))
		}, b.unblock),
		Did:   schema.Said(func(a Address) string { return a.Email + " may be mailed to again." }),
		Leads: toSettings,
	}
}

func (b *Book) pauseMail(name, about, command string, hold bool) schema.Op {
	return schema.Op{
		Name: name, Writes: true, Admin: true, Idempotent: true, About: about, Command: command, Response: Count{Waiting: 2},
		Bind: schema.Acts(func(ctx context.Context, who db.Caller) (Count, error) { return b.pause(ctx, who, hold) }),
		Did: schema.Said(func(v Count) string {
			return fmt.Sprintf("Mail is %s; %d messages wait.", map[bool]string{true: "paused", false: "sent again"}[hold],
				v.Waiting)
		}),
		Leads: func(any) string { return "/mail" },
	}
}

func (b *Book) localeOp() schema.Op {
	return schema.Op{
		Name: "set_locale", Writes: true, Admin: true, Idempotent: true,
		About:   "Set how days and amounts are written in messages and letters; without one, print it.",
		Command: "settings locale [LOCALE]", Example: "settings locale de-DE", Response: Locale{Locale: "de-DE"},
		Bind: schema.Does(func(f *schema.Form, name *string) {
			f.Enum(name, "locale", "one of "+strings.Join(mail.LocaleNames(), ", "), mail.LocaleNames(),
				schema.Help("How days and amounts are written in messages."), schema.Positional("LOCALE"))
		}, b.setLocale),
		Print: schema.Printed(func(w io.Writer, l Locale) { fmt.Fprintln(w, l.Locale) }),
		Did: schema.Said(func(l Locale) string {
			return "Days and amounts in messages and letters are written as " + l.Locale + "."
		}),
		Leads: toSettings,
	}
}
