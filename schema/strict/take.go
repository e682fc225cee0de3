package strict

import "io"

// unseen is how many bytes are reserved before any has come.
const unseen = 4 << 10

// ReadAll reads a text to its end, of which its sender announced the length; less than 0
// is none. The announcement is believed only as far as four times what has come
// already, so that senders of a few bytes cannot fill the memory by announcing many.
func ReadAll(r io.Reader, announced int64) ([]byte, error) {
	believed := func(came int) int {
		return int(min(max(announced+1, 512), int64(max(unseen, 4*came)))) // one more byte tells the end
	}
	b := make([]byte, 0, believed(0))
	for {
		if len(b) == cap(b) {
			b = append(make([]byte, 0, max(2*cap(b), believed(len(b)))), b...)
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
