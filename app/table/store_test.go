package table

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/db/dbtest"
	"quartermaster/schema/fault"
)

func TestUploadsAreKeptForTheirSession(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "q.db")
	o := db.Options{Now: func() time.Time { return now }}
	dbtest.Create(t, path)
	d := assert.Value(db.Open(path, o))(t)
	defer d.Close()
	ctx, s := context.Background(), NewStore(d)
	who := db.Caller{Service: "reorder", User: "mo", Role: "member", Scope: "full", Via: "web", Session: 7}
	content := bytes.Repeat([]byte("code,name\nA,x\n"), 200_000)
	token := assert.Value(s.Keep(ctx, who, "reorder", schema.Table{Name: "skus"}, `C:\temp\skus.csv`, content))(t)
	w, err := s.Find(ctx, who, token)
	assert.Must(t, err == nil && w.Table == "skus" && w.Name == "skus.csv", "%+v, %v", w, err)
	got, _ := io.ReadAll(w.File.whole())
	assert.That(t, bytes.Equal(got, content), "another file came back")
	other := who
	other.Session = 8
	_, err = s.Find(ctx, other, token)
	assert.That(t, fault.Is(err, fault.NotFound), "another session: %v", err)
	for range waitingFiles {
		_, err := s.Keep(ctx, who, "reorder", schema.Table{Name: "skus"}, "more.csv", []byte("x"))
		assert.OK(t, err)
	}
	_, err = s.Find(ctx, who, token)
	assert.That(t, fault.Is(err, fault.NotFound), "the oldest of too many: %v", err)
	token, err = s.Keep(ctx, who, "reorder", schema.Table{Name: "skus"}, "a.csv", []byte("x"))
	assert.OK(t, err)
	now = now.Add(31 * time.Minute)
	_, err = s.Find(ctx, who, token)
	assert.That(t, fault.Is(err, fault.NotFound), "after half an hour: %v", err)
	viewer := who
	viewer.Role = "viewer"
	_, err = s.Keep(ctx, viewer, "reorder", schema.Table{Name: "skus"}, "a.csv", []byte("x"))
	assert.That(t, fault.Is(err, fault.Forbidden), "a viewer: %v", err)
	_, err = s.Keep(ctx, who, "reorder", schema.Table{Name: "skus"}, "a.csv", make([]byte, MaxWaiting+1))
	assert.That(t, fault.Is(err, fault.TooLarge), "too large: %v", err)
	header := []string{"Art", "Name"}
	how := Reading{Map: mapped("Art=code"), DateFormat: "DD.MM.YYYY"}
	assert.OK(t, s.Remember(ctx, "reorder", "skus", header, how))
	if got, found, err := s.Suggest(ctx, "reorder", "skus", header); err != nil || !found || !reflect.DeepEqual(got, how) {
		t.Errorf("suggested %+v, %v, %v", got, found, err)
	}
	_, found, err := s.Suggest(ctx, "reorder", "skus", header[:1])
	assert.That(t, err == nil && !found, "suggested for another header: %v, %v", found, err)
}

func TestPreviewShowsColumnSamples(t *testing.T) {
	look, err := LookAt(wares(), InMemory([]byte("Art;name;Preis\nA;;1,00\nB;x;\nC;y;2,00\nD;z;3,00\n")), Reading{Map: mapped("Art=code")})
	assert.OK(t, err)
	assert.That(t, look.Lines == 4 && look.Delimiter == ";" && reflect.DeepEqual(look.Means, []string{"code", "", ""}) &&
		reflect.DeepEqual(look.Samples, [][]string{{"A", "B", "C"}, {"x", "y", "z"}, {"1,00", "2,00", "3,00"}}), "%+v", look)
}

// TestATrialIsKeptWithItsFile: a trial is shown as often as requested, and runs again with other options and after a
// change.
func TestATrialIsKeptWithItsFile(t *testing.T) {
	s := newShelf(t)
	ctx, who := context.Background(), db.CLI("shelf")
	who.Session = 7
	store := NewStore(s.db)
	token, err := store.Keep(ctx, who, "shelf", schema.Table{Name: "things"}, "t.csv", []byte("code,name,count\na,x,1\nb,y,z\n"))
	assert.OK(t, err)
	w := assert.Value(store.Find(ctx, who, token))(t)
	runs := 0
	things := s.table()
	row := things.Row
	things.Row = func(f *schema.Form) schema.Put {
		put := row(f)
		return func(tx *db.Tx) (schema.Outcome, error) {
			runs++
			return put(tx)
		}
	}
	var first Outcome
	for i := range 3 {
		out, err := store.Try(ctx, who, things, w, Options{})
		assert.Must(t, err == nil && out.New == 1 && out.Refused == 1 && len(out.Errors) == 1 &&
			out.Errors[0].Column == "count" && len(out.Sample) == 1, "%+v, %v", out, err)
		if i == 0 {
			first = out
		} else if !reflect.DeepEqual(out.Errors, first.Errors) || !reflect.DeepEqual(out.Sample, first.Sample) || !reflect.DeepEqual(out.Found, first.Found) {
			t.Errorf("%+v, first %+v", out, first)
		}
	}
	assert.That(t, runs == 1, "%d rows were tried", runs)
	_, err = store.Try(ctx, who, things, w, Options{Reading: Reading{Delimiter: ","}})
	assert.That(t, err == nil && runs == 2, "%d rows were tried, %v", runs, err)
	s.mustLoad(t, "code\nother\n")
	_, err = store.Try(ctx, who, things, w, Options{Reading: Reading{Delimiter: ","}})
	assert.That(t, err == nil && runs == 3, "%d rows were tried after a change, %v", runs, err)
}
