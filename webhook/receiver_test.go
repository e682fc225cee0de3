package webhook_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/webhook"
)

func TestAddRefuses(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	const good, long = "https://shop.example/hooks", "https://shop.example/"
	for _, c := range []struct {
		service, url, event, secret string
		names                       string // the refusal begins with it
	}{
		{"store", "", "", "", "url: the scheme"},
		{"store", "shop.example/hooks", "", "", "url: the scheme"},
		{"store", "ftp://shop.example/", "", "", "url: the scheme"},
		{"store", "javascript:alert(1)", "", "", "url: the scheme"},
		{"store", "https:shop.example", "", "", "url: the host"},
		{"store", "https:///hooks", "", "", "url: the host"},
		{"store", "https://:443/hooks", "", "", "url: the host"},
		{"store", "https://user@shop.example/", "", "", "url: it must not hold a user name"},
		{"store", "https://user:word@shop.example/", "", "", "url: it must not hold a user name"},
		{"store", "https://@shop.example/", "", "", "url: it must not hold a user name"},
		{"store", "https://shop.example:0/", "", "", "url: the port"},
		{"store", "https://shop.example:65536/", "", "", "url: the port"},
		{"store", "https://shop.example:x/", "", "", "url: not a URL"},
		{"store", "https://shop example/", "", "", "url: not a URL"},
		{"store", "https://shop.example/\n", "", "\x00", "secret:"},
		{"store", "https://shop.example/a\nb", "", "", "url: not a URL"},
		{"store", "https://bücher.example/", "", "", "url: write the host in its ASCII form"},
		{"store", long + strings.Repeat("a", 2001-len(long)), "", "", "url: longer than 2000 bytes"},
		{"store", good, "order.lost", "", `event: "order.lost" is not an event of the store service; it has order.paid, order.refunded, code.redeemed`},
		{"reorder", good, "order.paid", "", `event: "order.paid"`},
		{"pizza", good, "", "", `service: "pizza" is not one of reorder, store`},
		{"store", good, "", strings.Repeat("a", 201), "secret: 1 to 200"},
		{"store", good, "", "tab\there", "secret: 1 to 200"},
		{"store", good, "", " s", "secret: 1 to 200"},
		{"store", good, "", "\xff", "secret: 1 to 200"},
		{"store", good, "", "whsec_", "secret: after whsec_ comes"},
		{"store", good, "", "whsec_abc", "secret: after whsec_ comes"},
		{"store", good, "", "whsec_???=", "secret: after whsec_ comes"},
	} {
		var list []string
		if c.event != "" {
			list = []string{c.event}
		}
		_, err := s.receivers.Add(t.Context(), db.CLI(c.service), c.url, list, c.secret, 0)
		assert.That(t, fault.Is(err, fault.Invalid) && strings.HasPrefix(err.Error(), c.names), "%+v: got %v", c, err)
	}
	for _, who := range []db.Caller{
		{Service: "store", User: "ada", Role: "viewer", Scope: "full", Via: "cli"},
		{Service: "store", User: "ada", Role: "admin", Scope: "read", Via: "cli"},
	} {
		if _, err := s.receivers.Add(t.Context(), who, "no url", nil, "", 0); !fault.Is(err, fault.Forbidden) {
			t.Errorf("%s with scope %s: got %v, want a Forbidden before anything else", who.Role, who.Scope, err)
		}
	}
	n := s.number("SELECT COUNT(*) FROM endpoints") + s.number("SELECT COUNT(*) FROM audit")
	assert.That(t, n == 0, "refusals wrote %d rows", n)
}

func TestReceivers(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	ctx, cli := t.Context(), db.CLI("store")
	list := func() []webhook.Receiver {
		t.Helper()
		all := assert.Value(s.receivers.List(ctx, ""))(t)
		return all
	}
	if text, _ := json.Marshal(list()); string(text) != "[]" {
		t.Errorf("an empty list is %s", text)
	}
	one := assert.Value(s.receivers.Add(ctx, cli, "  https://shop.example/secret-path?token=secret-query ", nil, "", 0))(t)
	rest, is := strings.CutPrefix(one.Secret, "whsec_")
	b, err := base64.StdEncoding.DecodeString(rest)
	assert.That(t, is && err == nil && len(b) == 32 && one.ID == 1, "added %+v, want id 1 and a secret of 32 bytes", one)
	two, err := s.receivers.Add(ctx, cli, "http://[2606:4700::1]:8080", []string{"code.redeemed", "order.paid", "order.paid"}, strings.Repeat("ü", 200), 0)
	assert.OK(t, err)
	text, err := json.Marshal(list())
	want := `[{"id":1,"service":"store","url":"https://shop.example/secret-path?token=secret-query","events":["order.paid","order.refunded","code.redeemed"],"enabled":true},` +
		`{"id":2,"service":"store","url":"http://[2606:4700::1]:8080","events":["order.paid","code.redeemed"],"enabled":true}]`
	assert.That(t, err == nil && string(text) == want, "the list is\n%s\nwant\n%s", text, want)
	assert.NoError(t, s.receivers.Disable(ctx, db.CLI(""), two.ID))
	all := list()
	assert.That(t, all[0].Enabled && !all[1].Enabled, "after disabling the second: %+v", all)
	assert.NoError(t, s.receivers.Enable(ctx, cli, two.ID))
	all = list()
	assert.That(t, all[1].Enabled, "after enabling the second: %+v", all)
	_, err = s.receivers.Rotate(ctx, cli, one.ID)
	assert.NoError(t, err)
	assert.NoError(t, s.receivers.Remove(ctx, cli, one.ID))
	all = list()
	assert.That(t, len(all) == 1 && all[0].ID == two.ID, "after removing the first: %+v", all)
	n := s.number("SELECT COUNT(*) FROM endpoints WHERE id = 1 AND url = '' AND secret = '' AND old_secret IS NULL")
	assert.That(t, n == 1, "a removed receiver's URL and secrets are still there")
	_, rotated := s.receivers.Rotate(ctx, cli, one.ID)
	for _, err := range []error{
		rotated, s.receivers.Remove(ctx, cli, one.ID), s.receivers.Enable(ctx, cli, 99), s.receivers.Disable(ctx, cli, 99),
		s.receivers.Remove(ctx, db.CLI("reorder"), two.ID),
	} {
		assert.That(t, fault.Is(err, fault.NotFound), "got %v, want a NotFound", err)
	}
	viewer := db.Caller{Service: "store", User: "ada", Role: "viewer", Scope: "full", Via: "cli"}
	err = s.receivers.Remove(ctx, viewer, 99)
	assert.That(t, fault.Is(err, fault.Forbidden), "a viewer: got %v, want a Forbidden", err)
	s.holdAudit([]string{
		`store cli webhook.added webhook:1 {"site":"https://shop.example","events":[]}`,
		`store cli webhook.added webhook:2 {"site":"http://[2606:4700::1]:8080","events":["order.paid","code.redeemed"]}`,
		`store cli webhook.disabled webhook:2 {}`,
		`store cli webhook.enabled webhook:2 {}`,
		`store cli webhook.rotated webhook:1 {}`,
		`store cli webhook.removed webhook:1 {}`,
	})
}

