package store

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"

	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// signatureTolerance is how far, in seconds, a signature's time may lie from now, either
// way.
const signatureTolerance = 5 * 60

// stripeSignature is the Stripe-Signature header: when it was signed, and a signature
// for each secret that was good then.
type stripeSignature struct {
	at   int64
	time string // as it was written: it is part of what is signed
	v1   [][]byte
}

// readStripeSignature reads "t=1492774577,v1=hex,v1=hex,v0=hex". Other schemes than v1
// are passed over. Without a time or a v1 it is none.
func readStripeSignature(header string) (s stripeSignature, ok bool) {
	timed := false
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			at, err := strconv.ParseInt(value, 10, 64)
			if err != nil || at < 0 || timed {
				return s, false
			}
			s.at, s.time, timed = at, value, true
		case "v1":
			if sum, err := hex.DecodeString(value); err == nil && len(sum) == sha256.Size {
				s.v1 = append(s.v1, sum)
			}
		}
	}
	return s, timed && len(s.v1) > 0
}

// verifyStripe refuses a body that was not signed with the secret within the
// tolerance of now.
func verifyStripe(g Signed, body []byte, secret string, now exact.Instant) error {
	s, ok := readStripeSignature(g.Signature)
	if !ok {
		return fault.Malformedf("Stripe-Signature is missing or cannot be read")
	}
	if !signedBy(secret, s.v1, s.time+".", body) {
		return fault.Malformedf("Stripe-Signature does not match the body and the secret")
	}
	return timely("Stripe-Signature", s.at, now)
}

// verifyLemonSqueezy refuses a body that was not signed with the secret. The signature has no
// time in it.
func verifyLemonSqueezy(g Signed, body []byte, secret string, _ exact.Instant) error {
	sum, err := hex.DecodeString(strings.TrimSpace(g.Signature))
	if err != nil || len(sum) != sha256.Size {
		return fault.Malformedf("X-Signature is missing or cannot be read")
	}
	if !signedBy(secret, [][]byte{sum}, "", body) {
		return fault.Malformedf("X-Signature does not match the body and the secret")
	}
	return nil
}

// verifyStandard refuses a body that was not signed as Standard Webhooks says, with the secret's
// own bytes as the key.
func verifyStandard(g Signed, body []byte, secret string, now exact.Instant) error {
	at, err := strconv.ParseInt(g.Time, 10, 64)
	if g.ID == "" || err != nil {
		return fault.Malformedf("webhook-id or webhook-timestamp is missing or cannot be read")
	}
	var sums [][]byte
	for part := range strings.FieldsSeq(g.Signature) {
		scheme, value, _ := strings.Cut(part, ",")
		if sum, err := base64.StdEncoding.DecodeString(value); scheme == "v1" && err == nil && len(sum) == sha256.Size {
			sums = append(sums, sum)
		}
	}
	if len(sums) == 0 {
		return fault.Malformedf("webhook-signature is missing or cannot be read")
	}
	if !signedBy(secret, sums, g.ID+"."+g.Time+".", body) {
		return fault.Malformedf("webhook-signature does not match the body and the secret")
	}
	return timely("webhook-signature", at, now)
}

// signedBy reports whether one of the sums is that of the text before the body and the body.
func signedBy(secret string, sums [][]byte, before string, body []byte) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(before))
	mac.Write(body)
	want, good := mac.Sum(nil), false
	for _, sum := range sums {
		good = hmac.Equal(sum, want) || good
	}
	return good
}

func timely(header string, at int64, now exact.Instant) error {
	if age := int64(now) - at; age > signatureTolerance || age < -signatureTolerance {
		return fault.Malformedf("%s differs from now by more than 5 minutes", header)
	}
	return nil
}
