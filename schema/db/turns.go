package db

import (
	"time"

	"zombiezen.com/go/sqlite"
)

// The engine keeps no queue of the processes that want to write: whoever asks when nobody
// writes is next. So one that waits asks often, and one that wrote for long, as an import
// does slice after slice, pauses for longer than the others take to ask again.
const (
	askAgain = time.Millisecond
	longTurn = 20 * time.Millisecond // without the sync at its end
	letIn    = 5 * askAgain
)

// begin starts a transaction that writes, and waits for another process's for busyTimeout.
// The engine's own wait asks at last only ten times a second.
func begin(c *handle) error {
	c.SetBusyTimeout(0)
	defer c.SetBusyTimeout(busyTimeout)
	for since := time.Now(); ; time.Sleep(askAgain) {
		err := run(c, "BEGIN IMMEDIATE")
		if sqlite.ErrCode(err).ToPrimary() != sqlite.ResultBusy || time.Since(since) >= busyTimeout {
			return err
		}
	}
}
