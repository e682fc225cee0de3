package strict

import (
	"bytes"
	"encoding/json"
)

// Marshal writes v as JSON the way it leaves the program: without HTML escapes and
// without a newline at the end.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
