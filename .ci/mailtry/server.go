// A server of emersion's go-smtp that takes everything after STARTTLS and PLAIN, with SMTPUTF8, and keeps each message
// as a file. It prints its port as JSON.
package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

type session struct {
	folder string
	to     string
}

var count int

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "shop" || password != "sesame" {
			return errors.New("no")
		}
		return nil
	}), nil
}
func (s *session) Mail(string, *smtp.MailOptions) error { return nil }
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = to
	return nil
}
func (s *session) Data(r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	count++
	return os.WriteFile(filepath.Join(s.folder, fmt.Sprintf("go-%d.eml", count)), b, 0o600)
}
func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

func main() {
	pair, err := tls.LoadX509KeyPair("cert.pem", "key.pem")
	if err != nil {
		log.Fatal(err)
	}
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) {
		return &session{folder: os.Args[1]},
			nil
	}))
	s.Domain, s.TLSConfig, s.EnableSMTPUTF8 = "localhost", &tls.Config{Certificates: []tls.Certificate{pair}}, true
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("{\"go\": %d}\n", l.Addr().(*net.TCPAddr).Port)
	log.Fatal(s.Serve(l))
}
