package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// licenseRow is a license as a table has it.
type licenseRow struct {
	number         int // in the file
	key, sku, tier string
	their          string // the provider's id of the product, where sku is its number there
	email, name    string
	status         string
	limit          *int64
	expires        string
	created        string
	provider, ref  string
	subscription   string
	seats          []seatRow
	given          func(column string) bool

	bad []fault.Field // faults of the row by itself
}

// seatRow is a machine that holds a seat, as the column seats has it.
type seatRow struct {
	Fingerprint string `json:"fingerprint"`
	Label       string `json:"label"`
	CreatedAt   string `json:"created_at"`   // empty is now
	LastSeenAt  string `json:"last_seen_at"` // empty is when it was taken

	created, seen exact.Instant // 0 is empty
}

// exportedColumns is how many of the table's columns an export has.
const exportedColumns = 13

func bindLicenseRow(f *schema.Form) *licenseRow {
	r := &licenseRow{given: f.Given}
	var limit, seats string
	f.Text(&r.key, "license_key", "the key, 8 to 1,000 characters, kept as it is", schema.Required, schema.Secret,
		schema.Example(exampleLicense().Key))
	f.Text(&r.sku, "sku",
		"the product, or its mapped name at the provider; needed for a new license", schema.Most(200),
		schema.Example("PLUGIN"))
	f.Text(&r.tier, "tier", "one of the product's tiers", schema.Most(200))
	f.Text(&r.email, "email", "the buyer's address; needed for a new license", schema.Most(254),
		schema.Example("ann@example.com"))
	f.Text(&r.name, "name", "the buyer's name", schema.Most(200), schema.Example("Ann Lee"))
	r.status = stateActive
	f.Enum(&r.status, "status", "active, expired, suspended or revoked; revoked is final", licenseStatuses, schema.Folded,
		schema.Alias("disabled", stateSuspended), schema.Alias("inactive", stateActive))
	f.Text(&limit, "activation_limit",
		"its own seat limit: a number or unlimited; empty is the product's", schema.Most(20), schema.Example("3"))
	f.Text(&r.expires, "expires_at", "when it ends, as YYYY-MM-DDTHH:MM:SSZ or YYYY-MM-DD; empty is never",
		schema.Most(40))
	f.Text(&r.created, "created_at", "when it was made; empty is now", schema.Most(40),
		schema.Example("2026-11-20T21:05:00Z"))
	f.Text(&r.provider, "provider",
		"the payment provider, [a-z0-9_-]{1,32}; empty is "+importProvider, schema.Most(32), schema.Example("gumroad"))
	f.Text(&r.ref, "provider_ref",
		"the provider's id of the payment; empty is a separate order", schema.Most(200), schema.Example("pi_3PqX2L"))
	f.Text(&r.subscription, "subscription_ref", "its subscription; an import cannot link one", schema.Most(200))
	f.Text(&seats, "seats",
		"the machines that hold a seat: a JSON list of {fingerprint, label, created_at, last_seen_at}, or a fingerprint a "+
			"line",
		schema.Most(1_000_000), schema.Lines)
	f.Text(&r.their, "product_name", "the provider's id of the product, beside its number in sku", schema.Most(200))
	if f.Describing() {
		return r
	}
	r.key = strings.TrimSpace(r.key)
	if err := checkKey(r.key); err != nil {
		r.refuse("license_key", "license_key: %s", err)
	}
	var err error
	if r.limit, err = readLimit(limit); err != nil {
		r.refuse("activation_limit", "activation_limit: %s", err)
	}
	if r.seats, err = readSeats(seats); err != nil {
		r.refuse("seats", "seats: %s", err)
	}
	if r.email != "" {
		if r.email, err = foldEmail(r.email); err != nil {
			r.refuse("email", "%s", err)
		}
	}
	if r.provider != "" {
		if err := checkProvider(r.provider); err != nil {
			r.refuse("provider", "%s", err)
		}
	}
	return r
}

func (r *licenseRow) refuse(column, format string, args ...any) {
	r.bad = append(r.bad, fault.Field{Field: column, Detail: fmt.Sprintf(format, args...)})
}

// add collects a refusal; any other error is returned.
func (r *licenseRow) add(err error) error {
	e, ok := fault.As(err)
	switch {
	case err == nil:
		return nil
	case !ok || e.Kind == fault.Internal || e.Kind == fault.Unavailable:
		return err
	case len(e.Fields) == 0:
		r.refuse("", "%s", e.Detail)
	default:
		r.bad = append(r.bad, e.Fields...)
	}
	return nil
}

