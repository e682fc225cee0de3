package rest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/md5" //nolint:gosec // CRAM-MD5 is what the rule names
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// authority makes a self-signed certificate for the address, and the file of its authority.
func authority(t *testing.T, ip string) (*tls.Config, string) {
	t.Helper()
	key := assert.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	made := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.ParseIP(ip)}, IsCA: true, BasicConstraintsValid: true}
	der := assert.Value(x509.CreateCertificate(rand.Reader, made, made, key.Public(), key))(t)
	file := filepath.Join(t.TempDir(), "authority.pem")
	assert.OK(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}, file
}

// TestMailServerConnection: TLS, STARTTLS, certificates, sign-in methods and addresses beyond ASCII, by `mail test` of
// the real program, which names the stage that failed.
func TestMailServerConnection(t *testing.T) {
	t.Parallel()
	good, file := authority(t, "127.0.0.1")
	other, _ := authority(t, "127.0.0.2")
	old := good.Clone()
	old.MaxVersion, old.MinVersion = tls.VersionTLS11, tls.VersionTLS10
	mac := hmac.New(md5.New, []byte("sesame"))
	mac.Write([]byte("<1@here>"))
	for _, c := range []struct {
		name, security, ways, more, to string
		config                         *tls.Config
		unknown                        bool // the authority is unknown
		ok                             bool
		stage, said                    string // said: the argument of AUTH, or part of the reply
	}{
		{name: "TLS and PLAIN", security: "tls", ways: "LOGIN PLAIN", config: good, ok: true, stage: "data", said: "PLAIN shop sesame"},
		{name: "STARTTLS and LOGIN", security: "starttls", ways: "CRAM-MD5 LOGIN", config: good, ok: true, stage: "data", said: "LOGIN shop sesame"},
		{name: "CRAM-MD5", security: "starttls", ways: "CRAM-MD5", config: good, ok: true, stage: "data", said: "CRAM-MD5 shop " + hex.EncodeToString(mac.Sum(nil))},
		{name: "no way to sign in", security: "tls", ways: "XOAUTH2", config: good, stage: "auth", said: "none of the " +
			"sign-in methods"},
		{name: "no STARTTLS", security: "starttls", ways: "PLAIN", stage: "tls", said: "does not offer STARTTLS"},
		{name: "another's certificate", security: "tls", ways: "PLAIN", config: other, stage: "tls", said: "certificate"},
		{name: "another's certificate after STARTTLS", security: "starttls", ways: "PLAIN", config: other, stage: "tls", said: "certificate"},
		{name: "an unknown authority", security: "tls", ways: "PLAIN", config: good, unknown: true, stage: "tls", said: "certificate"},
		{name: "TLS 1.1", security: "tls", ways: "PLAIN", config: old, stage: "tls", said: "protocol version"},
		{name: "beyond ASCII, not taken", security: "tls", ways: "PLAIN", config: good, to: "jörg@example.com", stage: "to", said: "beyond ASCII"},
		{name: "beyond ASCII", security: "tls", ways: "PLAIN", more: "SMTPUTF8", config: good, to: "jörg@example.com", ok: true, stage: "data", said: "PLAIN shop sesame"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			to := apptest.StartMail(t)
			to.TLS, to.Ways, to.More, to.Implicit = c.config, c.ways, c.more, c.security == "tls"
			dir := t.TempDir()
			run := func(args ...string) (string, int) {
				cmd := exec.Command(apptest.Binary(t), args...)
				cmd.Dir = dir
				if !c.unknown {
					cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+file)
				}
				out, _ := cmd.Output()
				return string(out), cmd.ProcessState.ExitCode()
			}
			run("init", "--admin", "vera")
			if out, code := run("mail", "set", "--host", "127.0.0.1", "--port", strconv.FormatInt(to.Port, 10), "--security", c.security, "--user", "shop",
				"--password", "sesame", "--from", "shop@example.com"); code != 0 {
				t.Fatal(out)
			}
			if c.to == "" {
				c.to = "ann@example.com"
			}
			var v struct {
				OK           bool
				Stage, Reply string
			}
			out, code := run("mail", "test", c.to, "--json")
			if err := json.Unmarshal([]byte(out), &v); err != nil || v.OK != c.ok || v.Stage != c.stage || (code == 0) != c.ok {
				t.Errorf("exit %d: %s %v", code, out, err)
			}
			assert.Contains(t, v.Reply+strings.Join(to.Secrets(), " "), c.said)
		})
	}
}

// TestMailRateLimit: of more messages than the rate, the first minute sends as many as it allows. A requested link and
// a restart do not change that.
func TestMailRateLimit(t *testing.T) {
	t.Parallel()
	s, to := apptest.MailShop(t)
	s.MustCLI("mail", "set", "--rate", "3")
	s.MustCLI("mail", "pause")
	for range 6 {
		record(s, "--email", "ann@example.com")
	}
	s.MustCLI("mail", "resume")
	settled(s, func(mailed) bool { return len(to.Got()) == 3 })
	s.Down()
	s.Up()
	record(s, "--email", "ann@example.com")
	for range 5 {
		assert.MustEqual(t, len(to.Got()), 3, "messages in a minute")
		mails(s)
	}
}

// TestMailMetricListAndDoctor: the metric counts each state, the list exports as CSV, doctor names a text that cannot
// be filled in, and forgetting a customer removes the address.
func TestMailMetricListAndDoctor(t *testing.T) {
	t.Parallel()
	s, _ := apptest.MailShop(t, "--metrics-addr", "127.0.0.1:0")
	ref, _ := record(s, "--email", "ann@example.com")
	settled(s, in("sent"))
	s.MustCLI("mail", "pause")
	s.MustCLI("store", "mail-order", ref, "--yes")
	s.MustCLI("mail", "block", "ann@example.com")
	if got := s.Get("metrics", "/metrics"); !strings.Contains(got.Body, `quartermaster_mails{state="sent"} 1`) ||
		!strings.Contains(got.Body, `quartermaster_mails{state="failed"} 0`) {
		t.Error(got.Body)
	}
	v := s.Person("store", "vera", "member")
	if got := v.Get("/mail?format=csv"); !strings.HasPrefix(strings.TrimPrefix(got.Body, "\ufeff"), "id,service,kind,record,to,state,tries,code,reply,created_at,next_try_at,tried_at") ||
		strings.Count(got.Body, "ann@example.com") != 2 {
		t.Error(got.Body)
	}
	s.MustCLI("store", "customer", "forget", "ann@example.com", "--yes")
	all := mails(s)
	assert.That(t, all[0].State == "cancelled" && all[0].To == "" && all[1].To == "" && all[1].State == "sent", "%+v", all)
	s.MustCLI("rental", "tenant", "save", "Örn", "--email", "Örn@example.org")
	s.MustCLI("mail", "block", "ÖRN@example.org")
	s.MustCLI("rental", "tenant", "forget", "Örn", "--yes")
	for _, email := range []string{"ann@example.com", "örn@example.org"} {
		_, _, errs := s.CLI("mail", "unblock", email)
		assert.That(t, strings.Contains(errs, "is not blocked"), "%v %v", email, errs)
		assert.Lacks(t, s.MustCLI("audit"), email)
	}
	s.Down()
	alter(t, s.Path, "INSERT INTO mail_texts VALUES ('order', 'Hello {gone}', '{keys}', 0)")
	code, out, _ := s.CLI("doctor")
	assert.That(t, code != 0 && strings.Contains(out, "the text of order"), "%d %s", code, out)
	s.Up()
}
