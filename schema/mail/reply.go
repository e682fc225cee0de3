package mail

import (
	"regexp"
	"strings"

	"quartermaster/schema/exact"
)

// Stage is how far a try came.
type Stage string

// The stages, in their order.
const (
	Connect Stage = "connect" // the connection, the greeting and EHLO
	TLS     Stage = "tls"
	Auth    Stage = "auth"
	From    Stage = "from" // MAIL
	To      Stage = "to"   // RCPT
	Data    Stage = "data" // DATA, the text, the final dot
)

// Reply is what came of a try: the server's last answer, or why there was none.
type Reply struct {
	Stage Stage
	Code  int    // 0 when the server did not answer
	Text  string // its words, with the enhanced code in them, or what went wrong
}

// Outcome is what a reply means for a message.
type Outcome string

// The outcomes.
const (
	Sent    Outcome = "sent"
	Again   Outcome = "again"   // later, while there is time
	Refused Outcome = "refused" // never again
	Trouble Outcome = "trouble" // of the server, not of the message: all wait
)

var enhanced = regexp.MustCompile(`^([245])\.(\d{1,3})\.(\d{1,3})(\s|$)`)

// Means says what a reply means, and whether it tells that the address does not exist.
func (r Reply) Means() (o Outcome, block bool) {
	switch {
	case r.Stage != To && r.Stage != Data:
		return Trouble, false
	case r.Code >= 200 && r.Code < 300:
		return Sent, false
	case r.Code < 500, r.Stage == To && r.Code == 552:
		return Again, false
	}
	return Refused, r.Stage == To && r.noSuchAddress()
}

// noSuchAddress reports whether a refusal of RCPT is of the address for good.
func (r Reply) noSuchAddress() bool {
	if code := enhanced.FindStringSubmatch(r.Text); code != nil {
		return code[1] == "5" && (code[2] == "1" || code[2] == "2" && code[3] == "1")
	}
	return r.Code == 550 || r.Code == 551 || r.Code == 553
}

// mostReply is how many characters of a server's words are kept.
const mostReply = 500

// Kept is the reply's text as it is kept: on one line, without the address, at most 500 characters.
func (r Reply) Kept(address string) string {
	text := r.Text
	if address != "" {
		text = regexp.MustCompile(`(?i)`+regexp.QuoteMeta(address)).ReplaceAllLiteralString(text, "<recipient>")
		text = strings.ReplaceAll(text, "<<recipient>>", "<recipient>")
	}
	text = OneLine(strings.ToValidUTF8(text, "?"))
	if cut := []rune(text); len(cut) > mostReply {
		text = string(cut[:mostReply])
	}
	return text
}

const (
	minute = exact.Instant(60)
	hour   = 60 * minute
)

// waits are the minutes between tries of one message; the last holds on.
var waits = []exact.Instant{1, 5, 15, 30, 60, 120, 240}

// Longest is the longest wait between two tries.
const Longest = 240 * minute

// Life is how long a message is tried.
func Life(link bool) exact.Instant {
	if link {
		return hour
	}
	return 48 * hour
}

// Next is when a message made at made is tried again after its try number tries ended; ok is false
// when that is past its time.
func Next(made, ended exact.Instant, tries int64, link bool) (at exact.Instant, ok bool) {
	at = ended + step(waits, tries)
	return at, at-made <= Life(link)
}

// Rest is how long all wait after trouble for the count-th time in a row.
func Rest(stage Stage, count int64) exact.Instant {
	if stage == Auth {
		return step([]exact.Instant{15, 30, 60}, count)
	}
	return step([]exact.Instant{1, 5, 15, 30, 60}, count)
}

func step(minutes []exact.Instant, count int64) exact.Instant {
	return minutes[min(max(count, 1), int64(len(minutes)))-1] * minute
}
