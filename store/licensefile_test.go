package store

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// opened verifies a file with the shop's public keys and returns its claims as text.
func (s *fixture) opened(file string) string {
	s.T.Helper()
	parts := strings.Split(file, ".")
	equal(s.T, "parts of a file", len(parts), 3)
	raw := func(part string) []byte {
		b, err := base64.RawURLEncoding.Strict().DecodeString(part)
		assert.OK(s.T, err)
		return b
	}
	var head struct{ Alg, Kid, Typ string }
	assert.OK(s.T, json.Unmarshal(raw(parts[0]), &head))
	set, err := s.publicKeys(background)
	assert.OK(s.T, err)
	for _, k := range set.Keys {
		public, sum := raw(k.X), sha256.Sum256(raw(k.X))
		equal(s.T, "key id", k.KeyID, hex.EncodeToString(sum[:8]))
		if k.KeyID == head.Kid && ed25519.Verify(public, []byte(parts[0]+"."+parts[1]), raw(parts[2])) {
			equal(s.T, "header", string(raw(parts[0])), `{"alg":"EdDSA","kid":"`+k.KeyID+`","typ":"JWT"}`)
			return string(raw(parts[1]))
		}
	}
	s.T.Fatal("no key verifies the file")
	return ""
}

func (s *fixture) file(key, fingerprint string, days *int64) (LicenseFile, error) {
	return s.GetLicenseFile(background, Asked{Key: key, Fingerprint: fingerprint, Remote: "192.0.2.9"}, days)
}

func days(n int64) *int64 { return &n }

// codeOf is a refusal's error code; "" for none.
func codeOf(err error) string {
	e, is := fault.As(err)
	if !is {
		return ""
	}
	return e.Word()
}

func TestAMachineGetsAFile(t *testing.T) {
	s := newFixture(t)
	l := s.license("PLUGIN")
	val(s.activate(l.Key, "m1"))
	_, err := s.file(l.Key, "m1", nil)
	equal(t, "without a signing key", codeOf(err), "not_set_up")
	k := val(do0(s, admin, makeSigningKey))
	equal(t, "the first key signs", k.Signs, true)

	f := val(s.file(l.Key, "m1", nil))
	equal(t, "key", f.KeyID, k.KeyID)
	equal(t, "end", f.ExpiresAt, s.now()+30*day)
	claims := s.opened(f.File)
	var c fileClaims
	assert.OK(t, json.Unmarshal([]byte(claims), &c))
	want, err := json.Marshal(fileClaims{
		ID: c.ID, IssuedAt: int64(s.now()), Ends: int64(s.now()) + 30*day, LicenseID: l.ID, KeyEnd: l.Key[len(l.Key)-4:], SKU: "PLUGIN", Machine: "m1",
	})
	assert.OK(t, err)
	equal(t, "claims", claims, string(want))
	equal(t, "jti", len(c.ID), 16)
	name, _, body := f.Download()
	equal(t, "name", name, "PLUGIN-"+c.KeyEnd+".lic")
	equal(t, "body", string(body), f.File+"\n")
	equal(t, "audited", s.count("SELECT count(*) FROM audit WHERE action = 'license.file' AND subject = ?", subject(l)), 1)

	for _, c := range []struct {
		name string
		key  string
		m    string
		days *int64
		code string
	}{
		{"an unknown key", "AAAAA-BBBBB-CCCCC-DDDDD-EEEEE", "m1", nil, "not_found"},
		{"a machine without a seat", l.Key, "m2", nil, "not_activated"},
		{"too many days", l.Key, "m1", days(31), "validation"},
		{"no days", l.Key, "m1", days(0), "validation"},
	} {
		_, err := s.file(c.key, c.m, c.days)
		equal(t, c.name, codeOf(err), c.code)
	}
	f, err = s.file(l.Key, "m1", days(1))
	assert.That(t, err == nil && f.ExpiresAt == s.now()+day, "a file of one day: %v, %v", f.ExpiresAt, err)
}

// TestTheFileOfTheWorkedExample signs the documented example with the seed 00 01 .. 1f and compares the hash of its
// text.
func TestTheFileOfTheWorkedExample(t *testing.T) {
	seed := make([]byte, ed25519.SeedSize)
	for i := range seed {
		seed[i] = byte(i)
	}
	key, tier := ed25519.NewKeyFromSeed(seed), "pro"
	sum := sha256.Sum256(key.Public().(ed25519.PublicKey))
	keyID := hex.EncodeToString(sum[:8])
	equal(t, "kid", keyID, "56475aa75463474c")
	file, err := fileClaims{
		ID: "5f0c9d2ab1e34c77", IssuedAt: 1795348800, Ends: 1797940800, LicenseID: 12, KeyEnd: "H2K5", SKU: "PLUGIN", Tier: &tier,
		Machine: "b0c4de8812",
	}.signed(key, keyID)
	assert.OK(t, err)
	equal(t, "characters", len(file), 381)
	digest := sha256.Sum256([]byte(file))
	equal(t, "SHA-256", hex.EncodeToString(digest[:]), "3ff81bfa9daf4f5bb09b48aedf9e7888598710ba094dcd8b95491a3b8b8c6d58")
}

