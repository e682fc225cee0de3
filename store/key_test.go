package store

import (
	"strings"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

func TestKeysAreReadAsPeopleWriteThem(t *testing.T) {
	const key = "0123456789ABCDEFGHJKMNPQR"
	for written, ok := range map[string]bool{
		key:                                       true,
		"01234-56789-ABCDE-FGHJK-MNPQR":           true,
		" o1234 56789 abcde fghjk mnpqr\n":        true,
		"OI234–56789—ABCDE−FGHJK_MNPQR":           true, // dashes that mail programs make
		"0l234.56789/ABCDE\u00a0FGHJK\u200bMNPQR": true,
		"0L23456789ABCDEFGHJKMNPQR.":              true,
		"U1234-56789-ABCDE-FGHJK-MNPQR":           false,
		"0123456789ABCDEFGHJKMNPQ":                false,
		"0123456789ABCDEFGHJKMNPQRS":              false,
		"٠1234-56789-ABCDE-FGHJK-MNPQR":           false,
		"О1234-56789-ABCDE-FGHJK-MNPQR":           false, // a Cyrillic O
		"":                                        false,
		"-----":                                   false,
		"\xff\xfe":                                false,
	} {
		got, is := read(written, keyLength)
		assert.That(t, is == ok && (!ok || got == key), "read(%q) = %q, %v, want %v", written, got, is, ok)
	}
}

func TestRandomTextUsesTheWholeAlphabet(t *testing.T) {
	seen := map[byte]int{}
	for _, c := range []byte(random(32 * 1000)) {
		seen[c]++
	}
	equal(t, "characters", len(seen), 32)
	for c, n := range seen {
		if strings.IndexByte(alphabet, c) < 0 || n < 700 || n > 1300 { // about nine standard deviations
			t.Errorf("%q came %d times of 32000", c, n)
		}
	}
}

// TestALicenseIsFoundByItsKeyOfAnyForm: keys of three forms are found in any spelling, and a text never means two
// licenses.
func TestALicenseIsFoundByItsKeyOfAnyForm(t *testing.T) {
	s := newFixture(t)
	give := func(key string) int64 {
		id := s.license("PLUGIN").ID
		hash, loose := stored(key)
		assert.OK(t, db.Exec(background, s.DB, cli, func(tx *db.Tx) error {
			if _, err := tx.Exec("UPDATE store_licenses SET license_key = ?, key_hash = ?, loose_hash = ? WHERE id = ?", key, hash, loose, id); err != nil {
				return err
			}
			return tx.Audit("license.imported", "license", nil)
		}))
		return id
	}
	uuid, ours := give("38b1460a-5104-4067-a91d-77b872934d51"), give("7Q4ZJ-0M3RT-9WXYA-BCDEF-GH2K5")
	mixed, lower := give("AbCd-1234"), give("abcd-1234")
	long := give("Ключ " + strings.Repeat("ß", mostKey-5))
	for written, want := range map[string]int64{
		" 38B1460A51044067A91D77B872934D51 ": uuid, "38b1460a–5104 4067a91d77b872934d51\n": uuid, "38b1460a-5104-4067-a91d-77b872934d52": 0,
		"7q4zj om3rt 9wxya bcdef gh2k5": ours, "AbCd-1234": mixed, " abcd-1234": lower, "ABCD-1234": 0, "abcd1234": 0,
		"ключ " + strings.Repeat("ß", mostKey-5): 0, "Ключ" + strings.Repeat("ß", mostKey-5): long, "": 0, "-": 0,
	} {
		id := val(db.Read(background, s.DB, func(c *db.Conn) (int64, error) { return licenseByText(c, written) }))
		equal(t, written, id, want)
		if v := s.check(written, ""); (v.Code == isValid) != (want != 0) || v.License != nil && v.License.ID != want {
			t.Errorf("%q: check says %s of %+v", written, v.Code, v.License)
		}
		s.pass(time.Hour) // wrong keys are counted
		byText, err := s.OpenBuyer(background, written, "", "", "192.0.2.1")
		assert.That(t, written == "" || byText == want, "%q opens %d of a buyer: %v", written, byText, err)
		list, err := s.FindLicenses(background, cli, written)
		assert.That(t, (err == nil) == (want != 0) && (want == 0 || list.Licenses[0].ID == want),
			"%q: the command finds %+v, %v", written, list.Licenses, err)
		page := val(s.Licenses(background, viewer, LicenseFilter{Q: written}))
		assert.That(t, written == "" || (len(page.Licenses) == 1) == (want != 0), "%q: the list finds %d", written,
			len(page.Licenses))
	}
	equal(t, "masked", mask("Ключ-ßß-ßaßé"), "****-**-ßaßé")
	l := val(do(s, cli, rotateLicenseKey, uuid))
	_, is := read(l.Key, keyLength)
	assert.That(t, is && s.check("38b1460a-5104-4067-a91d-77b872934d51", "").Code == isNotFound, "rotated to %s", l.Key)
}

// TestALicenseHasALimitOfItsOwn: a license's own limit overrides its product's for activations, files and lists. A
// lower one removes no seat.
func TestALicenseHasALimitOfItsOwn(t *testing.T) {
	s := newFixture(t)
	l := s.license("PLUGIN")
	limit := func(limit string) string {
		t.Helper()
		l := val(do2(s, admin, setLicenseLimit, l.ID, limit))
		return seats(l)
	}
	for _, machine := range []string{"a", "b", "c"} {
		val(s.activate(l.Key, machine))
	}
	_, err := s.activate(l.Key, "d")
	refused(t, err, atLimit)
	equal(t, "more", limit(" 4 "), "3 of 4")
	val(s.activate(l.Key, "d"))
	equal(t, "fewer than taken", limit("0"), "4 of 0")
	_, err = s.activate(l.Key, "e")
	equal(t, "told", asJSON(refused(t, err, atLimit).More), `{"limit":0,"used":4}`)
	equal(t, "none", limit("Unlimited"), "4")
	equal(t, "grant", s.check(l.Key, "a").License.ActivationLimit, nil)
	audits := s.count("SELECT count(*) FROM audit")
	limit("unlimited")
	equal(t, "the same writes nothing", s.count("SELECT count(*) FROM audit"), audits)
	equal(t, "the product's", limit("product"), "4 of 3")
	for _, wrong := range []string{"-1", "1000001", "1.5", "many"} {
		_, err := do2(s, admin, setLicenseLimit, l.ID, wrong)
		refused(t, err, "validation", "limit", "unlimited")
	}
	_, err = do2(s, viewer, setLicenseLimit, l.ID, "5")
	refused(t, err, "forbidden")
	_, err = do2(s, admin, setLicenseLimit, 99, "5")
	refused(t, err, "not_found")
}
