package apptest

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"quartermaster/schema/assert"
)

// MailServer is a mail server on loopback with answers set by the test.
type MailServer struct {
	Port int64

	Ways     string      // of AUTH; "PLAIN LOGIN" by default
	More     string      // another extension: "SMTPUTF8"
	TLS      *tls.Config // nil: not offered
	Implicit bool        // TLS from the beginning, without STARTTLS

	// At is called at each verb, before its answer: "." when the message has arrived.
	At func(verb string)

	mu      sync.Mutex
	answers map[string]string // by verb: the reply instead of the good one; "cut" closes the connection
	got     []Letter
	verbs   []string
	secrets []string // the data of AUTH, decoded
}

// Letter is a message that the server accepted, or was offered.
type Letter struct {
	From, To string
	Text     string // headers and body
}

// StartMail starts a mail server that accepts everything. "DATA" answers the command, "." the text after it.
func StartMail(t testing.TB) *MailServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.OK(t, err)
	s := &MailServer{Port: int64(l.Addr().(*net.TCPAddr).Port), answers: map[string]string{}, Ways: "PLAIN LOGIN"}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		open.Wait()
	})
	return s
}

// Answer sets the server's answer to a verb; "" is the good answer.
func (s *MailServer) Answer(verb, reply string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[verb] = reply
}

// Got are the accepted messages.
func (s *MailServer) Got() []Letter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Letter{}, s.got...)
}

// Verbs are the received commands, in order.
func (s *MailServer) Verbs() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.verbs, " ")
}

// Secrets are the data of AUTH, decoded: "LOGIN shop sesame".
func (s *MailServer) Secrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.secrets...)
}

func (s *MailServer) reply(verb, good string) (reply string, cut bool) {
	if s.At != nil {
		s.At(verb)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verbs = append(s.verbs, verb)
	if own := s.answers[verb]; own != "" {
		return own, own == "cut"
	}
	return good, false
}

func (s *MailServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	if s.Implicit {
		conn = tls.Server(conn, s.TLS)
	}
	in := bufio.NewReader(conn)
	say := func(verb, good string) bool {
		reply, cut := s.reply(verb, good)
		if cut {
			return false
		}
		_, err := conn.Write([]byte(reply + "\r\n"))
		return err == nil
	}
	if !say("CONNECT", "220 ready") {
		return
	}
	var l Letter
	for {
		text, err := in.ReadString('\n')
		if err != nil {
			return
		}
		text = strings.TrimRight(text, "\r\n")
		verb := strings.ToUpper(strings.Fields(text + " ?")[0])
		var goOn bool
		switch verb {
		case "EHLO":
			goOn = say(verb, s.offers(conn))
		case "STARTTLS":
			goOn = say(verb, "220 go ahead")
			conn = tls.Server(conn, s.TLS)
			in = bufio.NewReader(conn)
		case "AUTH":
			goOn = s.auth(strings.Fields(text)[1:], in, conn) && say(verb, "235 2.7.0 welcome")
		case "MAIL":
			l = Letter{From: between(text)}
			goOn = say(verb, "250 2.1.0 Ok")
		case "RCPT":
			l.To = between(text)
			goOn = say(verb, "250 2.1.5 Ok")
		case "DATA":
			goOn = s.data(in, conn, &l, say)
		case "QUIT":
			say(verb, "221 bye")
			return
		default:
			goOn = say(verb, "502 5.5.2 no such command")
		}
		if !goOn {
			return
		}
	}
}

// offers is the answer to EHLO.
func (s *MailServer) offers(conn net.Conn) string {
	all := "250-here\r\n"
	if _, secure := conn.(*tls.Conn); s.TLS != nil && !secure {
		all += "250-STARTTLS\r\n"
	}
	if s.More != "" {
		all += "250-" + s.More + "\r\n"
	}
	return all + "250-AUTH " + s.Ways + "\r\n250 8BITMIME"
}

// auth reads a client's credentials.
func (s *MailServer) auth(words []string, in *bufio.Reader, conn net.Conn) bool {
	said := words[0]
	ask := func(challenge string) bool {
		if _, err := conn.Write([]byte("334 " + base64.StdEncoding.EncodeToString([]byte(challenge)) + "\r\n")); err != nil {
			return false
		}
		line, err := in.ReadString('\n')
		words = append(words, strings.TrimSpace(line))
		return err == nil
	}
	switch {
	case said == "LOGIN" && (!ask("Username:") || !ask("Password:")):
		return false
	case said == "CRAM-MD5" && !ask("<1@here>"):
		return false
	}
	for _, word := range words[1:] {
		b, _ := base64.StdEncoding.DecodeString(word)
		said += " " + strings.TrimSpace(strings.ReplaceAll(string(b), "\x00", " "))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets = append(s.secrets, said)
	return true
}

func (s *MailServer) data(in *bufio.Reader, conn net.Conn, l *Letter, say func(verb, good string) bool) bool {
	reply, cut := s.reply("DATA", "354 go on")
	if cut {
		return false
	}
	if _, err := conn.Write([]byte(reply + "\r\n")); err != nil || !strings.HasPrefix(reply, "354") {
		return err == nil
	}
	var text strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return false
		}
		if line == ".\r\n" {
			break
		}
		text.WriteString(strings.TrimPrefix(line, "."))
	}
	l.Text = text.String()
	s.mu.Lock()
	own := s.answers["."]
	if own == "" || strings.HasPrefix(own, "2") {
		s.got = append(s.got, *l)
	}
	n := len(s.got)
	s.mu.Unlock()
	return say(".", "250 2.0.0 Ok: queued as Q"+strconv.Itoa(n))
}

func between(text string) string {
	_, after, _ := strings.Cut(text, "<")
	inside, _, _ := strings.Cut(after, ">")
	return inside
}
