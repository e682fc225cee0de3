package store

import (
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// mostMarked is how many licenses one action changes.
const mostMarked = 10_000

// MovedLicenses is the result of an action on many licenses, one by one.
type MovedLicenses struct {
	Moved   []License `json:"moved"`
	Refused []string  `json:"refused"`

	left []string
}

// Refusals names the refused ones.
func (m MovedLicenses) Refusals() ([]string, error) {
	return schema.SomeRefused(m.Refused, len(m.Refused)+len(m.Moved), "licenses")
}

// Left are the refused ones' numbers.
func (m MovedLicenses) Left() []string { return m.left }

// markedLicenses are those of an action, and the state that they get.
type markedLicenses struct {
	schema.Chosen
	to string
}

// matchingLicenses are the licenses of the filters in the list's address.
func matchingLicenses(c *db.Conn, query string) ([]int64, error) {
	var f LicenseFilter
	if err := schema.Filters(query, f.bind); err != nil {
		return nil, err
	}
	f.Cursor = schema.Cursor[int64]{}
	found, err := f.list(c, mostMarked+1)
	if err == nil && len(found) > mostMarked {
		err = fault.Invalidf("more than %d licenses match; narrow the filters", mostMarked)
	}
	return schema.Map(found, func(l License) int64 { return l.ID }), err
}

// moveLicenses suspends, resumes or revokes many licenses, each separately: a refused one is named and the others
// continue.
func moveLicenses(tx *db.Tx, m markedLicenses) (done MovedLicenses, err error) {
	done.Refused = []string{}
	ids, err := m.All(&tx.Conn, matchingLicenses)
	if err != nil {
		return done, err
	}
	done.Moved, err = schema.EachOf(tx, ids, false, func(id int64) (License, error) { return moveLicense(tx, id, m.to) },
		func(id int64, reason string) {
			name := fmt.Sprintf("License %d", id)
			if l, err := findLicense(&tx.Conn, id); err == nil {
				name = fmt.Sprintf("%s of %s", l.SKU, l.CustomerEmail)
			}
			done.Refused = append(done.Refused, name+": "+reason)
			done.left = append(done.left, fmt.Sprint(id))
		})
	return done, err
}

// moveLicensesOp is the action of the list's marks; it is for pages only.
func (s *Service) moveLicensesOp() schema.Op {
	return schema.Op{
		Name: "move_licenses", Writes: true,
		About:    "Suspend, resume or revoke several licenses. Refused ones are named with the reason.",
		Response: MovedLicenses{Moved: []License{exampleLicense()}, Refused: []string{"PLUGIN of ann@example.com: it is revoked"}},
		Bind: schema.Writes(s.db, func(f *schema.Form, m *markedLicenses) {
			f.Enum(&m.to, "status", "the new state", []string{stateSuspended, stateActive, stateRevoked}, schema.Required,
				schema.Label("They become"))
			m.Bind(f, "license", mostMarked, schema.AllowDuplicates, schema.Usual)
		}, moveLicenses),
		Did: schema.Said(func(m MovedLicenses) string {
			switch n := len(m.Moved); n {
			case 0:
				return "No license was changed."
			case 1:
				return fmt.Sprintf("The license of %s is %s.", m.Moved[0].CustomerEmail, m.Moved[0].Status)
			default:
				return fmt.Sprintf("%d licenses are %s.", n, m.Moved[0].Status)
			}
		}),
		Doubt: func(answer any, _ schema.Money) schema.Question {
			m := answer.(MovedLicenses).Moved
			if len(m) == 0 || m[0].Status != stateRevoked {
				return schema.Question{}
			}
			return schema.Question{Title: "Revoke " + exact.Plural(len(m), "license", "licenses") + "?", Button: "Revoke them",
				Text:   "They stop working for good. Nothing is refunded.",
				Points: schema.Few(m, 5, func(l License) string { return l.SKU + " of " + l.CustomerEmail })}
		},
		Leads: func(any) string { return "/licenses" },
	}
}
