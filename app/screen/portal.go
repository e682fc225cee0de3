package screen

import (
	"context"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	"quartermaster/app/account"
	"quartermaster/schema"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
	"quartermaster/schema/session"
	"quartermaster/schema/wire"
)

// guestSignView is the sign-in of tenants and buyers.
type guestSignView struct {
	given   url.Values
	refusal *fault.Error
	token   string // of a tenant's invitation
	next    string // the page after signing in
	mailed  bool   // mail is set up, so that a link can be requested
	byOrder bool   // a purchase opens by its order and e-mail
	unsent  string // the fate of a form that was sent after the session had ended: formKept, formLost
}

const (
	formKept = "kept" // it is kept for its owner
	formLost = "lost"
)

// outside makes the addresses of tenants, buyers and the public.
func (s *Screens) outside() {
	s.guestArea(page.Tenant, "/portal", len(s.Portal) > 0 || s.has(page.Tenant), s.enterPortal)
	s.guestArea(page.Buyer, "/my", s.OpenBuyer != nil, s.enterMy)
	if s.has(page.Tenant) || len(s.Portal) > 0 {
		s.add("/portal/welcome/:token", &route{get: guestWelcome(session.Tenant), post: tenantAccept,
			area: page.Tenant})
	}
	if s.OpenBuyer != nil {
		s.add("/my/welcome/:token", &route{get: guestWelcome(session.Customer), post: buyerAccept, area: page.Buyer})
	}
	for _, op := range s.Open {
		r := s.at(op.Path())
		if r == nil {
			r = &route{area: page.Public}
			s.add(op.Path(), r)
		}
		r.post = s.openPost(op)
	}
}

func (s *Screens) has(a area) bool {
	return slices.ContainsFunc(s.pages, func(p page.Page) bool { return p.Area == a })
}

// at finds the route of a pattern.
func (s *Screens) at(pattern string) *route {
	for own, r := range s.router.All() {
		if own == pattern {
			return r
		}
	}
	return nil
}

// guestArea makes an area's first page its sign-in for a visitor without a session.
func (s *Screens) guestArea(a area, path string, is bool, enter handle) {
	if !is {
		return
	}
	r := s.at(path)
	if r == nil {
		r = &route{area: a, get: func(x *exchange) error {
			if x.visitor == nil {
				return x.showGuestSign(http.StatusOK, guestSignView{})
			}
			return fault.NotFoundf("there is nothing here yet")
		}}
		s.add(path, r)
	} else {
		inside := r.get
		r.get = func(x *exchange) error {
			if x.visitor == nil {
				return x.showGuestSign(http.StatusOK, guestSignView{given: x.r.URL.Query(), next: x.r.URL.Query().Get("next")})
			}
			return inside(x)
		}
	}
	r.post = enter
	s.add(path+"/logout", &route{post: logout(a, path), area: a})
	s.add(path+"/do/:name", &route{get: doPage, post: doPost, area: a})
}

func (x *exchange) showGuestSign(status int, v guestSignView) error {
	x.visitor = nil
	v.mailed = x.s.Mail.Asks(x.r.Context()) == nil
	v.byOrder = !v.mailed || x.s.Mail.Demo(x.r.Context())
	title, body := "Your home", portalSignIn(v)
	switch {
	case v.token != "":
		title, body = "Welcome", guestWelcomePage(v, x.route.area)
	case x.route.area == page.Buyer:
		title, body = "Your purchase", mySignIn(v)
	}
	return x.showInFrame(status, title, v.token != "", body)
}

// refuseGuestSign shows the sign-in again with the reason.
func (x *exchange) refuseGuestSign(err error, v guestSignView) error {
	v.refusal = x.faultOf(err)
	if v.refusal.Kind == fault.Internal {
		return err
	}
	x.retry(v.refusal)
	if !wantsPage(x.r) {
		return v.refusal
	}
	return x.showGuestSign(wire.Status(v.refusal.Kind), v)
}

