package command

import (
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestTheAgeOfTheLastBackupIsMeasured reads the metric before any backup, after one by command while the file is
// served, and after one to standard output.
func TestTheAgeOfTheLastBackupIsMeasured(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	apptest.Keys(t, dir)
	p := apptest.Serve(t, dir, "--metrics-addr", "127.0.0.1:0")
	apptest.Await(t, "the metrics", func() bool { return p.URL("metrics", "") != "http://" })
	age := func() string {
		t.Helper()
		v := &apptest.Visitor{T: t, Client: http.DefaultClient, Base: p.URL("metrics", "")}
		found := regexp.MustCompile(`(?m)^quartermaster_backup_age_seconds (\S+)$`).FindStringSubmatch(v.Get("/metrics").Body)
		assert.Must(t, found != nil, "there is no age of the last backup")
		return found[1]
	}
	assert.Equal(t, age(), "NaN", "before the first backup")
	for _, to := range []string{filepath.Join(t.TempDir(), "copy.db"), "-"} {
		code, _, errs := apptest.Exec(t, dir, "backup", to)
		assert.Must(t, code == 0 && errs == "", "backup %s: exit %d: %s", to, code, errs)
		seconds, err := strconv.ParseFloat(age(), 64)
		assert.That(t, err == nil && !(seconds < 0) && !(seconds > 60), "after a backup to %s: %v %v", to, seconds, err)
	}
}
