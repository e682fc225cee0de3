package screen

import (
	"fmt"
	"net/url"
)

// originOf is the origin of a public address, "https://shop.example".
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// forgedError refuses a request that another site may have sent through the browser. Its page says what was found, and
// which setting corrects it.
type forgedError struct{ seen []string }

func (*forgedError) Error() string {
	return "this form was not sent by a page of this server, so nothing was done"
}

// checkForged refuses a POST that may come from another site's page: what http.CrossOriginProtection refuses, and one
// with our cookie and without an origin.
func (x *exchange) checkForged() error {
	site, origin := x.r.Header.Get("Sec-Fetch-Site"), x.r.Header.Get("Origin")
	bare := site == "" && origin == "" && x.hasCookie()
	if err := x.s.forged.Check(x.r); err == nil && !bare {
		return nil
	}
	e := &forgedError{}
	for _, h := range []string{"Sec-Fetch-Site", "Origin", "Host", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		v := x.r.Header.Get(h)
		if h == "Host" {
			v = x.r.Host
		}
		if v == "" {
			v = "(not sent)"
		}
		e.seen = append(e.seen, h+": "+v)
	}
	e.seen = append(e.seen, "public address of this service: "+x.s.base)
	return e
}

// hasCookie reports whether the request carries one of our cookies.
func (x *exchange) hasCookie() bool {
	for _, name := range x.s.cookies {
		if _, err := x.r.Cookie(name); err == nil {
			return true
		}
	}
	return false
}

// remedy names the setting that avoids the refusal.
func (x *exchange) remedy() string {
	flag := "--" + x.s.Service.Name + "-url"
	return fmt.Sprintf("If you sent this form from a page of this server, the server does not know the address in your "+
		"browser. "+
		"Start it with %s and the address in your browser's address bar (it now expects %s). A proxy must pass Host, "+
		"Origin and Sec-Fetch-Site unchanged.",
		flag, x.s.base)
}
