package rest

import (
	"net/http"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestTheBoardRemembersItsFilter: a user who selects their own jobs sees only those at every sign-in, until they select
// all. Others are not affected.
func TestTheBoardRemembersItsFilter(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	ann, ben := s.Person("maintenance", "ann", "member"), s.Person("maintenance", "ben", "member")
	boardOf := func(v *apptest.Visitor) apptest.Sheet { return apptest.StatusIs(t, v.Get("/"), http.StatusOK) }
	choose := func(label, jobs string) {
		t.Helper()
		page := boardOf(ann)
		assert.Must(t, strings.Contains(page.Body, ">"+label+"<"), "no button %q", label)
		apptest.StatusIs(t, ann.Post("/do/choose_board", "jobs", jobs), http.StatusSeeOther)
	}
	const lane = "Done in 14 days"
	choose("Show my jobs only", "mine")
	if page := boardOf(ann).Body; strings.Contains(page, lane) || !strings.Contains(page, "No job is assigned to you.") {
		t.Error("ann still sees all jobs")
	}
	assert.Contains(t, boardOf(ben).Body, lane, "ben's board went with it")
	choose("Show all jobs", "all")
	assert.Contains(t, boardOf(ann).Body, lane, "ann")
}
