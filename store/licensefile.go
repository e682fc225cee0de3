package store

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// LicenseFile is a signed statement that a machine may use a license until ExpiresAt: a JSON Web Token
// in one line (RFC 7519, EdDSA of RFC 8037), which a program verifies without a net.
type LicenseFile struct {
	File      string        `json:"file" about:"a JSON Web Token in one line"`
	KeyID     string        `json:"key_id" about:"the signing key, kid of the file's header"`
	ExpiresAt exact.Instant `json:"expires_at" about:"exp of the file: from then on it is refused"`

	license License
	name    string
}

// Download is the file as a page sends it.
func (f LicenseFile) Download() (name, mediaType string, body []byte) {
	return f.name, "text/plain; charset=utf-8", []byte(f.File + "\n")
}

// fileHeader and fileClaims are the two parts that are signed, in the order of keys.md.
type fileHeader struct {
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid"`
	Type      string `json:"typ"`
}

type fileClaims struct {
	ID             string  `json:"jti"`
	IssuedAt       int64   `json:"iat"`
	Ends           int64   `json:"exp"`
	LicenseID      int64   `json:"license_id"`
	KeyEnd         string  `json:"key_end"`
	SKU            string  `json:"sku"`
	Tier           *string `json:"tier"`
	Machine        string  `json:"machine"`
	LicenseExpires *int64  `json:"license_expires"`
}

// signed is the token.
func (c fileClaims) signed(key ed25519.PrivateKey, keyID string) (string, error) {
	head, err := json.Marshal(fileHeader{"EdDSA", keyID, "JWT"})
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	text := encode(head) + "." + encode(body)
	return text + "." + encode(ed25519.Sign(key, []byte(text))), nil
}

// mostFiles is the number of a license's files that are stored: the newest.
const mostFiles = 50

// forgetFiles deletes older files, except each machine's longest valid one: otherwise a machine could remove others'
// files from the count for files_running.
const forgetFiles = `DELETE FROM store_license_files AS old WHERE license_id = ?1
	AND id <= (SELECT id FROM store_license_files WHERE license_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
	AND (?4 OR ends_at <= ?3 OR EXISTS (SELECT 1 FROM store_license_files f
		WHERE f.license_id = ?1 AND f.fingerprint = old.fingerprint AND (f.ends_at, f.id) > (old.ends_at, old.id)))`

// GetLicenseFile makes the file of a machine with a seat. Refused as activation, and: 403 not_activated without a seat,
// 409 not_set_up without a signing key, 409 files_running (with until) while as many files as seats are valid on
// machines without a seat, 422 for more days than the product allows, 503 while the clock is implausible.
func (s *Service) GetLicenseFile(ctx context.Context, a Asked, days *int64) (LicenseFile, error) {
	m, err := s.find(ctx, a)
	if err != nil {
		return LicenseFile{}, err
	}
	if err := refuseUse(m.standing(a)); err != nil {
		return LicenseFile{}, err
	}
	return db.Update(ctx, s.db, buyer(), func(tx *db.Tx) (LicenseFile, error) {
		m, err := look(&tx.Conn, a)
		if err != nil {
			return LicenseFile{}, err
		}
		if err := refuseUse(m.standing(a)); err != nil {
			return LicenseFile{}, err
		}
		if m.seat == nil {
			return LicenseFile{}, &fault.Error{Kind: fault.Forbidden, Code: isNotActivated, Detail: notActiveDetail}
		}
		if err := s.paced(s.memory.moves, m.license.ID, "activations and files"); err != nil {
			return LicenseFile{}, err
		}
		return s.writeFile(tx, m.license, *m.seat, days)
	})
}

// FileFor asks for the file of a machine: of a license by its Fingerprint, or of a buyer's Seat. Days nil are the
// product's.
type FileFor struct {
	License, Seat      int64
	Fingerprint, Label string
	Days               *int64
}

