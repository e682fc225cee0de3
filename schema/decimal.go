package schema

// Takes says what the argument accepts, as its refusals do: "a whole number from 1 to 9".
func (a Arg) Takes() string { return a.wants() }
