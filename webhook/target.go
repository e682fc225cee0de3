package webhook

import (
	"net/url"
	"strconv"
	"strings"

	"quartermaster/schema/fault"
)

const maxURL = 2000

// checkURL refuses a URL to which nothing can be sent, with the reason. Whether its address is allowed is known only
// when its name is resolved, at each attempt. No refusal repeats the URL, which may contain a receiver's secrets.
func checkURL(text string) (*url.URL, error) {
	if len(text) > maxURL {
		return nil, fault.Fieldf("url", "url: longer than %d bytes", maxURL)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fault.Fieldf("url", "url: not a URL; one looks like https://shop.example/hooks")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fault.Fieldf("url", "url: the scheme must be http or https, as in https://shop.example/hooks")
	case u.User != nil:
		return nil, fault.Fieldf("url", "url: it must not hold a user name or password; the signature shows who sends")
	case u.Hostname() == "":
		return nil, fault.Fieldf("url", "url: the host is missing; a URL looks like https://shop.example/hooks")
	case strings.ContainsFunc(u.Host, func(r rune) bool { return r > 127 }):
		return nil, fault.Fieldf("url", "url: write the host in its ASCII form, which begins with xn--")
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return nil, fault.Fieldf("url", "url: the port must be 1 to 65535")
		}
	}
	return u, nil
}

// site is the part of a URL that may be shown: path and query may contain a receiver's secrets.
func site(u *url.URL) string { return u.Scheme + "://" + u.Host }
