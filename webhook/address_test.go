package webhook

import (
	"net/netip"
	"testing"

	"quartermaster/schema/assert"
)

// TestBlocked tests each range: first and last address, and the neighbours outside.
func TestBlocked(t *testing.T) {
	const always, private, never = "always", "unless private is allowed", "never"
	cases := []struct{ addr, want string }{
		{"0.0.0.0", always}, {"0.255.255.255", always}, {"1.0.0.0", never},
		{"9.255.255.255", never}, {"10.0.0.0", private}, {"10.255.255.255", private}, {"11.0.0.0", never},
		{"100.63.255.255", never}, {"100.64.0.0", always}, {"100.100.100.200", always}, {"100.127.255.255", always}, {"100.128.0.0", never},
		{"126.255.255.255", never}, {"127.0.0.0", private}, {"127.0.0.1", private}, {"127.255.255.255", private}, {"128.0.0.0", never},
		{"168.63.129.15", never}, {"168.63.129.16", always}, {"168.63.129.17", never},
		{"169.253.255.255", never}, {"169.254.0.0", always}, {"169.254.169.254", always}, {"169.254.255.255", always}, {"169.255.0.0", never},
		{"172.15.255.255", never}, {"172.16.0.0", private}, {"172.31.255.255", private}, {"172.32.0.0", never},
		{"192.0.0.0", always}, {"192.0.0.192", always}, {"192.0.0.255", always}, {"192.0.1.0", never},
		{"192.0.2.0", always}, {"192.0.2.255", always}, {"192.0.3.0", never},
		{"192.88.98.255", never}, {"192.88.99.1", always}, {"192.88.100.0", never},
		{"192.167.255.255", never}, {"192.168.0.0", private}, {"192.168.255.255", private}, {"192.169.0.0", never},
		{"198.17.255.255", never}, {"198.18.0.0", always}, {"198.19.255.255", always}, {"198.20.0.0", never},
		{"198.51.99.255", never}, {"198.51.100.0", always}, {"198.51.100.255", always}, {"198.51.101.0", never},
		{"203.0.112.255", never}, {"203.0.113.0", always}, {"203.0.113.255", always}, {"203.0.114.0", never},
		{"223.255.255.255", never}, {"224.0.0.0", always}, {"239.255.255.255", always}, {"240.0.0.0", always}, {"255.255.255.255", always},

		{"::", always}, {"::1", private}, {"::2", always},
		{"::127.0.0.1", always}, {"::8.8.8.8", always}, // IPv4-compatible
		{"::ffff:127.0.0.1", private}, {"::ffff:10.1.2.3", private}, {"::ffff:8.8.8.8", never}, // IPv4-mapped
		{"::ffff:169.254.169.254", always}, {"::ffff:a9fe:a9fe", always}, {"::ffff:0.0.0.0", always},
		{"::ffff:0:127.0.0.1", always}, // IPv4-translated
		{"64:ff9b::8.8.8.8", always}, {"64:ff9b::127.0.0.1", always}, {"64:ff9b:1::1", always}, {"64:ff9b:1:ffff:ffff:ffff:ffff:ffff", always},
		{"100::1", always}, {"5f00::1", always}, {"1fff:ffff::", always},
		{"2000::", never}, {"2001::", always}, {"2001:0:1::", always}, {"2001:2::1", always}, {"2001:10::1", always}, {"2001:2f::1", always},
		{"2001:1ff:ffff::", always}, {"2001:200::", never}, {"2001:4860:4860::8888", never},
		{"2001:db7:ffff::", never}, {"2001:db8::", always}, {"2001:db8:ffff::", always}, {"2001:db9::", never},
		{"2002::", always}, {"2002:7f00:1::", always}, {"2002:ffff:ffff::", always}, {"2003::", never},
		{"2606:4700::1111", never}, {"3ffe:ffff::", never}, {"3fff::", always}, {"3fff:fff::", always}, {"3fff:1000::", never},
		{"4000::", always}, {"fbff::1", always},
		{"fc00::", private}, {"fd12:3456:789a::1", private}, {"fdff:ffff::", private}, {"fe00::1", always},
		{"fd00:ec2::254", always}, {"fd00:ec2::23", always}, {"fd20:ce::254", always}, {"fd00:42::42", always},
		{"fe80::1", always}, {"fe80::1%eth0", always}, {"febf::1", always}, {"fec0::1", always}, {"feff::1", always},
		{"ff02::1", always}, {"ff0e::1", always}, {"::1%lo", private}, {"fc00::1%eth0", private}, {"2001:db8::1%eth0", always},
	}
	for _, c := range cases {
		a := netip.MustParseAddr(c.addr)
		got, want := blocked(a, false), c.want != never
		assert.That(t, got == want, "blocked(%s, false) = %v, want %v", c.addr, got, want)
		got, want = blocked(a, true), c.want == always
		assert.That(t, got == want, "blocked(%s, true) = %v, want %v", c.addr, got, want)
	}
	assert.That(t, blocked(netip.Addr{}, true), "the zero address is not blocked")
}

func TestDisguised(t *testing.T) {
	for _, host := range []string{
		"2130706433", "0x7f000001", "0X7F000001", "017700000001", "127.1", "127.0.1", "0x7f.1", "0x7f.0.0.0x1", "0177.0.0.1",
		"127.0.0.1.", "127.0.0.0x1", "256.0.0.1", "1.2.3.4.5", "0", "0x", "name.1", "name.0x1", "999999999999999999999",
	} {
		assert.That(t, disguised(host), "disguised(%q) = false, want true", host)
	}
	for _, host := range []string{
		"127.0.0.1", "8.8.8.8", "::1", "fe80::1%eth0", "shop.example", "shop.example.", "localhost", "7.example", "1x2.a1", "0x7g", "10.internal", "",
	} {
		assert.That(t, !disguised(host), "disguised(%q) = true, want false", host)
	}
}
