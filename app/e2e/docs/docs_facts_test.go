package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

// facts are figures and rules that change, as they are worded, and the one page that states each. Other pages link to it.
var facts = []struct{ words, page string }{
	{`\b808[1-4]\b`, "README.md"},
	{`Go 1\.\d+`, "README.md"},
	{`\d+ MB of modules`, "README.md"},
	{`(?i)\bviewer\b[^.|]* reads\b`, "screens.md"},
	{`10 to \d+ characters`, "screens.md"},
	{`works once, for \d+ hours`, "screens.md"},
	{`(?i)wrong passwords`, "screens.md"},
	{`HMAC`, "webhooks.md"},
	{`(?i)one attempt for each`, "webhooks.md"},
	{`(?i)within \d+ seconds\*\*`, "webhooks.md"},
	{`last \d+ (finished )?deliveries`, "webhooks.md"},
	{`RFC 1918`, "webhooks.md"},
	{`at most 1 MiB`, "api.md"},
	{`first answer is kept`, "api.md"},
	{`\d+ wrong keys`, "api.md"},
	{`default 500, at most`, "api.md"},
	{`at most \d+ KB\b`, "agents.md"},
	{`120 activations`, "license-checks.md"},
	{`\d+ unknown keys|twenty unknown keys`, "license-checks.md"},
	{`\d+ checked copies`, "install.md"},
	{`get ten seconds`, "install.md"},
	{`days after it was due`, "mail.md"},
	{`messages a minute`, "mail.md"},
	{`three links an hour`, "mail.md"},
	{`400 days ahead`, "reliability.md"},
	{`160 MiB`, "reliability.md"},
	{`\b64 MiB`, "reliability.md"},
	{`stays signed in for`, "for-tenant.md"},
	{`days of the range`, "maintenance.md"},
	{`rent x days`, "rental-ledger.md"},
	{`two check digits`, "bank.md"},
	{`within the last five minutes`, "store-payments.md"},
}

func TestFactsStandOnce(t *testing.T) {
	t.Parallel()
	for _, f := range facts {
		words, found := regexp.MustCompile(f.words), false
		for _, path := range documents(t) {
			if filepath.Base(path) == "CHANGELOG.md" {
				continue
			}
			_, text := document(t, path)
			said := words.FindString(strings.Join(strings.Fields(prose(text)), " "))
			if own := filepath.Base(path) == f.page; own {
				found = said != ""
			} else if said != "" {
				t.Errorf("%s says %q: link to %s, which owns it", path, said, f.page)
			}
		}
		assert.That(t, found, "%s does not say %s", f.page, f.words)
	}
}
