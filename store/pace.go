package store

import (
	"quartermaster/schema/fault"
	"quartermaster/schema/limit"
)

// missed counts a key or code that does not exist against the address. After 20 within 10
// minutes it refuses with 429 in place of telling that it was one.
func (s *Service) missed(remote string) error {
	wait := s.misses.Add(limit.AddressOf(remote), s.db.Now())
	if wait == 0 {
		return nil
	}
	return &fault.Error{
		Kind: fault.Limited, Retry: wait,
		Detail: "too many unknown license keys and codes from this address; wait as long as Retry-After says",
	}
}

// paced counts a use of a license that is there. Past the counter's limit it refuses: a
// valid key in the wrong hands must not fill the audit trail, nor the machine's time.
func (s *Service) paced(uses *limit.Counter[int64], license int64, what string) error {
	wait := uses.Add(license, s.db.Now())
	if wait == 0 {
		return nil
	}
	return &fault.Error{
		Kind: fault.Limited, Retry: wait,
		Detail: "too many " + what + " of this license; wait as long as Retry-After says",
	}
}