// refusal names all faults of the row.
func (r *licenseRow) refusal() error {
	if len(r.bad) == 0 {
		return nil
	}
	e := fault.Invalidf("%s", strings.Join(schema.Map(r.bad, func(f fault.Field) string { return f.Detail }), "; "))
	for _, f := range r.bad {
		if f.Field != "" {
			e.Fields = append(e.Fields, f)
		}
	}
	return e
}

// checkKey refuses what cannot be a license key. Its text does not hold the key.
func checkKey(key string) error {
	switch n := utf8.RuneCountInString(key); {
	case n < leastKey:
		return fmt.Errorf("it has %d characters; a key has at least %d", n, leastKey)
	case n > mostKey:
		return fmt.Errorf("it has %d characters; at most 1,000 are allowed", n)
	}
	if schema.CheckText("", key, mostKey) != nil || strings.ContainsAny(key, "\n\t") {
		return fmt.Errorf("it holds a character that a key cannot have, such as a line break")
	}
	return nil
}

// readSeats reads the column seats.
func readSeats(written string) ([]seatRow, error) {
	var list []seatRow
	if written = strings.TrimSpace(written); strings.HasPrefix(written, "[") {
		d := json.NewDecoder(strings.NewReader(written))
		d.DisallowUnknownFields()
		if err := d.Decode(&list); err != nil || d.More() {
			return nil, fmt.Errorf("it is not a JSON list of {fingerprint, label, created_at, last_seen_at}, and times are " +
				"YYYY-MM-DDTHH:MM:SSZ")
		}
	} else {
		for line := range strings.Lines(written) {
			if line = strings.TrimSpace(line); line != "" {
				list = append(list, seatRow{Fingerprint: line})
			}
		}
	}
	for i := range list {
		s := &list[i]
		s.Fingerprint, s.Label = strings.TrimSpace(s.Fingerprint), strings.TrimSpace(s.Label)
		if s.Fingerprint == "" {
			return nil, fmt.Errorf("seat %d has no fingerprint", i+1)
		}
		for _, t := range []struct {
			name, text string
			at         *exact.Instant
		}{{"created_at", s.CreatedAt, &s.created}, {"last_seen_at", s.LastSeenAt, &s.seen}} {
			if at, ok := exact.ParseInstant(t.text); ok && at > 0 {
				*t.at = at
			} else if t.text != "" {
				return nil, fmt.Errorf("seat %d: %s: %s is not a time such as 2026-11-20T21:05:00Z", i+1, t.name,
					schema.Quote(t.text))
			}
		}
		for name, text := range map[string]string{"fingerprint": s.Fingerprint, "label": s.Label} {
			if err := schema.CheckText(name, text, 200); err != nil {
				return nil, fmt.Errorf("seat %d: %w", i+1, err)
			}
		}
	}
	return list, nil
}

// momentOf reads a time of a row: an instant, or a day, which is its first instant in the shop's zone.
func momentOf(c *db.Conn, column, written string) (exact.Instant, error) {
	at, ok := exact.ParseInstant(written)
	if day, isDay := exact.ParseDay(written); isDay {
		at, ok = exact.InstantOf(day.Time(c.Zone())), true
	}
	if !ok || at < 0 {
		return 0, fault.Fieldf(column, "%s: %s is not allowed; it takes a time as YYYY-MM-DDTHH:MM:SSZ or YYYY-MM-DD", column,
			schema.Quote(written))
	}
	return at, nil
}

// cells are a license as the table has it, without product_name.
func (l License) cells(o Order, name string, seats []Activation) ([]string, error) {
	machines := ""
	if len(seats) > 0 {
		rows := make([]seatRow, len(seats))
		for i, s := range seats {
			rows[i] = seatRow{Fingerprint: s.Fingerprint, Label: s.Label, CreatedAt: s.CreatedAt.String(),
				LastSeenAt: s.LastSeenAt.String()}
		}
		text, err := json.Marshal(rows)
		if err != nil {
			return nil, err
		}
		machines = string(text)
	}
	ends := ""
	if l.ExpiresAt != nil {
		ends = l.ExpiresAt.String()
	}
	return []string{
		l.Key, l.SKU, schema.Cell(l.Tier), l.CustomerEmail, name, l.Status, l.limitCell(), ends, l.CreatedAt.String(),
		o.Provider, o.ProviderRef, schema.Cell(l.Subscription), machines, "",
	}, nil
}
