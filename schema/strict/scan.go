package strict

// The functions below read valid JSON.

// skip returns the index after the value that begins at i.
func skip(b []byte, i int) int {
	switch b[i] {
	case '"':
		end, _ := skipString(b, i+1)
		return end
	case '{', '[':
		return skipNested(b, i+1)
	}
	for i < len(b) && !ends[b[i]] {
		i++
	}
	return i
}

// skipString returns the index after the string whose opening quote is just before i; escaped reports whether it
// contains a backslash.
func skipString(b []byte, i int) (end int, escaped bool) {
	for ; b[i] != '"'; i++ {
		if b[i] == '\\' {
			escaped = true
			i++
		}
	}
	return i + 1, escaped
}

// skipNested returns the index after the array or object whose opening bracket is just before i.
func skipNested(b []byte, i int) int {
	for depth := 1; depth > 0; {
		switch b[i] {
		case '"':
			i, _ = skipString(b, i+1)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		i++
	}
	return i
}

// ends are the bytes that may follow a number or a literal.
var ends = [256]bool{' ': true, '\t': true, '\n': true, '\r': true, ',': true, ']': true, '}': true}

// skipSpace returns the index of the first byte of b from i on that is not white space, or len(b).
func skipSpace(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}
