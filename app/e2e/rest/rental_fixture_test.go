package rest

import (
	"quartermaster/app/apptest"
)

// export returns a table as CSV.
func export(l *apptest.Rental, table string) string {
	l.T.Helper()
	return l.MustCLI("export", "rental", table)
}
