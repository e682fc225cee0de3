package screens

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/app/server"
	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

// optionsOf returns the choices of a field: of its select, or of its suggestions.
func optionsOf(page apptest.Sheet, field string) (texts []string) {
	list := ""
	page.Each(func(n *html.Node) {
		if n.Data == "input" && apptest.Attr(n, "name") == field {
			list = apptest.Attr(n, "list")
		}
	})
	page.Each(func(n *html.Node) {
		if n.Data != "select" || apptest.Attr(n, "name") != field {
			if n.Data != "datalist" || list == "" || apptest.Attr(n, "id") != list {
				return
			}
		}
		for o := range n.Descendants() {
			if o.Data == "option" && apptest.Attr(o, "value") != "" {
				texts = append(texts, strings.TrimSpace(apptest.Attr(o, "value")+" "+apptest.Text(o)))
			}
		}
	})
	return texts
}

// TestChoicesAreSuggested fills in forms of a property of 60 flats as a browser without script. A text that means one
// lease is accepted. One that means several is refused with those. A number that names none is never read as a word.
func TestChoicesAreSuggested(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("rental", "ada", "admin").At(s.URL("rental", ""))
	status(t, post(v, "/do/save_property", url.Values{"name": {"Mill"}}), http.StatusSeeOther)
	for i := 1; i <= 60; i++ {
		unit, tenant := fmt.Sprintf("%02d", i), fmt.Sprintf("Tenant %02d", i)
		status(t, post(v, "/do/save_unit", url.Values{"property": {"Mill"}, "name": {unit}}), http.StatusSeeOther)
		status(t, post(v, "/do/save_tenant", url.Values{"name": {tenant}}), http.StatusSeeOther)
		status(t, post(v, "/do/save_lease", url.Values{"property": {"Mill"}, "unit": {unit}, "start_date": {"2026-11-01"},
			"tenant": {tenant}, "rent": {"900"}}), http.StatusSeeOther)
	}
	path := "/do/add_charge"
	status(t, v.Get("/leases"), http.StatusOK) // posts due charges
	status(t, v.Get("/"), http.StatusOK)
	fresh := func() apptest.Sheet { return status(t, v.Get(path), http.StatusOK) }
	form := status(t, fresh(), http.StatusOK, `data-find="/choices?op=add_charge`)
	assert.Equal(t, len(optionsOf(form, "lease_id")), 50, "leases are suggested at first")
	found := v.Get("/choices?op=add_charge&field=lease_id&q=tenant+55")
	body := found.Body
	assert.That(t, strings.Contains(body, "Mill / 55, Tenant 55") && strings.Count(body, "<option") == 1 &&
		strings.Contains(body, "owes"), "tenant 55 suggests %s", body)
	charge := []string{"type", "other", "amount", "12.50", "label", "Key", "due_date", "2026-11-20"}
	status(t, post(v, path, sentBy(t, fresh(), path, append(charge, "lease_id", "tenant 55")...)), http.StatusSeeOther)
	several := status(t, post(v, path, sentBy(t, fresh(), path, append(charge, "lease_id", "tenant 5")...)),
		http.StatusUnprocessableEntity, "Several match", "Choose one")
	if got := optionsOf(several, "lease_id"); len(got) != 15 { // 05, 15, 25, 35, 45, 50 to 59
		t.Errorf("tenant 5 offers %d: %v", len(got), got)
	}
	sent := sentBy(t, several, path)
	assert.That(t, sent.Get("label") == "Key" && sent.Get("amount") == "12.50", "what was typed is gone: %v", sent)
	sent.Set("lease_id", "57")
	status(t, post(v, path, sent), http.StatusSeeOther)
	status(t, post(v, path, sentBy(t, fresh(), path, append(charge, "lease_id", "999")...)), http.StatusNotFound, "999")
	status(t, post(v, path, sentBy(t, fresh(), path, append(charge, "lease_id", "nobody")...)),
		http.StatusUnprocessableEntity)

	viewer := s.Person("rental", "vic", "viewer").At(s.URL("rental", ""))
	assert.Equal(t, viewer.Get("/choices?op=add_charge&field=lease_id&q=55").Status, http.StatusForbidden,
		"a viewer is suggested leases")
}

