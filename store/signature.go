package store

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// stripeTolerance is how far, in seconds, a signature's time may lie from now, either
// way.
const stripeTolerance = 5 * 60

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
func verifyStripe(header string, body []byte, secret string, now exact.Instant) error {
	if secret == "" {
		return fault.Malformedf("no signing secret is set, so that nothing can be verified: set it with `store provider set stripe --secret whsec_...`")
	}
	s, ok := readStripeSignature(header)
	if !ok {
		return fault.Malformedf("Stripe-Signature is missing or cannot be read")
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(s.time))
	mac.Write([]byte{'.'})
	mac.Write(body)
	want, good := mac.Sum(nil), false
	for _, sum := range s.v1 {
		good = hmac.Equal(sum, want) || good
	}
	if !good {
		return fault.Malformedf("Stripe-Signature does not fit the body and the secret that is set")
	}
	if age := int64(now) - s.at; age > stripeTolerance || age < -stripeTolerance {
		return fault.Malformedf("Stripe-Signature was made more than 5 minutes from now")
	}
	return nil
}
