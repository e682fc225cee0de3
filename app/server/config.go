package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
)

// Config is serve's configuration; every flag has an environment variable.
type Config struct {
	Addrs        map[string]*string // by service; "off" omits one
	Init, Demo   bool
	MetricsAddr  string
	BehindProxy  bool
	PlainHTTP    bool // beyond loopback without TLS, on a trusted network
	MemoryMiB    int  // for bodies and answers in progress; 0: by the machine's memory
	CORSOrigin   string
	MCPOrigins   []string
	Screens      bool               // pages are served beside the APIs
	URLs         map[string]*string // by service: the address for browsers; "" is the listener's
	AllowPrivate bool               // webhooks may be sent to loopback and private addresses

	TLSCert, tlsKey string
	trustedProxies  []string

	smtpPasswordFile, smtpPassword string
}

// AddressFlags adds the flags of the services' addresses to a command; serve and healthcheck share them.
func (c *Config) AddressFlags(f *pflag.FlagSet) {
	c.Addrs = map[string]*string{}
	for _, s := range NewServices(nil).All {
		c.Addrs[s.Name] = f.String(s.Name+"-addr", s.Addr, "where the "+s.Name+" service listens; off turns it off, port "+
			"0 picks a free one")
	}
}

// Flags adds the flags of serve.
func (c *Config) Flags(f *pflag.FlagSet) {
	c.AddressFlags(f)
	f.StringVar(&c.MetricsAddr, "metrics-addr", "", "where Prometheus text is served at /metrics (default: nowhere)")
	f.StringVar(&c.TLSCert, "tls-cert", "", "the certificate file; with --tls-key the services speak HTTPS")
	f.StringVar(&c.tlsKey, "tls-key", "", "the certificate's key file")
	f.BoolVar(&c.BehindProxy, "behind-proxy", false,
		"set this when a proxy terminates TLS; allows addresses other than loopback without --tls-cert")
	f.BoolVar(&c.PlainHTTP, "plain-http", false, "set this when the network is trusted: listen beyond loopback without "+
		"TLS; keys and passwords are unencrypted")
	f.IntVar(&c.MemoryMiB, "memory-budget", 0, "MiB for all requests and answers in progress (default: 64, less where "+
		"memory is limited)")
	f.StringSliceVar(&c.trustedProxies, "trusted-proxy", nil,
		"a proxy's address range (CIDR) whose X-Forwarded-For counts; may be repeated")
	f.StringVar(&c.CORSOrigin, "cors-origin", "", "the one origin from which browsers may call the services")
	f.StringSliceVar(&c.MCPOrigins, "mcp-origin", nil,
		"an Origin from which the agent endpoint may be called besides its own; may be repeated")
	f.BoolVar(&c.AllowPrivate, "webhook-allow-private", false, "let webhooks go to loopback and private addresses")
	f.StringVar(&c.smtpPasswordFile, "smtp-password-file", "", "the file with the mail server's password; it wins over "+
		"the stored one "+
		"(default: systemd's credential smtp-password, if there is one)")
	f.BoolVar(&c.Screens, "screens", true, "serve the pages; false serves only the APIs")
	c.URLs = map[string]*string{}
	for _, s := range Names {
		c.URLs[s] = f.String(s+"-url", "", "the address at which browsers reach the "+s+
			" service (default: where it listens)")
	}
	f.BoolVar(&c.Init, "init", false, "create the database if there is none")
	f.BoolVar(&c.Demo, "demo", false, "serve a demo shop in demo.db (or --db) and print an API key for each service")
}

// readPassword reads the mail server's password, if it is not stored in the database.
func (c *Config) readPassword() error {
	path := c.smtpPasswordFile
	if dir := os.Getenv("CREDENTIALS_DIRECTORY"); path == "" && dir != "" {
		path = filepath.Join(dir, "smtp-password")
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil // no such credential was given
		}
	}
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path) // #nosec G304 -- the operator names the file
	if c.smtpPassword, _, _ = strings.Cut(string(text), "\n"); err == nil && strings.TrimSpace(c.smtpPassword) == "" {
		err = fmt.Errorf("the first line of %s is empty; put the password there", path)
	}
	c.smtpPassword = strings.TrimRight(c.smtpPassword, "\r")
	return err
}

