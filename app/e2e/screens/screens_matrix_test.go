package screens

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/app/screen"
	"quartermaster/app/server"
	"quartermaster/rental"
	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/page"
)

// asNobody and the others are the callers of pages and actions: a visitor, the three roles, a user with a role in
// another service only, a disabled user, two tenants and a buyer.
const (
	asNobody    = "nobody"
	asViewer    = "viewer"
	asMember    = "member"
	asAdmin     = "admin"
	asElsewhere = "role in another service"
	asDisabled  = "disabled"
	asTenantA   = "tenant A"
	asTenantB   = "tenant B"
	asBuyer     = "buyer"
)

var allCallers = []string{asNobody, asViewer, asMember, asAdmin, asElsewhere, asDisabled, asTenantA, asTenantB, asBuyer}

// demoFixture is the demo with all callers.
type demoFixture struct {
	*apptest.Fixture
	people    map[string]*apptest.Visitor
	elsewhere map[string]*apptest.Visitor // by the service without a role
	leases    [2]rental.Lease             // of the two tenants
	orders    [2]string                   // of two buyers; the first is signed in
	second    *apptest.Visitor            // the other buyer
}

// openDemo starts the demo and signs in all callers.
func openDemo(t *testing.T) *demoFixture {
	t.Helper()
	h := &demoFixture{Fixture: demoShop(t), people: map[string]*apptest.Visitor{}, elsewhere: map[string]*apptest.Visitor{}}
	keys := assert.Value(h.Server.DemoKeys(context.Background()))(t)
	h.Keys = keys
	h.people[asNobody] = h.Visitor("store")
	for _, role := range []string{asViewer, asMember, asAdmin} {
		h.people[role] = h.Person("store", role+"-m", role)
	}
	h.people[asDisabled] = h.Person("store", "dora", "admin")
	rentals, rest := h.Person("store", "else-r", "admin", "rental"), h.Person("store", "else-s", "admin", "store")
	for _, name := range server.Names {
		h.elsewhere[name] = rentals
	}
	h.elsewhere["rental"] = rest
	h.tenants()
	h.buyers()
	h.MustCLI("user", "disable", "dora")
	return h
}

// as is the caller at the service.
func (h *demoFixture) as(caller, service string) *apptest.Visitor {
	v := h.people[caller]
	if caller == asElsewhere {
		v = h.elsewhere[service]
	}
	return v.At(h.URL(service, ""))
}

var portalLink = regexp.MustCompile(`/portal/welcome/([A-Za-z0-9_-]{40,})`)

// invite makes staff invite the tenant and returns the letter's token.
func (h *demoFixture) invite(tenant int64) string {
	h.T.Helper()
	letter := h.as(asAdmin, "rental").Post("/do/invite_tenant", "tenant_id", fmt.Sprint(tenant))
	found := portalLink.FindStringSubmatch(letter.Body)
	assert.Must(h.T, letter.Status == http.StatusOK && found != nil, "the letter: %d %.500s", letter.Status, letter.Body)
	return found[1]
}

// tenants signs in the tenants of two leases of different people.
func (h *demoFixture) tenants() {
	h.T.Helper()
	var list struct{ Leases []rental.Lease }
	h.Get("rental", "/api/leases?status=active").JSON(h.T, &list)
	rents := map[int64]int{} // number of leases by tenant
	for _, l := range list.Leases {
		for _, x := range l.Tenants {
			rents[x.ID]++
		}
	}
	alone := 0
	for _, l := range list.Leases {
		if alone < 2 && len(l.Tenants) == 1 && rents[l.Tenants[0].ID] == 1 {
			h.leases[alone] = l
			alone++
		}
	}
	assert.Must(h.T, alone >= 2, "the demo has no two tenants with a lease each")
	for i, name := range []string{asTenantA, asTenantB} {
		v := h.Visitor("rental")
		got := v.Post("/portal/welcome/" + h.invite(h.leases[i].Tenants[0].ID))
		assert.Must(h.T, got.Status == http.StatusSeeOther, "the invitation of %s: %d %s", name, got.Status, got.Body)
		h.people[name] = v
	}
}

// buyers signs in the buyers of two licenses of different people; the first has machines.
func (h *demoFixture) buyers() {
	h.T.Helper()
	var list struct {
		Licenses []struct {
			Key   string `json:"license_key"`
			Ref   string `json:"order_ref"`
			Email string `json:"customer_email"`
			State string `json:"status"`
			Seats int    `json:"activation_count"`
		}
	}
	h.Get("store", "/api/licenses?status=active").JSON(h.T, &list)
	first := list.Licenses[0]
	for _, l := range list.Licenses {
		if l.Seats > first.Seats {
			first = l
		}
	}
	second := first
	for _, l := range list.Licenses {
		if l.Email != first.Email && second.Email == first.Email {
			second = l
		}
	}
	h.orders = [2]string{first.Ref, second.Ref}
	enter := func(fields ...string) *apptest.Visitor {
		v := h.Visitor("store")
		got := v.Post("/my", fields...)
		assert.Must(h.T, got.Status == http.StatusSeeOther, "a buyer: %d %s", got.Status, got.Body)
		return v
	}
	h.people[asBuyer] = enter("license_key", strings.ToLower(first.Key))
	h.second = enter("order_ref", second.Ref, "email", strings.ToUpper(second.Email))
}

