package screens

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// signInFrom posts a name and a password from one of the machine's own addresses and returns the status.
func signInFrom(base, from, name, password string) (int, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := d.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	form := url.Values{"name": {name}, "password": {password}}.Encode()
	_, err = fmt.Fprintf(conn, "POST /login HTTP/1.1\r\nHost: x\r\nConnection: close\r\nSec-Fetch-Site: same-origin\r\n"+
		"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", len(form), form)
	if err != nil {
		return 0, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// TestCrowdsDoNotBlockSignIn tries passwords over many connections at once. From one address they lock out no
// other address. From many they lock out nobody who signed in from the same place before.
func TestCrowdsDoNotBlockSignIn(t *testing.T) {
	s := apptest.Start(t)
	base := s.URL("store", "")
	s.Person("store", "alice", "admin")
	if status, err := signInFrom(base, "127.0.0.1", "alice", apptest.Password); status != http.StatusSeeOther {
		t.Fatal(status, err)
	}
	for _, c := range []struct {
		name, from string
		crowd      func(i int) string
	}{
		{"twelve connections of one address, a new place", "127.0.0.2", func(int) string { return "127.0.0.3" }},
		{"connections of sixty addresses, a known place", "127.0.0.1", func(i int) string { return fmt.Sprintf("127.0.1.%d", i+1) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			quit := make(chan struct{})
			var all, inside sync.WaitGroup
			n := 12
			if c.crowd(0) != c.crowd(1) {
				n = 60
			}
			for i := range n {
				inside.Add(1)
				all.Go(func() {
					first := sync.OnceFunc(inside.Done)
					defer first()
					for try := 0; ; try++ {
						select {
						case <-quit:
							return
						default:
						}
						_, _ = signInFrom(base, c.crowd(i), fmt.Sprintf("nobody %d %d", i, try), "wrong password")
						first()
					}
				})
			}
			inside.Wait()
			for range 5 {
				status, err := signInFrom(base, c.from, "alice", apptest.Password)
				assert.That(t, status == http.StatusSeeOther, "the right password: %d %v", status, err)
			}
			close(quit)
			all.Wait()
		})
	}
}