// TLS reports whether the listeners speak HTTPS.
func (c *Config) TLS() bool { return c.TLSCert != "" }

// Check refuses an unsafe or contradictory configuration.
func (c *Config) Check() error {
	if (c.TLSCert == "") != (c.tlsKey == "") {
		return fmt.Errorf("--tls-cert and --tls-key go together")
	}
	if c.MemoryMiB < 0 || c.MemoryMiB > 0 && c.MemoryMiB < leastMiB {
		return fmt.Errorf("--memory-budget: %d is too small; give at least %d MiB", c.MemoryMiB, leastMiB)
	}
	on := 0
	for _, s := range Names {
		if *c.Addrs[s] == "off" {
			continue
		}
		on++
		if err := c.checkAddr("--"+s+"-addr", *c.Addrs[s]); err != nil {
			return err
		}
	}
	if on == 0 {
		return fmt.Errorf("every service is off; turn at least one on")
	}
	if c.MetricsAddr == "off" {
		c.MetricsAddr = ""
	}
	if c.MetricsAddr != "" {
		if err := c.checkAddr("--metrics-addr", c.MetricsAddr); err != nil {
			return err
		}
	}
	for flag, origins := range map[string][]string{"--cors-origin": {c.CORSOrigin}, "--mcp-origin": c.MCPOrigins} {
		for _, o := range origins {
			if u, err := url.Parse(o); o != "" && (err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" ||
				u.RawQuery != "") {
				return fmt.Errorf("%s: %q is not an origin; give scheme and host, such as https://shop.example", flag, o)
			}
		}
	}
	for _, s := range Names {
		u, err := url.Parse(*c.URLs[s])
		if *c.URLs[s] != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
			strings.Trim(u.Path, "/") != "" || u.RawQuery != "") {
			return fmt.Errorf("--%s-url: %q is not an address of a service; give scheme and host, such as https://shop.example",
				s, *c.URLs[s])
		}
	}
	_, err := c.trusted()
	return err
}

func (c *Config) checkAddr(flag, addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "" {
		return fmt.Errorf("%s: %q is not an address; give host:port, such as 127.0.0.1:8081, or off", flag, addr)
	}
	if c.TLSCert != "" && flag != "--metrics-addr" || c.BehindProxy || c.PlainHTTP || loopback(host) {
		return nil
	}
	return fmt.Errorf("%s: %s is not loopback, and keys would be sent unencrypted: give --tls-cert and --tls-key, or "+
		"--behind-proxy if a proxy terminates TLS, or --plain-http on a trusted network", flag, addr)
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

func (c *Config) trusted() ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, s := range c.trustedProxies {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			a, err := netip.ParseAddr(s)
			if err != nil {
				return nil, fmt.Errorf("--trusted-proxy: %q is not an address range; give CIDR such as 10.0.0.0/8", s)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		all = append(all, p.Masked())
	}
	return all, nil
}

func (c *Config) tlsConfig() (*tls.Config, error) {
	if c.TLSCert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(c.TLSCert, c.tlsKey)
	if err != nil {
		return nil, fmt.Errorf("load --tls-cert and --tls-key: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// BaseURL is the URL of a listener.
func (c *Config) BaseURL(addr string) string {
	scheme := "http"
	if c.TLSCert != "" {
		scheme = "https"
	}
	if host, port, err := net.SplitHostPort(addr); err == nil && (host == "" || strings.HasPrefix(host, "::") &&
		len(host) == 2 || host == "0.0.0.0") {
		addr = net.JoinHostPort("localhost", port)
	}
	return scheme + "://" + addr
}