// fileForMachine makes the file of a machine for staff; a machine without a seat gets one first. Refused as
// GetLicenseFile.
func (s *Service) fileForMachine(tx *db.Tx, x FileFor) (LicenseFile, error) {
	l, err := findLicense(&tx.Conn, x.License)
	if err != nil {
		return LicenseFile{}, err
	}
	return s.fileWithSeat(tx, l, x)
}

// getMyLicenseFile makes the file of a machine for the buyer: of a seat of theirs, or of a machine by its fingerprint,
// which gets a seat of the session's license first.
func (s *Service) getMyLicenseFile(tx *db.Tx, x FileFor) (f LicenseFile, err error) {
	if (x.Seat == 0) == (x.Fingerprint == "") {
		return f, fault.Fieldf("fingerprint", "fingerprint: choose a machine, or type its machine code")
	}
	mine, err := licensesOfBuyer(&tx.Conn, tx.Who().Subject)
	if err != nil {
		return f, err
	}
	var l License
	if x.Seat != 0 {
		var held Activation
		if l, held, err = seatOf(&tx.Conn, mine, x.Seat); err != nil {
			return f, err
		}
		x.Fingerprint = held.Fingerprint
	} else if l, err = only(mine); err != nil {
		return f, err
	}
	if err := s.paced(s.memory.moves, l.ID, "activations and files"); err != nil {
		return f, err
	}
	return s.fileWithSeat(tx, l, x)
}

// only is the one license of a buyer's session, if there is one.
func only(mine []License) (License, error) {
	if len(mine) != 1 {
		return License{}, fault.Conflictf("you have %d licenses here: open your purchase with the machine's license key",
			len(mine))
	}
	return mine[0], nil
}

// fileWithSeat gives the machine a seat, unless it has one, and makes its file.
func (s *Service) fileWithSeat(tx *db.Tx, l License, x FileFor) (LicenseFile, error) {
	if err := refuseUse(match{license: l, known: true}.standing(Asked{})); err != nil {
		return LicenseFile{}, err
	}
	seat, held, err := seatOn(&tx.Conn, l.ID, x.Fingerprint)
	if err != nil {
		return LicenseFile{}, err
	}
	if !held {
		if l, seat, err = takeSeat(tx, l, x.Fingerprint, x.Label); err != nil {
			return LicenseFile{}, err
		}
		l = s.memory.uses.onLicense(l)
		if err := tx.Emit("license.activated", LicenseActivated{License: l.masked(), Activation: seat}); err != nil {
			return LicenseFile{}, err
		}
	}
	return s.writeFile(tx, l, seat, x.Days)
}

// writeFile signs the file of a seat. It ends after days x 24 h, or with the license if that is earlier.
func (s *Service) writeFile(tx *db.Tx, l License, seat Activation, days *int64) (f LicenseFile, err error) {
	if err := tx.CheckClock(); err != nil {
		return f, err
	}
	most, _, err := db.One(&tx.Conn, db.Int, "SELECT offline_days FROM store_products WHERE sku = ?", l.SKU)
	if err != nil {
		return f, err
	}
	lasts := schema.Or(days, most)
	switch {
	case most == 0:
		return f, fault.Fieldf("days", "days: %s has no license files for offline machines", l.SKU)
	case lasts > most || lasts < 1:
		return f, fault.Fieldf("days", "days: %d is out of range; a file of %s takes 1 to %d", lasts, l.SKU, most)
	}
	keyID, seed, err := s.signer(&tx.Conn)
	if err != nil {
		return f, err
	}
	if err := filesRunning(&tx.Conn, l); err != nil {
		return f, err
	}
	ends := tx.Now() + exact.Instant(lasts*day)
	var licenseEnds *int64
	if l.ExpiresAt != nil {
		ends = min(ends, *l.ExpiresAt)
		n := int64(*l.ExpiresAt)
		licenseEnds = &n
	}
	id := make([]byte, 8)
	_, _ = rand.Read(id) // never fails
	claims := fileClaims{
		ID: hex.EncodeToString(id), IssuedAt: int64(tx.Now()), Ends: int64(ends), LicenseID: l.ID, KeyEnd: KeyEnd(l.Key),
		SKU: l.SKU, Tier: l.Tier, Machine: seat.Fingerprint, LicenseExpires: licenseEnds,
	}
	f = LicenseFile{KeyID: keyID, ExpiresAt: ends, license: l, name: fileName(l)}
	if f.File, err = claims.signed(ed25519.NewKeyFromSeed(seed), keyID); err != nil {
		return f, err
	}
	if _, err := tx.Insert(`INSERT INTO store_license_files (license_id, jti, key_id, fingerprint, issued_at, ends_at)
		VALUES (?, ?, ?, ?, ?, ?)`,
		l.ID, claims.ID, keyID, seat.Fingerprint, tx.Now(), ends); err != nil {
		return f, err
	}
	tx.Do(forgetFiles, l.ID, mostFiles, tx.Now(), l.ActivationLimit == nil)
	return f, tx.Audit("license.file", subject(l), map[string]any{"file": claims.ID, "fingerprint": seat.Fingerprint,
		"until": ends})
}

