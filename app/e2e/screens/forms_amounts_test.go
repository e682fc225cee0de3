package screens

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestAmountsThatCanBeReadInTwoWays types one separator followed by three digits. It is refused with both readings, in
// new and old forms; a quantity accepts it.
func TestAmountsThatCanBeReadInTwoWays(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("reorder", "ada", "member")
	for typed, says := range map[string]string{
		"1.234": "Write 1234 or 1.23.", "12,345": "Write 12345 or 12.34.", "0.123": "at most 2 decimals", "-1.234": "Write -1234 or -1.23.",
		"12.5.0": "is not an amount",
	} {
		got := status(t, v.Post("/do/save_sku", "sku", "T-1", "name", "Tea", "unit_cost", typed), http.StatusUnprocessableEntity, "Unit cost: ")
		if !strings.Contains(apptest.Text(got.Doc), says) {
			t.Errorf("%s: %q is not in %.600s", typed, says, apptestAlert(got))
		}
	}
	for i, typed := range []string{"1,234.50", "1.234,50", "1234", "1 234", "1.234.567", "12.34"} {
		status(t, v.Post("/do/save_sku", "sku", fmt.Sprint("U-", i), "name", "Tea", "unit_cost", typed, "moq", "1.018"), http.StatusSeeOther)
	}
}

// TestPaymentsAreReadAsPeopleMean: an unknown payment method and an invalid date are refused on the page and at the
// command line, while REST accepts them. The form has today filled in. More than three times the open amount needs a
// confirmation that names the amount.
func TestPaymentsAreReadAsPeopleMean(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	v := h.as(asAdmin, "rental")
	const path = "/do/receive_payment"
	lease := countOf(t, h, "SELECT min(lease_id) FROM charges WHERE paid_date IS NULL AND due_date <= (SELECT max(due_date) FROM charges WHERE paid_date IS NOT NULL)")
	form := sentBy(t, v.Get(path+"?lease_id="+lease), path, "amount", "100.00")
	assert.That(t, form.Get("paid_date") == "2026-11-20", "the form's day is %q, not today", form.Get("paid_date"))
	for name, wrong := range map[string]string{"method": "barter", "paid_date": "2026-02-30"} {
		sent := maps.Clone(form)
		sent.Set(name, wrong)
		got := status(t, post(v, path, sent), http.StatusUnprocessableEntity)
		if marked(got)[name] == "" {
			t.Errorf("%s %q is not marked: %q", name, wrong, apptestAlert(got))
		}
		flag := "--" + strings.ReplaceAll(name, "_", "-")
		if code, out, errs := h.CLI("rental", "receive", "#"+lease, "--amount-cents", "100", flag, wrong); code == 0 || !strings.Contains(errs, flag) {
			t.Errorf("the command took %s %q: %d %s%s", flag, wrong, code, out, errs)
		}
	}
	charge := countOf(t, h, "SELECT min(id) FROM charges WHERE paid_date IS NULL AND lease_id = "+lease)
	told := h.Post("rental", "/api/leases/"+lease+"/payments", `{"charge_id":`+charge+`,"amount_cents":100,"method":"barter","paid_date":"soon"}`)
	assert.That(t, told.Status == http.StatusCreated, "REST refuses %d %s", told.Status, told.Body)
	form.Set("amount", "98765432.10")
	before := rowsOf(t, h.Server.DB())
	asked := status(t, post(v, path, form), http.StatusOK, "98,765,432.10", "Keep it")
	assert.Equal(t, rowsOf(t, h.Server.DB()), before, "it was recorded before the question was answered")
	status(t, post(v, path, sentBy(t, asked, path)), http.StatusSeeOther)
}
