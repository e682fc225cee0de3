package store

import (
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// deviceBody is the largest body, in bytes, of a buyer's program, which needs no key: a license key, a fingerprint and
// a label are a few hundred.
const deviceBody = 8 << 10

// Asked is the request of a buyer's program: its license key, fingerprint, product and network address.
type Asked struct {
	Key         string
	Fingerprint string // "": not sent, or without a seat
	Told        bool   // whether a fingerprint was sent, even an empty one
	SKU         string // "" is not told
	Remote      string
}

// Grant is a license as its buyer's program sees it: no customer, and only the last characters of the key.
type Grant struct {
	ID              int64          `json:"id"`
	Key             string         `json:"license_key" about:"masked to its last four characters"`
	SKU             string         `json:"sku"`
	Tier            *string        `json:"tier"`
	OrderRef        string         `json:"order_ref"`
	Status          string         `json:"status" enum:"active,expired,suspended,revoked"`
	ActivationLimit *int64         `json:"activation_limit" about:"seats; null is unlimited"`
	ActivationCount int64          `json:"activation_count" about:"seats that are taken"`
	ExpiresAt       *exact.Instant `json:"expires_at" about:"null is never"`
	CreatedAt       exact.Instant  `json:"created_at"`
	LastCheckedAt   *exact.Instant `json:"last_checked_at"`
}

func (l License) grant() *Grant {
	return &Grant{
		ID: l.ID, Key: mask(l.Key), SKU: l.SKU, Tier: l.Tier, OrderRef: l.OrderRef, Status: l.Status,
		ActivationLimit: l.ActivationLimit, ActivationCount: l.ActivationCount,
		ExpiresAt: l.ExpiresAt, CreatedAt: l.CreatedAt, LastCheckedAt: l.LastCheckedAt,
	}
}

// Verdict is whether a license is valid, and if not, why.
type Verdict struct {
	Valid      bool          `json:"valid"`
	Code       string        `json:"code" enum:"valid,not_found,product_mismatch,revoked,suspended,expired,not_activated"`
	Detail     string        `json:"detail"`
	License    *Grant        `json:"license" about:"null for not_found and product_mismatch"`
	Activation *Activation   `json:"activation" about:"the seat of the fingerprint that was sent, if it holds one"`
	CheckedAt  exact.Instant `json:"checked_at"`
}

// The verdicts' codes.
const (
	isValid         = "valid"
	isNotFound      = "not_found"
	isMismatch      = "product_mismatch"
	isNotActivated  = "not_activated"
	atLimit         = "activation_limit"
	notFoundDetail  = "no license has this key"
	mismatchDetail  = "the license is for another product"
	notActiveDetail = "this fingerprint holds no seat of the license: activate it first"
)

// match is the result of a look-up for a buyer's program.
type match struct {
	license License
	seat    *Activation
	known   bool
}

// look finds the license of the key, without its customer, and the seat of a sent fingerprint. An unknown key takes the
// same statements as a known one.
func look(c *db.Conn, a Asked) (m match, err error) {
	m.license, m.known, err = db.One(c, scanLicense(c.Now()),
		"SELECT "+grantColumns+" FROM "+grantTables+" WHERE l.id = "+licenseOfKey, probes(a.Key)...)
	if err != nil || a.Fingerprint == "" {
		return m, err
	}
	license := m.license.ID
	if !m.known {
		license = -1 // not 0: for 0 and 1 the engine would plan the statement again, which takes time
	}
	seat, taken, err := seatOn(c, license, a.Fingerprint)
	if taken {
		m.seat = &seat
	}
	return m, err
}

// standing judges a license: the first that applies of not_found, product_mismatch,
// revoked, suspended, expired, else valid.
func (m match) standing(a Asked) (code, detail string) {
	switch l := m.license; {
	case !m.known:
		return isNotFound, notFoundDetail
	case a.SKU != "" && a.SKU != l.SKU:
		return isMismatch, mismatchDetail
	case l.Status == stateRevoked:
		return stateRevoked, "the license was revoked"
	case l.Status == stateSuspended:
		return stateSuspended, "the license is suspended"
	case l.Status == statusExpired:
		return statusExpired, "the license expired at " + l.ExpiresAt.String()
	}
	return isValid, "the license is good"
}

// CheckLicense judges a license for a buyer's program. Its one refusal is 429, if an address requested too many unknown
// keys, or one key more often than any program does.
func (s *Service) CheckLicense(ctx context.Context, a Asked) (Verdict, error) {
	var m match
	var now exact.Instant
	err := s.db.View(ctx, func(c *db.Conn) (err error) {
		m, err = look(c, a)
		now = c.Now()
		return err
	})
	if err != nil {
		return Verdict{}, err
	}
	if !m.known {
		if err := s.missed(a.Remote); err != nil {
			return Verdict{}, err
		}
	}
	v := Verdict{CheckedAt: now}
	v.Code, v.Detail = m.standing(a)
	if v.Code == isNotFound || v.Code == isMismatch {
		return v, nil
	}
	if err := s.paced(s.memory.checks, m.license.ID, "checks"); err != nil {
		return Verdict{}, err
	}
	s.memory.uses.license(m.license.ID, now)
	defer s.db.Touch()
	m.license.LastCheckedAt = &now
	v.License = m.license.grant()
	if m.seat != nil {
		s.memory.uses.seat(m.seat.ID, now)
		m.seat.LastSeenAt = now
		v.Activation = m.seat
	}
	if v.Code == isValid && (a.Told || a.Fingerprint != "") && m.seat == nil {
		v.Code, v.Detail = isNotActivated, notActiveDetail
	}
	v.Valid = v.Code == isValid
	return v, nil
}

// refuseUse refuses an operation that needs a valid license.
func refuseUse(code, detail string) error {
	switch code {
	case isValid:
		return nil
	case isNotFound:
		return fault.NotFoundf("%s", detail)
	case isMismatch:
		return &fault.Error{Kind: fault.Invalid, Code: code, Detail: "sku: " + detail}
	}
	return &fault.Error{Kind: fault.Forbidden, Code: code, Detail: detail}
}

// find looks a license up for a buyer's program; a miss is counted against the address.
func (s *Service) find(ctx context.Context, a Asked) (match, error) {
	m, err := db.Read(ctx, s.db, func(c *db.Conn) (match, error) { return look(c, a) })
	if err != nil {
		return m, err
	}
	if !m.known {
		if err := s.missed(a.Remote); err != nil {
			return m, err
		}
		return m, refuseUse(isNotFound, notFoundDetail)
	}
	return m, nil
}

// bindKey binds the license key and the network address of a buyer's program.
func (a *Asked) bindKey(f *schema.Form) {
	f.Text(&a.Key, "license_key", "the license key; case and separators do not matter",
		schema.Required, schema.Most(mostKey), schema.Example(exampleLicense().Key))
	f.Remote(&a.Remote)
}

func (a *Asked) bindFingerprint(f *schema.Form, opts ...schema.Opt) {
	a.Told = f.Given("fingerprint")
	f.Text(&a.Fingerprint, "fingerprint", "how the program identifies its machine",
		append(opts, schema.Most(200), schema.Example("b0c4de8812"))...)
}

func (a *Asked) bindSKU(f *schema.Form) {
	f.Text(&a.SKU, "sku", "the product that the license must be for", schema.Most(200), schema.Example("PLUGIN"))
}

func (s *Service) checkLicense() schema.Op {
	seat := exampleActivation()
	return schema.Op{
		Name: "check_license",
		About: "Check a license. The license key is the credential; the answer is 200 for every verdict, " +
			"and code gives it: the first that applies of not_found, product_mismatch, revoked, suspended, expired, " +
			"not_activated (only if a fingerprint was sent), valid.",
		Public: true, MaxBody: deviceBody, Idempotent: true, Refuses: []fault.Kind{fault.Limited},
		Response: Verdict{
			Valid: true, Code: isValid, Detail: "the license is good",
			License: exampleLicense().grant(), Activation: &seat, CheckedAt: exampleInstant,
		},
		Bind: schema.Reads(func(f *schema.Form, a *Asked) {
			a.bindKey(f)
			a.bindFingerprint(f)
			a.bindSKU(f)
		}, s.CheckLicense),
	}
}
