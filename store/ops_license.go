package store

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// LicenseDetail is a license with its seats, newest first.
type LicenseDetail struct {
	License
	Activations []Activation `json:"activations"`

	rekeyed bool
}

// Origin says where the license and its key came from.
func (d LicenseDetail) Origin() string {
	switch {
	case !d.Imported():
		return "Issued here"
	case d.rekeyed:
		return "Imported; its key was replaced here"
	}
	return "Imported"
}

// License returns one license with its seats, the key in full to those who may see it. An unknown id is refused as not
// found.
func (s *Service) License(ctx context.Context, who db.Caller, id int64) (LicenseDetail, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (d LicenseDetail, err error) {
		if d.License, err = licenseFor(c, who, id); err != nil {
			return d, err
		}
		d.Activations, err = allSeats(c, id)
		d.License = s.memory.uses.onLicense(d.License)
		s.memory.uses.onSeats(d.Activations)
		if err == nil && d.Imported() {
			_, d.rekeyed, err = db.One(c, db.Int, "SELECT 1 FROM audit WHERE subject = ? AND action = ? LIMIT 1",
				subject(d.License), rotated)
		}
		return d, err
	})
}

// FindLicenses returns the licenses of a whole key, or of a buyer's address. None is
// refused as not found.
func (s *Service) FindLicenses(ctx context.Context, who db.Caller, what string) (LicensePage, error) {
	id, err := db.Read(ctx, s.db, func(c *db.Conn) (int64, error) { return licenseByText(c, what) })
	f := LicenseFilter{Q: what}
	switch {
	case err != nil:
		return LicensePage{}, err
	case id != 0:
	case strings.Contains(what, "@"):
		f.Q, f.Email = "", what
	case utf8.RuneCountInString(strings.TrimSpace(what)) < leastKey:
		return LicensePage{}, fault.Fieldf("license", "%s is neither a license key nor an e-mail address", schema.Quote(what))
	default:
		return LicensePage{}, fault.NotFoundf("no license has this key or buyer")
	}
	page, err := s.Licenses(ctx, who, f)
	if err == nil && len(page.Licenses) == 0 {
		err = fault.NotFoundf("no license has this key or buyer")
	}
	return page, err
}

func printLicenses(w io.Writer, p LicensePage) {
	schema.Tabulate(w, "ID|KEY|PRODUCT|STATUS|UNTIL|SEATS|ORDER|BUYER", p.Licenses, func(l License) []any {
		return []any{l.ID, l.Key, l.SKU, l.Status, until(l.ExpiresAt), seats(l), l.OrderRef, l.CustomerEmail}
	})
}

func until(at *exact.Instant) string {
	if at == nil {
		return "forever"
	}
	return at.String()
}

func seats(l License) string {
	if l.ActivationLimit == nil {
		return strconv.FormatInt(l.ActivationCount, 10)
	}
	return fmt.Sprintf("%d of %d", l.ActivationCount, *l.ActivationLimit)
}

func (s *Service) listLicenses() schema.Op {
	return schema.Op{
		Name: "list_licenses",
		About: "Licenses, newest first. Keys are in full for a full-access API key of a member or admin, otherwise " +
			"masked.",
		Response: LicensePage{Licenses: []License{exampleLicense()}},
		Example:  "store licenses list --status suspended\nstore licenses list --email ann@example.org",
		Print:    schema.Printed(printLicenses),
		Bind:     schema.Does(func(f *schema.Form, l *LicenseFilter) { l.bind(f) }, s.Licenses),
	}
}

