package mailer

import (
	"context"
	"time"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
	"quartermaster/schema/session"
)

// Try is the result of an attempt, for the log. It holds no address and no text of the message.
type Try struct {
	ID    int64
	Kind  string
	State string
	Code  int
	Took  time.Duration
}

// Sender sends queued messages, one at a time.
type Sender struct {
	b       *Book
	log     func(Try)
	trouble func(error)
	grace   time.Duration
	poll    time.Duration
	begun   []time.Time // attempts of the last minute
}

// NewSender returns the one sender. log receives each attempt, trouble the database's errors, which lose nothing.
func NewSender(b *Book, log func(Try), trouble func(error)) *Sender {
	return &Sender{b: b, log: log, trouble: trouble, grace: 10 * time.Second, poll: time.Second}
}

// Run sends until ctx ends; a running attempt then has ten seconds. Only one process may run it on a database: a
// message in state sending was interrupted with the previous process, and is queued again.
func (s *Sender) Run(ctx context.Context) {
	tries, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(s.grace, cut) })()
	recovered := false
	for ctx.Err() == nil {
		if !recovered {
			recovered = s.report(s.recover(ctx)) == nil
		}
		if recovered {
			for ctx.Err() == nil && s.step(ctx, tries) {
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(s.poll):
		}
	}
}

func (s *Sender) report(err error) error {
	if err != nil {
		s.trouble(err)
	}
	return err
}

// recover queues again what a killed process was sending, and reads when attempts began.
func (s *Sender) recover(ctx context.Context) error {
	return db.Exec(ctx, s.b.d, db.Bookkeeping(), func(tx *db.Tx) error {
		if demo, err := tx.Setting(settingDemo); err != nil || demo != "" {
			return err
		}
		last, err := db.All(&tx.Conn, db.Int, "SELECT tried_at FROM mails WHERE tried_at > ? ORDER BY tried_at", tx.Now()-60)
		if err != nil {
			return err
		}
		s.begun = nil
		for _, at := range last {
			s.begun = append(s.begun, time.Now().Add(-time.Duration(int64(tx.Now())-at)*time.Second))
		}
		_, err = tx.Exec(`UPDATE mails SET state = CASE WHEN kind = 'test' THEN 'failed' ELSE 'queued' END
			WHERE state = 'sending'`)
		return err
	})
}

// outgoing is a message with everything that its attempt needs.
type outgoing struct {
	mail.Listed
	row      mail.Row
	settings Settings
	envelope mail.Envelope
	body     []byte
	ended    string // its new state, if it is not sent
}

// step makes one attempt, if one is due; more reports that there may be another.
func (s *Sender) step(ctx, tries context.Context) (more bool) {
	ready, err := s.ready(ctx)
	if s.report(err) != nil || !ready || !s.mayBegin() {
		return false
	}
	o, err := s.begin(ctx)
	if s.report(err) != nil || o == nil {
		return false
	}
	if o.ended != "" {
		s.log(Try{ID: o.ID, Kind: o.Kind, State: o.ended})
		return true
	}
	s.begun = append(s.begun, time.Now())
	began := time.Now()
	deliver(tries, o.settings, o.envelope, o.body, func(reply mail.Reply) {
		if tries.Err() != nil && reply.Code == 0 {
			return // the server stops: the next start tries again
		}
		t := Try{ID: o.ID, Kind: o.Kind, Code: reply.Code, Took: time.Since(began)}
		err := db.Exec(context.WithoutCancel(ctx), s.b.d, db.Bookkeeping(), func(tx *db.Tx) (err error) {
			t.State, err = s.b.record(tx, o, reply)
			return err
		})
		if more = s.report(err) == nil; more {
			s.log(t)
		}
	})
	return more
}

// mayBegin reports whether another attempt keeps the rate: at most rate attempts begin in any 60 seconds.
func (s *Sender) mayBegin() bool {
	now, err := db.Read(context.Background(), s.b.d, settings)
	if s.report(err) != nil {
		return false
	}
	for len(s.begun) > 0 && time.Since(s.begun[0]) > time.Minute {
		s.begun = s.begun[1:]
	}
	return int64(len(s.begun)) < now.Rate
}

// aged are the messages whose time is over: requested links after an hour, all others after two days.
const aged = `state = 'queued' AND created_at < ?1 - CASE WHEN link THEN 3600 ELSE 172800 END`

const due = `SELECT id FROM mails WHERE state = 'queued' AND (next_try_at <= ?1 OR next_try_at > ?1 + 14400)
	ORDER BY link DESC, id LIMIT 1`

