package screens

import (
	"strings"
	"testing"

	"quartermaster/app/server"
	"quartermaster/schema"
	"quartermaster/schema/assert"
)

// TestFlagsInCentsSaySo checks every command's flags: an amount in cents has a flag that ends in cents. Former
// spellings are accepted and hidden. An amount in units is refused with the same amount in cents.
func TestFlagsInCentsSaySo(t *testing.T) {
	t.Parallel()
	for _, service := range server.Declared(nil) {
		for _, op := range service.Ops {
			if op.Command == "" {
				continue
			}
			for _, a := range op.Args(schema.Command) {
				if a.InCents() && a.Positional == "" && !strings.HasSuffix(a.FlagName(), "cents") {
					t.Errorf("%s: --%s is in cents and does not say so", op.Command, a.FlagName())
				}
			}
		}
	}
	s := sellPluginsAndBooks(t)
	for flag, value := range map[string]string{"--total": "49.00", "--total-cents": "49,0"} {
		code, _, errs := s.CLI("store", "order", "record", "--email", "ann@example.com", "--sku", "PLUGIN", flag, value)
		assert.That(t, code == 2 && strings.Contains(errs, "it is in cents: 4900"),
			"%s %s: exit %d, %s", flag, value, code, errs)
	}
	assert.Equal(t, strings.Count(s.MustCLI("store", "orders", "list", "--json"), `"order_ref"`), 0,
		"orders were recorded")
	for _, flag := range []string{"--total", "--total-cents"} {
		made := s.MustCLI("store", "order", "record", "--email", "ann@example.com", "--sku", "PLUGIN", flag, "4900")
		assert.That(t, strings.Contains(made, "49.00"), "%s 4900: %s", flag, made)
	}
	code, _, errs := s.CLI("store", "order", "record", "--email", "a@b.c", "--sku", "PLUGIN", "--total", "1", "--total-cents", "2")
	assert.That(t, code == 2 && strings.Contains(errs, "give it once"), "both spellings: exit %d, %s", code, errs)
	if help := s.MustCLI("store", "order", "record", "--help"); strings.Contains(help, "--total ") || !strings.Contains(help, "--total-cents CENTS") {
		t.Errorf("the help tells of the old spelling: %s", help)
	}
	code, _, errs = s.CLI("rental", "charge", "1", "--type", "repair", "--amount", "7000", "--due", "2026-12-01", "--label", "Key")
	assert.That(t, code == 1 && !strings.Contains(errs, "required"),
		"an old spelling of a flag that is needed: exit %d, %s", code, errs)
}
