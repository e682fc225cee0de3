package doctor

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

func TestFreeSpaceIsJudged(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		free, size uint64
		note       string
		breaches   []string
	}{
		{1000 * mb, 5 * mb, "1000 MB free, the database takes 5 MB", nil},
		{leastFree, leastFree, "64 MB free, the database takes 64 MB", nil},
		{leastFree, leastFree + mb, "64 MB free, the database takes 65 MB; a backup would not fit beside it", nil},
		{leastFree - 1, mb, "63 MB free, the database takes 1 MB", []string{"only 63 MB are free; at least 64 MB are needed"}},
		{0, 0, "0 MB free, the database takes 0 MB", []string{"only 0 MB are free; at least 64 MB are needed"}},
	} {
		note, breaches := diskRoom(c.free, c.size)
		assert.That(t, note == c.note && slices.Equal(breaches, c.breaches),
			"%d of %d: %q %q", c.free, c.size, note, breaches)
	}
}

func TestFreeDiskIsReported(t *testing.T) {
	free, err := db.FreeDisk(filepath.Join(t.TempDir(), "none.db"))
	assert.That(t, err == nil && free != 0, "%d, %v", free, err)
}

// TestDiagnosisNamesEveryBreach: each breach of a service is named, and an impossible check is a breach too.
func TestDiagnosisNamesEveryBreach(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.db")
	assert.OK(t, db.Create(path, db.Options{}))
	d := assert.Value(db.Open(path, db.Options{}))(t)
	defer d.Close()
	service := func(name string, breaches []string, err error) schema.Service {
		return schema.Service{Name: name, Check: func(c *db.Conn) ([]string, error) {
			_, _, _ = db.One(c, db.Int, "SELECT 1") // its view is open
			return breaches, err
		}}
	}
	well := service("well", nil, nil)
	if pages, found := examineRows(context.Background(), d, []schema.Service{well}, nil); !found.OK || pages.Problems != nil || pages.Err != nil {
		t.Errorf("no breach is a breach: %v, %v", pages, found)
	}
	_, found := examineRows(context.Background(), d, []schema.Service{
		well, service("broken", []string{"SKU A is flagged below, and is not", "SKU B"}, nil),
		service("unreadable", []string{"half"}, errors.New("no such table")), {Name: "silent"},
	}, nil)
	var told []string
	for _, c := range found.Checks {
		for _, b := range c.Breaches {
			told = append(told, c.Name+": "+b)
		}
	}
	want := []string{
		"broken: SKU A is flagged below, and is not", "broken: SKU B",
		"unreadable: half", "unreadable: it cannot be checked: no such table",
	}
	assert.That(t, slices.Equal(told, want) && !found.OK && found.Breaches() == 4 && len(found.Checks) == 3,
		"%+v\n%q", found, told)
}
