package server

// Equal large answers are one copy in memory: see cache.ResponseCache. It is counted once,
// for one of the requests that send it; when that one ends, for another.

// copyKey tells a copy by where it is.
type copyKey struct {
	first *byte
	size  int
}

// sharedCopy is a copy that is being sent.
type sharedCopy struct {
	payer   *inFlight // for whom it is counted
	senders map[*inFlight]struct{}
}

// send takes the bytes of an answer, or a share in them.
func (b *budget) send(t *inFlight, p []byte) error {
	return b.claim(&claim{req: t, n: int64(len(p)), answer: true, piece: copyKey{&p[0], len(p)}})
}

// join makes the request one of those that send the copy. It is called with mu held, as
// all below.
func (b *budget) join(t *inFlight, key copyKey) {
	s := b.copies[key]
	if s == nil {
		s = &sharedCopy{payer: t, senders: map[*inFlight]struct{}{}}
		b.copies[key] = s
	}
	if _, twice := s.senders[t]; !twice {
		s.senders[t] = struct{}{}
		t.sends = append(t.sends, key)
	}
}

// leave ends what the request sends. What others send as well is counted for one of them.
func (b *budget) leave(t *inFlight) {
	for _, key := range t.sends {
		s := b.copies[key]
		delete(s.senders, t)
		switch {
		case len(s.senders) == 0:
			delete(b.copies, key)
		case s.payer == t:
			s.payer = anyOf(s.senders)
			b.charge(t, -int64(key.size))
			b.charge(s.payer, int64(key.size))
		}
	}
	t.sends = nil
}

func anyOf(senders map[*inFlight]struct{}) *inFlight {
	for t := range senders {
		return t
	}
	return nil
}

// charge counts n bytes more of an answer for the request.
func (b *budget) charge(t *inFlight, n int64) {
	t.held += n
	t.sent += n
	if b.by[t.address()] += n; b.by[t.address()] <= 0 {
		delete(b.by, t.address())
	}
	if t.held > 0 {
		b.held[t] = struct{}{}
	} else {
		delete(b.held, t)
	}
}
