package screens

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// typed is the value of a page's field: of an input or a text area.
func typed(s apptest.Sheet, name string) string {
	value := s.Field(name)
	s.Each(func(n *html.Node) {
		if n.Data == "textarea" && apptest.Attr(n, "name") == name && n.FirstChild != nil {
			value = n.FirstChild.Data
		}
	})
	return value
}

// marked are the refused fields by name, each with its error text.
func marked(s apptest.Sheet) map[string]string {
	texts, fields := map[string]string{}, map[string]string{}
	s.Each(func(n *html.Node) {
		if id := apptest.Attr(n, "id"); strings.HasSuffix(id, "-why") {
			texts[id] = apptest.Text(n)
		}
	})
	s.Each(func(n *html.Node) {
		if apptest.Attr(n, "aria-invalid") == "true" {
			fields[apptest.Attr(n, "name")] = texts[strings.Fields(apptest.Attr(n, "aria-describedby") + " -")[0]]
		}
	})
	return fields
}

// TestFormComesBack sends forms after the session has ended, short ones and one too long for an address. Signing in
// leads back to each, filled in, with the version that it was made from.
func TestFormComesBack(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("maintenance", "alice", "admin")
	status(t, v.Post("/do/save_asset", "asset_tag", "LATHE", "name", "Lathe"), http.StatusSeeOther)
	seen := status(t, v.Get("/do/save_asset?asset_tag=LATHE"), http.StatusOK).Field("seen")
	long := strings.Repeat("It hums & drips, \"loudly\".\n", 300)
	for name, fields := range map[string][]string{
		"short":         {"asset_tag", "LATHE", "name", "Lathe of Ann", "seen", seen, "then", "/assets", "idempotency_key", "k-1"},
		"with an error": {"asset_tag", "LATHE", "name", "", "location", "Hall <2>"},
		"long":          {"asset_tag", "LATHE", "name", "Lathe of Ann", "notes", long, "seen", seen, "then", "/assets", "idempotency_key", "k-2"},
	} {
		status(t, v.Post("/logout"), http.StatusSeeOther)
		asked := status(t, v.Post("/do/save_asset", fields...), http.StatusUnauthorized, "Sign in")
		next, form := asked.Field("next"), asked.Field("form")
		wrong := status(t, v.Post("/login", "name", "alice", "password", "not it at all", "next", next, "form", form), http.StatusUnauthorized)
		assert.That(t, wrong.Field("next") == next && wrong.Field("form") == form,
			"%s: a wrong password loses the form", name)
		in := status(t, v.Post("/login", "name", "alice", "password", apptest.Password, "next", next, "form", form), http.StatusSeeOther)
		for range 2 { // also after a reload
			back := status(t, v.Get(in.Header.Get("Location")), http.StatusOK)
			for i := 0; i < len(fields); i += 2 {
				if got := typed(back, fields[i]); strings.TrimSpace(got) != strings.TrimSpace(fields[i+1]) && fields[i] != "idempotency_key" {
					t.Errorf("%s: the field %s came back as %.60q", name, fields[i], got)
				}
			}
		}
	}
	other := s.Person("maintenance", "bob", "admin")
	got := other.Get("/do/save_asset?draft=" + url.QueryEscape("x"))
	assert.That(t, got.Status == http.StatusOK && typed(got, "notes") == "", "a draft that there is not: %d", got.Status)
}

