package apptest

import (
	"fmt"
	"testing"
)

// MailShop is a shop with a product; its mail goes to a server that the test scripts.
func MailShop(t *testing.T, args ...string) (*Fixture, *MailServer) {
	t.Helper()
	s, to := Start(t, args...), StartMail(t)
	s.MustCLI("store", "product", "save", "PLUGIN", "--name", "Audio plugin", "--kind", "license", "--price-cents", "4900", "--activation-limit", "3")
	SetMail(s, to)
	return s, to
}

// SetMail sends the mail of an appliance to a server that the test scripts.
func SetMail(s *Fixture, to *MailServer, args ...string) {
	s.T.Helper()
	s.MustCLI(append([]string{"mail", "set", "--host", "127.0.0.1", "--port", fmt.Sprint(to.Port), "--security", "none", "--from", "shop@example.com",
		"--from-name", "Bean & Co", "--rate", "600"}, args...)...)
}
