package command

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

func TestBackupIntoAFolderKeepsTheNewest(t *testing.T) {
	c := apptest.NewCLI(t)
	folder := t.TempDir()
	for _, other := range []string{"notes.db", "shop-2026.db", "shop-20200101T000000Z.db-wal"} {
		assert.OK(t, os.WriteFile(filepath.Join(folder, other), []byte("x"), 0o600))
	}
	name := strings.TrimSuffix(filepath.Base(c.Db), ".db")
	for _, day := range []string{"20200101", "20200102", "20200103"} {
		assert.OK(t, os.WriteFile(filepath.Join(folder, name+"-"+day+"T000000Z.db"), []byte("x"), 0o600))
	}
	killed := filepath.Join(folder, name+"-20200104T000000Z.db.part-7")
	assert.OK(t, errors.Join(os.WriteFile(killed, nil, 0o600), os.Chtimes(killed, time.Unix(0, 0), time.Unix(0, 0))))
	c.Ok("backup", "--to", folder, "--keep", "2")
	if _, err := os.Stat(killed); err == nil {
		t.Error("what a backup left that was killed is still there")
	}
	left, err := filepath.Glob(filepath.Join(folder, name+"-*Z.db"))
	assert.That(t, err == nil && len(left) == 2 && strings.HasSuffix(left[0], "-20200103T000000Z.db"),
		"kept %v, %v", left, err)
	all, _ := os.ReadDir(folder)
	assert.That(t, len(all) == 5, "%d files are left, want 5: others' were touched", len(all))
	for _, later := range []string{"29980101T000000Z", "29990101T000000Z"} { // written while the clock was wrong
		assert.OK(t, os.WriteFile(filepath.Join(folder, name+"-"+later+".db"), []byte("x"), 0o600))
	}
	c.Ok("backup", "--to", folder, "--keep", "2")
	left, err = filepath.Glob(filepath.Join(folder, name+"-*Z.db"))
	assert.That(t, err == nil && len(left) == 2 && !strings.Contains(left[0]+left[1], "-299"),
		"kept %v beside a clock that was wrong, %v", left, err)
	refuses(c, 2, []string{"--keep"}, "backup", "x.db", "--keep", "2")
	refuses(c, 2, nil, "backup", "--to", folder, "x.db")
	refuses(c, 2, nil, "backup")
	refuses(c, 1, []string{"nowhere"}, "backup", "--to", filepath.Join(folder, "nowhere"))
}

// TestServeNotifiesTheServiceManager: a service manager is notified when the server is ready, that it is alive, and
// when it stops.
func TestServeNotifiesTheServiceManager(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil && runtime.GOOS != "linux" {
		t.Skip(err) // only Linux has service managers that listen
	}
	assert.OK(t, err)
	defer conn.Close()
	t.Setenv("NOTIFY_SOCKET", socket)
	t.Setenv("WATCHDOG_USEC", "300000")
	p := apptest.Serve(t, t.TempDir(), "--init")
	read := func(want string) {
		t.Helper()
		assert.OK(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
		for buffer := make([]byte, 100); ; {
			n, err := conn.Read(buffer)
			assert.OK(t, err, "waiting for %s", want)
			if string(buffer[:n]) == want {
				return
			}
		}
	}
	read("READY=1")
	read("WATCHDOG=1")
	assert.OK(t, p.Cmd.Process.Signal(os.Interrupt))
	read("STOPPING=1")
}