func (s *Service) findLicenses() schema.Op {
	return schema.Op{
		Name: "find_licenses", About: "Find licenses by a whole key or by the buyer's e-mail address.",
		Response: LicensePage{Licenses: []License{exampleLicense()}}, Refuses: []fault.Kind{fault.NotFound},
		Example: "store licenses find ann@example.org\nstore licenses find " + exampleLicense().Key,
		Print:   schema.Printed(printLicenses),
		Bind: schema.Does(func(f *schema.Form, what *string) {
			f.Text(what, "q", "a license key, or an address", schema.Required, schema.Most(mostKey),
				schema.Positional("KEY|EMAIL"), schema.Example("ann@example.com"))
		}, s.FindLicenses),
	}
}

func (s *Service) licenseDetail() schema.Op {
	return schema.Op{
		Name: "license_detail", About: "One license with its seats.",
		Response: LicenseDetail{License: exampleLicense(), Activations: []Activation{exampleActivation()}},
		Refuses:  []fault.Kind{fault.NotFound},
		Example:  "store licenses show 12",
		Leads:    schema.Of(func(d LicenseDetail) string { ; return licenseLeads(d.ID) }),
		Print: schema.Printed(func(w io.Writer, d LicenseDetail) {
			fmt.Fprintf(w, "license %d: %s\n%s %s, order %s, %s\nuntil %s, seats %s\n", d.ID, d.Status, d.Key, d.SKU, d.OrderRef,
				d.CustomerEmail, until(d.ExpiresAt), seats(d.License))
			for _, a := range d.Activations {
				fmt.Fprintf(w, "  seat %d: %s %s, since %s, last seen %s\n", a.ID, a.Fingerprint, a.Label, a.CreatedAt,
					a.LastSeenAt)
			}
		}),
		Bind: schema.Does(bindLicense, s.License),
	}
}

func licenseLeads(id int64) string { return "/licenses/" + strconv.FormatInt(id, 10) }

// bindLicense binds a license by its id or its whole key.
func bindLicense(f *schema.Form, id *int64) {
	f.ID(id, "license_id", "the license's id; at the command line its key does too", schema.Required,
		schema.Positional("ID"), schema.Label("License"),
		schema.Lookup(licenseByKey), schema.Example(12), schema.Choices(licenseChoices))
}

func licenseByKey(c *db.Conn, key string) (int64, error) {
	id, err := licenseByText(c, key)
	if err == nil && id == 0 {
		err = fault.NotFoundf("no license has this key")
	}
	return id, err
}

func printLicense(w io.Writer, l License) {
	fmt.Fprintf(w, "license %d: %s\n", l.ID, l.Status)
}

// licenseAct is an act on one license that only needs to know which.
func (s *Service) licenseAct(name, word, about, did string, do func(*db.Tx, int64) (License, error)) schema.Op {
	return schema.Op{
		Name: name, About: about, Writes: true, Response: exampleLicense(), Refuses: []fault.Kind{fault.NotFound},
		Example: "store license " + word + " 12", Print: schema.Printed(printLicense),
		Leads: schema.Of(func(l License) string { ; return licenseLeads(l.ID) }),
		Did:   schema.Said(func(l License) string { return fmt.Sprintf("License %d of %s %s.", l.ID, l.CustomerEmail, did) }),
		Bind:  schema.Writes(s.db, bindLicense, do),
	}
}

// licenseTo is the act that moves a license to a state.
func licenseTo(state string) func(*db.Tx, int64) (License, error) {
	return func(tx *db.Tx, id int64) (License, error) { return moveLicense(tx, id, state) }
}

func undoLicense(name, label string) func(answer any) *schema.Undo {
	return func(answer any) *schema.Undo {
		l, _ := answer.(License)
		return &schema.Undo{Op: name, Label: label, Fields: map[string]string{"license_id": strconv.FormatInt(l.ID, 10)}}
	}
}

// licenseThing names a license in a question.
func licenseThing(answer any) string {
	l, _ := answer.(License)
	return "the license of " + l.CustomerEmail
}

func (s *Service) suspendLicense() schema.Op {
	op := s.licenseAct("suspend_license", "suspend", "Suspend a license until it is resumed.",
		"is suspended", licenseTo(stateSuspended))
	op.Undo = undoLicense("resume_license", "Resume")
	return op
}

