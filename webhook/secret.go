package webhook

import (
	"crypto/rand"
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"

	"quartermaster/schema/fault"
)

// secretPrefix begins a secret whose rest is the key in base64, as in Standard Webhooks.
const secretPrefix = "whsec_"

const maxSecret = 200

// newSecret is whsec_ and 32 random bytes in base64.
func newSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(b)
}

// key is the key of the Standard Webhooks signature: the decoded rest after whsec_, or the secret's own bytes without
// that prefix.
func key(secret string) []byte {
	if rest, is := strings.CutPrefix(secret, secretPrefix); is {
		if b, err := base64.StdEncoding.DecodeString(rest); err == nil {
			return b
		}
	}
	return []byte(secret)
}

// checkSecret refuses a given secret that a receiver could not copy as it is shown. The refusal never repeats the
// secret.
func checkSecret(s string) error {
	n := utf8.RuneCountInString(s)
	if n < 1 || n > maxSecret || !utf8.ValidString(s) ||
		strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.TrimSpace(s) != s {
		return fault.Fieldf("secret", "secret: 1 to %d printable characters are allowed, without a space at either end",
			maxSecret)
	}
	if rest, is := strings.CutPrefix(s, secretPrefix); is {
		if b, err := base64.StdEncoding.DecodeString(rest); err != nil || len(b) == 0 {
			return fault.Fieldf("secret", "secret: after %s comes padded base64, as Standard Webhooks defines it", secretPrefix)
		}
	}
	return nil
}
