package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// The License API answers programs that were built for Lemon Squeezy's: the same bodies and answers, by the rules of
// /license/*. It is off until an admin turns it on.

// Settings of the License API.
const (
	settingLicenseAPI      = "license_api"       // "on"; "" is off
	settingLicenseAPIStore = "license_api_store" // the store number that it returns
)

// LicenseAPI are the settings of the License API.
type LicenseAPI struct {
	On      bool  `json:"on"`
	StoreID int64 `json:"store_id" about:"the store number that it returns"`
}

// LicenseAPI returns the settings of the License API.
func (s *Service) LicenseAPI(ctx context.Context) (LicenseAPI, error) {
	return db.Read(ctx, s.db, licenseAPI)
}

func licenseAPI(c *db.Conn) (LicenseAPI, error) {
	on, err := c.Setting(settingLicenseAPI)
	if err != nil {
		return LicenseAPI{}, err
	}
	store, err := c.Setting(settingLicenseAPIStore)
	set := LicenseAPI{On: on != "", StoreID: 1}
	if n, digits := wholeNumber(store); digits {
		set.StoreID = n
	}
	return set, err
}

// setLicenseAPI turns the License API on or off, and sets the store's number; nil leaves it.
func setLicenseAPI(tx *db.Tx, on bool, store *int64) (LicenseAPI, error) {
	set, err := licenseAPI(&tx.Conn)
	if err != nil {
		return set, err
	}
	value := ""
	if set.On = on; on {
		value = "on"
	}
	set.StoreID = schema.Or(store, set.StoreID)
	if err := errors.Join(tx.SetSetting(settingLicenseAPI, value),
		tx.SetSetting(settingLicenseAPIStore, strconv.FormatInt(set.StoreID, 10))); err != nil {
		return set, err
	}
	return set, tx.Audit("settings.license_api", "settings", set)
}

// answered is what every answer of the License API has.
type answered struct {
	status int // of HTTP

	Error      *string  `json:"error" about:"null when it is done"`
	LicenseKey *APIKey  `json:"license_key" about:"null for a key that is not known"`
	Meta       *APIMeta `json:"meta" about:"null for a key that is not known"`
	instance   *APIInstance
}

// APIKey is a license as the License API has it.
type APIKey struct {
	ID              int64   `json:"id"`
	Status          string  `json:"status" enum:"inactive,active,expired,disabled"`
	Key             string  `json:"key"`
	ActivationLimit *int64  `json:"activation_limit"`
	ActivationUsage int64   `json:"activation_usage"`
	CreatedAt       string  `json:"created_at"`
	ExpiresAt       *string `json:"expires_at"`
	TestMode        bool    `json:"test_mode"`
}

// APIInstance is a seat as the License API has it.
type APIInstance struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	CreatedAt string `json:"created_at"`
}

// APIMeta are the numbers that a program compares with constants.
type APIMeta struct {
	StoreID       int64  `json:"store_id"`
	OrderID       int64  `json:"order_id"`
	OrderItemID   int64  `json:"order_item_id"`
	ProductID     int64  `json:"product_id"`
	ProductName   string `json:"product_name"`
	VariantID     int64  `json:"variant_id"`
	VariantName   string `json:"variant_name"`
	CustomerID    int64  `json:"customer_id"`
	CustomerName  string `json:"customer_name"`
	CustomerEmail string `json:"customer_email"`
}

// The License API's texts, word for word, since programs compare them.
const (
	apiUnknownKey      = "license_key not found."
	apiUnknownInstance = "instance_id not found."
	apiExpired         = "This license key has expired."
	apiDisabled        = "This license key is disabled."
	apiFull            = "This license key has reached the activation limit."
)

// apiRefusalError is what the License API refuses by.
type apiRefusalError struct {
	status int
	text   string
}

func (r apiRefusalError) Error() string { return r.text }

// apiTime is a time as the License API has it.
func apiTime(at exact.Instant) string { return at.Time().Format("2006-01-02T15:04:05.000000Z") }

// apiCall is one call: its license, found by the key, and what it answers.
type apiCall struct {
	*Service
	asked Asked
	match match
}

// beginCall finds the license; an unknown key counts like a miss of CheckLicense.
func (s *Service) beginCall(ctx context.Context, a Asked) (apiCall, error) {
	call := apiCall{Service: s, asked: a}
	m, err := s.find(ctx, a)
	if fault.Is(err, fault.NotFound) {
		err = apiRefusalError{404, apiUnknownKey}
	}
	call.match = m
	return call, err
}

// apiStanding says why a license is invalid.
func apiStanding(l License) (disabled, expired bool) {
	return l.Status == stateSuspended || l.Status == stateRevoked, l.Status == statusExpired
}

// newUUID is a random one (RFC 9562, version 4).
func newUUID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// activate takes a new seat for an instance of that name, whose id it makes.
func (call apiCall) activate(ctx context.Context, name string) (string, error) {
	s, id := call.Service, newUUID()
	_, err := db.Update(ctx, s.db, buyer(), func(tx *db.Tx) (License, error) {
		l, err := findLicense(&tx.Conn, call.match.license.ID)
		if err != nil {
			return l, err
		}
		switch disabled, expired := apiStanding(l); {
		case disabled:
			return l, apiRefusalError{400, apiDisabled}
		case expired:
			return l, apiRefusalError{400, apiExpired}
		case l.ActivationLimit != nil && l.ActivationCount >= *l.ActivationLimit:
			return l, apiRefusalError{400, apiFull}
		}
		if err := s.paced(s.memory.moves, l.ID, "activations and deactivations"); err != nil {
			return l, err
		}
		l, seat, err := takeSeat(tx, l, id, name)
		if err != nil {
			return l, err
		}
		l = s.memory.uses.onLicense(l)
		return l, tx.Emit("license.activated", LicenseActivated{License: l.masked(), Activation: seat})
	})
	return id, err
}