// right is a caller's permission in a service, as operations and pages judge it.
var ranks = map[string]int{page.Viewer: 1, page.Member: 2, page.Admin: 3, page.Owner: 3}

// wants is the outcome that the declaration gives a caller: "in", or why not.
func wants(caller string, area page.Area, role string, open bool) string {
	switch {
	case area == page.Public, open:
		return "in"
	case area == page.Tenant && (caller == asTenantA || caller == asTenantB), area == page.Buyer && caller == asBuyer:
		return "in"
	case area != page.Staff:
		return "door"
	case caller == asElsewhere:
		return "forbidden"
	case ranks[caller] == 0:
		return "sign in"
	case ranks[caller] < ranks[role]:
		return "forbidden"
	}
	return "in"
}

// judge compares an answer with the outcome.
func judge(t *testing.T, what, want string, get bool, got apptest.Sheet) {
	t.Helper()
	location := got.Header.Get("Location")
	good := false
	switch want {
	case "in":
		good = got.Status != http.StatusUnauthorized && got.Status != http.StatusForbidden && got.Status < 500 && !strings.HasPrefix(location, "/login")
	case "forbidden":
		good = got.Status == http.StatusForbidden && strings.Contains(got.Body, "role")
	case "sign in":
		good = get && got.Status == http.StatusSeeOther && strings.HasPrefix(location, "/login?next=") || !get && got.Status == http.StatusUnauthorized
	case "door":
		good = got.Status == http.StatusSeeOther && (location == "/portal" || location == "/my")
		if !get { // the sign-in page itself, which leads back to the form
			good = got.Status == http.StatusUnauthorized && (hasField(got, "code") || hasField(got, "license_key"))
		}
	case "method":
		good = got.Status == http.StatusMethodNotAllowed && got.Header.Get("Allow") != ""
	}
	if !good {
		t.Errorf("%s: %d to %q, want %s: %.200s", what, got.Status, location, want, apptestHeading(got))
	}
}

func apptestHeading(got apptest.Sheet) string {
	if h := got.First("h1"); h != nil {
		return apptest.Text(h)
	}
	return got.Body
}

// roleOf is the role that an operation needs.
func roleOf(op schema.Op) string {
	switch {
	case op.Personal:
		return page.Viewer
	case op.Admin:
		return page.Admin
	case op.Writes:
		return page.Member
	}
	return page.Viewer
}

// examples returns an address of each pattern with an existing record, from an admin's links.
func (h *demoFixture) examples(t *testing.T, service string) map[string]string {
	found := map[string]string{}
	for _, path := range h.walked(t, service) {
		plain, _, _ := strings.Cut(path, "?")
		if p := h.Server.Screens(service).PatternOf(plain); p != "" && found[p] == "" {
			found[p] = path
		}
	}
	return found
}

// walked are the pages that an admin reaches by links of a service, without secretAddresses, sorted by address.
func (h *demoFixture) walked(t *testing.T, service string) []string {
	w := &walker{t: t, v: h.as(asAdmin, service), service: service, role: "admin"}
	w.walk()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(w.asked)), func(path string) bool { return h.secret(service, path) })
}

// secret reports whether the path imports or exports a table that gives access.
func (h *demoFixture) secret(service, path string) bool {
	plain, _, _ := strings.Cut(path, "?")
	i := slices.IndexFunc(h.Server.Declared(), func(s schema.Service) bool { return s.Name == service })
	return slices.ContainsFunc(h.Server.Declared()[i].Tables, func(t schema.Table) bool {
		return t.Secret && (plain == "/import/"+t.Name || plain == "/export/"+t.Name)
	})
}

// secretAddresses are the imports and exports of tables that give access, each as an address beside those of its
// pattern.
func (h *demoFixture) secretAddresses(service string, examples map[string]string) (all []screen.Address) {
	for _, a := range h.Server.Screens(service).Addresses() {
		for _, s := range h.Server.Declared() {
			for _, t := range s.Tables {
				if t.Secret && s.Name == service && strings.HasSuffix(a.Pattern, "/:table") {
					a.Pattern = strings.Replace(a.Pattern, ":table", t.Name, 1)
					examples[a.Pattern] = a.Pattern
					all = append(all, a)
				}
			}
		}
	}
	return all
}

// addressOf fills a pattern's names with a record that does not exist.
func addressOf(pattern string) string {
	parts := strings.Split(pattern, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, ":") {
			parts[i] = "999999"
		}
	}
	return strings.Join(parts, "/")
}