// ready reports whether there is anything to do, without writing.
func (s *Sender) ready(ctx context.Context) (bool, error) {
	return db.Read(ctx, s.b.d, func(c *db.Conn) (bool, error) {
		if demo, err := c.Setting(settingDemo); err != nil || demo != "" {
			return false, err
		}
		n, _, err := db.One(c, db.Int, "SELECT count(*) FROM mails WHERE "+aged, c.Now())
		if err != nil || n > 0 {
			return n > 0, err
		}
		if held, err := holds(c); err != nil || held {
			return false, err
		}
		_, ready, err := db.One(c, db.Int, due, c.Now())
		return ready, err
	})
}

// holds reports whether nothing is sent now: there is no server, mail is paused, or a problem blocks it.
func holds(c *db.Conn) (bool, error) {
	is, err := mail.SetUp(c)
	if err != nil || !is {
		return true, err
	}
	if paused, err := c.Setting(settingPaused); err != nil || paused != "" {
		return true, err
	}
	t, is, err := troubleNow(c)
	return is && t.Next > c.Now() && t.Next <= c.Now()+mail.Longest, err
}

// settingDemo marks the file as a demo, which sends nothing.
const settingDemo = "mail.demo"

// begin ends too old messages and marks the next one as being sent, with everything that its attempt needs; nil if
// there is none.
func (s *Sender) begin(ctx context.Context) (o *outgoing, err error) {
	err = db.Exec(ctx, s.b.d, db.Bookkeeping(), func(tx *db.Tx) error {
		o = nil
		if s.b.d.ClockDoubt() == "" {
			n, err := tx.Exec(`UPDATE mails SET state = 'failed', next_try_at = NULL, reply = coalesce(reply,
				'it could not be sent in its time')
				WHERE `+aged, tx.Now())
			if err == nil && n > 0 {
				err = failed(tx, "", "")
			}
			if err != nil {
				return err
			}
		}
		if held, err := holds(&tx.Conn); err != nil || held {
			return err
		}
		id, found, err := db.One(&tx.Conn, db.Int, due, tx.Now())
		if err != nil || !found {
			return err
		}
		o, err = s.b.prepare(tx, id)
		return err
	})
	return o, err
}

// prepare reads a message's present content and marks it as being sent. A message that is no longer true, or cannot be
// sent, is ended.
func (b *Book) prepare(tx *db.Tx, id int64) (*outgoing, error) {
	m, err := mail.Find(&tx.Conn, id)
	o := &outgoing{Listed: m, row: m.Row()}
	if err != nil {
		return nil, err
	}
	if o.settings, err = b.server(&tx.Conn); err != nil {
		return nil, err
	}
	k, is := b.names[o.Kind]
	if !is {
		return o, o.end(tx, mail.Cancelled, "this kind of message no longer exists")
	}
	f, untrue, err := b.read(tx, k, o.row)
	switch {
	case fault.Is(err, fault.Invalid): // a text that can no longer be filled in, for example after an upgrade
		return o, o.end(tx, mail.Declined, err.Error())
	case fault.Is(err, fault.NotFound): // its record is gone
		return o, o.end(tx, mail.Cancelled, err.Error())
	case err != nil:
		return nil, err
	case untrue != "":
		return o, o.end(tx, mail.Cancelled, untrue)
	}
	why, err := mail.Unsendable(&tx.Conn, f.To)
	if err != nil {
		return nil, err
	}
	o.row.To = f.To
	if err := o.seal(tx, f.Name, k.Person, f.Written); err != nil {
		return nil, err
	}
	if why == "" && len(o.body) > mail.MostBytes {
		why = "the message is longer than 1 MiB"
	}
	if why != "" {
		return o, o.end(tx, mail.Declined, why)
	}
	_, err = tx.Exec("UPDATE mails SET state = 'sending', address = ?, tried_at = ? WHERE id = ?", f.To, tx.Now(), id)
	return o, err
}

// seal puts the message into its envelope.
func (o *outgoing) seal(tx *db.Tx, name string, person bool, w mail.Written) (err error) {
	v := o.settings
	if v.FromName == "" {
		v.FromName, err = tx.Setting(db.SettingShopName)
	}
	o.envelope = mail.Envelope{From: v.From, FromName: v.FromName, ReplyTo: v.ReplyTo, To: o.row.To, ToName: name,
		ID: o.MessageID(), Date: tx.Now().Time().In(tx.Zone()), Person: person}
	o.body = o.envelope.Bytes(w)
	return err
}

