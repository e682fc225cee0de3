package screens

import (
	"strings"
	"testing"
)

// pager goes through a flow's steps: without a browser, in Chromium with script, or in Chromium without.
type pager interface {
	// visit opens an address.
	visit(url string)
	// fill types into a field, by its name; "row|name" is the field in the row or card that contains the text.
	fill(field, value string)
	// attach chooses a file for a field.
	attach(field, path string)
	// press presses a link or a button by its label, "row|label" as for fill, and waits for the result.
	press(label string)
	// reveal opens a details element by its summary.
	reveal(summary string)
	// see fails unless the page shows the text.
	see(text string)
	// field is the value of a field.
	field(name string) string
	// at is the path of the page.
	at() string
	// taps counts the taps since the last visit.
	taps() int
}

// guest is a pager with its demo.
type guest struct {
	pager
	t    *testing.T
	demo *flowFixture
	name string // sets its records apart from those of another run
}

func (g *guest) open(service, path string) { g.visit(g.demo.URL(service, path)) }

// parted splits "row|name".
func parted(target string) (row, name string) {
	if row, name, is := strings.Cut(target, "|"); is {
		return row, name
	}
	return "", target
}

// says reports whether a button's text is the label, alone or before its part for screen readers.
func says(text, label string) bool {
	text = strings.Join(strings.Fields(text), " ")
	return text == label || strings.HasSuffix(label, "-") && strings.HasPrefix(text, label) || strings.HasPrefix(text, label+",") || strings.HasPrefix(text, label+" ")
}

// daily are the ten daily tasks with the taps that they take on a phone, from the service's first page on;
// docs/screens.md lists them.
var daily = []struct {
	name, service string
	taps          int
	do            func(g *guest)
}{
	{"move a job", "maintenance", 1, func(g *guest) {
		g.press("Oil mist|Start")
		g.see("is in progress")
	}},
	{"finish a job", "maintenance", 2, func(g *guest) {
		g.press("Cooler trips|Mark as done")
		g.fill("resolution", "Fuse renewed")
		g.press("Mark as done")
		g.see("Fuse renewed")
	}},
	{"post a reading", "maintenance", 3, func(g *guest) {
		g.press("Assets")
		g.press("Lathe|Reading")
		g.fill("reading", "10800,5")
		g.press("Record reading")
		g.see("10,800.5 h")
	}},
	{"record a payment", "rental", 2, func(g *guest) {
		g.press("Ben Okafor|Record payment")
		g.press("Record payment")
		g.see("1,850.00 USD")
		g.see("Ben Okafor")
	}},
	{"invite a tenant", "rental", 2, func(g *guest) {
		g.press("Tenants")
		g.press("Deniz Kaya|Invite")
		g.see("type this code")
	}},
	{"order what is low", "reorder", 4, func(g *guest) {
		g.press("Draft orders")
		g.press("Leaf & Co|PO-")
		g.press("Order it")
		g.see("Keep it")
		g.press("Order")
		g.see("Ordered")
	}},
	{"count a SKU", "reorder", 3, func(g *guest) {
		g.press("Count")
		g.fill("Tea infuser|.qty", "12")
		g.press("Save the count")
		g.see("1 SKU is counted; the stock of 1 changed.")
	}},
	{"import sales", "reorder", 5, func(g *guest) {
		g.press("Sales")
		g.press("Import sales")
		g.attach("file", g.demo.file(g.t, "sales.csv", "sku,date,qty,channel\nTEA-JASMINE-100,2026-11-18,3,"+g.name+"\n"))
		g.press("Show what would happen")
		g.see("TEA-JASMINE-100")
		g.press("Write")
		g.see("1 row")
	}},
	{"find a license", "store", 2, func(g *guest) {
		g.press("Search")
		g.fill("q", g.demo.key)
		g.press("Search")
		g.see(g.demo.key)
	}},
	{"refund", "store", 3, func(g *guest) {
		g.press("paypal|Invoice Desk")
		g.press("Refund")
		g.press("Refund order")
		g.see("Refunded")
	}},
	{"resend a delivery", "store", 3, func(g *guest) {
		g.reveal("alice")
		g.press("Webhooks")
		g.press(g.demo.receiver + "|Resend")
		g.see("1 delivery sent")
	}},
	{"resend what failed", "store", 1, func(g *guest) {
		g.demo.miss(g.t)
		g.open("store", "/")
		g.press("Send what failed again")
		g.see("1 delivery sent")
	}},
}
