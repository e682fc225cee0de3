package screen

import (
	"net/url"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
)

func (v *doView) unavailable() bool { return v.refusal != nil && v.refusal.Kind == fault.Unavailable }

// actionOf is the address of the question's form: where it came from.
func actionOf(v *doView) string { return v.action + v.op.Name }

// cannot is the reason why the operation is refused with any input; "" if it is not, or only because a field is still
// empty.
func (v *doView) cannot() string {
	e, refused := fault.As(v.will.err)
	if !refused || e.Kind == fault.Invalid {
		return ""
	}
	return v.op.Plain(e).Detail
}

// existing is the Edit form of the record with the keys.
func (v *doView) existing() string {
	q := url.Values{}
	for _, key := range v.op.Keys {
		q.Set(schema.PageField(key), v.given.Get(schema.PageField(key)))
	}
	return v.action + v.op.Name + "?" + q.Encode()
}

// placeOf is the list to which the operation's records belong, else the first page.
func (x *exchange) placeOf(op schema.Op) string {
	_, path, _ := strings.Cut(op.Route, " /api/")
	list, _, _ := strings.Cut(path, "/")
	_, noun, _ := strings.Cut(op.Name, "_")
	for _, to := range []string{"/" + noun + "s", "/" + list} {
		if r, _ := x.s.router.Find(to); r != nil && r.get != nil && r.area == page.Staff && x.route.area == page.Staff {
			return to
		}
	}
	return x.homeOf()
}

// backOf is the link that leaves a question.
func backOf(v *doView) string {
	if v.then != "" {
		return v.then
	}
	return v.home
}

// hiddenOf are the fields of a question: all that was sent, and the confirmation.
func hiddenOf(v *doView, fm page.Form) [][2]string {
	var h [][2]string
	for _, name := range sortedKeys(v.given) {
		for _, value := range v.given[name] {
			h = append(h, [2]string{name, value})
		}
	}
	h = append(h, [2]string{"confirm", "yes"}, [2]string{"asked", v.asked})
	if v.op.Preview != nil {
		h = append(h, [2]string{"preview", "yes"})
	}
	for _, name := range sortedKeys(fm.Fixed) {
		if name == "then" || name == "idempotency_key" || name == "seen" || strings.HasPrefix(name, waitsPrefix) {
			h = append(h, [2]string{name, fm.Fixed[name]})
		}
	}
	if v.key == "" {
		h = append(h, [2]string{"idempotency_key", newKey()})
	}
	return h
}
