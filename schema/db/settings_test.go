package db

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"

	"quartermaster/schema/assert"
)

// TestSettingsOfAnOldFile: the store's currency is kept, and the time zone is that of the next serve.
func TestSettingsOfAnOldFile(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	assert.OK(t, err)
	path := filepath.Join(t.TempDir(), "old.db")
	all, err := known()
	assert.OK(t, err)
	opened, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	assert.OK(t, err)
	c := &handle{Conn: opened}
	err = run(c, fmt.Sprintf("PRAGMA application_id = %d", applicationID))
	for _, m := range all[:5] {
		err = errors.Join(err, apply(c, m, 1))
	}
	assert.OK(t, errors.Join(err, run(c, "UPDATE store_settings SET currency = 'EUR'"), c.Close()))
	var told []string
	o := Options{Migrate: true, Zone: berlin, Notice: func(s string) { told = append(told, s) }}
	for _, step := range []struct {
		keep           bool
		zone           *time.Location
		kept, zoneHeld string
		warned         bool
	}{
		{false, berlin, "", "Europe/Berlin", false},
		{true, berlin, "Europe/Berlin", "Europe/Berlin", false},
		{true, nil, "Europe/Berlin", "Europe/Berlin", false},
		{true, time.UTC, "Europe/Berlin", "UTC", true},
	} {
		told, o.KeepZone, o.Zone = nil, step.keep, step.zone
		d, err := Open(path, o)
		assert.OK(t, err)
		c := conn(t, d)
		for name, want := range map[string]string{SettingCurrency: "EUR", SettingTimezone: step.kept} {
			got, err := c.Setting(name)
			assert.That(t, err == nil && got == want, "%s is %q, want %q (%v)", name, got, want, err)
		}
		id, err := c.Setting(SettingInstallation)
		assert.That(t, err == nil && len(id) == 8, "installation is %q (%v)", id, err)
		assert.Equal(t, d.Zone().String(), step.zoneHeld, "the zone")
		both := strings.Contains(strings.Join(told, "\n"), "UTC") && strings.Contains(strings.Join(told, "\n"), "Europe/Berlin")
		assert.That(t, both == step.warned, "%+v: told %q", step, told)
		assert.OK(t, d.Close())
	}
}

func TestANewFileKeepsItsZone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.db")
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	assert.OK(t, err)
	assert.OK(t, Create(path, Options{Zone: tokyo}))
	d, err := Open(path, Options{})
	assert.OK(t, err)
	defer d.Close()
	assert.That(t, d.Zone().String() == "Asia/Tokyo", "the zone is %s", d.Zone())
}
