package screen

import (
	"net/url"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
)

// leads is the browser's next page after the operation.
func (x *exchange) leads(op schema.Op, in *sent, answer any) (to string) {
	if in.then != "" {
		return x.ours(x.bring(op, in, answer, in.then))
	}
	to = x.homeOf()
	if op.Leads == nil {
		return to
	}
	if path := op.Leads(answer); path != "" {
		to = path
	}
	return to
}

func (x *exchange) homeOf() string {
	switch x.route.area {
	case page.Tenant:
		return "/portal"
	case page.Buyer:
		return "/my"
	}
	return "/"
}

// done redirects with a message; a one-time secret is shown here.
func (x *exchange) done(op schema.Op, in *sent, answer any) error {
	if v, is := answer.(copied); is {
		return x.sendCopy(v)
	}
	if v, is := answer.(schema.Downloader); is {
		return x.sendDownload(v)
	}
	if op.Credential {
		return x.showOnce(op, in, answer)
	}
	m := message{Text: didText(op, answer, x.shop)}
	if some, is := answer.(schema.Partial); is {
		refused, failure := some.Refusals()
		m.Refused, m.Failed = refused, failure != nil && refused == nil
		for i, r := range m.Refused {
			if plain := op.Plain(&fault.Error{Detail: r}).Detail; strings.EqualFold(plain[:1], r[:1]) {
				m.Refused[i] = r[:1] + plain[1:] // it may begin with an identifier
			}
		}
		if n := len(m.Refused); n > mostRefused {
			m.Refused = append(m.Refused[:mostRefused:mostRefused], "and "+page.Num(n-mostRefused)+" more")
		}
	}
	if left, is := answer.(schema.Left); is && in.marked != "" && len(left.Left()) > 0 {
		m.Marks = &page.Marks{Op: in.marks.Op, Values: left.Left(), Fields: in.marks.Fields}
		delete(m.Marks.Fields, "match")
	}
	if op.Undo != nil && x.visitor.area == page.Staff {
		m.Undo = op.Undo(answer)
		m.Key = newKey()
	}
	to := x.leads(op, in, answer)
	path, _, _ := strings.Cut(to, "?")
	if r, _ := x.s.router.Find(path); r == nil || !r.prints { // else the next page would say it
		x.s.flashes.add(x.visitor.session.ID, m)
	}
	return x.lead(to)
}

// didText is the message of what was done.
func didText(op schema.Op, answer any, shop shopSettings) (text string) {
	text = "Done: " + op.PageTitle() + "."
	if op.Did == nil {
		return text
	}
	if did := op.Did(answer, exact.CurrencyOf(shop.currency).Format); did != "" {
		text = stated(did, shop)
	}
	return text
}

// ours returns a path of a readable page of this area, and the first page for any other.
func (x *exchange) ours(to string) string {
	u, err := url.Parse(to)
	home := x.homeOf()
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || u.Opaque != "" || len(to) < 1 || to[0] != '/' ||
		len(to) > 4000 {
		return home
	}
	if len(to) > 1 && (to[1] == '/' || to[1] == '\\') ||
		slices.ContainsFunc([]byte(to), func(b byte) bool { return b < 0x20 || b == '\\' || b == 0x7f }) {
		return home
	}
	r, _ := x.s.router.Find(u.EscapedPath())
	if r == nil || r.get == nil || r.area != x.route.area || notRead[r.pattern] {
		return home
	}
	return to
}

// notRead are addresses to which no redirect leads.
var notRead = map[string]bool{"/login": true, "/logout": true, "/welcome/:token": true}
