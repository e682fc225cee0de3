package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// bulk is a file of sales of so many SKUs and days, shuffled, with each SKU-day in two rows.
func bulk(t testing.TB, dir string, skus, days int) {
	t.Helper()
	var catalogue, sales strings.Builder
	catalogue.WriteString("sku,name,supplier,current_stock\n")
	for i := range skus {
		fmt.Fprintf(&catalogue, "S-%04d,Thing %d,Supplier,5\n", i, i)
	}
	sales.WriteString("date,sku,qty\n")
	last := time.Now().UTC().AddDate(0, 0, -2)
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(2 * skus * days) {
		i /= 2
		fmt.Fprintf(&sales, "%s,S-%04d,%d\n", last.AddDate(0, 0, -(i/skus)).Format(time.DateOnly), i%skus, 1+i%5)
	}
	for name, text := range map[string]string{"skus.csv": catalogue.String(), "sales.csv": sales.String()} {
		assert.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	code, _, errs := apptest.Exec(t, dir, "import", "reorder", "skus", "skus.csv")
	assert.Must(t, code == 0, "%v", errs)
}

// soldBySKU returns the quantity and the number of days of sales per SKU.
func soldBySKU(t testing.TB, d *db.DB) (all map[string][2]int64) {
	t.Helper()
	all = map[string][2]int64{}
	err := d.View(context.Background(), func(c *db.Conn) error {
		return db.Each(c, func(r *db.Row) error {
			all[r.Text()] = [2]int64{r.Int(), r.Int()}
			return nil
		}, "SELECT sku, sum(qty), count(*) FROM sales CROSS JOIN skus ON skus.id = sku_id GROUP BY sku_id")
	})
	assert.OK(t, err)
	return all
}

// TestAnImportIsKilled kills imports of sales at random moments and repeats each until it ends. A kill leaves each SKU
// complete or untouched. At the end each row counts once, also in add mode.
func TestAnImportIsKilled(t *testing.T) {
	dir := t.TempDir()
	apptest.Keys(t, dir)
	skus, days := 60, apptest.Times(100, 1000)
	bulk(t, dir, skus, days)
	d, err := db.Open(filepath.Join(dir, "quartermaster.db"), db.Options{})
	assert.OK(t, err)
	defer d.Close()
	full := map[string]int64{}
	for i := range skus * days {
		full[fmt.Sprintf("S-%04d", i%skus)] += 2 * int64(1+i%5) * 1000
	}
	random := rand.New(rand.NewPCG(3, 4))
	kills, between := 0, 0
	whole := time.Duration(0) // the time of an import that is not killed
	for round, args := range [][]string{{}, {"--add"}, {"--add"}, {}} {
		before := soldBySKU(t, d)
		began, most := time.Now(), kills+apptest.Times(3, 60)
		for {
			cmd := exec.Command(apptest.Binary(t), append([]string{"import", "reorder", "sales", "sales.csv"}, args...)...)
			cmd.Dir = dir
			assert.OK(t, cmd.Start())
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			wait := time.Hour
			if round > 0 && kills < most {
				wait = time.Duration(random.Int64N(int64(whole)))
			}
			select {
			case err = <-ended:
			case <-time.After(wait):
				_ = cmd.Process.Signal(syscall.SIGKILL)
				<-ended
				err = fmt.Errorf("killed")
			}
			if err == nil {
				break
			}
			kills++
			changed := 0
			for sku, now := range soldBySKU(t, d) {
				was := before[sku]
				add := now[0] - was[0]
				if add != 0 && (now[1] != int64(days) || add != full[sku] && (now[0] != full[sku] || len(args) > 0)) {
					t.Fatalf("%s was left with %d on %d days, before %v", sku, now[0], now[1], was)
				}
				if add != 0 {
					changed++
				}
			}
			if changed > 0 && changed < skus {
				between++
			}
			if kept, err := d.QueryInt("SELECT count(*) FROM works"); err != nil {
				t.Fatal(err)
			} else if kept == 0 && changed == skus && len(args) > 0 { // killed after its result was printed
				break
			}
		}
		if round == 0 {
			whole = time.Since(began)
		}
		times := int64(round + 1)
		if len(args) == 0 {
			times = 1
		}
		var rows int64
		for _, now := range soldBySKU(t, d) {
			rows += now[0]
		}
		var want int64
		for _, qty := range full {
			want += qty
		}
		assert.That(t, rows == want*times, "round %d, %v: %d were sold, want %d", round, args, rows, want*times)
		t.Logf("round %d, %v: done after %v, %d kills so far, %d of them between slices", round, args, time.Since(began).Round(time.Millisecond), kills, between)
	}
	code, out, errs := apptest.Exec(t, dir, "doctor")
	assert.That(t, code == 0 || strings.Contains(out, "free disk: breach"), "doctor: %s%s", out, errs)
}

// TestAnImportOfLicenseKeysIsKilled kills an import of license keys after a batch, again and again. Each kill leaves
// only whole licenses, with order and seat. At the end each row of the file is stored once.
func TestAnImportOfLicenseKeysIsKilled(t *testing.T) {
	dir := t.TempDir()
	apptest.Keys(t, dir)
	if code, _, errs := apptest.Exec(t, dir, "store", "product", "save", "ECHO"); code != 0 {
		t.Fatal(errs)
	}
	rows := apptest.Times(4000, 20_000)
	var file strings.Builder
	file.WriteString("license_key,sku,email,provider,provider_ref,seats\n")
	for i := range rows {
		fmt.Fprintf(&file, "old-key-%06d-%04d,ECHO,buyer%d@example.com,gumroad,g%d,machine-%d\n", i, i*7%10_000, i/2, i, i)
	}
	assert.OK(t, os.WriteFile(filepath.Join(dir, "keys.csv"), []byte(file.String()), 0o600))
	d := assert.Value(db.Open(filepath.Join(dir, "quartermaster.db"), db.Options{}))(t)
	defer d.Close()
	number := func(query string) int64 {
		t.Helper()
		n := assert.Value(d.QueryInt(query))(t)
		return n
	}
	const licenses = "SELECT count(*) FROM store_licenses"
	between := 0
	for kill, kills := 0, apptest.Times(4, 30); ; kill++ {
		cmd := exec.Command(apptest.Binary(t), "import", "store", "licenses", "keys.csv")
		cmd.Dir = dir
		before := number(licenses)
		assert.OK(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		if kill == kills {
			assert.OK(t, <-ended)
			break
		}
		apptest.Await(t, "a slice of the import", func() bool { return number(licenses) > before || len(ended) > 0 })
		_ = cmd.Process.Signal(syscall.SIGKILL)
		<-ended
		here := number(licenses)
		whole := number(`SELECT count(*) FROM store_licenses l JOIN store_orders o ON o.id = l.order_id JOIN store_activations a ON a.license_id = l.id
			WHERE o.provider_ref = 'g' || CAST(substr(l.license_key, 9, 6) AS INTEGER) AND a.fingerprint = 'machine-' || substr(o.provider_ref, 2)`)
		if orders := number("SELECT count(*) FROM store_orders"); here != orders || here != whole {
			t.Fatalf("kill %d left %d licenses, %d of them whole, and %d orders", kill+1, here, whole, orders)
		}
		if here > 0 && here < int64(rows) {
			between++
		}
	}
	assert.That(t, between != 0, "no kill came in the middle")
	doctor := func() {
		t.Helper()
		code, out, errs := apptest.Exec(t, dir, "doctor")
		assert.That(t, code == 0 || strings.Contains(out, "free disk: breach"), "doctor: %s%s", out, errs)
	}
	doctor()
	code, out, errs := apptest.Exec(t, dir, "import", "store", "licenses", "keys.csv")
	if n := number(licenses); n != int64(rows) || code != 0 {
		t.Errorf("%d licenses after the same file once more, want %d: %s%s", n, rows, out, errs)
	}
	doctor()
	t.Logf("%d kills in the middle", between)
}
