//go:build linux

package main

import (
	"errors"
	"fmt"
	"time"
)

// afresh is a comparison, not a baseline: the same request right after a commit, one at a time, so that no cached
// answer is possible. Its rate is over the time in which a request was open.
func (b *bench) afresh(p *process, service string, request []byte) floor {
	return floor{"right after a change", func() (s sample, err error) {
		file, err := openEngine(b.path)
		if err != nil {
			return s, err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		return oneByOne(p, service, b.slice, func(c *client, n int) (time.Duration, error) {
			return c.afterChange(file, n, request)
		})
	}}
}

// oneByOne sends requests to the service over one connection for so long, at least once; ask returns the answer's time.
// The processor time includes everything that the program did meanwhile.
func oneByOne(p *process, service string, most time.Duration, ask func(c *client, n int) (time.Duration, error)) (
	s sample, err error) {
	c, err := dial(p.addrs[service])
	if err != nil {
		return s, err
	}
	defer c.close()
	before, err := p.cpu()
	if err != nil {
		return s, err
	}
	for began := time.Now(); s.Ops == 0 || time.Since(began) < most; s.Ops++ {
		took, err := ask(c, s.Ops)
		if err != nil {
			return s, err
		}
		s.Took, s.Wall = append(s.Took, took), s.Wall+took
	}
	after, err := p.cpu()
	s.CPU = after - before
	return s, err
}

// afterChange commits a change that no test reads, and sends the request.
func (c *client) afterChange(file *engine, n int, request []byte) (time.Duration, error) {
	if _, err := step(file, fmt.Sprintf("PRAGMA user_version = %d", 1+n%2)); err != nil {
		return 0, err
	}
	return c.ask(request)
}

// ask returns the answer's time; any status but 200 is an error.
func (c *client) ask(request []byte) (time.Duration, error) {
	asked := time.Now()
	status, err := c.do(request)
	if err == nil && status != 200 {
		err = fmt.Errorf("status %d", status)
	}
	return time.Since(asked), err
}
