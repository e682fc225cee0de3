package mail

import (
	"regexp"
	"strings"

	"quartermaster/schema/exact"
)

// Stage is the stage that an attempt reached.
type Stage string

// The stages, in order.
const (
	Connect Stage = "connect" // the connection, the greeting and EHLO
	TLS     Stage = "tls"
	Auth    Stage = "auth"
	From    Stage = "from" // MAIL
	To      Stage = "to"   // RCPT
	Data    Stage = "data" // DATA, the text, the final dot
)

// Reply is the result of an attempt: the server's last reply, or why there was none.
type Reply struct {
	Stage Stage
	Code  int    // 0 if the server did not reply
	Text  string // its text, including the enhanced code, or the error
}

// Outcome is the meaning of a reply for a message.
type Outcome string

// The outcomes.
const (
	Sent    Outcome = "sent"
	Again   Outcome = "again"   // retry later, while there is time
	Refused Outcome = "refused" // never retry
	Trouble Outcome = "trouble" // a problem of the server, not of the message: all wait
)

var enhanced = regexp.MustCompile(`^([245])\.(\d{1,3})\.(\d{1,3})(\s|$)`)

// Means returns the meaning of a reply, and whether the address does not exist.
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

// noSuchAddress reports whether a refusal of RCPT means that the address does not exist.
func (r Reply) noSuchAddress() bool {
	if code := enhanced.FindStringSubmatch(r.Text); code != nil {
		return code[1] == "5" && (code[2] == "1" || code[2] == "2" && code[3] == "1")
	}
	return r.Code == 550 || r.Code == 551 || r.Code == 553
}

// mostReply is the number of characters stored of a server's text.
const mostReply = 500

// Kept is the stored text of a reply: on one line, without the address, at most 500 characters.
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

// waits are the minutes between attempts of one message; the last one repeats.
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

// Next is when a message made at made is tried again after tries attempts; ok is false if its time is over.
func Next(made, ended exact.Instant, tries int64, link bool) (at exact.Instant, ok bool) {
	at = ended + step(waits, tries)
	return at, at-made <= Life(link)
}

// Rest is how long all messages wait after count problems in a row.
func Rest(stage Stage, count int64) exact.Instant {
	if stage == Auth {
		return step([]exact.Instant{15, 30, 60}, count)
	}
	return step([]exact.Instant{1, 5, 15, 30, 60}, count)
}

func step(minutes []exact.Instant, count int64) exact.Instant {
	return minutes[min(max(count, 1), int64(len(minutes)))-1] * minute
}
