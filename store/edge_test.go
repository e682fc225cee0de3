package store

import (
	"strings"
	"testing"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/assert"
)

// TestACorrectionDoesNotRefundInFull: an import may not leave a fully refunded order as paid, with active licenses.
func TestACorrectionDoesNotRefundInFull(t *testing.T) {
	s := newFixture(t)
	const head = "provider,provider_ref,email,sku,unit_cents"
	errs := s.load("orders", nil, head, "hist,h1,a@b.c,PLUGIN,4900")
	assert.Must(t, len(errs) <= 0, "%v", errs)
	o := val(s.Orders(background, OrderFilter{}))
	val(do3(s, cli, refundOrder, o.Orders[0].OrderRef, amount(1000), ""))
	for cents, good := range map[string]bool{"999": false, "1000": false, "1001": true} {
		errs := s.load("orders", nil, "provider,provider_ref,unit_cents", "hist,h1,"+cents)
		assert.That(t, (len(errs) == 0) == good && (good || strings.Contains(errs[2], "store order refund")), "%s cents: %v",
			cents, errs)
		s.holdsTogether()
	}
}

// TestTimesAreTheSameInEveryAnswer: activation and deactivation return the time of the last check although it is
// not stored yet.
func TestTimesAreTheSameInEveryAnswer(t *testing.T) {
	s := newFixture(t)
	l := s.license("PLUGIN")
	s.pass(time.Minute)
	checked := s.now()
	s.check(l.Key, "")
	s.pass(time.Minute)
	a := val(s.activate(l.Key, "m"))
	equal(t, "activated", *a.License.LastCheckedAt, checked)
	events := s.events()
	equal(t, "told", strings.Contains(events[len(events)-1].raw, `"last_checked_at":"`+checked.String()+`"`), true)
	s.pass(time.Minute)
	s.check(l.Key, "m")
	d := val(s.DeactivateLicense(background, Asked{Key: l.Key, Fingerprint: "m"}))
	equal(t, "deactivated", *d.License.LastCheckedAt, s.now())
	equal(t, "seen", d.Activation.LastSeenAt, s.now())
}

// TestAnEmptyFingerprintHoldsNoSeat: an empty fingerprint counts as sent and holds no seat.
func TestAnEmptyFingerprintHoldsNoSeat(t *testing.T) {
	s := newFixture(t)
	l := s.license("PLUGIN")
	for body, want := range map[string]string{
		`{"license_key":"` + l.Key + `"}`:                     "valid",
		`{"license_key":"` + l.Key + `","fingerprint":""}`:    "not_activated",
		`{"license_key":"` + l.Key + `","fingerprint":"  "}`:  "not_activated",
		`{"license_key":"` + l.Key + `","fingerprint":"new"}`: "not_activated",
	} {
		got := val(s.call("POST /license/check", "", body, nil, admin))
		equal(t, body, got.(Verdict).Code, want)
	}
}

// TestLongBatchNames: a batch is named after the whole SKU if that fits; its number always does.
func TestLongBatchNames(t *testing.T) {
	s := newFixture(t)
	sku := strings.Repeat("ABCDE", 9)
	equal(t, "refused", len(s.load("products", nil, "sku,kind,price_cents", sku+",license,100", sku+sku+",license,100")), 0)
	for _, c := range []struct{ sku, want string }{
		{sku, "20261120-210500-" + sku}, {sku, "20261120-210500-" + sku + "-2"},
		{sku + sku, "20261120-210500-" + (sku + sku)[:48]}, {sku + sku, "20261120-210500-" + (sku + sku)[:46] + "-2"},
	} {
		m := val(do(s, admin, mintCodes, Minting{1, c.sku, "", ""}))
		equal(t, "batch", m.Batch, c.want)
	}
}

func TestTiersAreDifferent(t *testing.T) {
	s := newFixture(t)
	errs := s.load("products", &schema.LoadOptions{}, "sku,kind,price_cents,tiers", "X,license,100,a|b|a")
	assert.Contains(t, errs[2], "is named twice", "%v", errs)
}

func TestAnAddressIsText(t *testing.T) {
	s := newFixture(t)
	_, err := do(s, cli, recordOrder, NewOrder{Email: "bad\xff@x.y", SKU: "PLUGIN"})
	refused(t, err, "validation", "UTF-8")
	o := val(do(s, cli, recordOrder, NewOrder{Email: "a@b.c", SKU: " PLUGIN ", Tier: " pro "}))
	equal(t, "tier", *o.Items[0].Tier, "pro")
}
