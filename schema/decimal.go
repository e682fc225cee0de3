package schema

// Decimal turns a number as people write it into one as JSON writes it; see Page.
func Decimal(s string, money bool) (string, bool) { return decimal(s, money) }
