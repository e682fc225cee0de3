package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"strings"
	"testing"
)

func TestLaborRateCommand(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	w.Key("maintenance", "mo", "member", "full")
	done, open := w.Open(`{"asset_id":1,"description":"Oil","labor_minutes":90}`), w.Open(`{"asset_id":1,"description":"Belt","labor_minutes":90}`)
	w.Equal("set", w.Run("labor-rate", "5400"), "an hour of labor: 54.00, it was 0.00\n")
	w.Close(done)
	w.Equal("raised", w.Run("labor-rate", "6005", "--json", "--as", "mo"), `{"labor_rate_cents":6005,"previous_cents":5400,"unpriced_jobs":0}`+"\n")
	w.Equal("the trail", strings.Join(w.Trail(1), "\n"), "mo cli labor_rate.set settings:maintenance [5400,6005]")
	// 90 minutes at 54.00 an hour are 81.00; at 60.05 they are 90.075, which is 90.08.
	w.Says("the job done before", w.MustGet(fmt.Sprintf("/api/work-orders/%d", done)), `"labor_cost_cents":8100,`)
	w.Says("the open one", w.MustGet(fmt.Sprintf("/api/work-orders/%d", open)), `"labor_cost_cents":9008,`)
	w.Run("labor-rate", "0")
	w.Refuses(1, []string{"labor-rate: 100000001 is out of range", "from 0 to 100000000"}, "labor-rate", "100000001")
	for _, args := range []string{"labor-rate", "labor-rate x", "labor-rate 54.00", "labor-rate -1", "labor-rate 1 2", "labor-rate 99999999999999999999"} {
		w.Refuses(2, nil, strings.Fields(args)...)
	}
	w.Refuses(2, []string{`CENTS_PER_HOUR: "54.00"`, "whole number"}, "labor-rate", "54.00")
}

func TestAssetStatusCommand(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	w.Equal("set", w.Run("asset-status", "1", "needs-attention"), "1, Lathe: needs-attention\n")
	w.Equal("the trail", strings.Join(w.Trail(1), "\n"), `cli cli asset.status asset:1 ["operational","needs-attention"]`)
	w.Equal("in another spelling", w.Run("asset-status", "1", " Needs_Attention"), "1, Lathe: needs-attention\n")
	w.Says("as JSON", w.Run("asset-status", "3", "down", "--json"), `{"id":3,"asset_tag":"BENCH-1",`, `"status":"down",`, `"meters":[]}`)
	w.Run("asset-status", "2", "retired")
	row := w.Due(2)
	assert.That(t, row == nil, "a retired asset is due: %v", row)
	w.Refused(422, "/api/work-orders", `{"asset_id":2,"description":"Wash"}`, "Van 1", "retired", "operational, needs-attention and down")
	w.Run("asset-status", "2", "operational")
	w.IsDue("back in service", 2, map[string]any{"next_due": "2027-11-20"})
	w.Refuses(1, []string{"no asset 99"}, "asset-status", "99", "down")
	// a tag or a name, neither exists
	w.Refuses(1, []string{`no asset "x"`, "LATHE-1 (Lathe)"}, "asset-status", "x", "down")
	w.Equal("by tag", w.Run("asset-status", "BENCH-1", "operational"), "3, Bench: operational\n")
	w.Refuses(2, []string{`"broken"`, "operational, needs-attention, down, retired"}, "asset-status", "1", "broken")
	for _, args := range []string{"asset-status", "asset-status 1", "asset-status 0 down", "asset-status #0 down", "asset-status 99999999999999999999 down", "asset-status 1 down up", "asset-status -1 down"} {
		w.Refuses(2, nil, strings.Fields(args)...)
	}
}

