package store

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// The agents' actions on a license.
const (
	actSuspend = "suspend"
	actResume  = "resume"
	actExtend  = "extend"
	actRelease = "release"
)

// LicenseAct is an agent's action on a license.
type LicenseAct struct {
	License  string // #12, a whole key, or the last four of a key of Customer's
	Customer int64  // 0: not given
	Action   string
	Until    *exact.Day // of extend
	Seat     string     // of release: its label, or its fingerprint
}

// actOnLicense suspends, resumes or extends a license, or releases one of its seats. Refused: what the action itself
// refuses, and an ambiguous license or seat.
func (s *Service) actOnLicense(tx *db.Tx, a LicenseAct) (SeatedLicense, error) {
	id, err := a.license(&tx.Conn)
	if err != nil {
		return SeatedLicense{}, err
	}
	l, err := a.do(tx, id)
	if err != nil {
		return SeatedLicense{}, err
	}
	return s.withSeats(&tx.Conn, l)
}

func (a LicenseAct) do(tx *db.Tx, id int64) (License, error) {
	switch a.Action {
	case actSuspend:
		return moveLicense(tx, id, stateSuspended)
	case actResume:
		return moveLicense(tx, id, stateActive)
	case actExtend:
		return extendLicense(tx, id, Extension{Until: a.Until})
	}
	seat, err := seatCalled(&tx.Conn, id, a.Seat)
	if err != nil {
		return License{}, err
	}
	return releaseSeat(tx, id, seat)
}

// license finds the license that is meant.
func (a LicenseAct) license(c *db.Conn) (int64, error) {
	digits, marked := strings.CutPrefix(strings.TrimSpace(a.License), "#")
	n, err := strconv.ParseInt(digits, 10, 64)
	number := err == nil && n > 0
	if marked && number {
		return n, a.ownedBy(c, n)
	}
	called, err := licensesCalled(c, a.License)
	if err != nil {
		return 0, err
	}
	whole, err := licenseByText(c, a.License)
	if err != nil {
		return 0, err
	}
	if len(called) > 0 && whole == 0 && a.Customer == 0 {
		return 0, fault.Fieldf("customer", "customer is missing: give it with the last four characters of the key")
	}
	var fits []License
	for _, l := range called {
		if a.Customer == 0 || a.ownedBy(c, l.ID) == nil {
			fits = append(fits, l)
		}
	}
	switch {
	case len(fits) == 1:
		return fits[0].ID, nil
	case len(fits) > 1:
		return 0, fault.Fieldf("license", "license: several keys of this customer end with %s: %s; give the id",
			schema.Quote(a.License), calledAll(fits))
	case number:
		return n, a.ownedBy(c, n)
	case a.Customer == 0:
		return 0, fault.NotFoundf(
			"license: no license is called %s; it takes the last four of its key with the customer, or #id",
			schema.Quote(a.License))
	}
	k, err := customerByID(c, a.Customer)
	if err != nil {
		return 0, err
	}
	all, err := (LicenseFilter{Email: k.Email}).list(c, math.MaxInt64)
	if err != nil {
		return 0, err
	}
	return 0, fault.NotFoundf("license: %s has none whose key ends with %s; there are %s", k.Email,
		schema.Quote(a.License), calledAll(all))
}

// calledAll names at most five licenses.
func calledAll(list []License) string {
	names := schema.Few(list, 5, func(l License) string { return strings.TrimPrefix(l.called(), "license ") })
	return strings.Join(names, "; ")
}

// ownedBy refuses a license of another customer than the named one.
func (a LicenseAct) ownedBy(c *db.Conn, id int64) error {
	l, err := findLicense(c, id)
	if err != nil || a.Customer == 0 {
		return err
	}
	k, err := customerByID(c, a.Customer)
	if err == nil && k.Email != l.CustomerEmail {
		err = fault.Fieldf("customer", "customer: license #%d is not %s's", id, k.Email)
	}
	return err
}

// seatCalled finds the one seat of a license with the label, in any case, or the fingerprint.
func seatCalled(c *db.Conn, license int64, called string) (int64, error) {
	seats, err := allSeats(c, license)
	if err != nil {
		return 0, err
	}
	var labels []string
	var found []Activation
	for _, a := range seats {
		if a.Fingerprint == called {
			return a.ID, nil
		}
		if strings.EqualFold(a.Label, called) {
			found = append(found, a)
		}
		labels = append(labels, firstOf(a.Label, a.Fingerprint))
	}
	if len(found) == 1 {
		return found[0].ID, nil
	}
	if len(found) > 1 {
		return 0, fault.Fieldf("seat", "seat: %d seats are called %s; give the fingerprint", len(found), schema.Quote(called))
	}
	return 0, fault.Fieldf("seat", "seat: the license has none called %s; %s", schema.Quote(called),
		schema.ThereAre(called, labels))
}

func (s *Service) licenseAction() schema.Op {
	seat := exampleActivation()
	return schema.Op{
		Name: "license_action", Says: "Suspend, resume or extend a license, or free a seat",
		About: "Suspend a license, resume it, extend it to the end of the day until, or release one of its seats. license: " +
			"the last four of its key with the " +
			"customer, or #id. No tool revokes a license, or changes its key or limit.",
		Writes: true, Refuses: []fault.Kind{fault.NotFound},
		Response: SeatedLicense{exampleLicense().masked(),
			[]Seat{{seat.Label, seat.Fingerprint, seat.CreatedAt, seat.LastSeenAt}}},
		Leads: schema.Of(func(l SeatedLicense) string { ; return licenseLeads(l.ID) }),
		Did: schema.Said(func(l SeatedLicense) string {
			return fmt.Sprintf("License %d of %s is %s.", l.ID, l.CustomerEmail, l.Status)
		}),
		Bind: schema.Writes(s.db, func(f *schema.Form, a *LicenseAct) {
			f.Text(&a.License, "license", "the last four of the key, or #id", schema.Required, schema.Most(1000),
				schema.Example("#12"))
			bindCustomer(f, &a.Customer)
			f.Enum(&a.Action, "action", "", []string{actSuspend, actResume, actExtend, actRelease}, schema.Required)
			f.DayPtr(&a.Until, "until", "of extend: the last day on which it works")
			f.Text(&a.Seat, "seat", "of release: the seat's label", schema.Most(200))
			if f.Describing() || a.Action == "" {
				return
			}
			switch extend, release := a.Action == actExtend, a.Action == actRelease; {
			case extend && a.Until == nil:
				f.Refuse("until", "until is missing: give the last day on which the license works")
			case !extend && a.Until != nil:
				f.Refuse("until", "until goes only with the action extend")
			case release && a.Seat == "":
				f.Refuse("seat", "seat is missing: give the label of the seat to release")
			case !release && a.Seat != "":
				f.Refuse("seat", "seat goes only with the action release")
			}
		}, s.actOnLicense),
	}
}
