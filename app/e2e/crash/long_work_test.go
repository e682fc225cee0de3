package crash

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// took runs a command to its end and returns its largest memory and its times.
func took(t testing.TB, dir string, args ...string) (memory int64, wall, cpu time.Duration) {
	t.Helper()
	cmd := exec.Command(apptest.Binary(t), args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	began := time.Now()
	assert.OK(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	look := time.NewTicker(2 * time.Millisecond) // the final figure of the system includes this parent process
	defer look.Stop()
	for running := true; running; {
		select {
		case err := <-ended:
			assert.Must(t, err == nil, "%v: %v: %s", args, err, errs.String())
			running = false
		case <-look.C:
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)) // it may have ended
			if _, rest, is := strings.Cut(string(status), "VmHWM:"); is {
				var kb int64
				_, _ = fmt.Sscan(rest, &kb)
				memory = max(memory, kb<<10)
			}
		}
	}
	return memory, time.Since(began), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// TestLongWorkHasFlatMemory imports, exports and checks tables of several sizes. A command's memory is bounded,
// whatever the number of rows.
func TestLongWorkHasFlatMemory(t *testing.T) {
	dir := t.TempDir()
	apptest.Keys(t, dir)
	size := func(short, whenLong int) int { return apptest.Times(short, whenLong) }
	write := func(name, head string, rows int, row func(i int) string) string {
		t.Helper()
		var b strings.Builder
		b.WriteString(head + "\n")
		for i := range rows {
			b.WriteString(row(i))
			b.WriteByte('\n')
		}
		path := filepath.Join(dir, name)
		assert.OK(t, os.WriteFile(path, []byte(b.String()), 0o600))
		return path
	}
	random := rand.New(rand.NewPCG(1, 2))
	today := time.Now().UTC()
	ago := func(days int) string { return today.AddDate(0, 0, -days).Format(time.DateOnly) }
	skus, leases := size(2_000, 250_000), size(20, 1000)
	const mib = 1 << 20
	for _, c := range []struct {
		what string
		args []string
		most int64
		head string
		rows int
		row  func(i int) string
	}{
		{"skus", []string{"import", "reorder", "skus"}, 64 * mib, "sku,name,supplier,current_stock", skus, func(i int) string { return fmt.Sprintf("SKU-%06d,Widget number %d,Supplier %d,5", i, i, i%99) }},
		{"sales", []string{"import", "reorder", "sales"}, 64 * mib, "date,sku,qty", size(200_000, 3_700_000), func(i int) string {
			return fmt.Sprintf("%s,SKU-%06d,%d", ago(1+i%69), random.IntN(skus), 1+i%9)
		}},
		{"products", []string{"import", "store", "products"}, 64 * mib, "sku,name,kind,price_cents", 1, func(int) string { return "APP,App,license,1000" }},
		{"orders", []string{"import", "store", "orders"}, 64 * mib, "provider,provider_ref,email,sku,qty,unit_cents,paid_at", size(3_000, 100_000), func(i int) string {
			return fmt.Sprintf("manual,R-%d,buyer%d@shop.example,APP,1,1000,%s", i, i%5000, ago(1+i%300))
		}},
		{"assets", []string{"import", "maintenance", "assets"}, 64 * mib, "asset_tag,name", 200, func(i int) string { return fmt.Sprintf("A-%d,Asset %d", i, i) }},
		{"meters", []string{"import", "maintenance", "meters"}, 64 * mib, "asset_tag,name,unit,reading", 200, func(i int) string { return fmt.Sprintf("A-%d,hours,h,0", i) }},
		{"readings", []string{"import", "maintenance", "readings"}, 64 * mib, "asset_tag,meter,reading,read_date", size(4_000, 200_000), func(i int) string {
			return fmt.Sprintf("A-%d,hours,%d,%s", i%200, 1+i/200, ago(1))
		}},
		{"properties", []string{"import", "rental", "properties"}, 64 * mib, "name", 1, func(int) string { return "House" }},
		{"units", []string{"import", "rental", "units"}, 64 * mib, "property,name", leases, func(i int) string { return fmt.Sprintf("House,%d", i) }},
		{"tenants", []string{"import", "rental", "tenants"}, 64 * mib, "name", 1, func(int) string { return "Ann" }},
		{"leases", []string{"import", "rental", "leases"}, 64 * mib, "property,unit,start_date,tenant,rent_cents,frequency", leases, func(i int) string {
			return fmt.Sprintf("House,%d,%s,Ann,100,weekly", i, today.AddDate(-13, 0, 0).Format(time.DateOnly))
		}},
	} {
		path := write(c.what+".csv", c.head, c.rows, c.row)
		st, _ := os.Stat(path)
		memory, wall, _ := took(t, dir, append(c.args, path)...)
		t.Logf("import of %d rows of %s, %.1f MiB: %d MiB, %v", c.rows, c.what, float64(st.Size())/mib, memory/mib, wall.Round(time.Millisecond))
		assert.That(t, memory <= c.most, "import of %s took %d MiB, want at most %d", c.what, memory/mib, c.most/mib)
	}
	took(t, dir, "rental", "arrears") // posts
	for _, c := range []struct {
		most int64
		args []string
	}{
		{32 * mib, []string{"export", "rental", "charges", "charges.csv"}},
		{64 * mib, []string{"import", "rental", "charges", "charges.csv"}},
		{32 * mib, []string{"export", "rental", "payments", "payments.csv"}},
		{32 * mib, []string{"export", "reorder", "sales", "sales-out.csv"}},
		{32 * mib, []string{"export", "store", "orders", "orders-out.csv"}},
		{32 * mib, []string{"doctor"}},
		{48 * mib, []string{"backup", "copy.db"}},
	} {
		memory, wall, cpu := took(t, dir, c.args...)
		t.Logf("%s: %d MiB, %v, of the CPU %v", strings.Join(c.args[:len(c.args)], " "), memory/mib, wall.Round(time.Millisecond), cpu.Round(time.Millisecond))
		assert.That(t, memory <= c.most, "%s took %d MiB, want at most %d", strings.Join(c.args, " "), memory/mib, c.most/mib)
	}
	st, _ := os.Stat(filepath.Join(dir, "quartermaster.db"))
	t.Logf("the database is %d MB", st.Size()>>20)
}