func TestAFileEndsWithItsLicense(t *testing.T) {
	s := newFixture(t)
	val(do0(s, admin, makeSigningKey))
	l := s.license("YEAR")
	val(s.activate(l.Key, "m"))
	s.At(time.Unix(int64(*l.ExpiresAt)-5*day, 0))
	f := val(s.file(l.Key, "m", nil))
	equal(t, "end", f.ExpiresAt, *l.ExpiresAt)
	if claims := s.opened(f.File); !strings.HasSuffix(claims, `,"license_expires":`+itoa(int64(*l.ExpiresAt))+"}") {
		t.Error(claims)
	}
	s.At(time.Unix(int64(*l.ExpiresAt), 0))
	_, err := s.file(l.Key, "m", nil)
	equal(t, "after the end", codeOf(err), "expired")
}

func itoa(n int64) string { b, _ := json.Marshal(n); return string(b) }

func TestFilesOfMachinesWithoutSeats(t *testing.T) {
	s := newFixture(t)
	val(do0(s, admin, makeSigningKey))
	l := s.license("PLUGIN") // three seats
	var last exact.Instant
	for _, m := range []string{"a", "b", "c"} {
		f := val(do(s, admin, s.fileForMachine, FileFor{l.ID, 0, m, "", nil}))
		last = f.ExpiresAt
		_, err := s.DeactivateLicense(background, Asked{Key: l.Key, Fingerprint: m})
		assert.OK(t, err)
		s.pass(time.Hour)
	}
	_, err := do(s, admin, s.fileForMachine, FileFor{l.ID, 0, "d", "", nil})
	equal(t, "a fourth machine", codeOf(err), "files_running")
	equal(t, "it took no seat", s.count("SELECT count(*) FROM store_activations"), 0)
	e, _ := fault.As(err)
	assert.That(t, e != nil && e.More["until"] == last-2*3600, "until: %v, want %v", e, last-2*3600)
	_, err = do(s, admin, s.fileForMachine, FileFor{l.ID, 0, "a", "", nil})
	assert.NoError(t, err, "a machine that takes its seat again runs on a seat")
	s.At(time.Unix(int64(last), 0))
	_, err = do(s, admin, s.fileForMachine, FileFor{l.ID, 0, "d", "", nil})
	assert.NoError(t, err, "when they have ended")
}

// TestManyFilesOfOneMachineHideNoOther: repeated requests of one machine do not hide other machines' files from the
// count.
func TestManyFilesOfOneMachineHideNoOther(t *testing.T) {
	s := newFixture(t)
	val(do0(s, admin, makeSigningKey))
	l := s.license("PLUGIN") // three seats
	file := func(m string) error {
		t.Helper()
		_, err := do(s, admin, s.fileForMachine, FileFor{l.ID, 0, m, "", nil})
		return err
	}
	for _, m := range []string{"a", "b", "busy"} {
		assert.OK(t, file(m))
	}
	for range mostFiles + 5 {
		assert.OK(t, file("busy"))
	}
	for _, m := range []string{"a", "b", "busy"} {
		assert.OK(t, errOf(s.DeactivateLicense(background, Asked{Key: l.Key, Fingerprint: m})))
	}
	equal(t, "a fourth machine", codeOf(file("d")), "files_running")
	list := val(s.LicenseFiles(background, l.ID))
	equal(t, "files that are listed", len(list.Files), mostFiles)
	equal(t, "files that are kept", s.count("SELECT count(*) FROM store_license_files"), mostFiles+2)
}

func TestSigningKeyRotation(t *testing.T) {
	s := newFixture(t)
	one := val(do0(s, admin, makeSigningKey))
	two := val(do0(s, admin, makeSigningKey))
	equal(t, "the second waits", two.Signs, false)
	l := s.license("PLUGIN")
	old := val(do(s, admin, s.fileForMachine, FileFor{l.ID, 0, "m", "", nil}))
	equal(t, "signed by the first", old.KeyID, one.KeyID)
	_, err := do(s, admin, removeSigningKey, one.KeyID)
	equal(t, "the key in use is removed", codeOf(err), "conflict")
	val(do(s, admin, useSigningKey, two.KeyID))
	f := val(do(s, admin, s.fileForMachine, FileFor{l.ID, 0, "m", "", nil}))
	equal(t, "signed by the second", f.KeyID, two.KeyID)
	s.opened(old.File) // the first key is still published
	val(do(s, admin, removeSigningKey, one.KeyID))
	set := val(s.publicKeys(background))
	equal(t, "keys left", len(set.Keys), 1)
	_, err = do0(s, viewer, makeSigningKey)
	equal(t, "a viewer", codeOf(err), "forbidden")
	for _, e := range s.dump("products") {
		assert.That(t, !strings.Contains(e, "PLUGIN") || strings.HasSuffix(e, ",true,30,"),
			"offline_days is not last but for the note: %s", e)
	}
}

func TestRevokeQuestionNamesValidFiles(t *testing.T) {
	s := newFixture(t)
	val(do0(s, admin, makeSigningKey))
	l := s.license("PLUGIN")
	val(do(s, admin, s.fileForMachine, FileFor{l.ID, 0, "m", "", nil}))
	moved := val(do2(s, admin, moveLicense, l.ID, stateRevoked))
	will := s.revokeLicense().Will(moved, nil)
	assert.That(t, strings.HasSuffix(will, "1 offline file runs until 20 Dec 2026 and cannot be recalled."), "%v", will)
	_, err := do(s, admin, s.fileForMachine, FileFor{l.ID, 0, "m", "", nil})
	equal(t, "a revoked license", codeOf(err), "revoked")
}
