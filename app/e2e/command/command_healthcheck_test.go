package command

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

func TestHealthcheckAsksTheListeners(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, "--rental-addr", "off")
	addr := func(service string) string {
		if service == "rental" {
			return "off"
		}
		return strings.TrimSuffix(strings.TrimPrefix(s.URL(service, ""), "http://"), "/")
	}
	var flags []string
	for _, service := range []string{"store", "maintenance", "rental", "reorder"} {
		flags = append(flags, "--"+service+"-addr", addr(service))
	}
	check := func(args ...string) (int, string, string) { return s.CLI(append([]string{"healthcheck"}, args...)...) }
	if code, out, errs := check(flags...); code != 0 || out != "store: ok\nmaintenance: ok\nreorder: ok\n" || errs != "" {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if code, out, _ := check(append(flags, "--json")...); code != 0 || !strings.HasPrefix(out, `{"ok":true,"services":[{"service":"store","url":"http://`) || strings.Count(out, `"error":null`) != 3 {
		t.Errorf("exit %d: %s", code, out)
	}
	_, port, _ := strings.Cut(addr("reorder"), ":")
	if code, out, errs := check(append(flags, "--reorder-addr", "0.0.0.0:"+port, "--store-addr", "off")...); code != 0 || out != "maintenance: ok\nreorder: ok\n" {
		t.Errorf("on every address: exit %d: %s%s", code, out, errs)
	}
	if code, out, errs := check(append(flags, "--reorder-addr", addr("store"))...); code != 1 || !strings.Contains(out, `reorder: no good answer: another service answers: "store"`) || !strings.Contains(errs, "no good answer: reorder\n") {
		t.Errorf("at another service: exit %d: %s%s", code, out, errs)
	}
	s.Down()
	code, out, errs := check(append(flags, "--json")...)
	if code != 1 || !strings.HasPrefix(out, `{"ok":false,`) || !strings.Contains(out, "refused") || !strings.Contains(errs, "no good answer: store, maintenance, reorder\n") {
		t.Errorf("without a server: exit %d: %s%s", code, out, errs)
	}
	s.Up() // for the clean-up
}

func TestHealthcheckOverHTTPS(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t)
	s := apptest.Start(t, "--tls-cert", cert, "--tls-key", key)
	c := apptest.BareCLI(t)
	args := []string{"healthcheck"}
	for _, service := range []string{"store", "maintenance", "rental", "reorder"} {
		c.Env["QUARTERMASTER_"+strings.ToUpper(service)+"_ADDR"] = s.Server.Addr(service)
	}
	if code, _, errs := c.Call(args...); code != 1 || !strings.Contains(errs, "no good answer: store, maintenance, rental, reorder\n") {
		t.Errorf("over HTTP: exit %d: %s", code, errs)
	}
	c.Env["QUARTERMASTER_TLS_CERT"] = cert
	equal(c, "over HTTPS", c.Ok(args...), "store: ok\nmaintenance: ok\nrental: ok\nreorder: ok\n")
}

func TestHealthcheckWrongUsage(t *testing.T) {
	t.Parallel()
	c := apptest.BareCLI(t)
	for _, args := range []string{
		"--store-addr 8081", "--store-addr 127.0.0.1:", "--store-addr 127.0.0.1:0", "--store-addr 127.0.0.1:99999", "now",
		"--store-addr off --maintenance-addr off --rental-addr off --reorder-addr off",
	} {
		refuses(c, 2, nil, append([]string{"healthcheck"}, strings.Fields(args)...)...)
	}
	left, err := filepath.Glob(filepath.Join(c.Dir, "*"))
	assert.That(t, err == nil && len(left) <= 0, "asking made %v, %v", left, err)
}

// certificate makes a certificate for a name, in files.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private := assert.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"shop.example"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der := assert.Value(x509.CreateCertificate(rand.Reader, template, template, private.Public(), private))(t)
	bits := assert.Value(x509.MarshalPKCS8PrivateKey(private))(t)
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: bits}} {
		assert.OK(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
	return cert, key
}
