package mail

import (
	"fmt"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

// Listed is a message in lists: the answer of operations that mail.
type Listed struct {
	ID        int64          `json:"id"`
	Service   string         `json:"service" about:"empty for messages that the program sends by itself"`
	Kind      string         `json:"kind"`
	Record    string         `json:"record"`
	To        string         `json:"to"`
	State     string         `json:"state" enum:"held,queued,sending,sent,refused,failed,cancelled"`
	Tries     int64          `json:"tries"`
	Code      *int64         `json:"code"`
	Reply     *string        `json:"reply"`
	CreatedAt exact.Instant  `json:"created_at"`
	NextTryAt *exact.Instant `json:"next_try_at"`
	TriedAt   *exact.Instant `json:"tried_at"`
	subject   string
	note      string
	person    string
	link      bool
	message   string
}

// ListedColumns are what ScanListed reads.
const ListedColumns = `id, service, kind, record, address, state, tries, code, reply, created_at, next_try_at,
	tried_at, subject, note, person, link, message_id FROM mails`

// ScanListed reads a message.
func ScanListed(r *db.Row) Listed {
	return Listed{
		ID: r.Int(), Service: r.Text(), Kind: r.Text(), Record: r.Text(), To: r.Text(), State: r.Text(), Tries: r.Int(),
		Code:  r.IntPtr(),
		Reply: r.TextPtr(), CreatedAt: r.Instant(), NextTryAt: r.InstantPtr(), TriedAt: r.InstantPtr(), subject: r.Text(),
		note:   r.Text(),
		person: r.Text(), link: r.Bool(), message: r.Text(),
	}
}

// Find reads one message.
func Find(c *db.Conn, id int64) (Listed, error) {
	m, found, err := db.One(c, ScanListed, "SELECT "+ListedColumns+" WHERE id = ?", id)
	if err == nil && !found {
		err = fault.NotFoundf("there is no message %d", id)
	}
	return m, err
}

// Row is the message as it was queued.
func (m Listed) Row() Row {
	return Row{ID: m.ID, Service: m.Service, Kind: m.Kind, Subject: m.subject, Record: m.Record, To: m.To, Note: m.note,
		Person: m.person,
		Link:   m.link}
}

// MessageID is the message's name in its headers, without brackets and domain: one for all tries.
func (m Listed) MessageID() string { return m.message }

// Several are the messages that an action queued or cancelled: one as its row, several as a list.
type Several struct{ Mails []Listed }

// MarshalJSON writes the row for one message.
func (a Several) MarshalJSON() ([]byte, error) {
	if len(a.Mails) == 1 {
		return strict.Marshal(a.Mails[0])
	}
	return strict.Marshal(map[string][]Listed{"mails": a.Mails})
}

// To names the addresses, the first few of many.
func (a Several) To() string { return Few(a.Mails, func(m Listed) string { return m.To }) }

// Few names the first of all: "a, b, c and 3 more".
func Few[T any](all []T, name func(T) string) string {
	var names []string
	for _, v := range all[:min(3, len(all))] {
		names = append(names, name(v))
	}
	text := strings.Join(names, ", ")
	if n := len(all) - len(names); n > 0 {
		text += " and " + strconv.Itoa(n) + " more"
	}
	return text
}

// Says is what an operation mails, or mailed: the format takes the record and the address of a Listed or of Several.
func Says(format string) func(any, schema.Money) string {
	return func(a any, _ schema.Money) string {
		all, _ := a.(Several)
		if m, one := a.(Listed); one {
			all.Mails = []Listed{m}
		}
		return fmt.Sprintf(format, all.Mails[0].Record, all.To())
	}
}

// ExampleListed is the documents' example of a message.
func ExampleListed(service, kind, record string) Listed {
	code, reply, at := int64(250), "2.0.0 Ok: queued as 4ABC", exact.Instant(1_795_000_000)
	return Listed{ID: 7, Service: service, Kind: kind, Record: record, To: "ann@example.com", State: Done, Tries: 1,
		Code: &code, Reply: &reply, CreatedAt: at, TriedAt: &at}
}
