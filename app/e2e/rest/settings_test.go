package rest

import (
	"context"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	command "quartermaster/app/cli"
	"quartermaster/app/server"
	"quartermaster/schema/assert"
)

// TestSettingsApplyAtOnce: the zone chosen on the page applies at once, and after a start with another --timezone. The
// tax number and the bank account are on a receipt.
func TestSettingsApplyAtOnce(t *testing.T) {
	t.Parallel()
	s := storefront(t) // serves with --timezone UTC
	v := s.Person("store", "vera", "admin")
	if got := v.Get("/"); !strings.Contains(got.Body, ", UTC.") {
		t.Fatalf("the page does not tell its zone: %s", got.Body)
	}
	if got := v.Post("/do/set_timezone", "timezone", "Asia/Tokyo"); got.Status != http.StatusSeeOther {
		t.Fatalf("%d: %s", got.Status, got.Body)
	}
	for _, again := range []string{"at once", "after a start with --timezone UTC"} {
		assert.Contains(t, v.Get("/settings").Body, ", Asia/Tokyo.", "%s it is another zone", again)
		s.Down()
		s.Up()
		v = v.At("http://" + s.Server.Addr("store"))
	}
	assert.Contains(t, s.Log.String(), "--timezone UTC is ignored", "the start")
	got := v.Post("/do/set_shop", "shop_name", "Brandt", "shop_address", "Harbour 12", "shop_tax_number", "DE 812 345", "shop_bank_account", "Harbour Bank, DE89 3704")
	assert.Must(t, got.Status == http.StatusSeeOther, "%d: %s", got.Status, got.Body)
	order := sell(s, "--sku", "MUG", "--name", "Ann", "--email", "ann@shop.example")
	receipt := v.Get("/orders/" + order.Ref + "/receipt").Body
	for _, want := range []string{"Brandt", "Harbour 12", "Tax number DE 812 345", "Harbour Bank, DE89 3704"} {
		assert.Contains(t, receipt, want, "the receipt lacks")
	}
}

// TestInitForSomeServices: the others have no port, no role and no key, with any address given to serve, until an admin
// turns them on.
func TestInitForSomeServices(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	code, out, errs := apptest.Exec(t, dir, "init", "--for", "rental", "--for", "maintenance", "--json")
	assert.Contains(t, out, "http://127.0.0.1:8082/welcome/", "the link leads to a service that is off")
	assert.Must(t, code == 0 && strings.Count(out, "apk_") == 2 && strings.Contains(errs, "the other services stay off"),
		"exit %d: %s%s", code, out, errs)
	if code, _, errs := apptest.Exec(t, dir, "init", "--db", "x.db", "--for", "rent"); code != 2 || !strings.Contains(errs, "store, maintenance, rental, reorder") {
		t.Errorf("a service that there is not: exit %d: %s", code, errs)
	}
	serves := func(want ...string) {
		t.Helper()
		args := []string{"--db", filepath.Join(dir, "quartermaster.db")}
		for _, service := range server.Names {
			args = append(args, "--"+service+"-addr", "127.0.0.1:0")
		}
		up, err := command.Start(context.Background(), command.Env{
			Args: args, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" },
		})
		assert.OK(t, err)
		got := slices.DeleteFunc(slices.Clone(server.Names), func(service string) bool { return up.Addr(service) == "" })
		err = up.Stop()
		assert.That(t, err == nil && slices.Equal(got, want), "served: %v, want %v (%v)", got, want, err)
	}
	serves("maintenance", "rental")
	if code, out, errs := apptest.Exec(t, dir, "settings", "switch-on", "reorder"); code != 0 || !strings.Contains(out+errs, "reorder is on") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	if code, _, errs := apptest.Exec(t, dir, "settings", "switch-on", "reorder"); code != 1 || !strings.Contains(errs, "on already") {
		t.Errorf("twice: exit %d: %s", code, errs)
	}
	serves("maintenance", "rental", "reorder")
	if _, out, _ := apptest.Exec(t, dir, "user", "list", "--json"); !strings.Contains(out, `"reorder":"admin"`) || strings.Contains(out, `"store"`) {
		t.Errorf("the roles: %s", out)
	}
	cmd := exec.Command(apptest.Binary(t), "version")
	if got, err := cmd.Output(); err != nil || !regexp.MustCompile(`(?m)^quartermaster \d+\.\d+\.\d+\S*\ncommit \S+\nschema \d{4}_\w+\n`).Match(got) {
		t.Errorf("version: %s (%v)", got, err)
	}
}
