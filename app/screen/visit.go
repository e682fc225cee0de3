package screen

import (
	"context"
	"net/http"
	"strings"

	"quartermaster/app/account"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
	"quartermaster/schema/session"
)

// visitor is the person behind a request.
type visitor struct {
	caller  db.Caller
	session account.Session
	area    area
}

// sessionKinds are the kinds of sessions of an area.
var sessionKinds = map[area]session.Kind{page.Staff: session.Staff, page.Tenant: session.Tenant,
	page.Buyer: session.Buyer}

// cookiePaths are the paths of an area's cookie.
var cookiePaths = map[area]string{page.Staff: "/", page.Tenant: "/portal", page.Buyer: "/my"}

// nameCookies names the areas' cookies after the installation: two installations on one host must not sign each other
// out, since cookies ignore ports.
func (s *Screens) nameCookies() error {
	id, err := account.InstallationID(context.Background(), s.DB)
	if err != nil {
		return err
	}
	host, secure := "", ""
	if s.Secure {
		host, secure = "__Host-", "__Secure-" // one with a path may not be named __Host-
	}
	s.cookies = map[area]string{page.Staff: host + "qm-" + id, page.Tenant: secure + "qmt-" + id, page.Buyer: secure +
		"qmb-" + id}
	return nil
}

// cookie makes an area's cookie; a negative age removes it.
func (x *exchange) cookie(a area, token string, age int) *http.Cookie {
	return &http.Cookie{
		Name: x.s.cookies[a], Value: token, Path: cookiePaths[a], MaxAge: age,
		HttpOnly: true, Secure: x.s.Secure, SameSite: http.SameSiteLaxMode,
	}
}

// token is the value of the area's cookie.
func (x *exchange) token(a area) string {
	c, err := x.r.Cookie(x.s.cookies[a])
	if err != nil {
		return ""
	}
	return c.Value
}

// from is the origin of the browser's request.
func (x *exchange) from() session.From {
	return session.From{Address: x.r.RemoteAddr, Agent: x.r.UserAgent()}
}

// look identifies the visitor. A missing session is no error here: the route decides. A user without a role in the
// service is Forbidden, with the visitor set.
func (x *exchange) look(a area) error {
	ctx := x.r.Context()
	v := &visitor{area: a}
	var err error
	switch token := x.token(a); {
	case a == page.Public:
		v.caller = db.Caller{Service: x.s.Service.Name, User: "request", Role: page.Member, Scope: "full", Via: "request"}
		x.visitor = v
		return nil
	case token == "":
		return nil
	case a == page.Staff:
		v.caller, v.session, err = x.s.Sessions.Authenticate(ctx, token, x.s.Service.Name)
		if fault.Is(err, fault.Forbidden) {
			v.caller = db.Caller{Service: x.s.Service.Name, User: v.session.User, Via: "web"}
		}
	default:
		v.session, err = x.s.Sessions.Find(ctx, sessionKinds[a], token)
		who := map[area]string{page.Tenant: "portal", page.Buyer: "buyer"}[a]
		v.caller = db.Caller{
			Service: x.s.Service.Name, User: who, Role: page.Member, Scope: "full", Via: who,
			Subject: v.session.Subject, Session: v.session.ID,
		}
	}
	switch {
	case fault.Is(err, fault.Unauthorized):
		return nil
	case err == nil || fault.Is(err, fault.Forbidden):
		x.visitor = v
	}
	return err
}

// lookAgain identifies the visitor again after the form was read, which may take long: they may have been disabled or
// signed out meanwhile.
func (x *exchange) lookAgain() error {
	if x.visitor == nil || x.visitor.area == page.Public {
		return nil
	}
	x.visitor = nil
	if err := x.look(x.route.area); err != nil && !x.route.open {
		return err
	}
	return nil
}

// admit refuses visitors without a session, and redirects a browser to the sign-in. done reports that the request is
// answered.
func (x *exchange) admit() (done bool, err error) {
	if x.visitor != nil {
		return false, nil
	}
	if x.route.area != page.Staff {
		return true, x.comeInFirst()
	}
	switch {
	case x.r.Method == http.MethodPost:
		return true, x.signInAgain()
	case wantsOnlyJSON(x.r):
		return true, x.noJSON()
	case wantsPage(x.r):
		return true, x.lead("/login?next=" + queryEscape(x.r.URL.RequestURI()))
	}
	return true, fault.New(fault.Unauthorized, "nobody is signed in here; sign in at /login")
}

// needs refuses a role below the required one, and names users who have it.
func (x *exchange) needs(role, what string) error {
	if role == page.Owner {
		return x.needsAll(what)
	}
	order := map[string]int{page.Viewer: 1, page.Member: 2, page.Admin: 3}
	if x.visitor.area != page.Staff || order[x.visitor.caller.Role] >= order[role] {
		return nil
	}
	who := x.having(role)
	text := "it needs the role " + role
	if role == page.Member {
		text = "it needs the role member or admin"
	}
	return fault.Forbiddenf("%s: %s; %s has the role %s here. Who can: %s", what, text, x.visitor.caller.User,
		x.visitor.caller.Role, who)
}

// needsAll refuses anyone who is not an admin of every service that is turned on.
func (x *exchange) needsAll(what string) error {
	if err := x.needs(page.Admin, what); err != nil || x.visitor.area != page.Staff {
		return err
	}
	return x.s.DB.View(x.r.Context(), func(c *db.Conn) error { return schema.KeepsWhole(c, x.visitor.caller, what) })
}

// having names some of the users with the role in this service.
func (x *exchange) having(role string) string {
	names, err := read(x, func(c *db.Conn) ([]string, error) {
		return db.All(c, db.Text, `SELECT u.name FROM users u JOIN roles r ON r.user_id = u.id
			WHERE r.service = ? AND u.disabled = 0 AND u.removed_at IS NULL AND (r.role = 'admin' OR r.role = ?)
			ORDER BY r.role, u.name LIMIT 5`,
			x.s.Service.Name, role)
	})
	if err != nil || len(names) == 0 {
		return "the operator at the command line"
	}
	return strings.Join(names, ", ")
}

// now is the present by the database's clock.
func (x *exchange) now() exact.Instant { return exact.InstantOf(x.s.DB.Now()) }