// TestFormComesBackOutside sends a tenant's and a buyer's form after their session has ended. Signing in again by the
// code, the letter's link or the license key leads back to it, filled in. Another person who signs in there gets
// nothing of it. A form whose owner is unknown, as after a restart, is not returned.
func TestFormComesBackOutside(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	letter := func(i int) string {
		return h.as(asAdmin, "rental").Post("/do/invite_tenant", "tenant_id", fmt.Sprint(h.leases[i].Tenants[0].ID)).Body
	}
	byCode := func(i int) (string, []string) { return "/portal", []string{"code", typedCode.FindString(letter(i))} }
	byLink := func(i int) (string, []string) { return typedLink.FindString(letter(i)), nil }
	byKey := func(i int) (string, []string) {
		var order struct {
			Licenses []struct {
				Key string `json:"license_key"`
			}
		}
		h.Get("store", "/api/orders/"+h.orders[i]).JSON(t, &order)
		return "/my", []string{"license_key", order.Licenses[0].Key}
	}
	long := strings.Repeat("It drips & \"runs\".\n", 400)
	tenant := outsideForm{"/portal", "report_problem", "/portal/do/report_problem", []string{"title", "The tap of Gamma", "priority", "high", "description", long}}
	buyer := outsideForm{"/my", "release_seat", "/my", []string{"activation_id", "987"}}
	for _, c := range []struct {
		what string
		outsideForm
		who, other *apptest.Visitor
		comeIn     func(i int) (string, []string)
	}{
		{"a tenant by the code", tenant, h.as(asTenantA, "rental"), h.as(asTenantB, "rental"), byCode},
		{"a tenant by the link", tenant, h.as(asTenantA, "rental"), h.as(asTenantB, "rental"), byLink},
		{"a buyer", buyer, h.as(asBuyer, "store"), h.second, byKey},
	} {
		key := status(t, c.who.Get(c.door+"/do/"+c.op), http.StatusOK).Field("idempotency_key")
		for _, made := range []struct {
			how, key string
			comes    bool
		}{
			{"by this process for its owner", key, true},
			{"by an earlier process", "00000000" + key[8:], false},
			{"for the other", key[:9] + "1" + key[9:], false},
			{"without a mark", "", false},
		} {
			location(t, c.who.Post(c.door+"/logout"), c.door)
			says := map[bool]string{true: "your form comes back", false: "is lost on this page"}[made.comes]
			door := status(t, c.who.Post(c.door+"/do/"+c.op, append([]string{"idempotency_key", made.key}, c.fields...)...), http.StatusUnauthorized, says)
			carried := []string{"next", door.Field("next"), "unsent", door.Field("unsent")}
			wrong := c.who.Post(c.door, append([]string{"code", "0000-0000", "license_key", "00000-00000-00000-00000-00000"}, carried...)...)
			assert.That(t, wrong.Status == http.StatusNotFound && wrong.Field("unsent") == door.Field("unsent") &&
				wrong.Field("next") == door.Field("next"), "%s: what fits nothing loses the form: %d", c.what, wrong.Status)
			at, with := c.comeIn(1)
			led := c.other.Post(at, append(with, carried...)...)
			if at == c.door {
				location(t, led, c.empty)
				status(t, c.other.Get(c.empty), http.StatusOK, "fill it in again")
			} else {
				location(t, led, c.door)
			}
			at, with = c.comeIn(0)
			if at == c.door {
				with = append(with, carried...) // the link is in a letter and carries nothing
			}
			to := c.who.Post(at, with...).Header.Get("Location")
			assert.Equal(t, strings.HasPrefix(to, c.door+"/do/"+c.op+"?draft="), made.comes,
				"%s, a form made %s: led to %s", c.what, made.how, to)
			if made.comes {
				c.stands(t, c.what, c.who, c.other, to)
			}
		}
	}
}

// outsideForm is a form of a tenant or a buyer; empty is the target if the form does not return.
type outsideForm struct {
	door, op, empty string
	fields          []string
}

// stands expects the form at the address as it was typed, and nothing of it for another person.
func (c outsideForm) stands(t *testing.T, what string, who, other *apptest.Visitor, at string) {
	t.Helper()
	for range 2 { // also after a reload
		back := status(t, who.Get(at), http.StatusOK)
		for i := 0; i < len(c.fields); i += 2 {
			if got := typed(back, c.fields[i]); strings.TrimSpace(got) != strings.TrimSpace(c.fields[i+1]) && c.fields[i] != "priority" {
				t.Errorf("%s: the field %s came back as %.60q", what, c.fields[i], got)
			}
		}
	}
	assert.Lacks(t, other.Get(at).Body, c.fields[1], "%s: somebody else sees the draft by its address", what)
}

