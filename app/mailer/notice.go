package mailer

import (
	"strings"

	"quartermaster/app/account"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/mail"
)

// noticeKinds are the messages with notices: one at once, or many in a digest.
func (b *Book) noticeKinds() []mail.Kind {
	fields := []mail.Field{{Name: "subject"}, {Name: "sections", Block: true}, {Name: "link"}}
	return []mail.Kind{
		{
			Name: "notice", Asked: true, About: "To a user, at once: the notices that the user chose.", Fields: fields,
			Subject: "{subject}", Body: "Hello {name},\n\n{sections}\n\n{link}\n\n{shop}", Fill: b.fillNotice,
			Newest: newestOf("notice"),
		},
		{
			Name: "digest", Asked: true, About: "To a user, when digests are sent: what happened and what is due.",
			Fields:  fields,
			Subject: "{subject}", Body: "Hello {name},\n\n{sections}\n\n{link}\n\n{shop}", Fill: b.fillDigest,
			Newest: newestOf("digest"),
		},
	}
}

func newestOf(kind string) func(c *db.Conn) (mail.Row, bool, error) {
	return func(c *db.Conn) (mail.Row, bool, error) {
		m, found, err := db.One(c, mail.ScanListed, "SELECT "+mail.ListedColumns+" WHERE kind = ? ORDER BY id DESC LIMIT 1",
			kind)
		return m.Row(), found, err
	}
}

// reader is the user of a notice or a digest.
type reader struct {
	id    int64
	name  string
	email string
	jobs  string            // their choice for jobs
	roles map[string]string // by service
}

// readerOf finds a user by "user:7"; false for one who may no longer sign in.
func readerOf(c *db.Conn, subject string) (u reader, is bool, err error) {
	var notices string
	u, is, err = db.One(c, func(r *db.Row) reader {
		u := reader{id: r.Int(), name: r.Text(), email: r.Text(), roles: map[string]string{}}
		notices = r.Text()
		return u
	}, "SELECT id, name, email, notices FROM users WHERE id = ? AND disabled = 0 AND removed_at IS NULL",
		mail.Row{Subject: subject}.Number())
	if err != nil || !is {
		return u, is, err
	}
	wishes, err := mail.ParseNotices(notices)
	if err != nil {
		return u, false, err
	}
	u.jobs = wishes.Jobs
	return u, true, db.Each(c, func(r *db.Row) error {
		service := r.Text()
		u.roles[service] = r.Text()
		return nil
	}, "SELECT service, role FROM roles WHERE user_id = ?", u.id)
}

// tell is a notice as a row of a message: its title and the record's cells. is is false if it no longer applies, or the
// user has lost the role.
func (b *Book) tell(c *db.Conn, w *mail.Writer, r mail.Row, u reader) (cells []string, service, path string, is bool,
	err error) {
	name, service, _ := strings.Cut(r.Note, " ")
	if u.roles[service] == "" {
		return nil, service, "", false, nil
	}
	for _, n := range b.notices {
		if n.Name != name || n.Service != service && n.Service != "" {
			continue
		}
		own, err := b.writer(c, service, w.Maker)
		if err != nil {
			return nil, service, "", false, err
		}
		cells, path, is, err = n.Tell(c, own, r, u.name)
		return append([]string{own.Word(n.Title)}, cells...), service, own.Base + path, is, err
	}
	return nil, service, "", false, nil
}

// contentFor is the beginning of a message to a user.
func contentFor(c *db.Conn, subject string) (u reader, v mail.Content, err error) {
	u, is, err := readerOf(c, subject)
	v = mail.Content{To: u.email, Name: u.name}
	if err == nil && !is {
		v.Untrue = "the user is disabled or removed"
	}
	return u, v, err
}

func (b *Book) fillNotice(c *db.Conn, w *mail.Writer, r mail.Row) (mail.Content, error) {
	u, v, err := contentFor(c, r.Person)
	if err != nil || v.Untrue != "" {
		return v, err
	}
	cells, _, link, is, err := b.tell(c, w, r, u)
	if err == nil && !is {
		v.Untrue = "it no longer applies"
	}
	if err != nil || !is {
		return v, err
	}
	v.Values = map[string]mail.Value{
		"subject":  mail.Text(cells[0] + ": " + strings.Join(cells[1:min(len(cells), 3)], " ")),
		"sections": mail.Rows([][]string{cells}), "link": mail.Text(link),
	}
	return v, nil
}

// dueOf are the user's jobs that are due today or overdue, a row each, by service.
func (b *Book) dueOf(c *db.Conn, w *mail.Writer, u reader) (map[string][][]string, error) {
	all := map[string][][]string{}
	for _, n := range b.notices {
		if n.Due == nil || u.roles[n.Service] == "" || u.jobs == mail.Never {
			continue
		}
		own, err := b.writer(c, n.Service, w.Maker)
		if err != nil {
			return nil, err
		}
		if all[n.Service], err = n.Due(c, own, u.name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// fillDigest fills in a user's digest. The row's note is the number of the message whose held notices it contains, and
// the date if it lists due jobs.
func (b *Book) fillDigest(c *db.Conn, w *mail.Writer, r mail.Row) (mail.Content, error) {
	u, v, err := contentFor(c, r.Person)
	if err != nil || v.Untrue != "" {
		return v, err
	}
	of, day, _ := strings.Cut(r.Note, " ")
	sections := map[string][][]string{}
	if day != "" {
		if sections, err = b.dueOf(c, w, u); err != nil {
			return v, err
		}
	}
	held, err := db.All(c, mail.ScanListed, "SELECT "+mail.ListedColumns+" WHERE digest = ? ORDER BY id", of)
	if err != nil {
		return v, err
	}
	for _, m := range held {
		cells, service, _, is, err := b.tell(c, w, m.Row(), u)
		if err != nil {
			return v, err
		}
		if is {
			sections[service] = append(sections[service], cells)
		}
	}
	var rows [][]string
	for _, s := range schema.ServiceNames {
		if len(sections[s]) > 0 {
			rows = append(append(rows, []string{strings.ToUpper(s[:1]) + s[1:]}), sections[s]...)
		}
	}
	if len(rows) == 0 {
		v.Untrue = "nothing in it still applies"
		return v, nil
	}
	home, err := account.HomeOf(c, u.id)
	v.Values = map[string]mail.Value{
		"subject": mail.Text("What is new, " + w.Day(w.Zone(w.Now))), "sections": mail.Rows(rows),
		"link": mail.Text(home + "/"),
	}
	return v, err
}

// failures is the notice of failed deliveries and messages.
func failures() mail.Notice {
	return mail.Notice{
		Name: "deliveries", Title: "Deliveries or messages failed",
		Tell: func(c *db.Conn, _ *mail.Writer, r mail.Row, _ string) ([]string, string, bool, error) {
			if r.Subject == "mails" {
				return []string{"messages"}, "/mail?state=failed", true, nil
			}
			return []string{"deliveries to " + r.Record}, "/webhooks", true, nil
		},
	}
}

// failed notifies admins of a refused or failed message, once per hour and user.
func failed(tx *db.Tx, service, kind string) error {
	if kind == "notice" || kind == "digest" || kind == testKind {
		return nil
	}
	services := []string{service}
	if service == "" {
		services = schema.ServiceNames
	}
	for _, s := range services {
		err := mail.Notify(tx, mail.Told{Notice: "deliveries", Subject: "mails", Record: "Mail", Service: s, Role: "admin",
			Every: anHour})
		if err != nil {
			return err
		}
	}
	return nil
}

const anHour = exact.Instant(3600)
