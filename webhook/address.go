package webhook

import (
	"net/netip"
	"slices"
	"strings"

	"quartermaster/schema"
)

// private are the ranges that an operator may allow: loopback, RFC 1918 and unique
// local addresses.
var private = prefixes("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")

// metadata are addresses at which a cloud hands its credentials out, in ranges that
// would pass otherwise: AWS, Google and Scaleway inside fc00::/7, Azure's, which
// is a public address, and Alibaba's. 169.254.169.254 falls with the link-local range.
var metadata = prefixes("fd00:ec2::/32", "fd20:ce::/32", "fd00:42::/32", "168.63.129.16/32", "100.100.100.200/32")

// Internal reports whether nothing of ours connects to a: it is no host's, link-local, or a cloud's metadata.
func Internal(a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	return a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() || within(a, metadata)
}

// special are the special-purpose ranges of IANA, in which no public receiver is.
var special = prefixes(
	"0.0.0.0/8",       // this network, unspecified
	"100.64.0.0/10",   // carrier-grade NAT
	"169.254.0.0/16",  // link-local
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.88.99.0/24",  // 6to4 relays
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast
	"240.0.0.0/4",     // reserved, broadcast
	"2001::/23",       // protocol assignments: Teredo, benchmarks, ORCHID
	"2001:db8::/32",   // documentation
	"2002::/16",       // 6to4
	"3fff::/20",       // documentation
)

// global is the IPv6 space assigned to the public internet. Everything outside (IPv4-compatible, NAT64, discard-only,
// segment routing, site-local, link-local, multicast) is special without an entry.
var global = netip.MustParsePrefix("2000::/3")

// blocked reports whether connecting to a is forbidden. An IPv4-mapped IPv6 address is judged as IPv4. allowPrivate
// allows loopback and private ranges only.
func blocked(a netip.Addr, allowPrivate bool) bool {
	a = a.WithZone("").Unmap() // a prefix never contains an address with a zone
	switch {
	case !a.IsValid() || within(a, metadata):
		return true
	case within(a, private):
		return !allowPrivate
	case within(a, special):
		return true
	}
	return a.Is6() && !global.Contains(a)
}

// warning explains that deliveries to a host that is obviously not public will fail. Names are resolved only at each
// delivery.
func warning(host string) string {
	a, err := netip.ParseAddr(host)
	switch name := strings.TrimSuffix(strings.ToLower(host), "."); {
	case name == "localhost" || strings.HasSuffix(name, ".localhost") || err == nil && blocked(a, false) &&
		!blocked(a, true):
		return host +
			" is this machine or a private network: only a server that was started with --webhook-allow-private delivers there, " +
			"any other fails each delivery as blocked_address."
	case err == nil && blocked(a, true) || disguised(host):
		return "Nothing is ever delivered to " + host +
			": each delivery fails as blocked_address. Remove the webhook, and add it with a public address or name."
	}
	return ""
}

// disguised reports whether the host is a number that some resolvers read as an address: 2130706433, 0x7f.1,
// 0177.0.0.1. No name ends in a number, so all of them are refused.
func disguised(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	last := strings.TrimSuffix(host, ".")
	last = last[strings.LastIndexByte(last, '.')+1:]
	if hex, is := strings.CutPrefix(strings.ToLower(last), "0x"); is {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

func within(a netip.Addr, list []netip.Prefix) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
}

func prefixes(texts ...string) []netip.Prefix {
	return schema.Map(texts, netip.MustParsePrefix)
}