var typedLink = regexp.MustCompile(`/portal/welcome/[\w-]{43}`)

var typedCode = regexp.MustCompile(`[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}`)

// TestUploads sends files that are too large, of another kind or cut off. Each is refused by name, the typed values
// stay, and nothing is written.
func TestUploads(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	v := h.as(asMember, "maintenance")
	before := rowsOf(t, h.Server.DB())
	huge := "\xff\xd8\xff" + strings.Repeat("x", 11<<20)
	for _, c := range []struct {
		what, file string
		status     int
		says       string
	}{
		{"too large", huge, http.StatusRequestEntityTooLarge, "larger than the 10 MiB"},
		{"of another kind", "MZ this is a program", http.StatusUnprocessableEntity, "not a picture"},
		{"empty", "", http.StatusUnprocessableEntity, "Choose a photo."},
	} {
		got := v.Upload("/do/add_photo", map[string]string{"id": "12", "caption": "The leak"}, "file", "leak.jpg", c.file)
		if got.Status != c.status || !strings.Contains(apptestAlert(got), c.says) || got.Field("caption") != "The leak" || marked(got)["file"] == "" {
			t.Errorf("a photo %s: %d %q, caption %q, marked %v", c.what, got.Status, apptestAlert(got), got.Field("caption"), marked(got))
		}
	}
	got := h.as(asTenantA, "rental").Upload("/portal/do/report_problem", map[string]string{"title": "A leak", "description": "In the kitchen", "priority": "high"}, "photo", "leak.jpg", huge)
	if got.Status != http.StatusRequestEntityTooLarge || got.Field("title") != "A leak" || typed(got, "description") != "In the kitchen" {
		t.Errorf("a tenant's photo too large: %d %q", got.Status, apptestAlert(got))
	}
	if got := h.as(asMember, "reorder").Upload("/import/skus", nil, "file", "all.csv", "sku,name\n"+strings.Repeat("x", 17<<20)); got.Status != http.StatusRequestEntityTooLarge || !strings.Contains(apptestAlert(got), "all.csv") {
		t.Errorf("a file too large: %d %q", got.Status, apptestAlert(got))
	}
	if got := v.Post("/do/save_asset", "asset_tag", "X", "notes", strings.Repeat("x", 2<<20)); got.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("a form too large: %d", got.Status)
	}
	after := rowsOf(t, h.Server.DB())
	assert.That(t, after == before, "refused uploads wrote %d rows", after-before)
}

// TestEveryRefusedField sends forms with many mistakes. All are reported at once, each at its field with REST's text,
// and typed values stay.
func TestEveryRefusedField(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	for _, c := range []struct {
		service, op string
		fields      []string
		refused     []string
	}{
		{"reorder", "save_sku", []string{"sku", "T-1", "name", "Tea", "unit_cost", "1.2.3.4", "lead_time_days", "soon", "pack_size", "-1", "moq", "x"}, []string{"unit_cost", "lead_time_days", "pack_size", "moq"}},
		{"reorder", "adjust_stock", []string{"sku", "ACC-FILTER-PAPER", "delta", "-999999"}, []string{"delta"}},
		{"reorder", "create_purchase", []string{"supplier", "Paper & Tin", "lines.0.sku", "ACC-FILTER-PAPER", "lines.0.qty", "many", "lines.1.sku", "NIX", "lines.1.qty", "2"}, []string{"lines.0.qty"}},
		{"rental", "record_payment", []string{"lease_id", "2", "charge_id", "x", "amount", "abc"}, []string{"charge_id", "amount"}},
		{"maintenance", "create_workorder", []string{"asset_id", "1", "description", "Hums", "priority", "worst", "due_date", "tomorrow"}, []string{"priority", "due_date"}},
		{"store", "record_order", []string{"email", "nobody", "sku", "PLUGIN", "qty", "0", "lines.0.sku", "", "lines.2.sku", ""},
			[]string{"qty"}},
	} {
		v := h.as(asAdmin, c.service)
		got := status(t, v.Post("/do/"+c.op, c.fields...), http.StatusUnprocessableEntity, `role="alert"`)
		at := marked(got)
		for _, name := range c.refused {
			if at[name] == "" || strings.Contains(at[name], ".0.") || !strings.Contains(apptestAlert(got), at[name][1:]) {
				t.Errorf("%s: %s is not marked with what the summary says: %v, %q", c.op, name, at, apptestAlert(got))
			}
		}
		got.Each(func(n *html.Node) { // a browser sends nothing while such a line, hidden under More, is empty
			name := apptest.Attr(n, "name")
			assert.That(t, c.op != "record_order" || !apptest.Has(n, "required") || !strings.HasPrefix(name, "lines."),
				"%s of an empty line must be filled", name)
		})
		for i := 0; i < len(c.fields); i += 2 {
			value := typed(got, c.fields[i])
			got.Each(func(n *html.Node) {
				if n.Data == "select" && apptest.Attr(n, "name") == c.fields[i] {
					for o := range n.Descendants() {
						if o.Data == "option" && apptest.Has(o, "selected") {
							value = apptest.Attr(o, "value")
						}
					}
				}
			})
			if value != c.fields[i+1] {
				t.Errorf("%s: %s came back as %q", c.op, c.fields[i], value)
			}
		}
	}
}

