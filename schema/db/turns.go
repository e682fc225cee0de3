package db

import (
	"time"

	"zombiezen.com/go/sqlite"
)

// The engine has no queue of processes that want to write: the next one to ask is next. So a waiting process asks
// often, and one with a long transaction, such as each batch of an import, pauses longer than the others take to ask
// again.
const (
	askAgain = time.Millisecond
	longTurn = 20 * time.Millisecond // without the final sync
	letIn    = 5 * askAgain
)

// begin starts a write transaction and waits for another process's for busyTimeout. The engine's own wait would at last
// ask only ten times a second.
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