// signer is the key that signs.
func (s *Service) signer(c *db.Conn) (keyID string, seed []byte, err error) {
	keyID, found, err := db.One(c, func(r *db.Row) string { id := r.Text(); seed = r.Bytes(); return id },
		"SELECT key_id, seed FROM store_signing_keys WHERE signs = 1")
	if err == nil && !found {
		err = &fault.Error{
			Kind: fault.Conflict, Code: notSetUp,
			Detail: "the shop has no signing key yet: create one with `store signing-key make`, or in Settings under License " +
				"keys",
		}
	}
	return keyID, seed, err
}

const (
	notSetUp    = "not_set_up"
	areRunning  = "files_running"
	fileRunning = "SELECT max(ends_at) FROM store_license_files f WHERE license_id = ?1 AND ends_at > ?2 AND NOT EXISTS " +
		"(SELECT 1 FROM store_activations a WHERE a.license_id = f.license_id AND a.fingerprint = f.fingerprint) GROUP BY " +
		"fingerprint"
)

// Running is what the refusal of a file tells beside error and detail.
type Running struct {
	Until exact.Instant `json:"until" about:"when the next file can be made"`
}

// filesRunning refuses another file while as many machines as the license has seats (at least one) have valid files but
// no seat any more.
func filesRunning(c *db.Conn, l License) error {
	if l.ActivationLimit == nil {
		return nil
	}
	ends, err := db.All(c, db.Int, fileRunning, l.ID, c.Now())
	most := int(max(1, *l.ActivationLimit))
	if err != nil || len(ends) < most {
		return err
	}
	slices.SortFunc(ends, cmp.Compare[int64])
	until := exact.Instant(ends[len(ends)-most])
	return &fault.Error{
		Kind: fault.Conflict, Code: areRunning,
		Detail: "license files of released machines still run, one for each seat; the next file is possible at " +
			until.String(),
		More: map[string]any{"until": until}, // told as Running
	}
}

// offersFiles reports whether the license can have a file: it is valid, its product has files, and a signing key
// exists.
func offersFiles(c *db.Conn, l License) (bool, error) {
	if l.Status != stateActive {
		return false, nil
	}
	_, yes, err := db.One(c, db.Int, `SELECT 1 FROM store_products WHERE sku = ? AND offline_days > 0
		AND EXISTS (SELECT 1 FROM store_signing_keys WHERE signs = 1)`, l.SKU)
	return yes, err
}

// fileName is what a download is called: the SKU, as far as file names may hold it, and the key's end.
func fileName(l License) string {
	name := []byte(l.SKU)
	for i, c := range name {
		if !madeOf(string(rune(c)), "._-", true) {
			name[i] = '-'
		}
	}
	return string(name) + "-" + KeyEnd(l.Key) + ".lic"
}

