package server

import (
	stdlog "log"
	"strings"

	"github.com/rs/zerolog"
)

// quietLog logs net/http's messages about broken connections at debug level.
func quietLog(log zerolog.Logger) *stdlog.Logger {
	return stdlog.New(debugWriter{log}, "", 0)
}

type debugWriter struct{ log zerolog.Logger }

func (w debugWriter) Write(b []byte) (int, error) {
	w.log.Debug().Str("from", "http").Msg(strings.TrimSpace(string(b)))
	return len(b), nil
}
