package store

import (
	"strings"
	"testing"
	"unicode/utf8"

	"quartermaster/schema/assert"
)

func FuzzReadKey(f *testing.F) {
	for _, seed := range []string{"", "0123456789ABCDEFGHJKMNPQR", "o1234-56789-abcde-fghjk-mnpqr", "7Q4Z-J0M3-RT9W-XYAB", "\xff", "٠", strings.Repeat("-", 100)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, written string) {
		for _, n := range []int{keyLength, codeLength} {
			got, ok := read(written, n)
			if !ok {
				assert.That(t, got == "", "refused %q and gave %q", written, got)
				continue
			}
			assert.That(t, len(got) == n && strings.Trim(got, alphabet) == "", "read %q as %q", written, got)
			again, ok := read(strings.ToLower(grouped(got, 4)), n)
			assert.That(t, ok && again == got, "%q reads as %q the second time", got, again)
			assert.That(t, utf8.RuneCountInString(written) >= n, "%d characters out of %q", n, written)
		}
	})
}

func FuzzStripeSignature(f *testing.F) {
	for _, seed := range []string{
		"", "t=1492774577,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd", "t=,v1=", "t=1,t=2,v1=00", "v1=,v0=x", "t=-1", "=,=", "t==1",
		"t=1492774577,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd,v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39",
	} {
		f.Add(seed)
	}
	body := []byte(`{"id":"evt_1"}`)
	f.Fuzz(func(t *testing.T, header string) {
		s, ok := readStripeSignature(header)
		assert.That(t, !ok || len(s.v1) != 0 && s.time != "" && s.at >= 0, "%q reads as %+v", header, s)
		assert.That(t, verifyStripe(Signed{Signature: header}, body, "whsec_fuzz", 1492774577) != nil, "%q verifies", header)
	})
}

// FuzzStripeBody reads any bodies. Each provider reads or refuses each, and a session that is read adds up to its
// total.
func FuzzStripeBody(f *testing.F) {
	for _, file := range []string{"session", "charge"} {
		f.Add(stripeBody(f, file, nil))
		f.Add(stripeBody(f, file, map[string]any{"payment_intent": map[string]string{"id": "pi_9"}, "metadata": []int{1}}))
	}
	for _, object := range []string{
		`{"amount_total":-1}`, `{"amount_total":1e3}`, `{"amount_total":5,"total_details":{"amount_tax":9}}`, `{"total_details":[]}`,
		`{"amount_total":1000000000000,"total_details":{"amount_discount":1000000000000}}`, `{"amount_refunded":9223372036854775808,"id":"ch_1"}`,
		`{"metadata":{"qty":"7"},"amount_total":100}`, `{"customer_details":"x","payment_status":5}`,
	} {
		f.Add([]byte(`{"id":"evt_1","type":"charge.refunded","data":{"object":` + object + `}}`))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, t := range tills() { // a handler is found or not, with any body
			if e, err := t.parse(body, "evt"); err == nil {
				t.handler(e)
			}
		}
		e, err := stripeTill().parse(body, "")
		if err != nil {
			return
		}
		if r, err := readRefund(e.object); err == nil && (r.ref == "" || r.refunded <= 0 || r.refunded > maxPrice) {
			t.Errorf("%q reads as the refund %+v", body, r)
		}
		x := readSession(e.object)
		qty, err := readQty(x.qty)
		if err != nil || x.amounts != nil {
			return
		}
		if unit, off, ok := x.split(qty); ok && (unit < 0 || off < x.discount || off >= x.discount+qty || unit*qty-off+x.tax != x.total) {
			t.Errorf("%+v is %d units of %d less %d", x, qty, unit, off)
		}
	})
}
