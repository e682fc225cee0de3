package store

import (
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

// TestARefundInAnotherCurrencyBeforeItsPayment: a refund in another currency that came before its payment is reported
// like one that comes after it.
func TestARefundInAnotherCurrencyBeforeItsPayment(t *testing.T) {
	s := newStripeFixture(t)
	var told []string
	s.OnNotice(func(text string) { told = append(told, text) })
	equal(t, "the refund", s.stripe("charge", map[string]any{"currency": "eur"}).Outcome, "kept")
	r := s.stripe("session", nil)
	equal(t, "the payment", r.Outcome, "recorded")
	equal(t, "nothing waits", s.count("SELECT count(*) FROM store_payments WHERE order_id IS NULL"), int64(0))
	equal(t, "nothing is refunded", s.payment().RefundedCents, int64(0))
	listed := s.doctor()
	if len(listed) != 1 || !strings.Contains(listed[0], "EUR") || !strings.Contains(listed[0], s.payment().OrderRef) || !strings.Contains(listed[0], "store order refund") {
		t.Fatalf("doctor lists %q", listed)
	}
	assert.That(t, len(told) == 1 && told[0] == listed[0] && strings.HasSuffix(r.Detail, told[0]),
		"the log was told %q, Stripe %q", told, r.Detail)
	val(do3(s, cli, refundOrder, s.payment().OrderRef, nil, ""))
	equal(t, "refunded by hand", len(s.doctor()), 0)
}

// TestARefundThatCannotBeRead: a refunded charge without an amount is reported to the owner, and Stripe need not send
// it again.
func TestARefundThatCannotBeRead(t *testing.T) {
	for name, set := range map[string]map[string]any{
		"no amount":  {"amount_refunded": nil},
		"odd amount": {"amount_refunded": 12.5},
		"too much":   {"amount_refunded": 1_000_000_000_001},
		"nobody's":   {"payment_intent": nil, "id": nil},
	} {
		s := newStripeFixture(t)
		s.stripe("session", nil)
		equal(t, name, s.stripe("charge", set).Outcome, "unclear")
		equal(t, name+": refunded", s.payment().RefundedCents, int64(0))
		listed := s.doctor()
		assert.That(t, len(listed) == 1 && strings.Contains(listed[0], "store order refund") &&
			!strings.Contains(listed[0], "store order record"), "%s: doctor lists %q", name, listed)
	}
}

// TestAPaymentAndItsRefundThatCannotBeRead: an unmatched payment and its unmatched refund are both listed. Booking the
// one does not remove the other.
func TestAPaymentAndItsRefundThatCannotBeRead(t *testing.T) {
	s := newStripeFixture(t)
	equal(t, "the payment", s.stripe("session", map[string]any{"metadata.sku": "NOPE"}).Outcome, "unclear")
	equal(t, "the refund", s.stripe("charge", map[string]any{"amount_refunded": nil}).Outcome, "unclear")
	if listed := s.doctor(); len(listed) != 2 || !strings.Contains(listed[0], "store order record") || !strings.Contains(listed[1], "store order refund") {
		t.Errorf("doctor lists %q", listed)
	}
	equal(t, "sent again", s.stripe("session", nil).Outcome, "recorded")
	listed := s.doctor()
	assert.That(t, len(listed) == 1 && strings.Contains(listed[0], "store order refund"), "doctor lists %q", listed)
	val(do3(s, cli, refundOrder, s.payment().OrderRef, nil, ""))
	equal(t, "refunded by hand", len(s.doctor()), 0)
}

// TestMetadataOfCheckouts: Stripe sends quantities as text, imitations as numbers. The metadata may name the tier if
// the link names none.
func TestMetadataOfCheckouts(t *testing.T) {
	s := newStripeFixture(t)
	equal(t, "a number", s.stripe("session", map[string]any{"metadata.qty": 3}).Outcome, "recorded")
	equal(t, "licenses", len(s.payment().Licenses), 3)

	for name, qty := range map[string]any{"a fraction": 1.5, "a list": []int{1}, "no number": true} {
		s = newStripeFixture(t)
		equal(t, name, s.stripe("session", map[string]any{"metadata.qty": qty}).Outcome, "unclear")
	}

	s = newStripeFixture(t)
	val(do(s, cli, mapProvider, Link{Provider: "stripe", Link: "plink_1Sg", SKU: "PLUGIN"}))
	equal(t, "by link", s.stripe("session", map[string]any{"metadata": map[string]any{"tier": "pro"}, "payment_link": "plink_1Sg"}).Outcome, "recorded")
	equal(t, "tier", *s.payment().Items[0].Tier, "pro")
}