// IssuedFile is a file that was made; what it says is not kept.
type IssuedFile struct {
	ID          string        `json:"id" about:"jti of the file"`
	Fingerprint string        `json:"fingerprint"`
	Label       string        `json:"label" about:"of the seat that the machine holds; empty when it holds none"`
	KeyID       string        `json:"key_id"`
	IssuedAt    exact.Instant `json:"issued_at"`
	ExpiresAt   exact.Instant `json:"expires_at"`
	Runs        bool          `json:"runs"`
}

// IssuedFiles lists the files of a license, newest first.
type IssuedFiles struct {
	Files []IssuedFile `json:"license_files"`
}

// LicenseFiles lists the newest files of a license. An unknown license is refused as not found.
func (s *Service) LicenseFiles(ctx context.Context, id int64) (IssuedFiles, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (list IssuedFiles, err error) {
		if _, err := findLicense(c, id); err != nil {
			return list, err
		}
		list.Files, err = filesOf(c, id)
		return list, err
	})
}

func filesOf(c *db.Conn, license int64) ([]IssuedFile, error) {
	now := c.Now()
	return db.All(c, func(r *db.Row) IssuedFile {
		f := IssuedFile{ID: r.Text(), Fingerprint: r.Text(), Label: r.Text(), KeyID: r.Text(), IssuedAt: r.Instant(),
			ExpiresAt: r.Instant()}
		f.Runs = f.ExpiresAt > now
		return f
	}, `SELECT f.jti, f.fingerprint, ifnull(a.label, ''), f.key_id, f.issued_at, f.ends_at FROM store_license_files f
		LEFT JOIN store_activations a ON a.license_id = f.license_id AND a.fingerprint = f.fingerprint
		WHERE f.license_id = ? ORDER BY f.id DESC LIMIT ?`, license, mostFiles)
}

// runningFiles is a question's sentence about files that stay valid after a license was revoked: "1 offline file runs
// until 22 Dec 2026 and cannot be recalled."; "" if there are none.
func runningFiles(c *db.Conn, licenses []License) (string, error) {
	n, last := 0, exact.Instant(0)
	for _, l := range licenses {
		ends, err := db.All(c, db.Int, "SELECT ends_at FROM store_license_files WHERE license_id = ? AND ends_at > ?", l.ID,
			c.Now())
		if err != nil {
			return "", err
		}
		for _, e := range ends {
			n, last = n+1, max(last, exact.Instant(e))
		}
	}
	if n == 0 {
		return "", nil
	}
	text, runs := exact.Plural(n, "offline file", "offline files"), " runs until "
	if n > 1 {
		runs = " run, the last until "
	}
	return text + runs + last.Day(c.Zone()).Time(c.Zone()).Format("2 Jan 2006") + " and cannot be recalled.", nil
}

// checkLicenseFiles is doctor's check: one key signs, and each file is valid for at least a day and at most the
// product's days.
func checkLicenseFiles(c *db.Conn) (breaches []string, err error) {
	keys, err := db.All(c, db.Int, "SELECT signs FROM store_signing_keys ORDER BY id")
	if signing := len(slices.DeleteFunc(slices.Clone(keys), func(n int64) bool { return n == 0 })); len(keys) > 0 &&
		signing != 1 {
		breaches = append(breaches, strconv.Itoa(signing)+" signing keys sign, and it must be one")
	}
	if err != nil {
		return nil, err
	}
	wrong, err := db.All(c, db.Text,
		"SELECT jti FROM store_license_files WHERE ends_at - issued_at NOT BETWEEN 1 AND ? ORDER BY id", mostFileDays*day)
	for _, id := range wrong {
		breaches = append(breaches, "the license file "+id+" ends before it begins, or later than any may")
	}
	return breaches, err
}

// mostFileDays is how many days a file runs at most, whatever the product.
const mostFileDays = 3650

func bindFileDays(f *schema.Form, days **int64) {
	f.IntPtr(days, "days", "how many days the file runs (default: the product's days)", schema.Range(1, mostFileDays),
		schema.Example(30))
}
