package db

import (
	"zombiezen.com/go/sqlite"

	"quartermaster/schema/words"
)

// teachWords adds SQL functions for searching lists to a connection. No table, index or trigger may use them, since
// other programs lack them.
//
//	has_words(wanted, text, ...)  1 if each wanted word is in one of the texts
//	folded(text)                  the form in which words are compared
func teachWords(c *sqlite.Conn) error {
	var asked string
	var wanted words.Words
	err := c.CreateFunction("has_words", &sqlite.FunctionImpl{
		NArgs: -1, Deterministic: true,
		Scalar: func(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
			if q := args[0].Text(); q != asked {
				asked, wanted = q, words.Of(q)
			}
			var texts [8]string
			for i, a := range args[1:] {
				texts[i] = a.Text()
			}
			if wanted.In(texts[:len(args)-1]...) {
				return sqlite.IntegerValue(1), nil
			}
			return sqlite.IntegerValue(0), nil
		},
	})
	if err != nil {
		return err
	}
	return c.CreateFunction("folded", &sqlite.FunctionImpl{
		NArgs: 1, Deterministic: true,
		Scalar: func(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
			return sqlite.TextValue(words.Fold(args[0].Text())), nil
		},
	})
}