func TestUsePartCommand(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	id := w.Open(`{"asset_id":1,"description":"Oil","parts_cost":12.5}`)
	w.Equal("decimals", w.Run("use-part", "1", "OIL", "4.125"), "4.125 of OIL on work order 1: 28.46, the order now costs 40.96; 34.375 left in stock\n") // 28.4625
	w.Equal("the trail", strings.Join(w.Trail(1), "\n"),
		`cli cli workorder.part_used work_order:1 {"part_id":2,"part_number":"OIL","name":"Engine oil","qty":4.125,"unit_cost_cents":690,"cost_cents":2846}`)
	w.Equal("the last", w.Run("use-part", "1", " 6204-2RS ", "3"), "3 of 6204-2RS on work order 1: 12.75, the order now costs 53.71; 0 left in stock, which is low\n")
	w.Says("as JSON", w.Run("use-part", "1", "OIL", "0.5", "--json"), `{"work_order":{"id":1,`, `"parts_cost":12.5,`, `"parts_cost_cents":5716,"total_cost_cents":5716,`,
		`"use":{"part_id":2,"part_number":"OIL","name":"Engine oil","qty":0.5,"unit_cost_cents":690,"cost_cents":345}`, `"quantity":33.875,`)
	w.Refuses(1, []string{"qty: 1 of part 6204-2RS", "0 in stock"}, "use-part", "1", "6204-2RS", "1")
	w.Refuses(1, []string{"34 of part OIL", "33.875"}, "use-part", "1", "OIL", "34")
	w.Refuses(1, []string{"out of range", "above 0"}, "use-part", "1", "OIL", "0")
	w.Refuses(1, []string{"part_number is empty"}, "use-part", "1", " ", "1")
	w.Refuses(1, []string{`there is no part "NUT"`}, "use-part", "1", "NUT", "1")
	w.Refuses(1, []string{"no work order 9"}, "use-part", "9", "OIL", "1")
	w.Refuses(2, []string{`QTY: "1.0001"`, "at most 3 decimals"}, "use-part", "1", "OIL", "1.0001")
	for _, args := range []string{"use-part", "use-part 1 OIL", "use-part one OIL 1", "use-part 1 OIL two", "use-part 1 OIL 1 1", "use-part 1 OIL -1"} {
		w.Refuses(2, nil, strings.Fields(args)...)
	}
	w.Close(id)
	w.Refuses(1, []string{"work order 1 is done", "open and in-progress"}, "use-part", "1", "OIL", "1")
	cancelled := w.Open(`{"asset_id":1,"description":"No"}`)
	w.Move(cancelled, "cancelled", "")
	w.Refuses(1, []string{"is cancelled", "open and in-progress"}, "use-part", fmt.Sprint(cancelled), "OIL", "1")
}

// picture is the beginning of a picture: its type and a few bytes.
func picture(head string) []byte { return append([]byte(head), bytes.Repeat([]byte("pixel"), 100)...) }

func TestPhotoCommands(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	w.Open(`{"asset_id":1,"description":"Oil"}`)
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		assert.OK(t, os.WriteFile(path, data, 0o600))
		return path
	}
	jpeg, png, webp := picture("\xff\xd8\xff\xe0"), picture("\x89PNG\r\n\x1a\n"), picture("RIFF\x00\x01\x00\x00WEBPVP8 ")
	w.Equal("a JPEG", w.Run("photo", "add", "1", file("a.jpg", jpeg), "--caption", "before"), "1\n")
	w.Equal("the trail", strings.Join(w.Trail(1), "\n"), `cli cli workorder.photo_added work_order:1 {"bytes":504,"filename":"a.jpg","photo_id":1}`)
	w.Equal("a PNG", w.Run("photo", "add", "1", file("b.png", png), "--json"), `{"id":2,"filename":"b.png","caption":null,"work_order_id":1}`+"\n")
	w.Equal("a WebP", w.Run("photo", "add", "1", file("c.webp", webp)), "3\n")
	w.Says("the detail", w.MustTool("workorder_detail", `{"id":1}`),
		`"photos":[{"caption":"before","filename":"a.jpg","id":1},{"caption":null,"filename":"b.png","id":2},{"caption":null,"filename":"c.webp","id":3}]`)
	saved := file("saved.jpg", nil)
	w.Equal("saving as JSON", w.Run("photo", "save", "1", saved, "--json"),
		fmt.Sprintf(`{"id":1,"filename":"a.jpg","caption":"before","file":%q,"bytes":504}`+"\n", saved))
	for id, want := range map[string][]byte{"1": jpeg, "2": png, "3": webp} {
		target := file("out", []byte("what was there before"))
		w.Equal("saving prints", w.Run("photo", "save", id, target), "")
		if got, err := os.ReadFile(target); err != nil || !bytes.Equal(got, want) {
			t.Errorf("photo %s came back as %d bytes, want %d (%v)", id, len(got), len(want), err)
		}
	}
	most := append(picture("\xff\xd8\xff"), make([]byte, 10<<20)...)
	w.Refuses(1, []string{"big.jpg", "10485760", "10 MiB"}, "photo", "add", "1", file("big.jpg", most[:10<<20+1]))
	w.Refuses(1, []string{"a.gif", "JPEG, PNG or WebP"}, "photo", "add", "1", file("a.gif", picture("GIF89a")))
	w.Refuses(1, []string{"empty.png", "JPEG, PNG or WebP"}, "photo", "add", "1", file("empty.png", nil))
	w.Refuses(1, []string{"nowhere.png"}, "photo", "add", "1", filepath.Join(dir, "nowhere.png"))
	w.Refuses(1, []string{dir}, "photo", "add", "1", dir)
	w.Refuses(1, []string{"no work order 9"}, "photo", "add", "9", filepath.Join(dir, "a.jpg"))
	w.Refuses(1, []string{"no photo 9"}, "photo", "save", "9", filepath.Join(dir, "nine"))
	w.Refuses(1, []string{"nowhere"}, "photo", "save", "1", filepath.Join(dir, "nowhere", "x.jpg"))
	for _, args := range []string{"photo add", "photo add 1", "photo add x a.jpg", "photo add 1 a.jpg b.jpg", "photo save 1", "photo save x a.jpg", "photo drop 1"} {
		w.Refuses(2, nil, strings.Fields(args)...)
	}
	w.Equal("just small enough", w.Run("photo", "add", "1", file("big.jpg", most[:10<<20])), "4\n")
	left, err := filepath.Glob(filepath.Join(dir, "nine"))
	assert.That(t, err == nil && len(left) <= 0, "a refused save left %v (%v)", left, err)
}

