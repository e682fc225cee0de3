package screens

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestAnOrdersFormOffersMail: the form of an order has the box only where mail is set up, ticked by default. Unticked,
// nothing is mailed.
func TestAnOrdersFormOffersMail(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	s.MustCLI("store", "product", "save", "PLUGIN", "--name", "Audio plugin", "--kind", "license", "--price-cents", "4900")
	v, path := s.Person("store", "vera", "admin"), "/do/record_order"
	fields := []string{"sku", "PLUGIN", "email", "ann@example.com"}
	before := status(t, v.Get(path), http.StatusOK)
	sent := sentBy(t, before, path, fields...)
	assert.That(t, !sent.Has("mail"), "before mail is set up the form asks about it: %v", sent["mail"])
	status(t, post(v, path, sentBy(t, before, path, fields...)), http.StatusSeeOther)

	to := apptest.StartMail(t)
	s.MustCLI("mail", "set", "--host", "127.0.0.1", "--port", fmt.Sprint(to.Port), "--security", "none", "--from", "shop@example.com")
	form := status(t, v.Get(path), http.StatusOK, "Mail the buyer")
	status(t, post(v, path, sentBy(t, form, path, append(fields, "mail", "false")...)), http.StatusSeeOther)
	assert.Lacks(t, s.MustCLI("mail", "list", "--json"), "ann@example.com", "without the tick")
	status(t, post(v, path, sentBy(t, v.Get(path), path, fields...)), http.StatusSeeOther)
	all := s.MustCLI("mail", "list", "--json")
	assert.That(t, strings.Count(all, "ann@example.com") == 1, "with the tick of the form: %s", all)
}

// TestTheDemoShowsEveryState: of messages. None of them is sent, even after a restart.
func TestTheDemoShowsEveryState(t *testing.T) {
	t.Parallel()
	s := demoShop(t)
	for range 2 {
		all := s.MustCLI("mail", "list", "--limit", "200", "--json")
		for _, state := range []string{"held", "queued", "sending", "sent", "refused", "failed", "cancelled"} {
			assert.Contains(t, all, `"state":"`+state+`"`, "no message is %s", state)
		}
		s.Down()
		s.Up()
	}
	code, _, errs := s.CLI("mail", "test", "ann@example.com")
	assert.That(t, code == 1 && strings.Contains(errs, "demo"), "%d %s", code, errs)
}