// TestPagePermissions requests every address of every service as each of the nine callers, by GET and by POST.
// The declarations determine each answer.
func TestPagePermissions(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	asked := 0
	for _, service := range server.Names {
		screens := h.Server.Screens(service)
		examples := h.examples(t, service)
		before := rowsOf(t, h.Server.DB())
		for _, a := range append(screens.Addresses(), h.secretAddresses(service, examples)...) {
			if strings.Contains(a.Pattern, "/do/:name") || strings.HasPrefix(a.Pattern, "/logout") || strings.HasSuffix(a.Pattern, "/logout") {
				continue // tested below, and by TestSignIn
			}
			path := examples[a.Pattern]
			if path == "" {
				path = addressOf(a.Pattern)
			}
			if h.secret(service, path) { // such a table needs an admin, whatever the role for the others
				a.Role = page.Admin
			}
			for _, caller := range allCallers {
				v := h.as(caller, service)
				asked += 2
				h.get(t, service, a, path, caller, v)
				h.post(t, service, a, path, caller, v)
			}
		}
		after := rowsOf(t, h.Server.DB())
		assert.That(t, after == before, "%s: asking for every page wrote %d rows", service, after-before)
	}
	t.Logf("%d requests", asked)
}

func (h *demoFixture) get(t *testing.T, service string, a screen.Address, path, caller string, v *apptest.Visitor) {
	t.Helper()
	got, what := v.Get(path), fmt.Sprintf("%s GET %s as %s", service, path, caller)
	want := wants(caller, a.Area, a.Role, a.Open)
	switch {
	case !a.Get:
		want = "method"
	// the sign-in pages themselves
	case a.Pattern == "/portal" || a.Pattern == "/my" || strings.HasSuffix(a.Pattern, "/welcome/:token") && a.Area != page.Staff:
		inside := wants(caller, a.Area, a.Role, a.Open) == "in" && !strings.HasSuffix(a.Pattern, "/welcome/:token")
		if got.Status == http.StatusOK && inside == (got.Field("code")+got.Field("license_key") == "" && !hasField(got, "code") && !hasField(got, "license_key")) {
			return
		}
		want = "in"
	}
	judge(t, what, want, true, got)
	assert.That(t, want != "in" || a.Role == "" || got.Status == http.StatusOK || got.Status == http.StatusSeeOther ||
		got.Status == http.StatusNotFound, "%s: %d", what, got.Status)
}

func hasField(s apptest.Sheet, name string) bool {
	found := false
	s.Each(func(n *html.Node) { found = found || apptest.Attr(n, "name") == name })
	return found
}

func (h *demoFixture) post(t *testing.T, service string, a screen.Address, path, caller string, v *apptest.Visitor) {
	t.Helper()
	if a.Post && a.Area != page.Staff || a.Pattern == "/login" || a.Pattern == "/welcome/:token" {
		return // a sign-in page: TestSignIn, TestTenantsDoor, TestBuyersDoor
	}
	want := "method"
	if a.Post {
		want = wants(caller, a.Area, a.Role, a.Open)
	} else if wants(caller, a.Area, page.Viewer, a.Open) == "forbidden" {
		want = "method" // for everybody
	}
	judge(t, fmt.Sprintf("%s POST %s as %s", service, path, caller), want, false, v.Post(path))
}

// TestFormPermissions opens the form of every operation and sends it, empty, as each of the nine callers.
// Refused ones write nothing.
func TestFormPermissions(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	asked := 0
	for _, service := range server.Names {
		screens := h.Server.Screens(service)
		for area, base := range map[page.Area]string{page.Staff: "/do/", page.Tenant: "/portal/do/", page.Buyer: "/my/do/"} {
			for _, op := range screens.Acts(area) {
				for _, caller := range allCallers {
					asked += 2
					h.act(t, service, area, base, op, caller)
				}
			}
		}
	}
	t.Logf("%d requests", asked)
}

// endsOwn are operations whose empty form affects the caller.
var endsOwn = map[string]bool{"end_other_sessions": true}

func (h *demoFixture) act(t *testing.T, service string, area page.Area, base string, op schema.Op, caller string) {
	t.Helper()
	v, path := h.as(caller, service), base+op.Name
	want := wants(caller, area, roleOf(op), false)
	reads := !op.Writes && !op.Personal
	got := v.Get(path)
	judge(t, fmt.Sprintf("%s GET %s as %s", service, path, caller), want, true, got)
	assert.That(t, want != "in" || got.Status == http.StatusOK, "%s GET %s as %s: %d", service, path, caller, got.Status)
	if want == "in" && endsOwn[op.Name] {
		return
	}
	if reads {
		want = "method"
	}
	before := rowsOf(t, h.Server.DB())
	got = v.Post(path)
	judge(t, fmt.Sprintf("%s POST %s as %s", service, path, caller), want, false, got)
	after := rowsOf(t, h.Server.DB())
	assert.That(t, want == "in" || after == before, "%s POST %s as %s wrote %d rows", service, path, caller, after-before)
}