func TestPMDoneCommand(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	w.Equal("today", w.Run("pm-done", "3"), "Van 1, Service: done 2026-11-20, next due 2027-05-19 (ok)\n")
	w.Equal("the trail", strings.Join(w.Trail(1), "\n"), `cli cli pm.done pm_plan:3 {"pm_id":3,"last_done_date":"2026-11-20","baseline_reading":50000}`)
	w.Equal("on another day", w.Run("pm-done", "2", "--date", "2025-11-25", "--json"), `{"pm_id":2,"asset_id":2,"asset":"Van 1","title":"Inspection","interval_days":365,`+
		`"interval_usage":null,"meter":null,"unit":null,"last_done_date":"2025-11-25","baseline_reading":null,"next_due":"2026-11-25","days_until":5,"due_status":"due-soon"}`+"\n")
	w.Equal("by use alone", w.Run("pm-done", "1"), "Lathe, Oil: done 2026-11-20, next due at a date not yet known (ok)\n")
	w.Refuses(1, []string{"date: 2026-11-21 is in the future", "up to today, 2026-11-20"}, "pm-done", "2", "--date", "2026-11-21")
	w.Refuses(1, []string{"no PM plan 9"}, "pm-done", "9")
	w.Refuses(1, []string{`no plan "x"`, "VAN-1/Inspection"}, "pm-done", "x") // TAG/Title, which does not exist
	w.Refuses(2, []string{`--date: "2026-02-30"`, "YYYY-MM-DD"}, "pm-done", "2", "--date", "2026-02-30")
	for _, args := range []string{"pm-done", "pm-done 0", "pm-done 1 2", "pm-done 1 --date=", "pm-done 1 --day 2026-11-01"} {
		w.Refuses(2, nil, strings.Fields(args)...)
	}
}

func TestMoveCommand(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	for range 4 {
		w.Open(`{"asset_id":1,"description":"Oil"}`)
	}
	w.Equal("all of them", w.Run("move", "in_progress", "1", "2"), "1: in-progress\n2: in-progress\n")
	before := strings.Join(w.Trail(1), "\n")
	code, out, errs := w.CLI("maintenance", "move", "done", "1", "3", "2", "99", "1", "--resolution", "Filter changed")
	assert.That(t, code == 1, "exit %d", code)
	w.Equal("those that were moved", out, "1: done\n2: done\n")
	w.Equal("those that were refused", errs, `work order 3: status: a work order that is open cannot move to done; allowed from open: in-progress, cancelled
work order 99: there is no work order 99
work order 1: status: a work order that is done cannot move to done; allowed from done: open
quartermaster: 3 of 5 work orders were refused
`)
	w.Equal("the trail", strings.Join(w.Trail(3), "\n"), `cli cli workorder.status work_order:2 {"from":"in-progress","to":"done","resolution":"Filter changed"}
cli cli workorder.status work_order:1 {"from":"in-progress","to":"done","resolution":"Filter changed"}
`+before)
	code, out, errs = w.CLI("maintenance", "move", "open", "1", "4", "--json")
	assert.That(t, code == 1 && strings.Count(errs, "\n") == 2, "exit %d: %s", code, errs)
	w.Says("as JSON", out, `{"moved":[{"id":1,`, `"status":"open",`, `"refused":[{"id":4,"reason":"status: a work order that is open cannot move to open; allowed from open: in-progress, cancelled"}]}`)
	code, out, errs = w.CLI("maintenance", "move", "done", "3", "4")
	assert.That(t, code == 1 && out == "", "exit %d with %q: %s", code, out, errs)
	w.Run("move", "in-progress", "3")
	w.Refuses(1, []string{"work order 3: resolution is missing", "1 of 1"}, "move", "done", "3")
	w.Refuses(1, []string{"work order 3: resolution is missing"}, "move", "done", "3", "--resolution", "  ")
	w.Refuses(2, []string{`"closed"`, "open, in-progress, done, cancelled"}, "move", "closed", "3")
	for _, args := range []string{"move", "move done", "move 3 done", "move done 3 x --resolution y", "move done 0", "move done 3 --resolution"} {
		w.Refuses(2, nil, strings.Fields(args)...)
	}
}

