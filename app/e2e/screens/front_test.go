package screens

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestSearchOfAllServices searches in each service, with words in any order, without diacritics and in other letter
// cases. It finds the records of all services in which the user has a role.
func TestSearchOfAllServices(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	ann := s.Person("rental", "ann", "member")
	status(t, ann.Post("/do/save_tenant", "name", "Anna Müller", "email", "anna@example.com"), http.StatusSeeOther)
	status(t, ann.Post("/do/save_property", "name", "Łódzka Straße"), http.StatusSeeOther)
	shop := ann.At(s.URL("store", ""))
	status(t, shop.Post("/do/save_customer", "email", "mueller@example.com", "name", "Müller, Anna"), http.StatusSeeOther)
	status(t, ann.At(s.URL("reorder", "")).Post("/do/save_sku", "sku", "TEA-1", "name", "Thé à la Müller Anna"), http.StatusSeeOther)
	machines := ann.At(s.URL("maintenance", ""))
	status(t, machines.Post("/do/save_asset", "asset_tag", "P-1", "name", "Pumpe für Anna Müller"), http.StatusSeeOther)
	for service, v := range map[string]*apptest.Visitor{"rental": ann, "store": shop, "maintenance": machines} {
		got := status(t, v.Get("/search?q=muller+ANNA"), http.StatusOK, "4 records are found", "Anna Müller", "Müller, Anna", "Thé à la Müller Anna", "Pumpe für Anna Müller")
		for _, to := range []string{"/tenants/1", "/customers/1", "/skus/TEA-1", "/assets/1"} {
			assert.Contains(t, got.Body, to+`"`, "the search of %s does not lead to %s", service, to)
		}
		status(t, v.Get("/search?q=strasse+lodz"), http.StatusOK, "1 record is found")
		status(t, v.Get("/search?q=mueller+anna+pump"), http.StatusOK, "No results")
	}
	status(t, ann.Get("/tenants?q=muller+anna"), http.StatusOK, "Anna Müller")
	status(t, shop.Get("/customers?q=anna+muller"), http.StatusOK, "Müller, Anna")
	status(t, machines.Get("/assets?q=muller+fur"), http.StatusOK, "Pumpe für Anna Müller")
	if got := s.Person("rental", "ben", "viewer", "rental").Get("/search?q=muller"); strings.Contains(got.Body, "customers") || !strings.Contains(got.Body, "1 record is found") {
		t.Errorf("one who may see rentals alone finds: %s", got.Body)
	}
}

