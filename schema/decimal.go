package schema

// Decimal turns a number as people write it into one as JSON writes it; see Page.
func Decimal(s string, money bool) (string, bool) { return decimal(s, money) }

// Takes says what the argument takes, as its refusals do: "a whole number from 1 to 9".
func (a Arg) Takes() string { return a.wants() }