// TestMaintenanceCommandsActAsAUser runs each command as users who may not, and as one who may.
func TestMaintenanceCommandsActAsAUser(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	w.Key("maintenance", "vera", "viewer", "full")
	w.Key("maintenance", "mo", "member", "full")
	w.MustCLI("user", "add", "renter", "--role", "admin", "--service", "rental")
	w.MustCLI("user", "add", "dis", "--role", "admin")
	w.MustCLI("user", "disable", "dis")
	w.Open(`{"asset_id":1,"description":"Oil"}`)
	photo := filepath.Join(t.TempDir(), "a.png")
	assert.OK(t, os.WriteFile(photo, picture("\x89PNG\r\n\x1a\n"), 0o600))
	for _, args := range [][]string{
		{"labor-rate", "100"}, {"asset-status", "1", "down"}, {"use-part", "1", "OIL", "1"}, {"photo", "add", "1", photo},
		{"pm-done", "1"}, {"move", "cancelled", "1"},
	} {
		w.Refuses(1, []string{"vera", "viewer", "member or admin"}, append(args, "--as", "vera")...)
		w.Refuses(1, []string{`"renter" has no role in the maintenance service`}, append(args, "--as", "renter")...)
		w.Refuses(1, []string{`"dis" is disabled`}, append(args, "--as", "dis")...)
		w.Refuses(1, []string{`no user "nobody"`}, append(args, "--as", "nobody")...)
		w.Refuses(2, []string{"--as"}, append(args, "--as=")...)
		w.Run(append(args, "--as", "mo")...)
		got := w.Trail(1)[0]
		assert.That(t, strings.HasPrefix(got, "mo cli "), "%v is audited as %s", args, got)
	}
	w.Run("photo", "save", "1", photo, "--as", "vera")
	w.Refuses(1, []string{`no user "nobody"`}, "photo", "save", "1", photo, "--as", "nobody")
}

func TestMaintenanceCommandsHelpAndComplete(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	for _, command := range []string{"labor-rate", "asset-status", "use-part", "photo add", "photo save", "pm-done", "move"} {
		out := c.Ok(append(append([]string{"maintenance"}, strings.Fields(command)...), "--help")...)
		assert.That(t, strings.Contains(out, "Examples:\n  quartermaster maintenance "+command) &&
			strings.Contains(out, "--as NAME"), "%s helps with:\n%s", command, out)
		bare := apptest.BareCLI(t)
		args := map[string]string{"labor-rate": "1", "asset-status": "1 down", "use-part": "1 A 1", "photo add": "1 /dev/null", "photo save": "1 /dev/null", "pm-done": "1", "move": "open 1"}
		refuses(bare, 1, []string{"no database at " + bare.Db}, append(append([]string{"maintenance"}, strings.Fields(command)...), strings.Fields(args[command])...)...)
	}
	for args, want := range map[string]string{
		"asset-status 1 ": "operational\nneeds-attention\ndown\nretired\n:4\n",
		"move ":           "open\nin-progress\ndone\ncancelled\n:4\n",
		"move done ":      ":4\n",
		"photo add 1 ":    ":0\n",
		"pm-done ":        ":4\n",
	} {
		assert.Equal(t, c.Ok(append([]string{"__complete", "maintenance"}, strings.Split(args, " ")...)...), want,
			"%q completes to", args)
	}
}
