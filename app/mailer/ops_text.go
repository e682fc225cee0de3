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

// kindArg binds the name of a kind or text.
func kindArg(f *schema.Form, p *string, names []string, opts ...schema.Opt) {
	f.Enum(p, "kind", "which messages: "+strings.Join(names, ", "), names, append(opts, schema.Positional("KIND"))...)
}

func (b *Book) setKind() schema.Op {
	return schema.Op{
		Name: "set_mail_kind", Writes: true, Admin: true, Idempotent: true,
		About:   "Turn a kind of automatic messages on or off.",
		Command: "mail kind KIND ON", Example: "mail kind order off", Response: Switched{Kind: "order", On: true},
		Bind: schema.Does(func(f *schema.Form, v *Switched) {
			kindArg(f, &v.Kind, b.switches(), schema.Required)
			if f.Surface() == schema.Command {
				var word string
				f.Enum(&word, "on", "on or off", []string{"on", "off"}, schema.Required, schema.Positional("ON"),
					schema.Alias("true", "on"), schema.Alias("false", "off"))
				v.On = word == "on"
			} else {
				f.Bool(&v.On, "on", "such messages are made", schema.Required)
			}
		}, b.turn),
		Did: schema.Said(func(v Switched) string {
			return fmt.Sprintf("Messages of the kind %s are %s.", v.Kind, onOff(v.On))
		}),
		Leads: toSettings,
	}
}

func toText(t KindText) string { return "/settings/mail/" + t.Kind }

func (b *Book) saveText() schema.Op {
	return schema.Op{
		Name: "save_mail_text", Writes: true, Admin: true, Idempotent: true,
		About: "Keep the shop's own text of a kind of messages. A file begins with a line \"Subject: ...\" and an empty " +
			"line; " +
			"without such a line the subject stays.",
		Command: "mail text set KIND FILE", Example: "mail text set order order.txt",
		Response: KindText{Kind: "order", Subject: "Your order {order}", Body: "{keys}", Own: true},
		Bind: schema.Does3(func(f *schema.Form, kind *string, subject, body **string) {
			kindArg(f, kind, b.texts(), schema.Required)
			if f.Surface() == schema.Command {
				var file schema.File
				if f.File(&file, "file", "the text; - is standard input", 64<<10, schema.Required, schema.Positional("FILE")) {
					*subject, *body = splitText(string(file.Data))
				}
			} else {
				f.TextPtr(subject, "subject", "one line", schema.Most(1000))
				f.TextPtr(body, "body", "paragraphs with an empty line between them", schema.Lines, schema.Most(20_000),
					schema.Label("Text"))
			}
		}, b.save),
		Fill: func(c *db.Conn, given map[string]string) (map[string]string, bool, error) {
			t, err := b.text(c, given["kind"])
			if fault.Is(err, fault.Invalid) {
				return nil, false, nil
			}
			return map[string]string{"kind": t.Kind, "subject": t.Subject, "body": t.Body}, err == nil, err
		},
		Did:   schema.Said(func(t KindText) string { return "The text of " + t.Kind + " is saved." }),
		Leads: schema.Of(toText),
	}
}

// splitText splits a file into the subject, if its first line is one, and the body.
func splitText(text string) (subject, body *string) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	first, rest, _ := strings.Cut(text, "\n")
	if line, is := strings.CutPrefix(first, "Subject:"); is {
		line = strings.TrimSpace(line)
		subject, text = &line, rest
	}
	text = strings.Trim(text, "\n")
	return subject, &text
}

func (b *Book) resetText() schema.Op {
	return schema.Op{
		Name: "reset_mail_text", Writes: true, Admin: true, Destructive: true, Idempotent: true,
		About:   "Go back to the program's text of a kind; the shop's own text is deleted.",
		Command: "mail text reset KIND", Example: "mail text reset order",
		Response: KindText{Kind: "order", Subject: "Your order {order}", Body: "{keys}"},
		Bind:     schema.Does(func(f *schema.Form, kind *string) { kindArg(f, kind, b.texts(), schema.Required) }, b.reset),
		Will: schema.Said(func(t KindText) string {
			return "Your own text of " + t.Kind + " is deleted. The program's text is used again."
		}),
		Did:   schema.Said(func(t KindText) string { return "The text of " + t.Kind + " is the program's own." }),
		Leads: schema.Of(toText),
	}
}

func (b *Book) preview() schema.Op {
	return schema.Op{
		Name: "preview_mail", About: "Show a kind's text filled in from a record: the one that is named, or the newest " +
			"that fits. Keys and links are masked.",
		Command: "mail preview KIND [RECORD]", Example: "mail preview order",
		Response: mail.Written{Subject: "Your order ORD-1", Text: "Thank you.\n", HTML: "<p>Thank you.</p>"},
		Refuses:  []fault.Kind{fault.Conflict, fault.NotFound},
		Bind: func(f *schema.Form) schema.Handler {
			var kind, record string
			var subject, body *string
			kindArg(f, &kind, b.kindNames(), schema.Required)
			f.Text(&record, "record", "an order, a lease, whatever the kind is about (default: the newest that fits)",
				schema.Most(300), schema.Positional("RECORD"))
			f.TextPtr(&subject, "subject", "try this instead of the saved one", schema.Most(1000))
			f.TextPtr(&body, "body", "try this instead of the saved one", schema.Lines, schema.Most(20_000))
			return func(ctx context.Context, who db.Caller) (any, error) {
				if err := mayList(who); err != nil {
					return nil, err
				}
				return schema.Answer(b.Preview(ctx, kind, record, subject, body))
			}
		},
		Print: schema.Printed(func(w io.Writer, t mail.Written) {
			fmt.Fprintf(w, "Subject: %s\n\n%s", t.Subject, t.Text)
		}),
	}
}
