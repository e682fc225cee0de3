package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/rental"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// rents are the tables of a house of which each lease has its own rent, and the bank's file of these rents, in
// statements of ten.
func rents(leases int, start, paid time.Time) (tables map[string]string, file string) {
	units, tenants, terms := "property,name\n", "name,email\n", "property,unit,start_date,tenant,rent_cents\n"
	var b strings.Builder
	balance := 0
	for n := 1; n <= leases; n++ {
		units += fmt.Sprintf("House,U%d\n", n)
		tenants += fmt.Sprintf("Anna%d Berg,a%d@example.org\n", n, n)
		terms += fmt.Sprintf("House,U%d,%s,Anna%d Berg,%d00\n", n, start.Format(time.DateOnly), n, 100+n)
		if n%10 == 1 {
			fmt.Fprintf(&b, ":20:X\n:25:DE89370400440532013000\n:60F:C%sEUR%d,00\n", paid.Format("060102"), balance)
		}
		fmt.Fprintf(&b, ":61:%sC%d,00NTRFNONREF//B%d\n:86:166?20Rent?31DE%d?32ANNA%d BERG\n", paid.Format("060102"), 100+n, n, n, n)
		if balance += 100 + n; n%10 == 0 {
			fmt.Fprintf(&b, ":62F:C%sEUR%d,00\n-\n", paid.Format("060102"), balance)
		}
	}
	return map[string]string{"units": units, "tenants": tenants, "leases": terms}, b.String()
}

// TestTheBankIsKilled ends the process as kill -9 does while a bank's file is read and while its lines are booked, again
// and again, and does the same again after each. At the end each line is kept once and each rent is booked once.
func TestTheBankIsKilled(t *testing.T) {
	t.Parallel()
	const leases = 200
	dir := t.TempDir()
	apptest.Keys(t, dir)
	must := func(args ...string) string {
		t.Helper()
		code, out, errs := apptest.Exec(t, dir, args...)
		assert.Must(t, code == 0, "%v: exit %d: %s%s", args, code, out, errs)
		return out
	}
	now := time.Now().UTC()
	tables, file := rents(leases, now.AddDate(0, 0, -20), now.AddDate(0, 0, -10))
	tables["properties"] = "name\nHouse\n"
	for _, name := range []string{"properties", "units", "tenants", "leases"} {
		assert.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(tables[name]), 0o600))
		must("import", "rental", name, name)
	}
	must("settings", "currency", "EUR")
	must("rental", "bank", "account", "Rent", "--iban", "DE89370400440532013000")
	must("user", "add", "alice", "--role", "member", "--service", "rental")
	link := welcome.FindString(must("user", "invite", "alice"))
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	p := apptest.Serve(t, dir, "--timezone", "UTC")
	v := &apptest.Visitor{T: t, Client: client, Base: p.URL("rental", "")}
	apptest.StatusIs(t, v.Post(link, "password", apptest.Password), http.StatusSeeOther)
	d := assert.Value(db.Open(filepath.Join(dir, "quartermaster.db"), db.Options{}))(t)
	defer d.Close()
	number := func(query string) int64 {
		n := assert.Value(d.QueryInt(query))(t)
		return n
	}
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	part, _ := w.CreateFormFile("file", "rents.sta")
	_, _ = part.Write([]byte(file))
	_ = w.Close()
	send := func(path, kind string, content []byte) (status int, err error) {
		r := assert.Value(http.NewRequest(http.MethodPost, v.Base+path, bytes.NewReader(content)))(t)
		r.Header.Set("Origin", v.Base)
		r.Header.Set("Content-Type", kind)
		got, err := client.Do(r)
		if err != nil {
			return 0, err
		}
		return got.StatusCode, got.Body.Close()
	}
	random := rand.New(rand.NewPCG(20261123, 1))
	for _, step := range []struct {
		path, kind, count string
		content           []byte
	}{
		{"/do/import_bank", w.FormDataContentType(), "SELECT count(*) FROM bank_lines", body.Bytes()},
		{"/do/book_lines", "application/x-www-form-urlencoded", "SELECT count(*) FROM payments WHERE voided_at IS NULL", []byte("certain=true")},
	} {
		for kill := range apptest.Times(2, 30) {
			answered := make(chan bool)
			go func() {
				_, err := send(step.path, step.kind, step.content)
				answered <- err == nil
			}()
			<-time.After(time.Duration(random.IntN(60_000)) * time.Microsecond)
			p.Kill(t)
			done := <-answered
			client.CloseIdleConnections()
			switch n := number(step.count); {
			case n != 0 && n != leases:
				t.Fatalf("%s left %d of %d at kill %d", step.path, n, leases, kill+1)
			case done && n == 0:
				t.Fatalf("%s was answered, and kill %d lost it", step.path, kill+1)
			}
			p = apptest.Serve(t, dir, "--timezone", "UTC")
			v.Base = p.URL("rental", "")
		}
		for range 2 {
			status, err := send(step.path, step.kind, step.content)
			assert.That(t, err == nil && status == http.StatusSeeOther, "%s: %d %v", step.path, status, err)
		}
		assert.Equal(t, number(step.count), leases, "%s", step.path)
	}
	code, out, errs := apptest.Exec(t, dir, "doctor")
	assert.That(t, code == 0 || strings.Contains(out, "free disk: breach"), "doctor: %s%s", out, errs)
}

