package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/strict"
)

// TestCodesAreNotStoredInPlain searches for minted codes, in any encoding, in the database file, its log, a
// backup and every event.
func TestCodesAreNotStoredInPlain(t *testing.T) {
	s := newFixture(t)
	ask := func() db.Caller {
		who := admin
		who.KeyID = 1
		return who.Asking(&db.Request{
			Key: "mint-1", Route: "POST /api/redeem-codes", Body: sha256.Sum256(nil),
			Render: func(answer any) (int, []byte, error) {
				b, err := strict.Marshal(answer.(schema.Redacter).Redacted())
				return 201, b, err
			},
		})
	}
	m := val(do(s, ask(), mintCodes, Minting{200, "PLUGIN", "", "launch"}))
	_, err := do(s, ask(), mintCodes, Minting{200, "PLUGIN", "", "launch"})
	again, ok := err.(*db.Replay)
	assert.That(t, ok && !strings.Contains(string(again.Body), m.Codes[0]) &&
		strings.Contains(string(again.Body), `"codes":[]`), "the replay is %v", err)
	for _, code := range m.Codes[:20] {
		val(s.redeem(code, "kim@example.com"))
	}
	_, err = s.redeem(m.Codes[0], "kim@example.com")
	refused(t, err, "conflict")
	val(do(s, cli, void, "launch"))

	copied := filepath.Join(t.TempDir(), "copy.db")
	assert.OK(t, db.Backup(s.DB.Path(), copied))
	places := map[string][]byte{}
	for name, path := range map[string]string{"the file": s.DB.Path(), "its log": s.DB.Path() + "-wal", "a backup": copied} {
		places[name] = val(os.ReadFile(path))
	}
	for _, e := range s.events() {
		places["an event"] = append(places["an event"], e.raw...)
	}
	if len(places["an event"]) == 0 || !bytes.Contains(append(places["the file"], places["its log"]...), []byte("launch")) {
		t.Fatal("there is nothing to look through")
	}
	for _, code := range m.Codes {
		plain, _ := read(code, codeLength)
		for name, bytesThere := range places {
			for _, form := range []string{code, plain, strings.ToLower(code), strings.ToLower(plain), hex.EncodeToString([]byte(plain))} {
				assert.Must(t, !bytes.Contains(bytesThere, []byte(form)), "%s holds the code %s", name, form)
			}
		}
	}
}

// TestLicenseKeysAppearOnlyWhereNeeded: the audit trail and events other than order.paid contain none.
func TestLicenseKeysAppearOnlyWhereNeeded(t *testing.T) {
	s := newFixture(t)
	o := s.sell("YEAR", "a@b.c", 2)
	m := s.mint(1, "launch")
	r := val(s.redeem(m.Codes[0], "a@b.c"))
	keys := []string{o.Licenses[0].Key, o.Licenses[1].Key, r.License.Key}
	for _, key := range keys {
		val(s.activate(key, "m"))
	}
	val(do2(s, cli, moveLicense, r.License.ID, stateSuspended))
	val(s.DeactivateLicense(background, Asked{Key: keys[0], Fingerprint: "m"}))
	val(do3(s, cli, refundOrder, o.OrderRef, nil, ""))
	for _, key := range keys {
		for _, form := range []string{key, strings.ReplaceAll(key, "-", "")} {
			equal(t, "audit entries with a key", s.count("SELECT count(*) FROM audit WHERE changes LIKE ?1 OR subject LIKE ?1", "%"+form+"%"), int64(0))
			for _, e := range s.events() {
				assert.That(t, e.Event == "order.paid" || !strings.Contains(e.raw, form), "%s holds a license key", e.Event)
			}
		}
	}
}

func TestEveryChangeIsAudited(t *testing.T) {
	s := newFixture(t)
	o := s.sell("PLUGIN", "a@b.c", 1)
	l := o.Licenses[0]
	val(s.activate(l.Key, "m"))
	val(s.DeactivateLicense(background, Asked{Key: l.Key, Fingerprint: "m"}))
	for _, move := range []func() error{
		func() error { _, err := do2(s, cli, moveLicense, l.ID, stateSuspended); return err },
		func() error { _, err := do2(s, cli, moveLicense, l.ID, stateActive); return err },
		func() error { _, err := do2(s, cli, moveLicense, l.ID, stateRevoked); return err },
		func() error { _, err := do3(s, cli, refundOrder, o.OrderRef, nil, ""); return err },
		func() error { _, err := s.SetCurrency(background, cli, "eur"); return err },
		func() error { _, err := do2(s, cli, setProviderSecret, "stripe", "whsec_1"); return err },
		func() error {
			_, err := do(s, cli, mapProvider, Link{Provider: "stripe", Link: "plink_1", SKU: "YEAR"})
			return err
		},
	} {
		assert.OK(t, move())
	}
	m := s.mint(2, "launch")
	val(s.redeem(m.Codes[0], "a@b.c"))
	val(do(s, admin, void, "launch"))
	got, err := db.Read(background, s.DB, func(c *db.Conn) ([]string, error) {
		return db.All(c, func(r *db.Row) string { return r.Text() + " " + r.Text() + " " + r.Text() + " " + r.Text() },
			"SELECT actor, via, action, subject FROM audit WHERE action <> 'product.saved' ORDER BY id")
	})
	assert.OK(t, err)
	ref := "order:" + o.OrderRef
	code := s.dump("orders")[2]
	want := []string{
		"cli cli order.recorded " + ref, "license license license.activated license:1", "license license license.deactivated license:1",
		"cli cli license.suspended license:1", "cli cli license.resumed license:1", "cli cli license.revoked license:1",
		"cli cli order.refunded " + ref, "cli cli settings.currency settings", "cli cli provider.secret provider:stripe",
		"cli cli provider.link provider:stripe", "ann rest codes.minted batch:launch",
		"license license order.recorded order:" + strings.Split(code, ",")[1], "license license code.redeemed batch:launch",
		"ann rest codes.voided batch:launch",
	}
	equal(t, "audit trail", strings.Join(got, "\n"), strings.Join(want, "\n"))
	equal(t, "the default currency holds", strings.Split(code, ",")[10], "EUR")
	_, err = s.SetCurrency(background, cli, "EURO")
	refused(t, err, "validation", "ISO 4217")
}

// TestRefusedWriteIsRolledBack: if the last of several units fails, all are rolled back.
func TestRefusedWriteIsRolledBack(t *testing.T) {
	s := newFixture(t)
	s.pass(time.Hour)
	assert.OK(t, db.Exec(background, s.DB, db.Bookkeeping(), func(tx *db.Tx) error {
		_, err := tx.Exec("CREATE TRIGGER full BEFORE INSERT ON store_licenses WHEN (SELECT count(*) FROM store_licenses) >= 2 BEGIN SELECT raise(ABORT, 'no'); END")
		return err
	}))
	audit := s.count("SELECT count(*) FROM audit")
	_, err := do(s, cli, recordOrder, NewOrder{Email: "a@b.c", SKU: "PLUGIN", Qty: 3})
	assert.Must(t, err != nil, "the order was recorded")
	for _, table := range []string{"store_orders", "store_licenses", "store_customers", "store_totals", "events"} {
		equal(t, table, s.count("SELECT count(*) FROM "+table), int64(0))
	}
	equal(t, "audit", s.count("SELECT count(*) FROM audit"), audit)
}
