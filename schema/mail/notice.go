package mail

import (
	"encoding/json"

	"quartermaster/schema/strict"
)

// How a user hears of a notice.
const (
	Never  = "off"
	Now    = "now"
	Digest = "digest" // in the next digest
)

// Hearing are the ways a user can hear of a notice.
var Hearing = []string{Never, Now, Digest}

// Notices are how a user hears of what happens, each one of Hearing.
type Notices struct {
	Jobs       string `json:"jobs"`       // a work order is assigned to them
	Requests   string `json:"requests"`   // a work order came in by the request page
	Tickets    string `json:"tickets"`    // a tenant made a ticket or added a note
	Alarms     string `json:"alarms"`     // stock fell to its reorder point
	Payments   string `json:"payments"`   // a payment could not be booked
	Deliveries string `json:"deliveries"` // a delivery or a message failed
}

// ParseNotices reads what is kept of a user; what is not kept is as at first: jobs at once, the rest not.
func ParseNotices(kept string) (n Notices, err error) {
	n = Notices{Now, Never, Never, Never, Never, Never}
	err = json.Unmarshal([]byte(kept), &n)
	return n, err
}

// Kept is the notices as they are kept.
func (n Notices) Kept() (string, error) {
	b, err := strict.Marshal(n)
	return string(b), err
}
