package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
)

// header returns the headers of one attempt, signatures included. They depend on
// nothing but the delivery and the program's version.
func header(p *outgoing, version string) http.Header {
	service := "X-" + strings.ToUpper(p.service[:1]) + p.service[1:]
	stamp := strconv.FormatInt(int64(p.at), 10)
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "quartermaster/"+version)
	h.Set(service+"-Event", p.event)
	h.Set(service+"-Delivery", strconv.FormatInt(p.id, 10))
	if p.test {
		h.Set(service+"-Test", "true")
	}
	h.Set(service+"-Signature", "sha256="+hex.EncodeToString(mac([]byte(p.secret), p.body)))
	h.Set("Webhook-Id", p.eventID)
	h.Set("Webhook-Timestamp", stamp)
	signatures := standard(p.secret, p.eventID, stamp, p.body)
	if p.oldSecret != "" {
		signatures += " " + standard(p.oldSecret, p.eventID, stamp, p.body)
	}
	h.Set("Webhook-Signature", signatures)
	return h
}

// standard is one signature as Standard Webhooks 1.0 has it.
func standard(secret, id, stamp string, body []byte) string {
	return "v1," + base64.StdEncoding.EncodeToString(mac(key(secret), []byte(id+"."+stamp+"."), body))
}

// mac is the HMAC-SHA256 of the parts one after another.
func mac(key []byte, parts ...[]byte) []byte {
	m := hmac.New(sha256.New, key)
	for _, p := range parts {
		m.Write(p)
	}
	return m.Sum(nil)
}
