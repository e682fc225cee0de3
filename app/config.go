package app

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
)

// config is what serve can be told; every flag has an environment variable.
type config struct {
	addrs               map[string]*string // by service; "off" leaves one out
	metricsAddr         string
	tlsCert, tlsKey     string
	behindProxy         bool
	trustedProxies      []string
	corsOrigin          string
	mcpOrigins          []string
	webhookAllowPrivate bool
	init, demo          bool
}

var defaultAddrs = map[string]string{
	"store": "127.0.0.1:8081", "maintenance": "127.0.0.1:8082", "rental": "127.0.0.1:8083", "reorder": "127.0.0.1:8084",
}

// addressFlags gives a command the flags that say where the services listen; serve
// and healthcheck share them.
func (c *config) addressFlags(cmd *cobra.Command) {
	c.addrs = map[string]*string{}
	for _, s := range Services {
		c.addrs[s] = cmd.Flags().String(s+"-addr", defaultAddrs[s], "where the "+s+" service listens; off leaves it out, port 0 picks a free one")
	}
}

func (c *config) flags(cmd *cobra.Command) {
	c.addressFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&c.metricsAddr, "metrics-addr", "", "where Prometheus text is served at /metrics (default: nowhere)")
	f.StringVar(&c.tlsCert, "tls-cert", "", "the certificate file; with --tls-key the services speak HTTPS")
	f.StringVar(&c.tlsKey, "tls-key", "", "the certificate's key file")
	f.BoolVar(&c.behindProxy, "behind-proxy", false, "your word that a proxy terminates TLS; allows addresses other than loopback without --tls-cert")
	f.StringSliceVar(&c.trustedProxies, "trusted-proxy", nil, "a proxy's address range (CIDR) whose X-Forwarded-For counts; may be repeated")
	f.StringVar(&c.corsOrigin, "cors-origin", "", "the one origin from which browsers may call the services")
	f.StringSliceVar(&c.mcpOrigins, "mcp-origin", nil, "an Origin from which the agent endpoint may be called besides its own; may be repeated")
	f.BoolVar(&c.webhookAllowPrivate, "webhook-allow-private", false, "let webhooks go to loopback and private addresses")
	f.BoolVar(&c.init, "init", false, "make the database if there is none")
	f.BoolVar(&c.demo, "demo", false, "serve demo.db (unless --db is given), filled once with a small shop, and print a key for each service")
}

// check refuses what must not be served.
func (c *config) check() error {
	if (c.tlsCert == "") != (c.tlsKey == "") {
		return usagef("--tls-cert and --tls-key go together")
	}
	on := 0
	for _, s := range Services {
		if *c.addrs[s] == "off" {
			continue
		}
		on++
		if err := c.checkAddr("--"+s+"-addr", *c.addrs[s]); err != nil {
			return err
		}
	}
	if on == 0 {
		return usagef("every service is off; leave at least one on")
	}
	if c.metricsAddr == "off" {
		c.metricsAddr = ""
	}
	if c.metricsAddr != "" {
		if err := c.checkAddr("--metrics-addr", c.metricsAddr); err != nil {
			return err
		}
	}
	for flag, origins := range map[string][]string{"--cors-origin": {c.corsOrigin}, "--mcp-origin": c.mcpOrigins} {
		for _, o := range origins {
			if u, err := url.Parse(o); o != "" && (err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" || u.RawQuery != "") {
				return usagef("%s: %q is not an origin; give scheme and host, such as https://shop.example", flag, o)
			}
		}
	}
	_, err := c.trusted()
	return err
}

func (c *config) checkAddr(flag, addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "" {
		return usagef("%s: %q is not an address; give host:port, such as 127.0.0.1:8081, or off", flag, addr)
	}
	if c.tlsCert != "" && flag != "--metrics-addr" || c.behindProxy || loopback(host) {
		return nil
	}
	return usagef("%s: %s is not loopback, and keys would travel in the clear: give --tls-cert and --tls-key, or --behind-proxy if a proxy terminates TLS", flag, addr)
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

func (c *config) trusted() ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, s := range c.trustedProxies {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			a, err := netip.ParseAddr(s)
			if err != nil {
				return nil, usagef("--trusted-proxy: %q is not an address range; give CIDR such as 10.0.0.0/8", s)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		all = append(all, p.Masked())
	}
	return all, nil
}

func (c *config) tls() (*tls.Config, error) {
	if c.tlsCert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(c.tlsCert, c.tlsKey)
	if err != nil {
		return nil, fmt.Errorf("load --tls-cert and --tls-key: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// baseURL is how a listener is reached.
func (c *config) baseURL(addr string) string {
	scheme := "http"
	if c.tlsCert != "" {
		scheme = "https"
	}
	if host, port, err := net.SplitHostPort(addr); err == nil && (host == "" || strings.HasPrefix(host, "::") && len(host) == 2 || host == "0.0.0.0") {
		addr = net.JoinHostPort("localhost", port)
	}
	return scheme + "://" + addr
}
