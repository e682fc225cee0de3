package screen

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"quartermaster/app/mailer"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/mail"
	"quartermaster/schema/page"
	"quartermaster/webhook"
)

// mailView is the list of messages.
type mailView struct {
	mailer.List
	status mailer.Status
}

func (v mailView) next() string {
	if v.Next == nil {
		return ""
	}
	return strconv.FormatInt(*v.Next, 10)
}

// trouble is why mail waits: the server's answer, or, where it was not reached, the last words of the dialler.
func trouble(reply string) string {
	if strings.HasPrefix(reply, "dial ") {
		return "The mail server is not reached: " + strings.TrimSpace(reply[strings.LastIndex(reply, ":")+1:])
	}
	return "The mail server refuses messages: " + reply
}

func (s *Screens) mailPage() page.Page {
	return page.New(page.Spec[mailView]{
		Path: "/mail", Title: "Mail", Menu: "Mail", Role: page.Member,
		Load: func(f *schema.Form) page.Loader[mailView] {
			var asked mailer.Filter
			var paging page.Paging
			f.Enum(&asked.State, "state", "The state", mailer.States)
			f.Text(&asked.Kind, "kind", "The kind", schema.Most(50))
			f.Text(&asked.Record, "record", "The record", schema.Most(300))
			paging.Bind(f)
			return func(ctx context.Context, who db.Caller) (v mailView, err error) {
				asked.Q, asked.Page.Limit = paging.Q, paging.Limit
				asked.Page.After, _ = strconv.ParseInt(paging.After, 10, 64)
				if v.List, err = s.Mail.List(ctx, who, asked); err != nil {
					return v, err
				}
				v.status, err = db.Read(ctx, s.DB, s.Mail.Status)
				return v, err
			}
		},
		View: mailPage,
		CSV: func(v mailView) page.Sheet {
			columns := []string{"id", "service", "kind", "record", "to", "state", "tries", "code", "reply", "created_at",
				"next_try_at", "tried_at"}
			return page.SheetOf("mails", columns, v.Mails, func(m mailer.Mail) []string {
				return []string{page.Num(m.ID), m.Service, m.Kind, m.Record, m.To, m.State, page.Num(m.Tries),
					schema.Cell(m.Code), schema.Cell(m.Reply), m.CreatedAt.String(), schema.Cell(m.NextTryAt),
					schema.Cell(m.TriedAt)}
			})
		},
	})
}

// messageView is one message with its present text.
type messageView struct{ mailer.Reads }

// PageTitle names the message.
func (v messageView) PageTitle() string { return "Message " + page.Num(v.ID) }

func (s *Screens) messagePage() page.Page {
	return page.New(page.Spec[messageView]{
		Path: "/mail/:id", Title: "Message", Role: page.Member,
		Load: page.ByID("id", "The message", func(ctx context.Context, who db.Caller, id int64) (messageView, error) {
			v, err := s.Mail.Read(ctx, who, id)
			return messageView{v}, err
		}),
		View: messagePage,
	})
}

// mailSettingsView is the mail server, the texts and the blocked addresses.
type mailSettingsView struct {
	status  mailer.Status
	daily   mailer.Timer
	texts   []mailer.TextRow
	blocked []mailer.Blocked
	takers  []webhook.Receiver // receivers of paid orders
}

func (s *Screens) mailSettingsPage() page.Page {
	return page.New(page.Spec[mailSettingsView]{
		Path: "/settings/mail", Title: "Mail", Role: page.Admin,
		Load: page.Always(func(ctx context.Context, _ db.Caller) (v mailSettingsView, err error) {
			err = s.DB.View(ctx, func(c *db.Conn) (err error) {
				if v.status, err = s.Mail.Status(c); err != nil {
					return err
				}
				if v.daily, err = mailer.TimerNow(c); err != nil {
					return err
				}
				if v.texts, err = s.Mail.Texts(c); err != nil {
					return err
				}
				on, err := schema.ServicesOn(c)
				if err != nil {
					return err
				}
				v.texts = slices.DeleteFunc(v.texts, func(t mailer.TextRow) bool {
					return t.Service != "" && !slices.Contains(on, t.Service)
				})
				v.blocked, err = mailer.Blocks(c)
				return err
			})
			if err != nil {
				return v, err
			}
			v.takers, err = paidTakers(ctx, s.DB)
			return v, err
		}),
		View: mailSettingsPage,
	})
}

// paidTakers are the receivers of order.paid, which may mail keys already.
func paidTakers(ctx context.Context, d *db.DB) (takers []webhook.Receiver, err error) {
	all, err := webhook.NewReceivers(d, nil).List(ctx, "store")
	for _, r := range all {
		if r.Enabled && (len(r.Events) == 0 || slices.Contains(r.Events, "order.paid")) {
			takers = append(takers, r)
		}
	}
	return takers, err
}

// mailTextView is a kind's text with a preview.
type mailTextView struct {
	mailer.TextRow
	reads mail.Written
	why   string // why it cannot be shown
	setUp bool
}

// PageTitle names the kind.
func (v mailTextView) PageTitle() string { return v.title() }

