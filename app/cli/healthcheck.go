package cli

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"quartermaster/app/server"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
)

// healthTimeout is the time that all listeners together have for their answers.
const healthTimeout = 3 * time.Second

type healthResult struct {
	OK       bool     `json:"ok"`
	Services []health `json:"services"`
}

type health struct {
	Service string  `json:"service"`
	URL     string  `json:"url"`
	OK      bool    `json:"ok"`
	Error   *string `json:"error"` // null when it is well
}

func (p *program) healthcheckCommand() *cobra.Command {
	c := &server.Config{}
	cmd := p.jsonFlag(&cobra.Command{
		Use:   "healthcheck",
		Short: "Check that the running services answer",
		Long: `Ask each listener's /healthz, within 3 seconds. The exit code is 0 if all services
answer, else 1. It takes the same address flags and environment variables as "serve". A
service that is off is left out. For an address such as 0.0.0.0 it asks on loopback. With
--tls-cert it asks over HTTPS. The certificate is not verified, because it is for the
shop's name and not for the address; nothing secret is sent.`,
		Example: `  quartermaster healthcheck
  quartermaster healthcheck --store-addr off --reorder-addr 127.0.0.1:9084`,
		Args: noArgs,
		RunE: p.run(func(ctx context.Context, _ []string) error {
			ask, err := healthURLs(ctx, c)
			if err != nil {
				return err
			}
			return p.printHealth(askHealth(ctx, ask))
		}),
	})
	c.AddressFlags(cmd.Flags())
	cmd.Flags().StringVar(&c.TLSCert, "tls-cert", "", "the certificate file that serve was given: ask over HTTPS")
	return cmd
}

// healthURLs returns the address to check for each service that is on.
func healthURLs(ctx context.Context, c *server.Config) ([]health, error) {
	var ask []health
	for _, s := range server.Names {
		addr := *c.Addrs[s]
		if addr == "off" {
			continue
		}
		host, port, err := net.SplitHostPort(addr)
		if err != nil || port == "" {
			return nil, usagef("--%s-addr: %q is not an address; give host:port, such as %s, or off", s, addr, "127.0.0.1:8081")
		}
		number, err := net.DefaultResolver.LookupPort(ctx, "tcp", port)
		if err != nil || number == 0 {
			return nil, usagef("--%s-addr: %q is not a port that can be asked; give the one that serve reported", s, port)
		}
		switch host {
		case "", "0.0.0.0":
			host = "127.0.0.1"
		case "::":
			host = "::1"
		}
		u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(number)), Path: "/healthz"}
		if c.TLS() {
			u.Scheme = "https"
		}
		ask = append(ask, health{Service: s, URL: u.String()})
	}
	if len(ask) == 0 {
		return nil, usagef("every service is off; turn at least one on")
	}
	return ask, nil
}

// askHealth checks all at once.
func askHealth(ctx context.Context, ask []health) healthResult {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	client := &http.Client{
		Transport: &http.Transport{
			DisableKeepAlives: true,
			// #nosec G402 -- nothing secret is sent, and the answer is only compared
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	var group sync.WaitGroup
	for i := range ask {
		group.Go(func() {
			if err := healthy(ctx, client, ask[i]); err != nil {
				why := err.Error()
				ask[i].Error = &why
				return
			}
			ask[i].OK = true
		})
	}
	group.Wait()
	r := healthResult{OK: true, Services: ask}
	for _, h := range ask {
		r.OK = r.OK && h.OK
	}
	return r
}

// healthy reports why the service is not healthy, or is another one.
func healthy(ctx context.Context, client *http.Client, h health) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.URL, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		var asked *url.Error
		if errors.As(err, &asked) {
			err = asked.Err // the URL is shown anyway
		}
		if ctx.Err() != nil {
			err = fmt.Errorf("no answer within %s", healthTimeout)
		}
		return err
	}
	defer resp.Body.Close()
	var answer struct {
		OK  bool   `json:"ok"`
		App string `json:"app"`
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	switch {
	case err != nil:
		return fmt.Errorf("status %d, and another program answers", resp.StatusCode)
	case resp.StatusCode != http.StatusOK || !answer.OK:
		return fmt.Errorf("status %d: it reports that it cannot work", resp.StatusCode)
	case answer.App != h.Service:
		return fmt.Errorf("another service answers: %q", answer.App)
	}
	return nil
}

func (p *program) printHealth(r healthResult) error {
	err := p.print(r, func(w io.Writer) {
		for _, h := range r.Services {
			if h.OK {
				fmt.Fprintf(w, "%s: ok\n", h.Service)
			} else {
				fmt.Fprintf(w, "%s: no good answer: %s (%s)\n", h.Service, *h.Error, h.URL)
			}
		}
	})
	if err != nil || r.OK {
		return err
	}
	var unwell []string
	for _, h := range r.Services {
		if !h.OK {
			unwell = append(unwell, h.Service)
		}
	}
	return fmt.Errorf("no good answer: %s", strings.Join(unwell, ", "))
}
