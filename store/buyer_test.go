package store

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/mail"
)

func TestTheBuyersViewHasNoCustomer(t *testing.T) {
	s := newFixture(t)
	r := val(do(s, cli, recordOrder, NewOrder{Email: "ann@secret.example", Name: "Ann Lee", SKU: "PLUGIN"}))
	key := r.Licenses[0].Key
	a := val(s.activate(key, "m"))
	d := val(s.DeactivateLicense(background, Asked{Key: key, Fingerprint: "m"}))
	for _, answer := range []any{s.check(key, ""), a, d} {
		for _, secret := range []string{"secret.example", "Ann Lee", key} {
			assert.Lacks(t, asJSON(answer), secret, "%T holds", answer)
		}
	}
}

func TestALicenseExpiresAtTheSecond(t *testing.T) {
	s := newFixture(t)
	l := s.license("YEAR")
	equal(t, "expires", *l.ExpiresAt, exact.Instant(opening.Unix()+365*24*3600))
	s.pass(365*24*time.Hour - time.Second)
	equal(t, "a second before", s.check(l.Key, "").Code, "valid")
	val(s.activate(l.Key, "early"))
	s.pass(time.Second)
	equal(t, "at the second", s.check(l.Key, "").Code, "expired")
	_, err := s.activate(l.Key, "late")
	refused(t, err, "expired", l.ExpiresAt.String())
	_, err = s.activate(l.Key, "early")
	refused(t, err, "expired")
	list := val(s.Licenses(background, admin, LicenseFilter{}))
	equal(t, "status in the list", list.Licenses[0].Status, "expired")
}

func TestAReinstallTakesNoSecondSeat(t *testing.T) {
	s := newFixture(t)
	l := s.license("PLUGIN")
	first := val(s.ActivateLicense(background, Asked{Key: l.Key, Fingerprint: "mac-1"}, "laptop"))
	equal(t, "status", first.HTTPStatus(), 201)
	written := s.count("SELECT count(*) FROM audit")
	for range 10 {
		again := val(s.ActivateLicense(background, Asked{Key: strings.ToLower(l.Key), Fingerprint: "mac-1"}, "another label"))
		equal(t, "status", again.HTTPStatus(), 200)
		equal(t, "already", again.AlreadyActivated, true)
		equal(t, "seat", again.Activation.ID, first.Activation.ID)
		equal(t, "label", again.Activation.Label, "laptop")
		equal(t, "count", again.License.ActivationCount, int64(1))
	}
	equal(t, "events", s.eventNames(), "order.paid license.activated")
	equal(t, "audit entries", s.count("SELECT count(*) FROM audit"), written)
	if raw := s.events()[1].raw; strings.Contains(raw, l.Key) || !strings.Contains(raw, mask(l.Key)) {
		t.Error("license.activated does not mask the key")
	}
}

func TestLoweringALimitTakesNoSeatAway(t *testing.T) {
	s := newFixture(t)
	l := s.license("PLUGIN")
	for i := range 3 {
		val(s.activate(l.Key, fmt.Sprint("m", i)))
	}
	equal(t, "refused rows", len(s.load("products", nil, "sku,activation_limit", "PLUGIN,1")), 0)
	for i := range 3 {
		again := val(s.activate(l.Key, fmt.Sprint("m", i)))
		equal(t, "already", again.AlreadyActivated, true)
	}
	_, err := s.activate(l.Key, "new")
	e := refused(t, err, "activation_limit")
	equal(t, "limit", e.More["limit"], any(int64(1)))
	equal(t, "used", e.More["used"], any(int64(3)))
	for i := range 3 {
		val(s.DeactivateLicense(background, Asked{Key: l.Key, Fingerprint: fmt.Sprint("m", i)}))
	}
	val(s.activate(l.Key, "new"))
	s.load("products", nil, "sku,activation_limit", "PLUGIN,")
	for i := range 20 {
		val(s.activate(l.Key, fmt.Sprint("unlimited", i)))
	}
}