func (s *Service) resumeLicense() schema.Op {
	op := s.licenseAct("resume_license", "resume", "Resume a suspended license.", "works again",
		licenseTo(stateActive))
	op.Undo = undoLicense("suspend_license", "Suspend")
	return op
}

func (s *Service) revokeLicense() schema.Op {
	op := s.licenseAct("revoke_license", "revoke", "Revoke a license for good.", "is revoked",
		licenseTo(stateRevoked))
	op.Destructive, op.Thing = true, licenseThing
	op.Will = schema.Said(func(l License) string {
		return strings.TrimSpace(fmt.Sprintf("License %d (%s) of %s will stop working for good; it has %s in use. Nothing "+
			"is refunded. %s",
			l.ID, l.SKU, l.CustomerEmail, exact.Plural(l.ActivationCount, "seat", "seats"), l.files))
	})
	return op
}

func (s *Service) rotateLicenseKey() schema.Op {
	op := s.licenseAct("rotate_license_key", "rotate", "Replace a license's key. The old key stops working; the seats "+
		"stay.", "has a new key", rotateLicenseKey)
	op.Destructive, op.Thing = true, func(answer any) string { return "the key of " + licenseThing(answer) }
	op.Print = schema.Printed(func(w io.Writer, l License) { fmt.Fprintln(w, l.Key) })
	op.Will = schema.Said(func(l License) string {
		return fmt.Sprintf("License %d (%s) of %s will get a new key. Programs with the old key will find no license; %s.",
			l.ID, l.SKU, l.CustomerEmail, exact.Plural(l.ActivationCount, "seat stays", "seats stay"))
	})
	return op
}

func (s *Service) extendLicense() schema.Op {
	op := s.licenseAct("extend_license", "extend", "Extend a license: by days from its end (from now if it has ended), "+
		"or to the end of a day.", "ends later", nil)
	op.Example = "store license extend 12 --days 30\nstore license extend 12 --until 2027-06-30"
	op.Print = schema.Printed(func(w io.Writer, l License) {
		fmt.Fprintf(w, "license %d: %s until %s\n", l.ID, l.Status, until(l.ExpiresAt))
	})
	op.Did = schema.Said(func(l License) string {
		return fmt.Sprintf("License %d of %s now lasts until %s.", l.ID, l.CustomerEmail, until(l.ExpiresAt))
	})
	op.Bind = schema.Writes2(s.db, func(f *schema.Form, id *int64, x *Extension) {
		bindLicense(f, id)
		f.Int(&x.Days, "days", "how many days longer", schema.Range(1, mostDays), schema.Example(30))
		f.DayPtr(&x.Until, "until", "the last day on which it works", schema.Example("2027-06-30"))
	}, extendLicense)
	return op
}

// willRelease says what releasing a seat does.
var willRelease = schema.Said(func(l License) string {
	return "The machine will have to be activated again. Seats in use then: " + seats(l) + "."
})

func (s *Service) releaseSeat() schema.Op {
	op := s.licenseAct("release_seat", "release", "Release a seat of a license.", "has a seat free", nil)
	op.Asks, op.Will = true, willRelease
	op.Thing = schema.Of(func(l License) string { return "the seat " + l.released + " of " + l.CustomerEmail })
	op.Example = "store license release 12 31"
	op.Print = schema.Printed(func(w io.Writer, l License) {
		fmt.Fprintf(w, "license %d: %s seats taken\n", l.ID, seats(l))
	})
	op.Bind = schema.Writes2(s.db, func(f *schema.Form, id *int64, seat *int64) {
		bindLicense(f, id)
		f.ID(seat, "activation_id", "the seat's id", schema.Required, schema.Positional("SEAT"), schema.Label("Seat"),
			schema.Example(31), schema.Choices(seatChoices))
	}, releaseSeat)
	return op
}
