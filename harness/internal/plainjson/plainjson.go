// Package plainjson writes JSON without the escapes that encoding/json adds for HTML, to send it or to show it to
// people.
package plainjson

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Encode returns a value as JSON. The value must be representable in JSON.
func Encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("plainjson: a value cannot be written as JSON: %v", err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