// holdAudit compares the audit trail.
func (s *fixture) holdAudit(want []string) {
	s.t.Helper()
	var have []string
	err := s.d.View(s.t.Context(), func(c *db.Conn) (err error) {
		have, err = db.All(c, func(r *db.Row) string {
			return strings.Join([]string{r.Text(), r.Text(), r.Text(), r.Text(), r.Text()}, " ")
		}, "SELECT service, actor, action, subject, changes FROM audit WHERE action <> 'test.emitted' ORDER BY id")
		return err
	})
	assert.OK(s.t, err)
	equal(s.t, "the audit trail", have, want)
}

func TestDeliveryShape(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	s.add("https://shop.example")
	s.emit("order.paid")
	d := s.log(webhook.Filter{})[0]
	text, err := json.Marshal(d)
	want := `{"id":1,"service":"store","endpoint_id":1,"event":"order.paid","event_id":"` + d.EventID +
		`","kind":"auto","state":"pending","response_code":null,"error":null,"duration_ms":null,"created_at":"` +
		d.CreatedAt.String() + `","attempted_at":null}`
	assert.That(t, err == nil && string(text) == want, "a delivery is\n%s\nwant\n%s", text, want)
}

func TestDeliveriesFilter(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	s.add("https://one.example")
	s.add("https://two.example", "order.refunded")
	_, err := s.receivers.Add(t.Context(), db.CLI("reorder"), "https://three.example", nil, "", 0)
	assert.OK(t, err)
	s.emit("order.paid", "order.refunded", "order.paid") // deliveries 1; 2 and 3; 4
	if err := db.Exec(t.Context(), s.d, db.CLI("reorder"), func(tx *db.Tx) error {
		if err := tx.Emit("sku.reorder_point", 1); err != nil { // delivery 5
			return err
		}
		return tx.Audit("test.emitted", "test:1", struct{}{})
	}); err != nil {
		t.Fatal(err)
	}
	s.write("UPDATE deliveries SET state = 'failed' WHERE id IN (1, 5)")
	s.write("UPDATE deliveries SET state = 'interrupted' WHERE id = 3")
	s.write("UPDATE deliveries SET state = 'delivered' WHERE id = 2")
	for _, c := range []struct {
		f    webhook.Filter
		want []int64
	}{
		{webhook.Filter{}, []int64{5, 4, 3, 2, 1}},
		{webhook.Filter{Limit: 2}, []int64{5, 4}},
		{webhook.Filter{Service: "store"}, []int64{4, 3, 2, 1}},
		{webhook.Filter{Service: "reorder"}, []int64{5}},
		{webhook.Filter{Service: "rental"}, []int64{}},
		{webhook.Filter{Endpoint: 2}, []int64{3}},
		{webhook.Filter{Endpoint: 1}, []int64{4, 2, 1}},
		{webhook.Filter{Failed: true}, []int64{5, 3, 1}},
		{webhook.Filter{Failed: true, Service: "store", Endpoint: 1, Limit: 9}, []int64{1}},
	} {
		all, err := webhook.Deliveries(t.Context(), s.d, c.f)
		assert.That(t, err == nil && all != nil, "%+v: %v, %v", c.f, all, err)
		ids := []int64{}
		for _, d := range all {
			ids = append(ids, d.ID)
		}
		equal(t, "the deliveries of a filter", ids, c.want)
	}
	_, err = webhook.Deliveries(t.Context(), s.d, webhook.Filter{Endpoint: 9})
	assert.That(t, fault.Is(err, fault.NotFound), "an unknown receiver's log: %v", err)
	var waiting int64
	if err := s.d.View(t.Context(), func(c *db.Conn) (err error) {
		waiting, err = webhook.Pending(c)
		return err
	}); err != nil || waiting != 1 {
		t.Errorf("%d are pending (%v), want 1", waiting, err)
	}
}
