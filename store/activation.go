package store

import (
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// Activation is a seat of a license that a fingerprint holds.
type Activation struct {
	ID          int64         `json:"id"`
	Fingerprint string        `json:"fingerprint"`
	Label       string        `json:"label" about:"a name for people"`
	CreatedAt   exact.Instant `json:"created_at"`
	LastSeenAt  exact.Instant `json:"last_seen_at"`
}

var activations = record.New("activation", "store_activations",
	record.ID(func(a *Activation) *int64 { return &a.ID }),
	record.Text("fingerprint", func(a *Activation) *string { return &a.Fingerprint }, ""),
	record.Text("label", func(a *Activation) *string { return &a.Label }, ""),
	record.Moment("created_at", func(a *Activation) *exact.Instant { return &a.CreatedAt }),
	record.Moment("last_seen_at", func(a *Activation) *exact.Instant { return &a.LastSeenAt }),
)

// allSeats are a license's seats, newest first.
func allSeats(c *db.Conn, license int64) ([]Activation, error) {
	return activations.All(c, "WHERE license_id = ? ORDER BY id DESC", license)
}

// seatOn is the seat of a license that a fingerprint holds, if there is one.
func seatOn(c *db.Conn, license int64, fingerprint string) (Activation, bool, error) {
	return activations.One(c, "WHERE license_id = ? AND fingerprint = ?", license, fingerprint)
}

// LicenseActivated is the data of license.activated; the key is masked.
type LicenseActivated struct {
	License    License    `json:"license"`
	Activation Activation `json:"activation"`
}

// Activated is the answer to an activation: 201 for a new seat, 200 for one that the
// fingerprint held already.
type Activated struct {
	Activated        bool       `json:"activated"`
	AlreadyActivated bool       `json:"already_activated"`
	Activation       Activation `json:"activation"`
	License          *Grant     `json:"license"`
}

// HTTPStatus distinguishes a new seat from an existing one.
func (a Activated) HTTPStatus() int {
	if a.AlreadyActivated {
		return 200
	}
	return 201
}

// ActivateLicense gives the fingerprint a seat of the license, or returns its existing one. Refused, with the code of
// the first that applies: not_found, product_mismatch, revoked, suspended, expired, activation_limit (with limit and
// used); and 429 as CheckLicense. An existing seat costs no write.
func (s *Service) ActivateLicense(ctx context.Context, a Asked, label string) (Activated, error) {
	m, err := s.find(ctx, a)
	if err != nil {
		return Activated{}, err
	}
	if err := refuseUse(m.standing(a)); err != nil {
		return Activated{}, err
	}
	if m.seat != nil {
		return s.held(m), nil
	}
	return db.Update(ctx, s.db, buyer(), func(tx *db.Tx) (Activated, error) {
		m, err := look(&tx.Conn, a)
		if err != nil {
			return Activated{}, err
		}
		if err := refuseUse(m.standing(a)); err != nil {
			return Activated{}, err
		}
		if m.seat != nil {
			return s.held(m), nil
		}
		l, err := findLicense(&tx.Conn, m.license.ID)
		if err != nil {
			return Activated{}, err
		}
		if l.ActivationLimit == nil || l.ActivationCount < *l.ActivationLimit {
			if err := s.paced(s.memory.moves, l.ID, "activations and deactivations"); err != nil {
				return Activated{}, err
			}
		}
		l, seat, err := takeSeat(tx, l, a.Fingerprint, label)
		if err != nil {
			return Activated{}, err
		}
		l = s.memory.uses.onLicense(l)
		err = tx.Emit("license.activated", LicenseActivated{License: l.masked(), Activation: seat})
		return Activated{Activated: true, Activation: seat, License: l.grant()}, err
	})
}

// held answers for an existing seat of the fingerprint.
func (s *Service) held(m match) Activated {
	now := exact.InstantOf(s.db.Now())
	s.memory.uses.seat(m.seat.ID, now)
	s.db.Touch()
	m.seat.LastSeenAt = max(m.seat.LastSeenAt, now)
	return Activated{Activated: true, AlreadyActivated: true, Activation: *m.seat,
		License: s.memory.uses.onLicense(m.license).grant()}
}

// Full are the refusal's members beside error and detail.
type Full struct {
	Limit int64 `json:"limit" about:"how many seats the license has"`
	Used  int64 `json:"used" about:"how many of them are taken"`
}

// takeSeat adds a seat, or refuses if none is left. It returns the license with the seat counted.
func takeSeat(tx *db.Tx, l License, fingerprint, label string) (License, Activation, error) {
	if limit := l.ActivationLimit; limit != nil && l.ActivationCount >= *limit {
		return l, Activation{}, &fault.Error{
			Kind: fault.Conflict, Code: atLimit,
			Detail: "every seat of the license is in use: deactivate one first",
			More:   map[string]any{"limit": *limit, "used": l.ActivationCount}, // told as Full
		}
	}
	seat := Activation{Fingerprint: fingerprint, Label: label, CreatedAt: tx.Now(), LastSeenAt: tx.Now()}
	var err error
	seat.ID, err = tx.Insert(`INSERT INTO store_activations (license_id, fingerprint, label, allowed, created_at,
		last_seen_at)
		VALUES (?, ?, ?, ?, ?, ?)`, l.ID, fingerprint, label, l.ActivationLimit, tx.Now(), tx.Now())
	if err != nil {
		return l, seat, err
	}
	l.ActivationCount++
	countSeats(tx, l, 1)
	return l, seat, tx.Audit("license.activated", subject(l),
		map[string]any{"activation": seat.ID, "fingerprint": fingerprint, "label": label})
}

// countSeats changes the license's count of seats by n.
func countSeats(tx *db.Tx, l License, n int64) {
	tx.Do("UPDATE store_licenses SET activation_count = ? WHERE id = ?", l.ActivationCount,
		l.ID)
	add(tx, seatsTaken, n)
}

// Deactivated is a released seat.
type Deactivated struct {
	Deactivated bool       `json:"deactivated"`
	Activation  Activation `json:"activation" about:"the seat that was given up"`
	License     *Grant     `json:"license"`
}

// DeactivateLicense releases the fingerprint's seat, in any status of the license, so that a lost machine's seat can
// always be freed. Refused as not found: an unknown key, a fingerprint without a seat; and 429 as CheckLicense.
func (s *Service) DeactivateLicense(ctx context.Context, a Asked) (Deactivated, error) {
	noSeat := fault.NotFoundf("fingerprint: %s holds no seat of this license", schema.Quote(a.Fingerprint))
	m, err := s.find(ctx, a)
	if err != nil {
		return Deactivated{}, err
	}
	if m.seat == nil {
		return Deactivated{}, noSeat
	}
	return db.Update(ctx, s.db, buyer(), func(tx *db.Tx) (Deactivated, error) {
		m, err := look(&tx.Conn, a)
		if err != nil {
			return Deactivated{}, err
		}
		if m.seat == nil {
			return Deactivated{}, noSeat
		}
		if err := s.paced(s.memory.moves, m.license.ID, "activations and deactivations"); err != nil {
			return Deactivated{}, err
		}
		if err := giveUp(tx, m.license, *m.seat); err != nil {
			return Deactivated{}, err
		}
		m.license.ActivationCount--
		seats := []Activation{*m.seat}
		s.memory.uses.onSeats(seats)
		return Deactivated{Deactivated: true, Activation: seats[0], License: s.memory.uses.onLicense(m.license).grant()}, nil
	})
}

// ActivationPage is one page of a license's seats.
type ActivationPage struct {
	Activations []Activation `json:"activations"`
	Next        *int64       `json:"next" about:"send this as after for the next page; null at the end"`
}

// Activations lists the seats of a license, newest first. An unknown key is refused as not found; and 429 as
// CheckLicense.
func (s *Service) Activations(ctx context.Context, a Asked, p schema.Cursor[int64]) (ActivationPage, error) {
	m, err := s.find(ctx, a)
	if err != nil {
		return ActivationPage{}, err
	}
	page, err := db.Read(ctx, s.db, func(c *db.Conn) (page ActivationPage, err error) {
		page.Activations, err = activations.All(c, "WHERE license_id = ? AND id < ? ORDER BY id DESC LIMIT ?",
			m.license.ID, below(p), p.Fetch())
		page.Activations, page.Next = schema.Cut(page.Activations, p.Limit, func(a Activation) int64 { return a.ID })
		return page, err
	})
	s.memory.uses.onSeats(page.Activations)
	return page, err
}

func (s *Service) activateLicense() schema.Op {
	return schema.Op{
		Name: "activate_license",
		About: "Give a fingerprint a seat of a license: 201 for a new seat, 200 if it holds one already. " +
			"A refusal carries its code in error: not_found, product_mismatch, revoked, suspended, expired, " +
			"activation_limit (409, with limit and used).",
		Public: true, MaxBody: deviceBody, Writes: true, Idempotent: true, Creates: true, Statuses: []int{200, 201},
		Refuses: []fault.Kind{fault.Limited},
		Own: append(badLicense(), schema.Refusal{
			Kind: fault.Conflict, Code: atLimit, Detail: "Every seat of the license is in use: deactivate one first.",
			More: Full{Limit: 3, Used: 3},
		}),
		Response: Activated{Activated: true, Activation: exampleActivation(), License: exampleLicense().grant()},
		Examples: []any{Activated{Activated: true, AlreadyActivated: true, Activation: exampleActivation(),
			License: exampleLicense().grant()}},
		Bind: schema.Reads2(func(f *schema.Form, a *Asked, label *string) {
			a.bindKey(f)
			a.bindFingerprint(f, schema.Required)
			f.Text(label, "label", "a name for the machine", schema.Most(200), schema.Example("studio laptop"))
			a.bindSKU(f)
		}, s.ActivateLicense),
	}
}

func (s *Service) deactivateLicense() schema.Op {
	return schema.Op{
		Name:   "deactivate_license",
		About:  "Release the seat of a fingerprint, whatever the license's status.",
		Public: true, MaxBody: deviceBody, Writes: true, Refuses: []fault.Kind{fault.Limited},
		Own: []schema.Refusal{noSuchKey,
			{Kind: fault.NotFound, Detail: "The fingerprint holds no seat of this license."}},
		Response: Deactivated{Deactivated: true, Activation: exampleActivation(), License: exampleLicense().grant()},
		Bind: schema.Reads(func(f *schema.Form, a *Asked) {
			a.bindKey(f)
			a.bindFingerprint(f, schema.Required)
		}, s.DeactivateLicense),
	}
}

func (s *Service) listActivations() schema.Op {
	return schema.Op{
		Name:   "list_activations",
		About:  "The seats of a license, newest first, so that a buyer can choose one to release.",
		Public: true, MaxBody: deviceBody, Idempotent: true, Refuses: []fault.Kind{fault.Limited},
		Own:      []schema.Refusal{noSuchKey},
		Response: ActivationPage{Activations: []Activation{exampleActivation()}},
		Bind: schema.Reads2(func(f *schema.Form, a *Asked, p *schema.Cursor[int64]) {
			a.bindKey(f)
			bindCursor(f, p)
		}, s.Activations),
	}
}

var noSuchKey = schema.Refusal{Kind: fault.NotFound, Detail: "No license has this key."}

// badLicense are the refusals of operations that need a valid license, in the order of their checks.
func badLicense() []schema.Refusal {
	return []schema.Refusal{
		noSuchKey,
		{Kind: fault.Invalid, Code: isMismatch, Detail: "The license is for another product."},
		{Kind: fault.Forbidden, Code: stateRevoked, Detail: "The license was revoked."},
		{Kind: fault.Forbidden, Code: stateSuspended, Detail: "The license is suspended."},
		{Kind: fault.Forbidden, Code: statusExpired, Detail: "The license expired."},
	}
}

func exampleActivation() Activation {
	return Activation{ID: 31, Fingerprint: "b0c4de8812", Label: "studio laptop", CreatedAt: exampleInstant,
		LastSeenAt: exampleInstant}
}
