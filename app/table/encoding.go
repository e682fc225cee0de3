package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// Encodings are the ways in which a file's text may be written.
var Encodings = []string{utf8Name, utf16Name, windowsName}

const (
	utf8Name    = "utf-8"
	utf16Name   = "utf-16"
	windowsName = "windows-1252"
)

var (
	utf8Mark     = []byte("\xef\xbb\xbf")
	littleEndian = []byte("\xff\xfe")
	bigEndian    = []byte("\xfe\xff")
)

// text returns the file's text as UTF-8, without its mark, and the encoding that it was
// in. A mark says what the encoding is, whatever was asked for; without one and
// without a wish it is UTF-8, unless the bytes are not that and are good Windows-1252.
func (f *File) text(wish string) (io.Reader, string, error) {
	head := make([]byte, 3)
	n, err := f.at.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", err
	}
	head = head[:n]
	rest := func(skip int64) io.Reader { return io.NewSectionReader(f.at, skip, f.size-skip) }
	switch {
	case bytes.HasPrefix(head, utf8Mark):
		return rest(3), utf8Name, nil
	case bytes.HasPrefix(head, littleEndian):
		return &utf16Reader{in: rest(2), order: binary.LittleEndian}, utf16Name, nil
	case bytes.HasPrefix(head, bigEndian):
		return &utf16Reader{in: rest(2), order: binary.BigEndian}, utf16Name, nil
	}
	if wish == "" {
		if wish, err = f.guess(); err != nil {
			return nil, "", err
		}
	}
	switch wish {
	case utf16Name:
		order := binary.ByteOrder(binary.LittleEndian)
		if len(head) > 1 && head[0] == 0 && head[1] != 0 {
			order = binary.BigEndian
		}
		return &utf16Reader{in: rest(0), order: order}, utf16Name, nil
	case windowsName:
		return &windowsReader{in: rest(0)}, windowsName, nil
	}
	return rest(0), utf8Name, nil
}

// guess tells Windows-1252 from UTF-8: the file holds bytes that UTF-8 does not allow,
// more of them than letters that UTF-8 would make of several bytes, and all of them
// are characters that people type. FF and FE are not counted among those: they stand
// in damaged files sooner than in words.
func (f *File) guess() (string, error) {
	in := f.whole()
	buffer := make([]byte, 64<<10)
	kept, wide, odd := 0, 0, 0
	for {
		n, err := in.Read(buffer[kept:])
		have := buffer[:kept+n]
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return "", err
		}
		for len(have) > 0 {
			if have[0] < utf8.RuneSelf {
				have = have[1:]
				continue
			}
			if !end && !utf8.FullRune(have) {
				break
			}
			r, size := utf8.DecodeRune(have)
			switch {
			case r != utf8.RuneError || size > 1:
				wide++
			case have[0] >= 0xfe || windows1252[have[0]-0x80] == utf8.RuneError:
				return utf8Name, nil
			default:
				odd++
			}
			have = have[size:]
		}
		if end {
			break
		}
		kept = copy(buffer, have)
	}
	if odd > wide {
		return windowsName, nil
	}
	return utf8Name, nil
}

// utf16Reader reads UTF-16 as UTF-8.
type utf16Reader struct {
	in    io.Reader
	order binary.ByteOrder
	raw   [8 << 10]byte
	kept  int
	out   []byte
	ready []byte
	end   error
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.ready) == 0 {
		if u.end != nil {
			return 0, u.end
		}
		u.fill()
	}
	n := copy(p, u.ready)
	u.ready = u.ready[n:]
	return n, nil
}

func (u *utf16Reader) fill() {
	n, err := io.ReadFull(u.in, u.raw[u.kept:])
	have := u.raw[:u.kept+n]
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	u.end, u.out, u.kept = err, u.out[:0], 0
	for len(have) > 1 {
		c := rune(u.order.Uint16(have))
		if utf16.IsSurrogate(c) {
			if len(have) < 4 && err == nil {
				break // its other half comes with the next bytes
			}
			if len(have) >= 4 {
				if whole := utf16.DecodeRune(c, rune(u.order.Uint16(have[2:]))); whole != utf8.RuneError {
					u.out = utf8.AppendRune(u.out, whole)
					have = have[4:]
					continue
				}
			}
			u.out = append(u.out, 0xff) // refuses the cell: half a character
			have = have[2:]
			continue
		}
		u.out = utf8.AppendRune(u.out, c)
		have = have[2:]
	}
	if len(have) > 0 && err != nil {
		u.out = append(u.out, 0xff)
	} else {
		u.kept = copy(u.raw[:], have)
	}
	u.ready = u.out
}

// windowsReader reads Windows-1252 as UTF-8.
type windowsReader struct {
	in    io.Reader
	raw   [8 << 10]byte
	out   []byte
	ready []byte
	end   error
}

func (w *windowsReader) Read(p []byte) (int, error) {
	for len(w.ready) == 0 {
		if w.end != nil {
			return 0, w.end
		}
		var n int
		n, w.end = w.in.Read(w.raw[:])
		w.out = w.out[:0]
		for _, b := range w.raw[:n] {
			switch {
			case b < 0x80:
				w.out = append(w.out, b)
			case windows1252[b-0x80] == utf8.RuneError:
				w.out = append(w.out, b) // no character: the cell is refused
			default:
				w.out = utf8.AppendRune(w.out, windows1252[b-0x80])
			}
		}
		w.ready = w.out
	}
	n := copy(p, w.ready)
	w.ready = w.ready[n:]
	return n, nil
}

// windows1252 is what the bytes from 80 on mean.
var windows1252 = func() (t [128]rune) {
	for i := range t {
		t[i] = rune(0x80 + i)
	}
	copy(t[:], []rune("€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ"))
	return t
}()