func TestOneFingerprintRacesForOneSeat(t *testing.T) {
	s := newFixture(t)
	l := s.license("PLUGIN")
	var fresh sync.Map
	race(50, func(i int) {
		a, err := s.activate(l.Key, "one machine")
		if err != nil {
			t.Errorf("activation %d: %v", i, err)
		} else if !a.AlreadyActivated {
			fresh.Store(i, true)
		}
	})
	equal(t, "new seats", size(&fresh), 1)
	equal(t, "seats stored", s.count("SELECT count(*) FROM store_activations"), int64(1))
}

func race(n int, fn func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			fn(i)
		})
	}
	close(start)
	wg.Wait()
}

func size(m *sync.Map) (n int) {
	m.Range(func(any, any) bool { n++; return true })
	return n
}

func TestLicenseExistsWhenItsEventIsSent(t *testing.T) {
	s := emptyFixture(t)
	var told sync.WaitGroup
	told.Add(1)
	verdict := make(chan string, 1)
	s.DB.OnEmit(func() {
		defer told.Done()
		key, err := s.firstKey()
		if err != nil {
			verdict <- err.Error()
			return
		}
		v, err := s.CheckLicense(background, Asked{Key: key})
		verdict <- fmt.Sprint(v.Code, err)
	})
	assert.OK(t, db.Exec(background, s.DB, db.Bookkeeping(), func(tx *db.Tx) error {
		_, err := tx.Exec("INSERT INTO endpoints (service, url, secret, created_at) VALUES ('store', 'http://127.0.0.1/', 'x', ?)", tx.Now())
		return err
	}))
	s.load("products", nil, "sku", "PLUGIN")
	s.sell("PLUGIN", "a@b.c", 1)
	told.Wait()
	equal(t, "check at the moment of the event", <-verdict, "valid<nil>")
}

func (s *fixture) firstKey() (string, error) {
	p, err := s.Licenses(background, admin, LicenseFilter{})
	if err != nil || len(p.Licenses) == 0 {
		return "", fmt.Errorf("no license: %w", err)
	}
	return p.Licenses[0].Key, nil
}

// TestABuyerReadsTheNotesOfTheirProducts: the buyer's page shows the shop's notes on a product, also on a download, but
// not for a refunded order.
func TestABuyerReadsTheNotesOfTheirProducts(t *testing.T) {
	s := newFixture(t)
	s.load("products", nil, "sku,kind,note", "BOOK,download,Fetch it at https://files.example/book", "PLUGIN,license,Install it twice")
	r := val(do(s, cli, recordOrder, NewOrder{Email: "ann@example.com", Lines: []NewLine{{SKU: "BOOK"}, {SKU: "PLUGIN"}, {SKU: "YEAR"}}}))
	notes := func(subject int64) string {
		t.Helper()
		m := val(s.Mine(background, db.Caller{Service: "store", User: "buyer", Role: "member", Scope: "full", Via: "buyer", Subject: subject}))
		return asJSON(m.Notes)
	}
	const plugin = `{"product":"Audio plugin","note":"Install it twice"}`
	equal(t, "the order's", notes(-r.id), `[{"product":"A book","note":"Fetch it at https://files.example/book"},`+plugin+`]`)
	mailed, err := db.Read(background, s.DB, func(c *db.Conn) (mail.Content, error) {
		return fillOrder(c, &mail.Writer{Zone: func(at exact.Instant) exact.Day { return at.Day(time.UTC) }}, mail.Row{Subject: "order:" + r.OrderRef})
	})
	assert.OK(t, err)
	assert.Contains(t, fmt.Sprint(mailed.Values["keys"].Rows), "[A book Fetch it at https://files.example/book]",
		"the message's keys")
	equal(t, "one license's", notes(r.Licenses[0].ID), `[`+plugin+`]`)
	val(do3(s, cli, refundOrder, r.OrderRef, nil, ""))
	equal(t, "refunded", notes(-r.id), `null`)
}