// TestFirstSteps does the steps that an empty service's first page lists. Each is ticked when done; the list goes with
// the last one. The menu of services says the state of each.
func TestFirstSteps(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("rental", "ann", "admin")
	step := func(done, todo int) apptest.Sheet {
		t.Helper()
		got := status(t, v.Get("/"), http.StatusOK)
		_, list, _ := strings.Cut(got.Body, `<ol class="steps">`)
		list, _, _ = strings.Cut(list, "</ol>")
		d, n := strings.Count(list, "Done"), strings.Count(list, "To do")
		assert.Must(t, d == done && n == todo, "%d steps are done and %d to do, want %d and %d: %s", d, n, done, todo, list)
		return got
	}
	got := step(0, 4)
	mia := s.Person("rental", "mia", "member").Get("/")
	assert.That(t, !strings.Contains(mia.Body, "currency and time zone") && strings.Count(mia.Body, "To do") == 3,
		"a member has the step of an admin, or not the three others")
	for _, to := range []string{"/settings", "/do/save_property", "/do/save_unit", "/import/tenants", "/do/save_lease"} {
		assert.Contains(t, got.Body, `href="`+to, "the steps do not lead to %s", to)
	}
	for _, sentence := range []string{"0 tenants behind", "0 jobs to do", "0 to order", "0 orders today"} {
		assert.Contains(t, got.Body, sentence, "the menu of services does")
	}
	status(t, v.Post("/do/set_shop", "shop_name", "Brandt", "shop_address", "Harbour 12"), http.StatusSeeOther)
	step(1, 3)
	status(t, v.Post("/do/save_property", "name", "Harbour House"), http.StatusSeeOther)
	step(1, 3)
	status(t, v.Post("/do/save_unit", "property", "Harbour House", "name", "1A"), http.StatusSeeOther)
	step(2, 2)
	status(t, v.Post("/do/save_tenant", "name", "Ada Lindqvist"), http.StatusSeeOther)
	step(3, 1)
	status(t, v.Post("/do/save_lease", "property", "Harbour House", "unit", "1A", "tenant", "Ada Lindqvist", "rent", "900", "frequency", "monthly", "start_date", "2026-11-01"), http.StatusSeeOther)
	assert.Lacks(t, v.Get("/").Body, "First steps", "all is done, and the steps are still there")
	machines := v.At(s.URL("maintenance", ""))
	status(t, machines.Post("/do/save_asset", "asset_tag", "P-1", "name", "Pump"), http.StatusSeeOther)
	status(t, machines.Post("/do/create_workorder", "asset_id", "1", "description", "Leaks", "priority", "urgent"), http.StatusSeeOther)
	status(t, machines.Get("/do/create_workorder"), http.StatusOK, `href="/work-orders" aria-current="page"`,
		`href="/work-orders">Cancel</a>`)
	machines.Head = map[string]string{"Referer": machines.Base + "/assets/1"}
	status(t, machines.Get("/do/create_workorder"), http.StatusOK, `href="/assets" aria-current="page"`,
		`href="/assets/1">Cancel</a>`)
	status(t, v.Get("/"), http.StatusOK, "1 job urgent")
	status(t, machines.Post("/do/advance_status", "id", "1", "status", "cancelled", "confirm", "yes"), http.StatusSeeOther)
	assert.Lacks(t, status(t, machines.Get("/work-orders/1"), http.StatusOK, "The cost is fixed.").Body, "Reopen",
		"a cancelled job, which stays so, says to reopen it")
	status(t, v.Post("/do/set_timezone", "timezone", "Asia/Kolkata", "confirm", "yes"), http.StatusSeeOther)
	assert.Lacks(t, status(t, v.Post("/do/invite_user", "name", "mia"), http.StatusOK).Body, "UTC", "an invitation does")
	status(t, v.Post("/do/add_user", "name", "leo", "role", "member"), http.StatusSeeOther)
	_, row, _ := strings.Cut(v.Get("/users").Body, `data-id="leo"`)
	assert.That(t, strings.Index(row, ">Invite<") <= strings.Index(row, ">Role<"),
		"the next step of a new user is not the invitation")
	assert.Lacks(t, s.Person("rental", "ben", "viewer", "rental").Get("/").Body, "jobs to do",
		"one who may see one service is told of the others")
	if got := status(t, v.At(s.URL("store", "")).Get("/"), http.StatusOK, "First steps"); !strings.Contains(got.Body, url.PathEscape("set_provider")) {
		t.Error("the store's steps have no payment provider")
	}
}

// TestAUserOfOneServiceComesIn: the link of an invitation, by command and on the page, opens the service in which the
// user has a role. The pages of another service lead on to it.
func TestAUserOfOneServiceComesIn(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	home := s.URL("rental", "/")
	s.Person("rental", "ben", "viewer", "rental")
	link := s.MustCLI("user", "invite", "ben")
	assert.That(t, strings.HasPrefix(link, home+"welcome/"), "the command invites to %s", link)
	ben := s.Invited("rental", "ben")
	status(t, ben.At(s.URL("store", "")).Get("/"), http.StatusForbidden, `<a href="`+home+`">Go to Rental</a>`)
	ann := s.Person("store", "ann", "admin")
	status(t, ann.Post("/do/invite_user", "name", "ben"), http.StatusOK, home+"welcome/")
}

// TestListsKeepTheirFilters filters a list. The menu of other pages leads back to it, filtered, for this user alone; on
// the list itself it leads to the whole list. A filter from another page's link is not kept.
func TestListsKeepTheirFilters(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	ann, ben := s.Person("store", "ann", "member"), s.Person("store", "ben", "member")
	leads := func(v *apptest.Visitor, path, to string) {
		t.Helper()
		got := ""
		status(t, v.Get(path), http.StatusOK).Each(func(n *html.Node) {
			if n.Data == "a" && n.FirstChild != nil && n.FirstChild.Data == "Orders" && apptest.Attr(n.Parent, "class") == "menu" {
				got = apptest.Attr(n, "href")
			}
		})
		assert.That(t, got == to, "the menu of %s leads to %q, want %q", path, got, to)
	}
	status(t, ann.Get("/orders?status=refunded"), http.StatusOK)
	leads(ann, "/customers", "/orders")
	ann.Head = map[string]string{"Referer": ann.Base + "/orders"}
	leads(ann, "/orders?q=maja&status=paid&after=9", "/orders")
	leads(ann, "/customers", "/orders?q=maja&status=paid")
	leads(ben, "/customers", "/orders")
	status(t, ann.Get("/orders?status=nonsense"), http.StatusUnprocessableEntity)
	status(t, ann.Get("/orders?status=paid&format=csv"), http.StatusOK)
	leads(ann, "/customers", "/orders?q=maja&status=paid")
	status(t, ann.Get("/orders"), http.StatusOK)
	leads(ann, "/customers", "/orders")
}