// validate judges the license, and an instance of it if one is named.
func (call apiCall) validate() error {
	s, l := call.Service, call.match.license
	if call.asked.Fingerprint != "" && call.match.seat == nil {
		return apiRefusalError{404, apiUnknownInstance}
	}
	if err := s.paced(s.memory.checks, l.ID, "checks"); err != nil {
		return err
	}
	now := exact.InstantOf(s.db.Now())
	s.memory.uses.license(l.ID, now)
	if call.match.seat != nil {
		s.memory.uses.seat(call.match.seat.ID, now)
	}
	switch disabled, expired := apiStanding(l); {
	case disabled:
		return apiRefusalError{200, "license_key is disabled."}
	case expired:
		return apiRefusalError{200, "license_key is expired."}
	}
	return nil
}

// deactivate releases the instance's seat, in any status of the license.
func (call apiCall) deactivate(ctx context.Context) error {
	s := call.Service
	_, err := s.DeactivateLicense(ctx, call.asked)
	if fault.Is(err, fault.NotFound) {
		err = apiRefusalError{404, apiUnknownInstance}
	}
	return err
}

// answer is what a call answers after its act, which refused with refusal or did not: the license as it is now.
func (call apiCall) answer(ctx context.Context, instance string, refusal error) (a answered, err error) {
	a.status = 200
	var told apiRefusalError
	switch {
	case errors.As(refusal, &told):
		a.status, a.Error = told.status, &told.text
	case refusal != nil:
		return a, refusal
	}
	if !call.match.known {
		return a, nil
	}
	return a, call.db.View(ctx, func(c *db.Conn) error {
		l, err := findLicense(c, call.match.license.ID)
		if err != nil {
			return err
		}
		a.LicenseKey = apiKey(l)
		if a.Meta, err = apiMeta(c, l); err != nil || instance == "" {
			return err
		}
		seat, found, err := seatOn(c, l.ID, instance)
		if found {
			a.instance = &APIInstance{ID: seat.Fingerprint, Name: seat.Label, CreatedAt: apiTime(seat.CreatedAt)}
		}
		return err
	})
}

func apiKey(l License) *APIKey {
	k := &APIKey{
		ID: l.ID, Status: l.Status, Key: l.Key, ActivationLimit: l.ActivationLimit, ActivationUsage: l.ActivationCount,
		CreatedAt: apiTime(l.CreatedAt),
	}
	disabled, expired := apiStanding(l)
	switch {
	case disabled:
		k.Status = "disabled"
	case !expired && l.ActivationCount == 0:
		k.Status = "inactive"
	}
	if l.ExpiresAt != nil {
		at := apiTime(*l.ExpiresAt)
		k.ExpiresAt = &at
	}
	return k
}

// apiMeta returns the numbers that programs know: those of Lemon Squeezy if mapped or stored with the order, else our
// records'.
func apiMeta(c *db.Conn, l License) (*APIMeta, error) {
	set, err := licenseAPI(c)
	if err != nil {
		return nil, err
	}
	d, err := findOrder(c, l.OrderRef)
	if err != nil {
		return nil, err
	}
	p, err := findProduct(c, l.SKU)
	if err != nil {
		return nil, err
	}
	m := &APIMeta{
		StoreID: set.StoreID, OrderID: d.id, OrderItemID: d.id, ProductID: p.id, ProductName: p.Name, VariantID: p.id,
		VariantName: cmp.Or(schema.Cell(l.Tier), "Default"),
		CustomerID:  d.Customer.ID, CustomerName: d.Customer.Name, CustomerEmail: d.Customer.Email,
	}
	if n, digits := wholeNumber(d.ProviderRef); digits && n > 0 && d.Provider == lemonSqueezy {
		m.OrderID = n
	}
	type link struct {
		variant string
		product *int64
	}
	is, _, err := db.One(c, func(r *db.Row) link { return link{r.Text(), r.IntPtr()} },
		"SELECT link, their_product FROM store_links WHERE provider = ? AND product_id = ? AND tier IS ? ORDER BY "+
			"mapped_at DESC LIMIT 1", lemonSqueezy, p.id, l.Tier)
	if n, digits := wholeNumber(is.variant); digits && n > 0 {
		m.VariantID = n
	}
	m.ProductID = schema.Or(is.product, m.ProductID)
	return m, err
}

// missing names the fields that a call lacks, in the words of the License API; "" is none.
func missing(fields ...string) string {
	var texts []string
	for i := 0; i < len(fields); i += 2 {
		if strings.TrimSpace(fields[i+1]) == "" {
			texts = append(texts, "The "+fields[i]+" field is required.")
		}
	}
	return strings.Join(texts, " ")
}

// apiName refuses what cannot be an instance's name.
func apiName(name string) error {
	if schema.CheckText("instance_name", name, 200) != nil {
		return apiRefusalError{422, "The instance_name field must be a text of at most 200 characters."}
	}
	return nil
}