// read fills a message in. If that fails, its writes, such as a link, are rolled back.
func (b *Book) read(tx *db.Tx, k mail.Kind, r mail.Row) (f filled, untrue string, err error) {
	t, err := b.text(&tx.Conn, k.Name)
	if err != nil {
		return f, "", err
	}
	f, err = b.fill(&tx.Conn, k, r, t, maker{tx})
	switch {
	case err != nil:
		return f, "", err
	case f.Untrue == "" && f.To == "":
		f.Untrue = "the address was removed"
	}
	return f, f.Untrue, nil
}

// end sets the message's final state without an attempt.
func (o *outgoing) end(tx *db.Tx, state, why string) error {
	o.ended = state
	return o.settle(tx, state, mail.Reply{Text: why}, nil)
}

// settle writes the message's state and what the server said; next is when it is tried again, nil: never.
func (o *outgoing) settle(tx *db.Tx, state string, r mail.Reply, next any) error {
	code := any(r.Code)
	if r.Code == 0 {
		code = nil
	}
	if state == mail.Declined || state == mail.Failed {
		if err := failed(tx, o.Service, o.Kind); err != nil {
			return err
		}
	}
	_, err := tx.Exec(
		"UPDATE mails SET state = ?, tries = ?, code = ?, reply = ?, next_try_at = ?, address = ? WHERE id = ?",
		state, o.Tries, code, r.Kept(o.row.To), next, o.row.To, o.ID)
	return err
}

// maker makes the links and codes of a message being sent.
type maker struct{ tx *db.Tx }

// Token makes a link's token.
func (m maker) Token(kind session.Kind, person int64, life exact.Instant) (string, exact.Instant, error) {
	return session.MakeLink(m.tx, kind, person, life)
}

// Code makes a tenant's code.
func (m maker) Code(tenant int64, by string) (string, error) {
	return session.MakeCode(m.tx, tenant, by)
}

// record writes what came of a try, and gives the message's state. A test is tried once.
func (b *Book) record(tx *db.Tx, o *outgoing, r mail.Reply) (state string, err error) {
	means, block := r.Means()
	if means == mail.Trouble && o.Kind != testKind {
		before, _, err := troubleNow(&tx.Conn)
		if err != nil {
			return "", err
		}
		if before.Stage == mail.Auth != (r.Stage == mail.Auth) {
			before.Count = 0
		}
		t := trouble{Stage: r.Stage, Code: r.Code, Reply: r.Kept(o.row.To), Count: before.Count + 1}
		t.Next = tx.Now() + mail.Rest(r.Stage, t.Count)
		if err := t.keep(tx); err != nil {
			return "", err
		}
		return mail.Queued, o.settle(tx, mail.Queued, r, o.NextTryAt)
	}
	if means != mail.Trouble {
		if err := tx.SetSetting(settingTrouble, ""); err != nil {
			return "", err
		}
	}
	o.Tries++
	next := any(nil)
	switch {
	case means == mail.Sent:
		state = mail.Done
	case means == mail.Refused:
		state = mail.Declined
	case o.Kind == testKind:
		state = mail.Failed
	default:
		at, in := mail.Next(o.CreatedAt, tx.Now(), o.Tries, o.row.Link)
		if state = mail.Failed; in || b.d.ClockDoubt() != "" { // a doubted clock ages no message
			state, next = mail.Queued, at
		}
	}
	if block {
		if err := mail.Block(tx, o.row.To, "the mail server: "+r.Kept(o.row.To)); err != nil {
			return "", err
		}
	}
	return state, o.settle(tx, state, r, next)
}

// server is the mail server with the valid password.
func (b *Book) server(c *db.Conn) (Settings, error) {
	s, err := settings(c)
	if b.password != "" && s.User != "" {
		s.secret = b.password
	}
	return s, err
}

// keptDays is how long finished messages are listed.
const keptDays = 400

// Flush deletes messages that were finished 400 days ago.
func (b *Book) Flush(ctx context.Context) error {
	old, err := db.Read(ctx, b.d, func(c *db.Conn) (bool, error) {
		_, is, err := db.One(c, db.Int,
			"SELECT 1 FROM mails WHERE created_at < ? AND state NOT IN ('queued', 'held', 'sending') LIMIT 1",
			c.Now()-keptDays*86400)
		return is, err
	})
	if err != nil || !old {
		return err
	}
	return db.Exec(ctx, b.d, db.Bookkeeping(), func(tx *db.Tx) error {
		_, err := tx.Exec("DELETE FROM mails WHERE created_at < ? AND state NOT IN ('queued', 'held', 'sending')",
			tx.Now()-keptDays*86400)
		return err
	})
}
