package screen

import (
	"net/http"
	"strings"
	"time"

	"quartermaster/app/account"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
	"quartermaster/schema/session"
	"quartermaster/schema/wire"
)

// mostAddress is the longest address with a form's fields.
const mostAddress = 4000

// signView is the sign-in page.
type signView struct {
	name, next string
	form       string // what was sent after the session had ended, if it is too long for next
	refusal    *fault.Error
	again      bool // a form was sent after the session had ended
	plainHTTP  bool // cookies are Secure, and this is plain http
	mailed     bool // mail is set up, so that a link can be requested
}

// loginPage answers GET /login.
func loginPage(x *exchange) error {
	if x.visitor != nil {
		return x.lead("/")
	}
	return x.showSign(http.StatusOK, signView{next: x.next(x.r.URL.Query().Get("next"))})
}

// next keeps the page after signing in, if it is a readable page of ours.
func (x *exchange) next(to string) string {
	if to == "" {
		return "/"
	}
	return x.ours(to)
}

func (x *exchange) showSign(status int, v signView) error {
	v.plainHTTP, v.mailed = x.s.Secure && !x.secureHere(), x.s.Mail.Asks(x.r.Context()) == nil
	return x.showInFrame(status, "Sign in", false, signPage(v))
}

// secureHere reports whether the browser uses https, to us or to a proxy.
func (x *exchange) secureHere() bool {
	if x.r.TLS != nil {
		return true
	}
	if proto := x.r.Header.Get("X-Forwarded-Proto"); proto != "" {
		return strings.EqualFold(proto, "https")
	}
	return strings.HasPrefix(x.r.Header.Get("Origin"), "https://") || !x.s.OwnTLS && x.r.Header.Get("Origin") == "" &&
		strings.HasPrefix(x.s.base, "https://")
}

// login answers POST /login.
func login(x *exchange) error {
	sent, err := x.receive(mostForm)
	if err != nil {
		return err
	}
	v := signView{name: sent.fields.Get("name"), next: x.next(sent.fields.Get("next")), form: sent.fields.Get("form")}
	v.again = v.form != ""
	if x.s.Secure && !x.secureHere() {
		return x.showSign(http.StatusOK, v)
	}
	token, in, err := x.s.Sessions.SignIn(x.r.Context(), v.name, sent.fields.Get("password"), x.from())
	if err != nil {
		return x.notSigned(err, v)
	}
	x.endOld(page.Staff)
	http.SetCookie(x.w, x.cookie(page.Staff, token, session.Staff.MaxAge()))
	return x.lead(x.backTo(v.next, v.form, in.User))
}

// notSigned shows the sign-in page again.
func (x *exchange) notSigned(err error, v signView) error {
	e := x.faultOf(err)
	if e.Kind == fault.Internal {
		return err
	}
	x.retry(e)
	v.refusal = e
	return x.showSign(wire.Status(e.Kind), v)
}

// endOld ends the browser's earlier session: each sign-in makes a new one.
func (x *exchange) endOld(a area) {
	token := x.token(a)
	if token == "" {
		return
	}
	if err := x.s.Sessions.End(x.r.Context(), sessionKinds[a], token); err != nil {
		x.s.Log.Warn().Err(err).Msg("the session before could not be ended")
	}
}

// logout answers POST /logout, and that of the other areas.
func logout(a area, to string) handle {
	return func(x *exchange) error {
		if token := x.token(a); token != "" {
			if err := x.s.Sessions.End(x.r.Context(), sessionKinds[a], token); err != nil {
				return err
			}
		}
		http.SetCookie(x.w, x.cookie(a, "", -1))
		return x.lead(to)
	}
}

// signInAgain answers a form that came after the session had ended: signing in leads back to it, filled in.
func (x *exchange) signInAgain() error {
	to, fields := x.unsent()
	v := signView{again: true, next: to, form: fields.Encode()}
	if v.form != "" {
		if to := v.next + "?" + v.form; len(to) < mostAddress {
			v.next, v.form = to, ""
		}
	}
	if !wantsPage(x.r) {
		return fault.New(fault.Unauthorized, "nobody is signed in here; sign in at /login")
	}
	return x.showSign(http.StatusUnauthorized, v)
}

// forgotten answers GET /forgot, which exists only if mail is set up.
func forgotten(x *exchange) error {
	if err := x.s.Mail.Asks(x.r.Context()); err != nil {
		return err
	}
	return x.showForgotten(http.StatusOK, guestSignView{})
}

func (x *exchange) showForgotten(status int, v guestSignView) error {
	x.visitor = nil
	return x.showInFrame(status, "Forgot your password?", false, forgotPage(v))
}

// askForgotten answers POST /forgot.
func askForgotten(x *exchange) error {
	in, err := x.receive(mostForm)
	if err != nil {
		return err
	}
	x.w = inStep{x.w, time.Now()}
	name := in.fields.Get("name")
	if err = fault.Fieldf("name", "enter your user name or e-mail address"); strings.TrimSpace(name) != "" {
		err = x.s.Mail.Ask(x.r.Context(), "staff-link", name, x.r.RemoteAddr)
	}
	if err != nil {
		v := guestSignView{given: in.fields, refusal: x.faultOf(err)}
		if v.refusal.Kind != fault.Limited && v.refusal.Kind != fault.Invalid {
			return err
		}
		x.retry(v.refusal)
		return x.showForgotten(wire.Status(v.refusal.Kind), v)
	}
	return x.showAsked()
}

// welcomeView is the page of an invitation.
type welcomeView struct {
	account.Invitation
	refusal *fault.Error
}

// welcomePage answers GET /welcome/:token, which consumes nothing.
func welcomePage(x *exchange) error {
	i, err := x.s.Sessions.Invited(x.r.Context(), x.path["token"])
	if err != nil {
		return err
	}
	return x.showWelcome(http.StatusOK, welcomeView{Invitation: i})
}

func (x *exchange) showWelcome(status int, v welcomeView) error {
	x.visitor = nil // even with a session, this page is for the invited user
	return x.showInFrame(status, "Welcome", true, welcome(v))
}

// accept answers POST /welcome/:token: it sets the password and signs in.
func accept(x *exchange) error {
	in, err := x.receive(mostForm)
	if err != nil {
		return err
	}
	token, _, err := x.s.Sessions.Accept(x.r.Context(), x.path["token"], in.fields.Get("password"), x.from())
	if err != nil {
		e := x.faultOf(err)
		i, gone := x.s.Sessions.Invited(x.r.Context(), x.path["token"])
		if e.Kind != fault.Invalid && e.Kind != fault.Limited && e.Kind != fault.Unavailable || gone != nil {
			return err
		}
		x.retry(e)
		return x.showWelcome(wire.Status(e.Kind), welcomeView{Invitation: i, refusal: e})
	}
	x.endOld(page.Staff)
	http.SetCookie(x.w, x.cookie(page.Staff, token, session.Staff.MaxAge()))
	return x.lead("/")
}
