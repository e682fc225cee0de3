package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
)

func TestChecksAreCachedAndFlushed(t *testing.T) {
	s := newFixture(t)
	l := s.license("PLUGIN")
	other := s.license("PLUGIN")
	val(s.activate(l.Key, "m"))
	stored := func() [2]int64 {
		return [2]int64{s.count("SELECT ifnull(last_checked_at, 0) FROM store_licenses WHERE id = ?", l.ID), s.count("SELECT last_seen_at FROM store_activations")}
	}
	shown := func() (checked, seen exact.Instant) {
		list := val(s.Licenses(background, admin, LicenseFilter{}))
		for _, x := range list.Licenses {
			if x.ID == l.ID && x.LastCheckedAt != nil {
				checked = *x.LastCheckedAt
			}
			assert.That(t, x.ID != other.ID || x.LastCheckedAt == nil, "a license that nobody checked has been checked")
		}
		seats := val(s.Activations(background, Asked{Key: l.Key}, schema.Cursor[int64]{}))
		return checked, seats.Activations[0].LastSeenAt
	}
	start := s.now()
	s.pass(time.Minute)
	s.check(l.Key, "m")
	checked, seen := shown()
	equal(t, "shown at once", checked, s.now())
	equal(t, "the seat too", seen, s.now())
	equal(t, "not stored yet", stored(), [2]int64{0, int64(start)})
	assert.OK(t, s.Flush(background))
	equal(t, "stored", stored(), [2]int64{int64(s.now()), int64(s.now())})
	writes := s.DB.Stats().Writes
	assert.OK(t, s.Flush(background))
	after := s.DB.Stats().Writes
	equal(t, "nothing to flush is no write", after, writes)

	s.check(l.Key, "m")
	s.pass(time.Minute)
	again := val(s.activate(l.Key, "m"))
	equal(t, "last checked as an activation tells it", *again.License.LastCheckedAt, s.now()-60)
	_, seen = shown()
	equal(t, "an activation is heard of as well", seen, s.now())
	equal(t, "audit entries of bookkeeping", s.count("SELECT count(*) FROM audit WHERE actor = 'system'"), int64(0))

	assert.OK(t, s.Flush(background))
	s.check(newKey(), "m")
	s.check("what?", "m")
	equal(t, "unknown keys are not remembered", len(s.memory.uses.licenses), 0)
}

func TestCacheIsBounded(t *testing.T) {
	var s lastUses
	for id := range int64(mostUses + 10) {
		s.license(id, 5)
	}
	equal(t, "licenses", len(s.licenses), mostUses)
	s.license(3, 9)
	s.license(4, 2)
	equal(t, "a later time", s.licenses[3], exact.Instant(9))
	equal(t, "an earlier time", s.licenses[4], exact.Instant(5))
	taken, _ := s.take()
	waiting := []License{{ID: 3}}
	s.onLicenses(waiting)
	at := waiting[0].LastCheckedAt
	assert.That(t, at != nil && *at == 9, "while a flush waits, license 3 was last checked at %v", at)
	s.license(3, 7)
	s.giveBack(taken, nil)
	equal(t, "given back", s.licenses[3], exact.Instant(9))
	equal(t, "given back", len(s.licenses), mostUses)
}

func TestAFlushThatFailsLosesNothing(t *testing.T) {
	s := newFixture(t)
	l := s.license("PLUGIN")
	s.check(l.Key, "")
	gone, cancel := context.WithCancel(background)
	cancel()
	assert.Must(t, s.Flush(gone) != nil, "a flush whose context has ended did something")
	assert.OK(t, s.Flush(background))
	equal(t, "stored", s.count("SELECT last_checked_at FROM store_licenses"), int64(s.now()))
}

func TestStoringACheckKeepsTheLicense(t *testing.T) {
	s := newFixture(t)
	l := s.license("PLUGIN")
	s.check(l.Key, "")
	val(do2(s, cli, moveLicense, l.ID, stateSuspended))
	assert.OK(t, s.Flush(background))
	list := val(s.Licenses(background, viewer, LicenseFilter{}))
	equal(t, "status", list.Licenses[0].Status, "suspended")
	assert.That(t, strings.HasPrefix(list.Licenses[0].Key, "*****"), "a viewer sees a key")
}

// TestSeatMovesAreRateLimited activates and releases a seat again and again. Past 120 moves in ten minutes it is
// refused and writes no more entries.
func TestSeatMovesAreRateLimited(t *testing.T) {
	s := newFixture(t)
	l := s.license("PLUGIN")
	for range 60 {
		val(s.activate(l.Key, "m"))
		val(s.DeactivateLicense(background, Asked{Key: l.Key, Fingerprint: "m"}))
	}
	entries := s.count("SELECT count(*) FROM audit")
	_, err := s.activate(l.Key, "m")
	refused(t, err, "rate_limited", "activations and deactivations")
	equal(t, "entries of what was refused", s.count("SELECT count(*) FROM audit"), entries)
	s.check(l.Key, "") // which still works
	s.pass(10 * time.Minute)
	val(s.activate(l.Key, "m"))
}

func TestLimitsHoldAcrossServicesOverOneFile(t *testing.T) {
	s := newFixture(t)
	for n := range 20 {
		bound := s.Service.On(s.DB) // as a transaction makes its own
		got := val(bound.CheckLicense(background, Asked{Key: newKey(), Remote: "192.0.2.7"}))
		equal(t, fmt.Sprint("miss ", n+1), got.Code, "not_found")
	}
	_, err := s.Service.On(s.DB).CheckLicense(background, Asked{Key: newKey(), Remote: "192.0.2.7"})
	refused(t, err, "rate_limited", "too many unknown license keys")
	l := s.license("PLUGIN")
	val(s.Service.On(s.DB).CheckLicense(background, Asked{Key: l.Key, Remote: "192.0.2.7"}))
	assert.OK(t, s.Flush(background))
	equal(t, "what one remembers, another stores", s.count("SELECT last_checked_at FROM store_licenses WHERE id = ?", l.ID), int64(s.now()))
}
