package mailer

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/smtp"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"quartermaster/schema/mail"
	"quartermaster/webhook"
)

// The server's time limits.
const (
	connectWithin = 15 * time.Second
	replyWithin   = 60 * time.Second
	acceptWithin  = 600 * time.Second // after the final dot
)

// wire is a connection with a time limit for every read and write.
type wire struct {
	net.Conn
	within time.Duration
}

func (w *wire) Read(b []byte) (int, error) {
	_ = w.SetReadDeadline(time.Now().Add(w.within)) // a lost connection fails at the read
	return w.Conn.Read(b)
}

func (w *wire) Write(b []byte) (int, error) {
	_ = w.SetWriteDeadline(time.Now().Add(w.within))
	return w.Conn.Write(b)
}

// talk is one message's dialog with the server.
type talk struct {
	s    Settings
	wire *wire
	c    *smtp.Client
}

// deliver sends one message. done receives the stage reached and the server's last reply, before QUIT: only a message
// whose last reply was lost may arrive twice. The end of ctx cuts the connection.
func deliver(ctx context.Context, s Settings, e mail.Envelope, body []byte, done func(mail.Reply)) {
	m := &talk{s: s}
	defer m.close()
	done(m.send(ctx, e, body))
}

// send runs from the connection to the final dot.
func (m *talk) send(ctx context.Context, e mail.Envelope, body []byte) mail.Reply {
	if r := m.open(ctx); r != nil {
		return *r
	}
	defer context.AfterFunc(ctx, func() { _ = m.wire.Close() })()
	for _, step := range []func() *mail.Reply{m.secure, m.auth} {
		if r := step(); r != nil {
			return *r
		}
	}
	if utf8, _ := m.c.Extension("SMTPUTF8"); !utf8 && (!mail.ASCII(e.To) || !mail.ASCII(e.From)) {
		return mail.Reply{Stage: mail.To, Code: 553, Text: "5.6.7 the mail server accepts no address with letters beyond " +
			"ASCII"}
	}
	if err := m.c.Mail(e.From); err != nil {
		return reply(mail.From, err)
	}
	if err := m.c.Rcpt(e.To); err != nil {
		return reply(mail.To, err)
	}
	return m.data(body)
}

// reply is the server's reply, or why there is none.
func reply(stage mail.Stage, err error) mail.Reply {
	var said *textproto.Error
	if errors.As(err, &said) {
		return mail.Reply{Stage: stage, Code: said.Code, Text: said.Msg}
	}
	return mail.Reply{Stage: stage, Text: err.Error()}
}

func replied(stage mail.Stage, err error) *mail.Reply {
	if err == nil {
		return nil
	}
	r := reply(stage, err)
	return &r
}

// open connects and greets.
func (m *talk) open(ctx context.Context) *mail.Reply {
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	dialer := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || webhook.Internal(to.Addr()) {
			return fmt.Errorf("%s is an internal address of the network or cloud; no connection was made", address)
		}
		return nil
	}}
	host := strings.Trim(m.s.Host, "[]")
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.FormatInt(m.s.Port, 10)))
	if err != nil {
		return replied(mail.Connect, err)
	}
	m.wire = &wire{Conn: conn, within: replyWithin}
	var on net.Conn = m.wire
	if m.s.Security == "tls" {
		secure := tls.Client(m.wire, m.tls())
		if err := secure.HandshakeContext(ctx); err != nil {
			return replied(mail.TLS, err)
		}
		on = secure
	}
	if m.c, err = smtp.NewClient(on, host); err != nil {
		return replied(mail.Connect, err)
	}
	return replied(mail.Connect, m.c.Hello(literal(conn.LocalAddr())))
}

// literal is our name in the greeting: our address, since a machine's name need not be known on the internet.
func literal(a net.Addr) string {
	tcp, is := a.(*net.TCPAddr)
	if !is {
		return "localhost"
	}
	if ip := tcp.IP.To4(); ip != nil {
		return "[" + ip.String() + "]"
	}
	return "[IPv6:" + tcp.IP.String() + "]"
}

func (m *talk) tls() *tls.Config {
	return &tls.Config{ServerName: strings.Trim(m.s.Host, "[]"), MinVersion: tls.VersionTLS12}
}

func (m *talk) secure() *mail.Reply {
	if m.s.Security != "starttls" {
		return nil
	}
	if offered, _ := m.c.Extension("STARTTLS"); !offered {
		return &mail.Reply{Stage: mail.TLS, Text: "the server does not offer STARTTLS"}
	}
	return replied(mail.TLS, m.c.StartTLS(m.tls()))
}

func (m *talk) auth() *mail.Reply {
	if m.s.User == "" {
		return nil
	}
	_, offered := m.c.Extension("AUTH")
	ways := strings.Fields(strings.ToUpper(offered))
	for _, way := range []struct {
		name string
		auth smtp.Auth
	}{
		{"PLAIN", plain{m.s.User, m.s.secret}}, {"LOGIN", &login{user: m.s.User, password: m.s.secret}},
		{"CRAM-MD5", smtp.CRAMMD5Auth(m.s.User, m.s.secret)},
	} {
		if slices.Contains(ways, way.name) {
			return replied(mail.Auth, m.c.Auth(way.auth))
		}
	}
	return &mail.Reply{Stage: mail.Auth, Text: "the server offers none of the sign-in methods that work here: PLAIN, " +
		"LOGIN, CRAM-MD5"}
}

// plain is AUTH PLAIN. The standard library's refuses some loopback names.
type plain struct{ user, password string }

func (a plain) Start(*smtp.ServerInfo) (string, []byte, error) {
	return "PLAIN", []byte("\x00" + a.user + "\x00" + a.password), nil
}

func (a plain) Next(_ []byte, more bool) ([]byte, error) {
	if more {
		return nil, errors.New("the server asks for more than AUTH PLAIN has")
	}
	return nil, nil
}

// login is AUTH LOGIN: the server asks for the user, then for the password.
type login struct {
	user, password string
	asked          int
}

func (a *login) Start(*smtp.ServerInfo) (string, []byte, error) { return "LOGIN", nil, nil }

func (a *login) Next(_ []byte, more bool) ([]byte, error) {
	if !more {
		return nil, nil
	}
	a.asked++
	switch a.asked {
	case 1:
		return []byte(a.user), nil
	case 2:
		return []byte(a.password), nil
	}
	return nil, errors.New("the server asks for more than AUTH LOGIN has")
}

// data sends the message itself, with the text protocol, to keep the server's last reply with its queue id.
func (m *talk) data(body []byte) mail.Reply {
	id, err := m.c.Text.Cmd("DATA")
	if err != nil {
		return reply(mail.Data, err)
	}
	m.c.Text.StartResponse(id)
	_, _, err = m.c.Text.ReadResponse(354)
	m.c.Text.EndResponse(id)
	if err != nil {
		return reply(mail.Data, err)
	}
	w := m.c.Text.DotWriter()
	if _, err := w.Write(body); err != nil {
		return reply(mail.Data, err)
	}
	m.wire.within = acceptWithin
	if err := w.Close(); err != nil {
		return reply(mail.Data, err)
	}
	code, text, err := m.c.Text.ReadResponse(2)
	if err != nil {
		return reply(mail.Data, err)
	}
	return mail.Reply{Stage: mail.Data, Code: code, Text: text}
}

// close sends QUIT without waiting for the reply.
func (m *talk) close() {
	if m.c != nil {
		m.wire.within = 2 * time.Second
		_ = m.c.Quit() // the message's outcome is known
		_ = m.c.Close()
	} else if m.wire != nil {
		_ = m.wire.Close()
	}
}