// enterPortal answers POST /portal: a tenant typed a code.
func (s *Screens) enterPortal(x *exchange) error {
	in, err := x.receive(mostForm)
	if err != nil {
		return err
	}
	if email, code := in.fields.Get("email"), in.fields.Get("code"); email != "" && code == "" &&
		s.Mail.Asks(x.r.Context()) == nil {
		return x.askLink("tenant-link", email, guestSignOf(in))
	}
	token, opened, err := s.Sessions.AcceptTenant(x.r.Context(), "", strings.TrimSpace(in.fields.Get("code")), x.from())
	if err != nil {
		return x.refuseGuestSign(err, guestSignOf(in))
	}
	return x.enter(page.Tenant, token, opened, guestSignOf(in))
}

// guestSignOf is a sent sign-in form, to show it again.
func guestSignOf(in *sent) guestSignView {
	return guestSignView{given: in.fields, next: in.fields.Get("next"), unsent: in.fields.Get("unsent")}
}

// enter gives the browser its session and redirects to the person's waiting form, or to the requested page.
func (x *exchange) enter(a area, token string, opened account.Session, v guestSignView) error {
	x.endOld(a)
	http.SetCookie(x.w, x.cookie(a, token, sessionKinds[a].MaxAge()))
	if to := x.s.drafts.lead(ownerOf(a, opened.Subject), x.s.DB.Now()); to != "" {
		return x.lead(to)
	}
	to := x.ours(v.next)
	if v.unsent != "" {
		x.s.flashes.add(opened.ID, message{Text: "The form was not sent, because you are no longer signed in. Please fill " +
			"it in again."})
		to = x.emptyForm(to)
	}
	return x.lead(to)
}

// comeInFirst answers a tenant or a buyer without a session. A form that was sent after it had ended is kept for its
// owner, and for nobody else.
func (x *exchange) comeInFirst() error {
	home := x.homeOf()
	if x.r.Method != http.MethodPost {
		return x.lead(home)
	}
	if !wantsPage(x.r) {
		return fault.New(fault.Unauthorized, "nobody is signed in here; sign in at %s", home)
	}
	to, fields := x.unsent()
	v := guestSignView{next: to, unsent: formLost}
	if owner, shown := x.s.marks.owner(x.route.area, fields.Get("idempotency_key")); shown &&
		x.s.drafts.keep(owner, to, fields, x.s.DB.Now(), false) != "" {
		v.unsent = formKept
	}
	return x.showGuestSign(http.StatusUnauthorized, v)
}

// askStep is the step in which answers to questions for a link come, so that their time doesn't tell whether anybody
// was meant: on an idle machine both kinds take about half a millisecond.
const askStep = 20 * time.Millisecond

// inStep is an answer that begins at a step of time after the question came.
type inStep struct {
	http.ResponseWriter
	came time.Time
}

// WriteHeader waits for the step: all but sending is done by then. A sleep alone ends at whole milliseconds after it
// began, which would tell when that was.
func (w inStep) WriteHeader(status int) {
	const close = 2 * time.Millisecond
	step := w.came.Add((time.Since(w.came) + close).Truncate(askStep) + askStep)
	time.Sleep(time.Until(step) - close)
	for time.Now().Before(step) {
		runtime.Gosched()
	}
	w.ResponseWriter.WriteHeader(status)
}

// askLink mails a link to the person whom the visitor means, and shows the same page in every case.
func (x *exchange) askLink(kind, typed string, v guestSignView) error {
	x.w = inStep{x.w, time.Now()}
	if err := x.s.Mail.Ask(x.r.Context(), kind, typed, x.r.RemoteAddr); err != nil {
		return x.refuseGuestSign(err, v)
	}
	return x.showAsked()
}

// showAsked says that a link is on its way, if a person matched.
func (x *exchange) showAsked() error {
	x.visitor = nil
	return x.showInFrame(http.StatusOK, "Check your mail", false, linkAsked())
}

// guestWelcome answers GET of a tenant's or a buyer's link, which consumes nothing.
func guestWelcome(kind session.Kind) handle {
	return func(x *exchange) error {
		if _, err := x.s.Sessions.InvitedTo(x.r.Context(), kind, x.path["token"]); err != nil {
			return err
		}
		return x.showGuestSign(http.StatusOK, guestSignView{token: x.path["token"]})
	}
}

