package rest

import (
	"context"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// The maintenance service from outside. Other tests hold what the services share: TestOperationPermissions and
// TestToolPermissions (permissions), TestOrderOfRefusals, TestPingAndHealthReportTheVersions, the goldens
// (surface), and webhook and mcp (one attempt, its five seconds, the last 200 deliveries, the protocol).

// events are the bodies of the service's stored events, oldest first.
func events(w apptest.Maintenance) (bodies []string) {
	w.T.Helper()
	err := w.Server.DB().View(context.Background(), func(c *db.Conn) (err error) {
		bodies, err = db.All(c, db.Text, "SELECT CAST(body AS TEXT) FROM events WHERE service = 'maintenance' ORDER BY seq")
		return err
	})
	assert.OK(w.T, err)
	return bodies
}
