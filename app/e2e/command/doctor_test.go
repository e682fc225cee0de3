package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// TestImplausibleClockIsReported: serve at startup, doctor and the first page report an implausible clock with the next
// step. None of them does once it is right.
func TestImplausibleClockIsReported(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	staff := s.Person("rental", "vera", "admin")
	const said = "but the newest record is from "
	for _, wrong := range []bool{true, false} {
		at := apptest.Noon.Add(-24 * time.Hour)
		if !wrong {
			at = apptest.Noon.Add(time.Minute)
		}
		s.Clock.Set(at)
		s.Down()
		before := len(s.Log.String())
		s.Up()
		log := s.Log.String()[before:]
		code, out, _ := s.CLI("doctor")
		staff = staff.At("http://" + s.Server.Addr("rental"))
		for where, told := range map[string]string{"serve": log, "doctor": out, "the page": staff.Get("/").Body, "doctor's page": staff.Get("/doctor").Body} {
			assert.That(t, strings.Contains(told, said) == wrong && strings.Contains(told, "--accept-clock") == wrong,
				"wrong %t: %s says %q", wrong, where, told)
		}
		assert.That(t, code == 0 && !strings.Contains(out, "breach"), "wrong %t: doctor ends with %d: %s", wrong, code, out)
	}
}

// TestDoctorRunIsShared: twenty simultaneous requests get the result of one run, and nobody waits for a long
// one.
func TestDoctorRunIsShared(t *testing.T) {
	t.Parallel()
	v := apptest.Start(t).Person("store", "vera", "admin")
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			got := v.Get("/doctor")
			if got.Status != http.StatusOK || !strings.Contains(got.Body, "No errors found") && !strings.Contains(got.Body,
				"parts are done") {
				t.Errorf("%d: %s", got.Status, got.Body)
			}
		})
	}
	group.Wait()
	apptest.Await(t, "the run", func() bool { return strings.Contains(v.Get("/doctor?run=1").Body, "No errors found") })
}

// TestDoctorReportsAFileToCompact: command and page report it until `compact` has rewritten the file.
func TestDoctorReportsAFileToCompact(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	path := s.Path
	code, _, errs := s.Pipe("name,email\nZuzanna Quell,zuzka@quell.example\n", "import", "rental", "tenants", "-")
	assert.Must(t, code == 0, "%v", errs)
	s.Down()
	d, err := db.Open(path, db.Options{Now: s.Clock.Now})
	assert.OK(t, err)
	for _, change := range []string{"INSERT INTO settings VALUES ('large', hex(zeroblob(35000000)))", "DELETE FROM settings WHERE name = 'large'"} {
		err = errors.Join(err, db.Exec(context.Background(), d, db.Bookkeeping(), func(tx *db.Tx) error { _, err := tx.Exec(change); return err }))
	}
	err = errors.Join(err, d.Close())
	assert.OK(t, err)
	s.Up()
	staff := s.Person("rental", "vera", "admin")
	_, _, told := s.CLI("rental", "tenant", "forget", "Zuzanna Quell", "--yes")
	for where, text := range map[string]string{"forgetting": told, "doctor": s.MustCLI("doctor"), "the page": staff.Get("/doctor").Body} {
		assert.Contains(t, text, "quartermaster compact", "%s says", where)
	}
	if code, _, errs := s.CLI("compact"); code != 1 || !strings.Contains(errs, "stop that one first") {
		t.Errorf("compact beside a server: exit %d: %s", code, errs)
	}
	s.Down()
	was := assert.Value(os.Stat(path))(t)
	out := s.MustCLI("compact")
	if now, err := os.Stat(path); err != nil || now.Size() >= was.Size() || !strings.Contains(out, fmt.Sprintf("%d bytes, %d before", now.Size(), was.Size())) {
		t.Errorf("%s (%v)", out, err)
	}
	assert.Lacks(t, s.MustCLI("doctor"), "compact")
	b, err := os.ReadFile(path)
	assert.That(t, err == nil && !strings.Contains(strings.ToLower(string(b)), "zuz"),
		"the name stands in the file (%v)", err)
	s.Up()
}