// buyerAccept answers POST of a buyer's mailed link.
func buyerAccept(x *exchange) error {
	token, opened, err := x.s.Sessions.AcceptLink(x.r.Context(), x.path["token"], x.from())
	if err != nil {
		return err
	}
	return x.enter(page.Buyer, token, opened, guestSignView{})
}

func tenantAccept(x *exchange) error {
	token, opened, err := x.s.Sessions.AcceptTenant(x.r.Context(), x.path["token"], "", x.from())
	if err != nil {
		return err
	}
	return x.enter(page.Tenant, token, opened, guestSignView{})
}

// enterMy answers POST /my: a buyer enters the license key, or the order's reference with the e-mail.
func (s *Screens) enterMy(x *exchange) error {
	in, err := x.receive(mostForm)
	if err != nil {
		return err
	}
	get := func(name string) string { return strings.TrimSpace(in.fields.Get(name)) }
	asks := get("order_ref") == "" || !s.Mail.Demo(x.r.Context())
	if get("license_key") == "" && get("email") != "" && asks && s.Mail.Asks(x.r.Context()) == nil {
		return x.askLink("buyer-link", get("email"), guestSignOf(in))
	}
	license, err := s.OpenBuyer(x.r.Context(), get("license_key"), get("order_ref"), get("email"), x.r.RemoteAddr)
	if err != nil {
		return x.refuseGuestSign(err, guestSignOf(in))
	}
	token, opened, err := s.Sessions.Open(x.r.Context(), session.Buyer, license, x.from())
	if err != nil {
		return err
	}
	return x.enter(page.Buyer, token, opened, guestSignOf(in))
}

// OpenBuyer finds the license of a buyer's key, or the order with its e-mail.
type OpenBuyer func(ctx context.Context, licenseKey, orderRef, email, remote string) (license int64, err error)

// openPost runs a public operation.
func (s *Screens) openPost(op schema.Op) handle {
	return func(x *exchange) error {
		in, err := x.receive(mostOf(op))
		if err != nil {
			return err
		}
		for _, a := range op.Args(schema.Page) {
			if a.Path != "" {
				in.fields.Set(schema.PageField(a.Name), x.path[a.Path])
			}
		}
		if err := in.fileTooLarge(); err != nil {
			return x.refuseOpen(op, in, err)
		}
		handle, err := op.Decode(x.forOp(in))
		var answer any
		if err == nil {
			answer, err = handle(x.r.Context(), x.who())
		}
		if err != nil {
			return x.refuseOpen(op, in, err)
		}
		lead, note := "", ""
		if op.Leads != nil {
			lead = op.Leads(answer)
		}
		if n, ok := answer.(interface{ Note() string }); ok {
			note = n.Note()
		}
		text, key := didText(op, answer, x.shop), "" // the key stands by itself, to be copied
		if k, ok := answer.(interface{ IssuedKey() string }); ok {
			key = k.IssuedKey()
		}
		return x.show(http.StatusOK, "Thank you", true, x.frame(), thanks(text, note, lead, key))
	}
}

// refuseOpen shows the form again with all that was typed.
func (x *exchange) refuseOpen(op schema.Op, in *sent, err error) error {
	v := doView{op: op, given: in.fields, refusal: aboutField(op, x.faultOf(err).Amounts(x.shop.written))}
	switch v.refusal.Kind {
	case fault.Internal, fault.Gone:
		return err
	case fault.NotFound:
		if len(x.path) > 0 { // the address's values, not typed ones
			return err
		}
	}
	if back, err := x.comeBackAt(x.r.URL.EscapedPath(), &v); back || err != nil {
		return err
	}
	x.retry(v.refusal)
	f := x.frame()
	f.Op = func(string) (schema.Op, bool) { return op, true }
	return x.show(wire.Status(v.refusal.Kind), op.PageTitle(), false, f, formPage(&v, op.PageTitle(), x.form(&v)))
}
