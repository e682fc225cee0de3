package rest

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestRequesterIsNotified: the sender of the request page is mailed when the job is done. The page asks for an address
// only where mail is set up.
func TestRequesterIsNotified(t *testing.T) {
	t.Parallel()
	s, to := apptest.Start(t), apptest.StartMail(t)
	s.MustCLI("maintenance", "assets", "save", "LATHE-1", "--name", "Lathe")
	page := regexp.MustCompile(`/request/\S+`).FindString(s.MustCLI("maintenance", "requests", "LATHE-1"))
	guest, vera := s.Visitor("maintenance"), s.Person("maintenance", "vera", "member")
	if got := guest.Get(page); got.Status != http.StatusOK || strings.Contains(got.Body, `name="email"`) {
		t.Errorf("before set-up: %d %s", got.Status, got.Body)
	}
	guest.Post(page, "description", "It squeaks")
	assert.Lacks(t, vera.Get("/do/edit_workorder?id=1").Body, "requester_email",
		"before set-up the form asks for an address")
	apptest.SetMail(s, to)
	assert.Contains(t, guest.Get(page).Body, `name="email"`)
	got := guest.Post(page, "description", "It smokes", "email", "not one")
	assert.That(t, got.Status == http.StatusUnprocessableEntity, "%d", got.Status)
	if got := guest.Post(page, "description", "It smokes", "email", "Ann@example.com"); got.Status != http.StatusOK && got.Status != http.StatusCreated && got.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	assert.Contains(t, vera.Get("/work-orders/2").Body, "Ann@example.com", "the order")
	s.MustCLI("maintenance", "move", "in-progress", "1", "2")
	s.MustCLI("maintenance", "move", "done", "1", "2", "--resolution", "New bearing")
	text := lettersOf(t, s, to, 1)[0]
	if m := mails(s)[0]; m.Kind != "answer" || m.Record != "2" || m.To != "Ann@example.com" || !strings.Contains(text, "Subject: Lathe: Done") || !strings.Contains(text, "New bearing") {
		t.Errorf("%+v %s", m, text)
	}
	s.MustCLI("maintenance", "work-orders", "edit", "1", "--requester-email", "bob@example.com")
	code, _, errs := s.CLI("maintenance", "work-orders", "edit", "1", "--requester-email", "bob")
	assert.That(t, code != 0 && strings.Contains(errs, "requester_email"), "%d %s", code, errs)
	s.MustCLI("mail", "pause")
	s.MustCLI("maintenance", "move", "open", "1")
	s.MustCLI("maintenance", "move", "cancelled", "1")
	m := mails(s)[0]
	assert.That(t, m.To == "bob@example.com" && m.State == "queued", "%+v", m)
	s.MustCLI("mail", "cancel", "2")
	s.MustCLI("maintenance", "move", "open", "2")
	s.MustCLI("mail", "resume")
	code, _, errs = s.CLI("mail", "resend", "1", "--yes")
	assert.That(t, code == 1 && strings.Contains(errs, "the work order is open"), "%d %s", code, errs)
	lists(t, vera, "/work-orders/2", 1)
	lists(t, vera, "/work-orders/1", 2)
	trail := s.MustCLI("audit", "--json")
	assert.Lacks(t, trail, "bob@example.com", "the trail tells the address")
	s.MustCLI("maintenance", "work-orders", "edit", "2", "--requester-email", "")
	assert.Lacks(t, vera.Get("/work-orders/2").Body, "Asked for by", "an empty address")
}

// TestAPurchaseOrderIsMailed: when it is ordered or later, as a person's message. Without an address nothing is
// ordered.
func TestAPurchaseOrderIsMailed(t *testing.T) {
	t.Parallel()
	s, to := apptest.Start(t), apptest.StartMail(t)
	s.MustCLI("reorder", "skus", "save", "TEA-1", "--name", "Green tea", "--supplier", "Leaf", "--supplier-sku", "L-77", "--unit-cost-cents", "320")
	draft := func() { s.MustCLI("reorder", "po", "create", "--supplier", "Leaf", "--line", "TEA-1=24") }
	draft()
	code, _, errs := s.CLI("reorder", "po", "order", "PO-000001", "--mail")
	assert.That(t, code == 1 && strings.Contains(errs, "mail is not set up"), "%d %s", code, errs)
	v := s.Person("reorder", "vera", "member")
	assert.Lacks(t, v.Get("/purchase-orders/PO-000001").Body, "Order and mail", "before set-up the page offers to mail")
	apptest.SetMail(s, to)
	code, _, errs = s.CLI("reorder", "po", "order", "PO-000001", "--mail")
	assert.That(t, code == 1 && strings.Contains(errs, "the supplier Leaf has no e-mail address"), "%d %s", code, errs)
	assert.Contains(t, s.MustCLI("reorder", "po", "show", "PO-000001", "--json"), "draft", "it is ordered though it could")
	s.MustCLI("reorder", "suppliers", "save", "Leaf", "--email", "orders@leaf.example")
	assert.Contains(t, v.Get("/purchase-orders/PO-000001").Body, "Order and mail")
	assert.Contains(t, s.MustCLI("reorder", "po", "order", "PO-000001", "--mail"), "ordered")
	text := lettersOf(t, s, to, 1)[0]
	for _, want := range []string{"Subject: Purchase order PO-000001", "L-77 | Green tea | 24 | 3.20\u00a0USD | 76.80\u00a0USD", "Total: 76.80\u00a0USD", "We expect it by 27 November 2026."} {
		assert.Contains(t, text, want, "it lacks")
	}
	assert.That(t, !strings.Contains(text, "Auto-Submitted") && !strings.Contains(text, "X-Auto-Response-Suppress"),
		"it is marked as a machine's")
	out := s.MustCLI("reorder", "po", "mail", "PO-000001", "--dry-run")
	assert.That(t, strings.Contains(out, "orders@leaf.example") && len(mails(s)) == 1, "%v", out)
	s.MustCLI("reorder", "po", "mail", "PO-000001", "--yes")
	lettersOf(t, s, to, 2)
	draft()
	code, _, errs = s.CLI("reorder", "po", "mail", "PO-000002", "--yes")
	assert.That(t, code == 1 && strings.Contains(errs, "is a draft"), "%d %s", code, errs)
	s.MustCLI("mail", "pause")
	s.MustCLI("reorder", "po", "mail", "PO-000001", "--yes")
	s.MustCLI("reorder", "po", "cancel", "PO-000001", "--yes")
	s.MustCLI("mail", "resume")
	m := settled(s, in("cancelled"))
	assert.That(t, *m.Reply == "the purchase order is cancelled", "%+v", m)
	s.MustCLI("mail", "preview", "purchase")
	lists(t, v, "/purchase-orders/PO-000001", 1, 2, 3)
	lists(t, v, "/suppliers/Leaf", 1, 2, 3)
}