// TestTwoPeopleAtTheBank has two people send the same file, settle the same lines in different ways and book all that is
// certain, at the same moment. Each thing is done once, and the other is told by what.
func TestTwoPeopleAtTheBank(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	tables, file := rents(30, l.Clock.Now().AddDate(0, 0, -19), l.Clock.Now().AddDate(0, 0, -10))
	for _, name := range []string{"units", "tenants", "leases"} {
		l.Load(name, tables[name])
	}
	l.Rental("bank", "account", "Rent", "--iban", "DE89370400440532013000")
	people := []*apptest.Visitor{l.Person("rental", "ann", "member"), l.Person("rental", "bob", "member")}
	// together does the same moment's work of both, and tells how each was answered.
	together := func(act func(who int, v *apptest.Visitor) apptest.Sheet) (answers [2]apptest.Sheet) {
		var group sync.WaitGroup
		begin := make(chan struct{})
		for i, v := range people {
			group.Go(func() {
				<-begin
				answers[i] = act(i, v)
			})
		}
		close(begin)
		group.Wait()
		return answers
	}
	count := func(filter ...string) int64 {
		t.Helper()
		var list rental.BankLines
		assert.OK(t, json.Unmarshal([]byte(l.Rental(append([]string{"bank", "lines", "--json"}, filter...)...)), &list))
		return list.Total
	}
	for _, a := range together(func(_ int, v *apptest.Visitor) apptest.Sheet {
		return v.Upload("/do/import_bank", nil, "file", "rents.sta", strings.ReplaceAll(file, "EUR", "USD"))
	}) {
		apptest.StatusIs(t, a, http.StatusSeeOther)
	}
	assert.MustEqual(t, count(), 30, "lines are kept of a file sent twice")
	for line := 1; line <= 6; line++ {
		id := fmt.Sprint(line)
		answers := together(func(who int, v *apptest.Visitor) apptest.Sheet {
			switch {
			case who == 0:
				return v.Post("/do/book_lines", "lines.0.line_id", id, "lines.0.lease_id", id)
			case line%3 == 0:
				return v.Post("/do/ignore_lines", "line_id", id, "reason", "my own")
			case line%3 == 1:
				return v.Post("/do/split_line", "line_id", id, "amounts", fmt.Sprintf("1.00\n%d.00", 99+line))
			}
			return v.Post("/do/book_lines", "lines.0.line_id", id, "lines.0.lease_id", "30")
		})
		first, second := answers[0], answers[1]
		if first.Status != http.StatusSeeOther {
			first, second = second, first
		}
		said := apptest.Text(second.Doc)
		assert.That(t, first.Status == http.StatusSeeOther && second.Status == http.StatusConflict &&
			strings.Contains(said, "Bank line "+id+" is ") && strings.Contains(said, "already") &&
			strings.Contains(said, "free it first"), "line %d: %d and %d: %s", line, first.Status, second.Status, said)
	}
	free := count("--state", "free", "--match", "certain")
	booked := count("--state", "booked")
	for _, a := range together(func(_ int, v *apptest.Visitor) apptest.Sheet { return v.Post("/do/book_lines", "certain", "true") }) {
		apptest.StatusIs(t, a, http.StatusSeeOther)
	}
	assert.Equal(t, count("--state", "booked"), booked+free, "lines are booked, want %d and %d", booked, free)
	l.Sound()
}
