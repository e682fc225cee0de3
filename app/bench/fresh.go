//go:build linux

package main

import (
	"errors"
	"fmt"
	"time"
)

// afresh is a comparison, not a baseline: the same request right after a commit, one at a time, so that no cached
// answer is possible. Its rate is over the time in which a request was open, its processor time includes everything
// that the program did meanwhile.
func (b *bench) afresh(p *process, service string, request []byte) floor {
	return floor{"right after a change", func() (s sample, err error) {
		file, err := openEngine(b.path)
		if err != nil {
			return s, err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		c, err := dial(p.addrs[service])
		if err != nil {
			return s, err
		}
		defer c.close()
		before, err := p.cpu()
		if err != nil {
			return s, err
		}
		for began := time.Now(); s.Ops == 0 || time.Since(began) < b.slice; s.Ops++ {
			// a change that no test reads
			if _, err := step(file, fmt.Sprintf("PRAGMA user_version = %d", 1+s.Ops%2)); err != nil {
				return s, err
			}
			asked := time.Now()
			if status, err := c.do(request); err != nil || status != 200 {
				return s, errors.Join(err, fmt.Errorf("status %d", status))
			}
			took := time.Since(asked)
			s.Took, s.Wall = append(s.Took, took), s.Wall+took
		}
		after, err := p.cpu()
		s.CPU = after - before
		return s, err
	}}
}