// TestListsOfObjects edits a draft. Its lines are in the form, and a line that somebody else changed meanwhile is shown
// with both values.
func TestListsOfObjects(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	v, w := h.as(asMember, "reorder"), h.as(asAdmin, "reorder")
	made := v.Post("/do/create_purchase", "supplier", "Paper & Tin", "lines.0.sku", "ACC-FILTER-PAPER", "lines.0.qty", "40", "lines.0.unit_cost", "1,45", "lines.1.sku", "ACC-GIFT-BOX", "lines.1.qty", "50")
	number := strings.TrimPrefix(made.Header.Get("Location"), "/purchase-orders/")
	if made.Status != http.StatusSeeOther || number == "" {
		t.Fatalf("%d %s", made.Status, apptestAlert(made))
	}
	form := status(t, v.Get("/do/edit_purchase?number="+number), http.StatusOK)
	for name, want := range map[string]string{"lines.0.sku": "ACC-FILTER-PAPER", "lines.0.qty": "40", "lines.0.unit_cost": "1.45", "lines.1.sku": "ACC-GIFT-BOX", "lines.1.qty": "50"} {
		assert.Equal(t, form.Field(name), want, "%s is filled with", name)
	}
	edit := func(who *apptest.Visitor, seen, qty string) apptest.Sheet {
		return who.Post("/do/edit_purchase", "number", number, "seen", seen, "lines.0.sku", "ACC-FILTER-PAPER", "lines.0.qty", qty)
	}
	status(t, edit(w, form.Field("seen"), "60"), http.StatusSeeOther)
	refused := status(t, edit(v, form.Field("seen"), "80"), http.StatusConflict, "80", "60")
	status(t, edit(v, refused.Field("seen"), "80"), http.StatusSeeOther)
	assert.Equal(t, status(t, v.Get("/do/edit_purchase?number="+number), http.StatusOK).Field("lines.0.qty"), "80",
		"the draft has")
	const path = "/do/order_purchase"
	asked := status(t, v.Post(path, "number", number), http.StatusOK)
	status(t, post(v, path, sentBy(t, asked, path)), http.StatusSeeOther)
	status(t, v.Post(path, "number", number), http.StatusUnprocessableEntity, "This purchase order has already been ordered.")
}

// TestDoctorPage reads doctor's page: the file, the disk, the deliveries, the rules.
func TestDoctorPage(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	status(t, h.as(asAdmin, "store").Get("/doctor"), http.StatusOK, "No errors found", "MB free", "0 pending",
		"service rental")
}

