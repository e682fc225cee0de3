package store

import (
	"cmp"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// NewLine is one product of an order to be recorded. Qty 0 is 1, a nil unit price the
// product's.
type NewLine struct {
	SKU, Tier string
	Qty       int64
	Unit      *int64 // cents

	// As one text, if it was written so: complete, and without its price. A product may have either as its SKU.
	written, unpriced string
}

// mostLines bounds the lines of one order.
const mostLines = 100

// readLine parses SKU[:TIER][=QTY][@CENTS] from the right, so that a SKU may contain these characters: a tail that is
// no price, quantity or tier belongs to the text before it. A SKU that ends like one is meant if its quantity follows,
// X=2=1, or if no product has the shorter name.
func readLine(written string) (NewLine, error) {
	rest := strings.TrimSpace(written)
	l := NewLine{Qty: 1, written: rest, unpriced: rest}
	if head, tail, ok := cutLast(rest, "@"); ok {
		if cents, digits := wholeNumber(tail); digits {
			if cents < 0 || cents > maxPrice {
				return l, fault.Fieldf("line", "line: %s: the price of a unit is out of range; it takes 0 to %d cents",
					schema.Quote(written), fault.Cents(maxPrice))
			}
			rest, l.Unit, l.unpriced = head, &cents, head
		}
	}
	if head, tail, ok := cutLast(rest, "="); ok {
		if qty, digits := wholeNumber(tail); digits {
			if qty < 1 || qty > maxQty {
				return l, fault.Fieldf("line", "line: %s: the quantity is out of range; it takes 1 to %d", schema.Quote(written),
					maxQty)
			}
			rest, l.Qty = head, qty
		}
	}
	l.SKU = rest
	if rest == "" {
		return l, fault.Fieldf("line", "line: %s has no SKU; write SKU[:TIER][=QTY][@CENTS]", schema.Quote(written))
	}
	return l, nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	at := strings.LastIndex(s, sep)
	if at < 0 {
		return s, "", false
	}
	return strings.TrimSpace(s[:at]), strings.TrimSpace(s[at+1:]), true
}

// wholeNumber parses digits; a number beyond 64 bits is -1.
func wholeNumber(s string) (n int64, digits bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		n = -1
	}
	return n, true
}

// splitLines cuts lines apart that are separated by commas, semicolons or white space.
func splitLines(written string) []string {
	return strings.FieldsFunc(written, func(r rune) bool {
		return r == ',' || r == ';' || r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\u00a0'
	})
}

// line is one product of a sale.
type line struct {
	product  Product
	tier     string // "" is none
	qty      int64
	unit     int64
	licensed bool // issues a license a unit
}

func (l line) total() int64 { return l.qty * l.unit }

// product finds the line's product, and removes from the line what belongs to the SKU: the tier, the quantity, the
// price.
func (n *NewLine) product(c *db.Conn) (Product, error) {
	p, tier, found, err := lookUpGoods(c, n.SKU, n.Tier)
	if err == nil && !found && n.unpriced != n.SKU && n.unpriced != "" {
		if p, tier, found, err = lookUpGoods(c, n.unpriced, n.Tier); found {
			n.Qty = 1
		}
	}
	if err == nil && !found && n.written != n.unpriced {
		if p, tier, found, err = lookUpGoods(c, n.written, n.Tier); found {
			n.Qty, n.Unit = 1, nil
		}
	}
	if err == nil && !found {
		p, err = findProduct(c, n.SKU)
	}
	n.Tier = tier
	return p, err
}

// lookUpGoods looks a product up. A text with a colon may end in a tier: the whole is tried first.
func lookUpGoods(c *db.Conn, sku, tier string) (Product, string, bool, error) {
	p, found, err := lookUpProduct(c, sku)
	if head, tail, ok := cutLast(sku, ":"); err == nil && !found && tier == "" && ok {
		if p, found, err = lookUpProduct(c, head); found {
			tier = tail
		}
	}
	return p, tier, found, err
}

func (n NewLine) resolve(c *db.Conn) (line, error) {
	p, err := n.product(c)
	if err != nil {
		return line{}, err
	}
	if err := p.takesTier(n.Tier); err != nil {
		return line{}, err
	}
	n.Qty = cmp.Or(n.Qty, 1)
	if n.Qty < 1 || n.Qty > maxQty {
		return line{}, fault.Fieldf("qty", "qty: %d is out of range; it takes 1 to %d", n.Qty, maxQty)
	}
	l := line{product: p, tier: n.Tier, qty: n.Qty, unit: p.PriceCents, licensed: p.Kind == kindLicense}
	l.unit = schema.Or(n.Unit, l.unit)
	return l, nil
}

func resolveAll(c *db.Conn, list []NewLine) ([]line, error) {
	if len(list) > mostLines {
		return nil, fault.Fieldf("lines", "lines: an order has at most %d lines; %d are given", mostLines, len(list))
	}
	lines := make([]line, 0, len(list))
	for _, n := range list {
		l, err := n.resolve(c)
		if err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	return lines, nil
}

func subtotal(lines []line) (sum int64) {
	for _, l := range lines {
		sum += l.total()
	}
	return sum
}

// priceTo makes the lines add up to need cents before tax: by a discount if their own prices suffice, else by
// proportionally higher unit prices, rounded up, with a discount for the rest.
func priceTo(lines []line, need int64) (discount int64) {
	own := subtotal(lines)
	if own < need {
		raise(lines, own, need)
	}
	return subtotal(lines) - need
}

func raise(lines []line, own, need int64) {
	if own == 0 { // nothing to go by but what the products cost
		for i := range lines {
			lines[i].unit = lines[i].product.PriceCents
		}
		if own = subtotal(lines); own >= need && own > 0 {
			return
		}
	}
	if own == 0 {
		lines[0].unit = (need + lines[0].qty - 1) / lines[0].qty
		return
	}
	for i := range lines {
		lines[i].unit = exact.Mul(lines[i].unit, need).DivCeil(own)
	}
}
