package store

import (
	"context"
	"fmt"
	"net/url"

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
func (m MovedLicenses) Refusals() (refused []string, err error) {
	if len(m.Refused) > 0 {
		err = fmt.Errorf("%d of %d licenses were refused", len(m.Refused), len(m.Refused)+len(m.Moved))
	}
	return append([]string{}, m.Refused...), err
}

// Left are the refused ones' numbers.
func (m MovedLicenses) Left() []string { return m.left }

// markedLicenses are those of an action: the named ones, or all of the filters in the list's address.
type markedLicenses struct {
	ids   []int64
	match string
	to    string
}

// licenseFilterOf parses the filters of the list's address. Wrong ones are refused.
func licenseFilterOf(query string) (f LicenseFilter, err error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return f, fault.Fieldf("match", "These filters cannot be read. Open the list again.")
	}
	op := schema.Op{Bind: func(form *schema.Form) schema.Handler {
		f.bind(form)
		return nil
	}}
	_, err = op.Decode(schema.Input{Surface: schema.Page, Values: values, Lenient: true, Currency: exact.CurrencyOf("USD")})
	f.Cursor = schema.Cursor[int64]{}
	return f, err
}

func (m markedLicenses) find(c *db.Conn) ([]int64, error) {
	if len(m.ids) > 0 {
		return m.ids, nil
	}
	f, err := licenseFilterOf(m.match)
	if err != nil {
		return nil, err
	}
	found, err := f.list(c, mostMarked+1)
	if err == nil && len(found) > mostMarked {
		err = fault.Invalidf("more than %d licenses match; narrow the filters", mostMarked)
	}
	ids := make([]int64, len(found))
	for i, l := range found {
		ids[i] = l.ID
	}
	return ids, err
}

// moveLicenses suspends, resumes or revokes many licenses, each separately: a refused one is named and the others
// continue.
func (s *Service) moveLicenses(ctx context.Context, who db.Caller, m markedLicenses) (MovedLicenses, error) {
	action := map[string]string{stateSuspended: "license.suspended", stateActive: "license.resumed",
		stateRevoked: "license.revoked"}[m.to]
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (done MovedLicenses, err error) {
		done = MovedLicenses{Moved: []License{}, Refused: []string{}}
		ids, err := m.find(&tx.Conn)
		if err != nil {
			return done, err
		}
		for _, id := range ids {
			err := tx.Try(func() error {
				l, err := moveLicense(tx, who, id, m.to, action)
				if err == nil {
					done.Moved = append(done.Moved, l)
				}
				return err
			})
			if err == nil {
				continue
			}
			refusal, is := fault.As(err)
			if !is || refusal.Kind == fault.Unavailable {
				return done, err
			}
			name := fmt.Sprintf("License %d", id)
			if l, err := findLicense(&tx.Conn, id); err == nil {
				name = fmt.Sprintf("%s of %s", l.SKU, l.CustomerEmail)
			}
			done.Refused = append(done.Refused, name+": "+refusal.Detail)
			done.left = append(done.left, fmt.Sprint(id))
		}
		return done, nil
	})
}

// moveLicensesOp is the action of the list's marks; it is for pages only.
func (s *Service) moveLicensesOp() schema.Op {
	return schema.Op{
		Name: "move_licenses", Writes: true,
		About:    "Suspend, resume or revoke several licenses. Refused ones are named with the reason.",
		Response: MovedLicenses{Moved: []License{exampleLicense()}, Refused: []string{"PLUGIN of ann@example.com: it is revoked"}},
		Bind: schema.Does(func(f *schema.Form, m *markedLicenses) {
			f.Enum(&m.to, "status", "the new state", []string{stateSuspended, stateActive, stateRevoked}, schema.Required,
				schema.Label("They become"))
			some := f.IDs(&m.ids, "id", "the licenses", mostMarked, schema.AllowDuplicates, schema.Usual,
				schema.Label("Licenses"))
			f.Text(&m.match, "match", "instead of licenses: all that match these filters", schema.Label("All that match"))
			if !f.Describing() && !some && m.match == "" {
				f.Refuse("id", "id is missing: mark at least one license")
			}
		}, s.moveLicenses),
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
			q := schema.Question{Title: "Revoke " + exact.Plural(len(m), "license", "licenses") + "?", Button: "Revoke them",
				Text: "They stop working for good. Nothing is refunded."}
			for i, l := range m {
				if i == 5 {
					q.Points = append(q.Points, fmt.Sprintf("and %d more", len(m)-i))
					break
				}
				q.Points = append(q.Points, l.SKU+" of "+l.CustomerEmail)
			}
			return q
		},
		Leads: func(any) string { return "/licenses" },
	}
}