// TestWithoutScreens serves no page at all: every path except the API's is unknown to everybody.
func TestWithoutScreens(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, "--screens=false")
	for _, service := range []string{"store", "maintenance", "rental", "reorder"} {
		for _, path := range []string{"/", "/login", "/portal", "/my", "/request/x", "/welcome/x", "/static/x/style.css", "/do", "/search?q=x"} {
			if got := s.Visitor(service).Get(path); got.Status != http.StatusNotFound || got.Doc != nil {
				t.Errorf("%s %s: %d %s", service, path, got.Status, got.Header.Get("Content-Type"))
			}
		}
		assert.Equal(t, s.Get(service, "/api/ping").Status, http.StatusOK, "%s: /api/ping", service)
	}
}

// TestAmountsAreRefusedAsTyped sends amounts out of range. A form reports them in units of the currency, as typed; REST
// in cents.
func TestAmountsAreRefusedAsTyped(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	type open struct{ lease, charge int64 }
	var owed open
	err := h.Server.DB().View(context.Background(), func(c *db.Conn) (err error) {
		owed, _, err = db.One(c, func(r *db.Row) open { return open{r.Int(), r.Int()} }, "SELECT lease_id, id FROM charges WHERE paid_date IS NULL ORDER BY id LIMIT 1")
		return err
	})
	assert.Must(t, err == nil && owed.charge != 0, "no charge is open:  %v", err)
	lease, charge := fmt.Sprint(owed.lease), fmt.Sprint(owed.charge)
	for _, c := range []struct {
		service, op string
		fields      []string
		says        string
	}{
		{"rental", "receive_payment", []string{"lease_id", "1", "amount", "-12,50"}, "-12.50 is out of range; enter an amount from 0.01 to 10,000,000,000.00"},
		{"rental", "record_payment", []string{"lease_id", lease, "charge_id", charge, "amount", "99999,50"}, "99999.50 is more than what is open of charge " + charge},
		{"store", "refund_order", []string{"order_ref", h.orders[0], "amount", "99999.50", "confirm", "yes"}, "99999.50 are more than the "},
	} {
		got := h.as(asAdmin, c.service).Post("/do/"+c.op, c.fields...)
		if said := apptestAlert(got); got.Status < 400 || !strings.Contains(said, c.says) || strings.Contains(said, "cents") {
			t.Errorf("%s: %d %q, want %q", c.op, got.Status, said, c.says)
		}
	}
	told := h.Post("rental", "/api/leases/"+lease+"/payments", `{"charge_id":`+charge+`,"amount_cents":9999950}`)
	if told.Status != http.StatusUnprocessableEntity || !strings.Contains(told.Body, "amount_cents: 9999950 is more than what is open of charge "+charge) {
		t.Errorf("REST tells %d %s", told.Status, told.Body)
	}
}

// TestALateFeeIsTypedInUnits sets a late fee of 25 and of 12,50 by the form: the property charges 25.00 and 12.50.
func TestALateFeeIsTypedInUnits(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	v := h.as(asAdmin, "rental")
	for as, want := range map[string]string{"25": "25.00", "12,50": "12.50"} {
		if got := v.Post("/do/set_late_fee", "property_id", "1", "grace_days", "5", "amount", as); got.Status != http.StatusSeeOther {
			t.Fatalf("%d %.300s", got.Status, apptestAlert(got))
		}
		assert.Contains(t, apptest.Text(v.Get("/properties/1").Doc), want, "a late fee of %s", as)
	}
}

// TestRefusedBulkMoveIsReportedOnce moves work orders, one of which may not move. The next page shows its reason once.
func TestRefusedBulkMoveIsReportedOnce(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	v := h.as(asMember, "maintenance")
	sent := v.Post("/do/move_workorders", "status", "in-progress", "id", "987654", "id", "987655")
	if sent.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", sent.Status, apptestAlert(sent))
	}
	got := v.Get(sent.Header.Get("Location"))
	n := strings.Count(got.Body, "there is no work order 987654")
	assert.That(t, n == 1 && strings.Contains(got.Body, "No work order was moved"), "the reason is told %d times", n)
}
