package app_test

import (
	"strings"
	"testing"
)

// The zone that the file keeps is changed by `settings timezone`, from the next start on.
func TestSettingsTimezone(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	if got := c.ok("settings", "timezone", "Europe/Berlin"); !strings.Contains(got, "Europe/Berlin from the next start on") {
		t.Errorf("printed %q", got)
	}
	if got := c.ok("settings", "timezone", "Europe/Berlin"); !strings.Contains(got, "already") {
		t.Errorf("printed %q", got)
	}
	if code, _, told := c.call("settings", "timezone", "Middle-earth/Shire"); code == 0 || !strings.Contains(told, "it takes an IANA name such as Europe/Berlin") {
		t.Errorf("exit %d, %q", code, told)
	}
	if got := c.ok("audit"); strings.Count(got, "settings.timezone") < 1 || !strings.Contains(got, "Europe/Berlin") {
		t.Errorf("the audit trail:\n%s", got)
	}
	_, _, told := c.call("status") // this process says UTC
	if !strings.Contains(told, "Europe/Berlin") || !strings.Contains(told, "UTC") {
		t.Errorf("a zone that differs is not told: %q", told)
	}
}
