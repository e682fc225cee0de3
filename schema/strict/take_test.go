package strict

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

func TestTakeReadsToTheEnd(t *testing.T) {
	for _, n := range []int{0, 1, 511, 512, 513, unseen - 1, unseen, unseen + 1, 8 * unseen, 8*unseen + 1, 3 << 20} {
		text := bytes.Repeat([]byte("7"), n)
		for _, announced := range []int{-1, 0, n - 1, n, n + 1, 5 << 20} {
			got, err := ReadAll(bytes.NewReader(text), int64(announced), nil)
			if err != nil || !bytes.Equal(got, text) {
				t.Errorf("%d bytes of %d announced: %d, %v", n, announced, len(got), err)
			}
			if got, err := ReadAll(iotest.DataErrReader(bytes.NewReader(text)), int64(announced), nil); err != nil || len(got) != n {
				t.Errorf("%d bytes with their end, %d announced: %d, %v", n, announced, len(got), err)
			}
		}
		if got, err := ReadAll(io.MultiReader(bytes.NewReader(text), iotest.ErrReader(io.ErrUnexpectedEOF)), int64(n+7), nil); !errors.Is(err, io.ErrUnexpectedEOF) || len(got) != n {
			t.Errorf("%d bytes cut off: %d, %v", n, len(got), err)
		}
	}
	if got, err := ReadAll(iotest.OneByteReader(bytes.NewReader(make([]byte, 2000))), 2000, nil); err != nil || len(got) != 2000 || cap(got) != 2001 {
		t.Errorf("byte by byte: %d of %d, %v", len(got), cap(got), err)
	}
}

// announcer says much and sends little.
type announcer struct {
	left int

	asked func(room int)
}

func (a *announcer) Read(p []byte) (int, error) {
	a.asked(len(p))
	n := min(a.left, len(p))
	if a.left -= n; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// TestTakeBelievesWhatItHasSeen bounds what an announcement alone makes it reserve.
func TestTakeBelievesWhatItHasSeen(t *testing.T) {
	for _, came := range []int{0, 1, unseen - 1, unseen, 100_000, 1 << 20} {
		most := 0
		_, err := ReadAll(&announcer{left: came, asked: func(room int) { most = max(most, room) }}, 16<<20, nil)
		if limit := max(unseen, 8*came); err != nil || most > limit {
			t.Errorf("%d bytes came, and there was room for %d more; at most %d is right (%v)", came, most, limit, err)
		}
	}
}
