package mcp

import "slices"

// appendText appends a JSON text as the inside of a JSON string. A valid text holds
// nothing that takes more than one backslash: quotes, backslashes and, between its
// tokens, line ends and tabs. The backslash is written before every byte, and kept
// where the table says so: with a quote at every sixth byte a branch would be guessed
// wrongly most of the time, and this text is as long as the whole answer.
func appendText(b, text []byte) []byte {
	n := len(b)
	b = slices.Grow(b, 2*len(text)+1)[:n+2*len(text)+1]
	for _, c := range text {
		b[n] = '\\'
		n += int(slashes[c])
		b[n] = letters[c]
		n++
	}
	return b[:n]
}

// slashes is the number of backslashes before a byte, letters the character for it.
var slashes, letters = func() (slashes, letters [256]byte) {
	for c := range letters {
		letters[c] = byte(c)
	}
	for _, c := range []byte("\"\\\n\r\t") {
		slashes[c] = 1
	}
	letters['\n'], letters['\r'], letters['\t'] = 'n', 'r', 't'
	return slashes, letters
}()
