// Package wire has what REST and the agents' endpoint share over HTTP: reading a body, sending an answer or a refusal.
package wire

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/fault"
)

// CheckMedia refuses a Content-Type other than JSON in UTF-8.
func CheckMedia(contentType string) error {
	if contentType == "application/json" {
		return nil
	}
	media, params, err := mime.ParseMediaType(contentType)
	charset, given := params["charset"]
	if err != nil || media != "application/json" || given && !strings.EqualFold(charset, "utf-8") {
		return fault.New(fault.Media,
			"Content-Type %s is not accepted; send Content-Type: application/json (UTF-8)", schema.Quote(contentType))
	}
	return nil
}

// ReadBody reads the whole body. It refuses more than most bytes, and an incomplete body.
func ReadBody(r *http.Request, most int64) ([]byte, error) {
	if r.ContentLength > most {
		return nil, tooLarge(r, most)
	}
	body, err := readAll(r, most)
	var over *http.MaxBytesError
	var busy *fault.Error
	switch {
	case errors.As(err, &busy): // no memory for it at present
		return nil, busy
	case errors.As(err, &over):
		return nil, tooLarge(r, most)
	case err != nil:
		return nil, fault.Malformedf("the body could not be read to its end%s", cutShort(err))
	}
	return body, nil
}

// freeBody is the size of a body's part that is read before memory is reserved for the rest, so that a client that only
// announces one reserves none.
const freeBody = 64 << 10

func readAll(r *http.Request, most int64) ([]byte, error) {
	in := http.MaxBytesReader(nil, r.Body, most)
	body := bytes.NewBuffer(make([]byte, 0, min(max(r.ContentLength, 0), freeBody)+bytes.MinRead))
	if _, err := body.ReadFrom(io.LimitReader(in, freeBody)); err != nil || body.Len() < freeBody {
		return body.Bytes(), err
	}
	if err := HoldBody(r, most); err != nil {
		return nil, err
	}
	body.Grow(int(max(r.ContentLength-freeBody, 0)) + bytes.MinRead)
	_, err := body.ReadFrom(in)
	return body.Bytes(), err
}

// tooLarge refuses a body for its size. Many clients send all of it before they read the answer, and would find a
// closed connection instead. So a body that is not far too large is read and discarded. A client that asked first has
// sent none.
func tooLarge(r *http.Request, most int64) error {
	const discarded = 16 << 20
	if r.Header.Get("Expect") == "" && r.ContentLength <= most+discarded {
		_, _ = io.CopyN(io.Discard, r.Body, most+discarded) // the answer is the same if it fails
	}
	return fault.New(fault.TooLarge, "the body is larger than the %d bytes that are allowed here", most)
}

func cutShort(err error) string {
	var slow net.Error
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ": it is shorter than announced"
	case errors.As(err, &slow) && slow.Timeout():
		return " in time"
	}
	return ""
}