// TestNewBesideAChoice makes a lease in an empty property by its form alone. Unit, property and tenant are made next to
// their choices. Each leads back to the form with what was typed and the new record chosen.
func TestNewBesideAChoice(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("rental", "ada", "admin").At(s.URL("rental", ""))
	lease, unit, property, tenant := "/do/save_lease", "/do/save_unit", "/do/save_property", "/do/save_tenant"
	follow := func(from apptest.Sheet) apptest.Sheet {
		t.Helper()
		status(t, from, http.StatusSeeOther)
		return status(t, v.Get(from.Header.Get("Location")), http.StatusOK)
	}
	form := status(t, v.Get(lease), http.StatusOK, "New unit", "New tenant")
	toUnit := follow(post(v, lease, sentBy(t, form, lease, "start_date", "2026-12-01", "rent", "950.00", "new", "unit")))
	toProperty := follow(post(v, unit, sentBy(t, toUnit, unit, "name", "2A", "new", "property")))
	toUnit = follow(post(v, property, sentBy(t, toProperty, property, "name", "Harbour House")))
	sent := sentBy(t, toUnit, unit)
	assert.Must(t, sent.Get("property") == "Harbour House" && sent.Get("name") == "2A", "New unit came back with %v", sent)
	form = follow(post(v, unit, sent))
	toTenant := follow(post(v, lease, sentBy(t, form, lease, "new", "tenant")))
	form = follow(post(v, tenant, sentBy(t, toTenant, tenant, "name", "Ann Lee", "email", "ann@example.org")))
	sent = sentBy(t, form, lease)
	for name, want := range map[string]string{"rent": "950.00", "start_date": "2026-12-01",
		"tenant": "Ann Lee <ann@example.org>", "unit": "Harbour House\t2A"} {
		assert.Equal(t, sent.Get(name), want, "New lease came back with %s", name)
	}
	// a second tenant has an input of their own: one that is made meanwhile comes back beside the first, instead of the
	// name that was typed
	sent.Add("tenant", "Bo L")
	sent.Set("new", "tenant")
	toTenant = follow(post(v, lease, sent))
	assert.Equal(t, sentBy(t, toTenant, tenant).Get("name"), "Bo L", "New tenant begins with the name")
	form = follow(post(v, tenant, sentBy(t, toTenant, tenant, "name", "Bo Lee")))
	sent = sentBy(t, form, lease)
	assert.EqualSlices(t, sent["tenant"], []string{"Ann Lee <ann@example.org>", "Bo Lee", ""},
		"New lease came back with the tenants")
	made := status(t, post(v, lease, sent), http.StatusSeeOther).Header.Get("Location")
	status(t, v.Get("/leases"), http.StatusOK, "Ann Lee &amp; Bo Lee", "Harbour House")
	// a second unit of the only property has it chosen
	assert.Equal(t, sentBy(t, status(t, v.Get(unit), http.StatusOK), unit).Get("property"), "Harbour House",
		"New unit begins with the property")
	status(t, v.Get(made), http.StatusOK, "Ann Lee &amp; Bo Lee owe")
}

// TestQuestionsNameTheRecord asks to confirm what cannot be undone: the heading names the record.
func TestQuestionsNameTheRecord(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	who := db.Caller{User: "ann", Role: "admin", Scope: "full"}
	assert.OK(t, db.Exec(t.Context(), h.Server.DB(), who, func(tx *db.Tx) error {
		return errors.Join(tx.SetSetting(db.SettingServices, "store,maintenance,rental"),
			tx.Audit("settings.services", "settings", nil))
	}))
	asked := post(h.as(asAdmin, "store"), "/do/switch_on", url.Values{"service": {"reorder"}})
	assert.That(t, asked.Status == http.StatusOK && headingOf(asked) == "Switch reorder on?",
		"switching a service on: %d %q", asked.Status, headingOf(asked))
	for _, c := range []struct{ service, path, heading string }{
		{"reorder", "/do/cancel_purchase?number=PO-000001", "Cancel PO-000001, "},
		{"rental", "/do/end_tenant_sessions?tenant_id=1", "End tenant sessions "},
		{"rental", "/do/cancel_lease?lease_id=1", ""},
		{"store", "/do/revoke_license?license_id=1", "Revoke the license of "},
		{"store", "/do/forget_customer?customer_id=1", "Forget customer "},
	} {
		got := h.as(asAdmin, c.service).Get(c.path)
		h := headingOf(got)
		assert.That(t, got.Status == http.StatusOK && strings.HasPrefix(h, c.heading) && (c.heading == "" ||
			strings.HasSuffix(h, "?")), "%s: %d %q", c.path, got.Status, h)
	}
}

// headingOf returns the page's heading.
func headingOf(page apptest.Sheet) (text string) {
	page.Each(func(n *html.Node) {
		if n.Data == "h1" {
			text = strings.TrimSpace(apptest.Text(n))
		}
	})
	return text
}

// ofTheirPage are acts whose record is chosen by its button alone: its number says nothing to people.
var ofTheirPage = []string{
	"save_tenant id", "set_license_api store_id", "map_provider their_product_id", "release_seat activation_id",
	"remove_photo id",
	"dismiss_payment provider_ref", "retry_payment provider_ref", "link_subscription subscription_ref",
	"delivery_request id", "end_session id", "show_mail id", "record_order provider_ref",
}

// TestRecordsAreChosenNotNumbered opens each form without a record: the one that it is about is chosen from a
// list, or suggested, by more than its number.
func TestRecordsAreChosenNotNumbered(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	named := regexp.MustCompile(`^id$|_id$|_ref$|^batch$|^number$`)
	for _, service := range server.Names {
		v := h.as(asAdmin, service)
		for _, op := range h.Server.Screens(service).Acts(page.Staff) {
			var form apptest.Sheet
			for _, a := range op.Args(schema.Page) {
				if !a.Required || !named.MatchString(a.Name) || a.Kind == schema.ListKind ||
					slices.Contains(ofTheirPage, op.Name+" "+a.Name) {
					continue
				}
				if form.Doc == nil {
					form = status(t, v.Get("/do/"+op.Name), http.StatusOK)
				}
				options := optionsOf(form, a.Name)
				bare := slices.IndexFunc(options, func(o string) bool { return strings.Trim(o, "#0123456789 ") == "" })
				assert.That(t, a.HasChoices() && bare < 0, "%s: %s is not chosen: %q", op.Name, a.Name, options)
			}
		}
	}
	refund := status(t, h.as(asAdmin, "store").Get("/choices?op=refund_order&field=order_ref&q="+h.orders[0]),
		http.StatusOK)
	assert.That(t, strings.Contains(refund.Body, h.orders[0]+", ") && strings.Count(refund.Body, "<option") == 1,
		"an order suggests %s", refund.Body)
}
