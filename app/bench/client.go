//go:build linux

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"
)

// client is one keep-alive connection. It does no more than HTTP needs, since it shares the processors with the
// measured program.
type client struct {
	conn net.Conn
	in   *bufio.Reader
}

func dial(addr string) (*client, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}, nil
}

func (c *client) close() { _ = c.conn.Close() }

// do sends a request and reads its answer to the end.
func (c *client) do(request []byte) (status int, err error) {
	if _, err := c.conn.Write(request); err != nil {
		return 0, err
	}
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 12 {
		return 0, fmt.Errorf("not a status line: %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, err
	}
	length := -1
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		if bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, err
			}
		}
	}
	if length < 0 {
		return 0, errors.New("an answer without Content-Length")
	}
	_, err = io.CopyN(io.Discard, c.in, int64(length))
	return status, err
}

// request writes one request; a key of "" sends none.
func request(method, path, key, body string) []byte {
	b := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: localhost\r\n", method, path)
	if key != "" {
		b = fmt.Appendf(b, "Authorization: Bearer %s\r\n", key)
	}
	if body != "" {
		b = fmt.Appendf(b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return append(append(b, "\r\n"...), body...)
}

// sample is the result of one turn.
type sample struct {
	Ops  int             `json:"ops"`
	Wall time.Duration   `json:"wall"`
	CPU  time.Duration   `json:"cpu"`
	Took []time.Duration `json:"took"`
}

// quantile is the time within which that part of the operations ended.
func (s sample) quantile(q float64) time.Duration {
	if len(s.Took) == 0 {
		return 0
	}
	slices.Sort(s.Took)
	return s.Took[min(len(s.Took)-1, int(q*float64(len(s.Took))))]
}

// load sends requests as fast as so many clients can, each waiting for its answer, for the given time. next returns the
// client's n-th request.
func load(p *process, addr string, clients int, most time.Duration, next func(client, n int) []byte) (s sample,
	err error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	var errs []error
	open := make([]*client, clients)
	for i := range open {
		if open[i], err = dial(addr); err != nil {
			return s, err
		}
		defer open[i].close()
	}
	before, err := p.cpu()
	if err != nil {
		return s, err
	}
	began := time.Now()
	for i, c := range open {
		all.Go(func() {
			took, err := c.loop(i, began.Add(most), next)
			mu.Lock()
			defer mu.Unlock()
			s.Took = append(s.Took, took...)
			if err != nil {
				errs = append(errs, err)
			}
		})
	}
	all.Wait()
	s.Wall, s.Ops = time.Since(began), len(s.Took)
	after, err := p.cpu()
	s.CPU = after - before
	return s, errors.Join(append(errs, err)...)
}

// loop is one client's life. It sends at least one request.
func (c *client) loop(i int, until time.Time, next func(client, n int) []byte) (took []time.Duration, err error) {
	for n := 0; ; n++ {
		r := next(i, n)
		asked := time.Now()
		status, err := c.do(r)
		if err != nil {
			return took, err
		}
		if status >= 300 {
			line, _, _ := bytes.Cut(r, []byte("\r\n"))
			return took, fmt.Errorf("%s: status %d", line, status)
		}
		now := time.Now()
		took = append(took, now.Sub(asked))
		if now.After(until) {
			return took, nil
		}
	}
}
