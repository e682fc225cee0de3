package strict

import "io"

// unseen is how many bytes are reserved before any has come.
const unseen = 4 << 10

// An Account is told of the memory that a text takes, and may refuse it.
type Account interface {
	Reserve(n int64) error
	Release(n int64)
}

// AccountOf is the account that a reader keeps, or nil.
func AccountOf(r io.Reader) Account {
	a, _ := r.(Account)
	return a
}

// ReadAll reads a text to its end, of which its sender announced the length; less than 0
// is none. The announcement is believed only as far as four times what has come
// already, so that senders of a few bytes cannot fill the memory by announcing many. What
// it takes beyond the first bytes is told to the account, unless that is nil.
func ReadAll(r io.Reader, announced int64, account Account) ([]byte, error) {
	believed := func(came int) int {
		return int(min(max(announced+1, 512), int64(max(unseen, 4*came)))) // one more byte tells the end
	}
	b := make([]byte, 0, believed(0))
	for {
		if len(b) == cap(b) {
			larger, err := grown(b, max(2*cap(b), believed(len(b))), account)
			if err != nil {
				return b, err
			}
			b = larger
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// grown is the text with room for size bytes.
func grown(b []byte, size int, account Account) ([]byte, error) {
	if account == nil {
		return append(make([]byte, 0, size), b...), nil
	}
	if err := account.Reserve(int64(size)); err != nil {
		return nil, err
	}
	larger := append(make([]byte, 0, size), b...)
	if old := cap(b); old > unseen {
		account.Release(int64(old))
	}
	return larger, nil
}
