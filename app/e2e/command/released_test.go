package command

import (
	"archive/tar"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// answers are the files of a released program's answers, by name.
func answers(t *testing.T, name string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(apptest.Unpacked(t, name))); ; {
		h, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			all[h.Name], err = io.ReadAll(r)
		}
		assert.OK(t, err)
	}
}

// TestUpgradeFromReleased migrates the file of the first release. Every table and every answer stays the same, with the
// same keys, and doctor finds nothing. The copy beside it allows going back.
func TestUpgradeFromReleased(t *testing.T) {
	t.Parallel()
	c := apptest.BareCLI(t)
	c.Now = time.Date(2026, 11, 22, 6, 30, 0, 0, time.UTC)
	assert.OK(t, os.WriteFile(c.Db, apptest.Unpacked(t, "1.0.0.db.gz"), 0o600))
	refuses(c, 1, []string{"older version", "0006_core is missing", "quartermaster migrate"}, "user", "list")
	code, out, told := c.Call("migrate")
	assert.Must(t, code == 0 && strings.Contains(out, "applied 0006_core\n") && strings.Contains(told, "to go back"),
		"exit %d, %q, %q", code, out, told)
	c.Ok("doctor")
	was := answers(t, "1.0.0.answers.tar.gz")
	tablesAreTheSame(c, was)
	served(t, c, was)

	aside, err := filepath.Glob(c.Db + ".before-v*")
	assert.Must(t, err == nil && len(aside) == 1, "copies beside the file: %v (%v)", aside, err)
	c.Ok("restore", aside[0])
	status := c.Ok("migrate", "status")
	assert.That(t, strings.Contains(status, "0005_store") &&
		strings.Count(status, "missing") == strings.Count(out, "applied "), "the copy is of another version:\n%s", status)
	c.Ok("migrate")
	c.Ok("doctor")
	tablesAreTheSame(c, was)
}

// tablesAreTheSame exports every table of the older program: its columns have the same content, whatever columns were
// added.
func tablesAreTheSame(c *apptest.CLI, was map[string][]byte) {
	c.Helper()
	n := 0
	for name, text := range was {
		table, is := strings.CutPrefix(strings.TrimSuffix(name, ".csv"), "csv/")
		if !is || !strings.HasSuffix(name, ".csv") {
			continue
		}
		n++
		service, table, _ := strings.Cut(table, ".")
		want := assert.Value(csv.NewReader(bytes.NewReader(text)).ReadAll())(c)
		got := assert.Value(csv.NewReader(strings.NewReader(c.Ok("export", service, table))).ReadAll())(c)
		if was, is := rowsOf(want, want[0]), rowsOf(got, want[0]); !slices.Equal(was, is) {
			c.Errorf("%s %s: %d rows, they were %d; of those that were, gone or changed: %q", service, table, len(is), len(was), missingFrom(is, was))
		}
	}
	assert.That(c, n == 19, "%d tables were compared", n)
}

// rowsOf are the rows with these columns alone, sorted, since the order of an export may change.
func rowsOf(all [][]string, columns []string) (rows []string) {
	for _, row := range all[1:] {
		var cells []string
		for _, column := range columns {
			if at := slices.Index(all[0], column); at >= 0 {
				cells = append(cells, row[at])
			}
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	slices.Sort(rows)
	return rows
}

func missingFrom(is, was []string) (gone []string) {
	for _, row := range was {
		if _, found := slices.BinarySearch(is, row); !found && len(gone) < 5 {
			gone = append(gone, row)
		}
	}
	return gone
}

// served sends a server on the file the same requests as the older program, with its keys.
func served(t *testing.T, c *apptest.CLI, was map[string][]byte) {
	t.Helper()
	s := &apptest.Fixture{T: t, Path: c.Db, Clock: &apptest.Clock{}, Log: &apptest.Buffer{}}
	s.Clock.Set(c.Now)
	s.Up()
	defer s.Down()
	keys := map[string]string{
		"store": "apk_2e6f25f860fd527af454026716935278c99d06a6", "maintenance": "apk_0fa2928fccf866cf1c0a5498db0cf94d940de35f",
		"rental": "apk_aaf0942efd918e842ec303e36200cc8a63813db3", "reorder": "apk_b7fd3a9b2a2673ce9ad5fcfd011b2a68180ca259",
	}
	for _, question := range []string{
		"store /api/orders?limit=200",
		"store /api/stats",
		"store /api/licenses?limit=200",
		"store /api/customers?limit=200",
		"maintenance /api/work-orders",
		"maintenance /api/assets",
		"maintenance /api/pm-due",
		"maintenance /api/parts",
		"rental /api/arrears",
		"rental /api/units",
		"rental /api/leases/1/ledger",
		"rental /api/leases/2/ledger",
		"rental /api/leases/3/ledger",
		"rental /api/leases/4/ledger",
		"rental /api/leases/5/ledger",
		"reorder /api/reorder-report?status=all",
		"reorder /api/skus?limit=200",
	} {
		service, path, _ := strings.Cut(question, " ")
		r := assert.Value(http.NewRequest(http.MethodGet, s.URL(service, path), nil))(t)
		r.Header.Set("Authorization", "Bearer "+keys[service])
		resp := assert.Value(http.DefaultClient.Do(r))(t)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		name := "rest/" + strings.NewReplacer("/", "_", "?", "_", "=", "_", "&", "_").Replace(service+path) + ".json"
		var got, want any
		if err != nil || json.Unmarshal(body, &got) != nil || json.Unmarshal(was[name], &want) != nil {
			t.Errorf("%s: %d %.200s", question, resp.StatusCode, body)
			continue
		}
		for _, difference := range differences("", want, got) {
			t.Errorf("%s: %s", question, difference)
		}
	}
}

// differences are the places where old content is gone or changed.
func differences(at string, was, is any) (all []string) {
	switch was := was.(type) {
	case map[string]any:
		now, ok := is.(map[string]any)
		if !ok {
			return []string{at + " is no object"}
		}
		for name, v := range was {
			all = append(all, differences(at+"."+name, v, now[name])...)
		}
		return all
	case []any:
		now, ok := is.([]any)
		if !ok || len(now) != len(was) {
			return []string{fmt.Sprintf("%s has %d entries, it had %d", at, len(now), len(was))}
		}
		for i := range was {
			all = append(all, differences(fmt.Sprintf("%s[%d]", at, i), was[i], now[i])...)
		}
		return all
	}
	if !reflect.DeepEqual(was, is) {
		return []string{fmt.Sprintf("%s is %v, it was %v", at, is, was)}
	}
	return nil
}
