package table

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Encodings are the possible encodings of a file's text.
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

// text returns the file's text as UTF-8, without its byte order mark, and its original encoding. A mark decides the
// encoding, whatever was requested. Without mark and request it is UTF-8, unless the bytes are invalid and good
// Windows-1252. Invalid bytes of another encoding become U+FFFD.
func (f *File) text(wish string) (io.Reader, string, error) {
	head := make([]byte, 3)
	n, err := f.at.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", err
	}
	head = head[:n]
	order := unicode.LittleEndian
	switch {
	case bytes.HasPrefix(head, utf8Mark):
		return io.NewSectionReader(f.at, 3, f.size-3), utf8Name, nil
	case bytes.HasPrefix(head, littleEndian), bytes.HasPrefix(head, bigEndian):
		wish = utf16Name
	case wish == "":
		if wish, err = f.guess(); err != nil {
			return nil, "", err
		}
	case len(head) > 1 && head[0] == 0 && head[1] != 0:
		order = unicode.BigEndian
	}
	var from encoding.Encoding
	switch wish {
	case utf16Name:
		from = unicode.UTF16(order, unicode.UseBOM)
	case windowsName:
		from = charmap.Windows1252
	default:
		return f.whole(), utf8Name, nil
	}
	return transform.NewReader(f.whole(), from.NewDecoder()), wish, nil
}

// windowsUnused are the bytes without a character in Windows-1252.
const windowsUnused = "\x81\x8d\x8f\x90\x9d"

// guess decides for Windows-1252: the file has bytes that are invalid in UTF-8, more of them than multi-byte letters of
// UTF-8, and all of them are characters that people type. FF and FE do not count as such: they are more frequent in
// damaged files than in words.
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
			case have[0] >= 0xfe || bytes.IndexByte([]byte(windowsUnused), have[0]) >= 0:
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
