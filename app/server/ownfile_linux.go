package server

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// LetGoOfOwnFile unmaps the pages of the program's own file that the start loaded, since building every operation once
// touches most of it. Needed pages are loaded again from the system's cache. An idle server takes 19 MiB instead of 34,
// doctor at most 31 instead of 33. Nothing depends on it.
func LetGoOfOwnFile() {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer func() { _ = maps.Close() }()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var from, to uintptr
		var rights string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s", &from, &to, &rights); err != nil ||
			!strings.HasSuffix(lines.Text(), " "+self) {
			continue
		}
		if strings.Contains(rights, "w") { // written pages would be lost
			continue
		}
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED)
	}
}
