package screens

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/app/server"
	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
)

// TestOutsidePagesSpeakPlainly reads the pages of tenants, buyers and visitors who are not signed in, with their
// refusals.
func TestOutsidePagesSpeakPlainly(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	hear := func(what, path string, got apptest.Sheet) {
		r := reader{t: t, said: map[string]bool{}}
		r.hear(what+" "+path, got)
	}
	for path, got := range crawl(h.as(asTenantA, "rental"), "/portal") {
		hear("tenant", path, got)
	}
	for path, got := range crawl(h.as(asBuyer, "store"), "/my") {
		hear("buyer", path, got)
	}
	nobody := map[string][]string{
		"store":       {"/my", "/my/redeem", "/login", "/forgot"},
		"rental":      {"/portal", "/login", "/portal/welcome/nothing"},
		"maintenance": {"/login", "/request/nothing"},
	}
	for service, paths := range nobody {
		v := h.as(asNobody, service)
		for _, path := range paths {
			got := v.Get(path)
			hear("nobody", path, got)
			got.Each(func(n *html.Node) {
				if n.Data == "form" && apptest.Attr(n, "method") == "post" {
					action := apptest.Attr(n, "action")
					if action == "" {
						action = path
					}
					hear("nobody sends", action, post(v, action, sentBy(t, got, apptest.Attr(n, "action"))))
				}
			})
		}
	}
}

// TestActionMessagesSpeakPlainly reads each action's message and question, made from its example.
func TestActionMessagesSpeakPlainly(t *testing.T) {
	t.Parallel()
	money := exact.CurrencyOf("EUR").Format
	said := 0
	for _, service := range server.Declared(nil) {
		for _, op := range service.Ops {
			if op.Response == nil || op.Credential || !op.Writes && !op.Personal || strings.Contains(op.Name, "webhook") || strings.Contains(op.Name, "delivery") {
				continue
			}
			for _, say := range []func(any, schema.Money) string{op.Did, op.Will} {
				if say == nil {
					continue
				}
				text := ofProviders.ReplaceAllString(sayExample(t, op, say, money), "")
				for _, word := range machineTalk.FindAllString(text, -1) {
					assert.That(t, inQuotes(text, word), "%s says %q: %s", op.Name, word, text)
				}
				said++
			}
		}
	}
	assert.That(t, said >= 100, "only %d sentences were read", said)
}

// sayExample is the message for the operation's example; "" if the example of REST is not an answer of the action.
func sayExample(t *testing.T, op schema.Op, say func(any, schema.Money) string, money schema.Money) (text string) {
	t.Helper()
	defer func() { _ = recover() }()
	return strings.NewReplacer("in-progress", "in progress").Replace(say(op.Response, money))
}

// TestCodesShownOnce makes codes on the page. It shows product and end, Download returns them as a file to their maker
// only, and a link leaves the page.
func TestCodesShownOnce(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	v := h.as(asAdmin, "store")
	path := "/do/mint_codes"
	form := status(t, v.Get(path), http.StatusOK)
	choices := optionsOf(form, "sku")
	assert.Must(t, len(choices) != 0, "no product can be chosen")
	sku := choices[0][:strings.IndexByte(choices[0], ' ')]
	shown := status(t, post(v, path, sentBy(t, form, path, "count", "3", "sku", sku)), http.StatusOK, "Download CSV", "Each gives a license", "go to the batch")
	file := post(v, "/shown", sentBy(t, shown, "/shown"))
	lines := strings.Split(strings.TrimSpace(file.Body), "\n")
	if file.Status != http.StatusOK || len(lines) != 4 || lines[0] != "code,product,batch" || !strings.Contains(lines[1], ","+sku+",") || !strings.Contains(shown.Body, lines[1][:19]) {
		t.Errorf("%d %q", file.Status, file.Body)
	}
	assert.Equal(t, post(h.as(asViewer, "store"), "/shown", sentBy(t, shown, "/shown")).Status, http.StatusForbidden,
		"a viewer got")
}

// TestForgottenPeopleAreInNoAddressList forgets a customer and a tenant and searches every list of addresses, as a
// file.
func TestForgottenPeopleAreInNoAddressList(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	ada := s.Person("store", "ada", "admin")
	store, rental := ada.At(s.URL("store", "")), ada.At(s.URL("rental", ""))
	for _, name := range []string{"ann", "bob"} {
		status(t, post(store, "/do/save_customer", map[string][]string{"email": {name + "@example.org"}, "name": {name}}), http.StatusSeeOther)
		status(t, post(rental, "/do/save_tenant", map[string][]string{"email": {name + "@example.org"}, "name": {name}}), http.StatusSeeOther)
	}
	s.MustCLI("store", "customer", "forget", "ann@example.org", "--yes")
	s.MustCLI("rental", "tenant", "forget", "ann", "--yes")
	for _, file := range []apptest.Sheet{store.Get("/customers?format=csv"), rental.Get("/tenants?format=csv")} {
		assert.That(t, file.Status == http.StatusOK && strings.Contains(file.Body, "bob@example.org") &&
			!strings.Contains(file.Body, "ann@") && !strings.Contains(file.Body, "forgotten"), "%d %s", file.Status, file.Body)
	}
	if list := rental.Get("/tenants").Body; !strings.Contains(list, "forgotten-") || strings.Contains(list, "@invalid") {
		t.Errorf("the list of tenants has an address of a forgotten one: %s", list)
	}
}