// title is the text's kind; words in tables are no text of one kind.
func (v mailTextView) title() string {
	if v.words() {
		return kindWord(v.Kind)
	}
	return "Text of " + kindWord(v.Kind)
}

func (v mailTextView) words() bool { return strings.HasPrefix(v.Kind, "words-") }

// called says what the lines of a list of words are, instead of what paragraphs are.
func (v mailTextView) called() map[string]string {
	if v.words() {
		return map[string]string{"body": "Words, one in a line: ours = yours"}
	}
	return nil
}

func (s *Screens) mailTextPage() page.Page {
	return page.New(page.Spec[mailTextView]{
		Path: "/settings/mail/:kind", Title: "Text", Role: page.Admin,
		Load: func(f *schema.Form) page.Loader[mailTextView] {
			var kind string
			f.Text(&kind, "kind", "The kind", schema.InPath("kind"))
			return func(ctx context.Context, _ db.Caller) (v mailTextView, err error) {
				var status mailer.Status
				err = s.DB.View(ctx, func(c *db.Conn) (err error) {
					if v.TextRow, err = s.Mail.TextOf(c, kind); err != nil {
						return err
					}
					status, err = s.Mail.Status(c)
					return err
				})
				if v.setUp = status.SetUp; err != nil || !v.setUp || len(v.Fields) == 0 {
					return v, err
				}
				reads, err := s.Mail.Preview(ctx, kind, "", nil, nil)
				if v.reads = reads; err != nil {
					v.why = err.Error()
				}
				return v, nil
			}
		},
		View: mailTextPage,
	})
}

// mailStatus is whether mail is set up, and what blocks it, for the menu and the first page.
func (x *exchange) mailStatus() mailer.Status {
	if x.visitor == nil || x.visitor.caller.Role != page.Member && x.visitor.caller.Role != page.Admin {
		return mailer.Status{}
	}
	v, err := db.Read(x.r.Context(), x.s.DB, x.s.Mail.Status)
	if err != nil {
		x.s.Log.Warn().Err(err).Msg("the state of mail could not be read")
	}
	return v
}

// mailsOf are the newest messages about the page's record, if the visitor may see them.
func (x *exchange) mailsOf(status mailer.Status) []mailer.Mail {
	subjects := x.mailed
	if subject := x.recordOf(); len(subjects) == 0 && subject != "" {
		subjects = []string{subject}
	}
	if !status.SetUp || len(subjects) == 0 {
		return nil
	}
	all, err := x.s.Mail.About(x.r.Context(), x.who(), subjects)
	if err != nil {
		x.s.Log.Warn().Err(err).Msg("what was mailed could not be read")
	}
	return all
}

// acts are those of the list's head.
func (v mailView) acts() []page.Action {
	if v.status.Paused {
		return nil
	}
	return []page.Action{page.Do("Pause mail", "pause_mail")}
}

// kindWords are kinds of messages whose own name says little.
var kindWords = map[string]string{
	"key": "Replaced key", "expiry": "License ends", "answer": "Job answered", "digest": "Morning digest",
	"purchase": "Purchase order", "buyer-link": "Link for a buyer", "tenant-link": "Link for a tenant",
	"staff-link": "Link for staff", "reminder": "Rent reminder", "late-1": "Late rent, first letter",
	"late-2": "Late rent, second letter", "late-3": "Late rent, third letter",
}

// kindWord is a kind of messages for people.
func kindWord(kind string) string {
	if words := kindWords[kind]; words != "" {
		return words
	}
	if service, ok := strings.CutPrefix(kind, "words-"); ok {
		return "Words in " + service + " messages"
	}
	return page.Word(strings.ReplaceAll(kind, "-", " "))
}

func mailLook(state string) string {
	switch state {
	case mail.Done:
		return page.Good
	case mail.Declined, mail.Failed:
		return page.Bad
	case mail.Queued, mail.Held:
		return page.Todo
	case mail.Sending:
		return page.Going
	}
	return page.Idle
}

// said is the server's reply to a message.
func said(m mailer.Mail) string {
	var words []string
	if m.Code != nil {
		words = append(words, page.Num(*m.Code))
	}
	if m.Reply != nil {
		words = append(words, *m.Reply)
	}
	return strings.Join(words, " ")
}

// mailActs are the actions on a message.
func mailActs(m mailer.Mail) []page.Action {
	switch m.State {
	case mail.Queued, mail.Held:
		return []page.Action{page.Do("Cancel", "cancel_mail", "id", page.Num(m.ID)).Named("message " + page.Num(m.ID))}
	case mail.Sending:
		return nil
	}
	return []page.Action{page.Do("Send again", "resend_mail", "id", page.Num(m.ID)).Named("message " + page.Num(m.ID))}
}

// only are the fields of a text's form: the words of a service have no subject.
func (v mailTextView) only() []string {
	if len(v.Fields) == 0 {
		return []string{"body"}
	}
	return []string{"subject", "body"}
}

// timer are the initial values of the timer's form.
func (v mailSettingsView) timer() map[string]string {
	return map[string]string{"expiry": strconv.FormatBool(v.daily.Expiry),
		"reminders": strconv.FormatBool(v.daily.Reminders), "digests": strconv.FormatBool(v.daily.Digests)}
}
