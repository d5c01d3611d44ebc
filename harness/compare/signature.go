package compare

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// Nobody but the servers has the key of a JWT, so a signature cannot be checked. That it is one can be seen as far as both
// sides show it: it is of as many bytes, it is not one byte over and over again, and other claims have another one.

// signed says in what the signature of one of two JWTs is none, and that of the other one is; "" when neither, or both.
func (b *bindings) signed(ref, cand string) string {
	var why [2]string
	for side, text := range [2]string{ref, cand} {
		if jwtIn(text) == nil {
			return ""
		}
		why[side] = b.unsigned(side, text)
	}
	for side := range why {
		if why[side] != "" && why[1-side] == "" {
			return sideNames[side] + "'s signature " + why[side]
		}
	}
	return ""
}

// unsigned says in what the signature of a JWT is none; "" when it may be one.
func (b *bindings) unsigned(side int, text string) string {
	at := strings.LastIndexByte(text, '.')
	content, signature := text[:at], text[at+1:]
	data, err := base64.RawURLEncoding.DecodeString(signature)
	switch {
	case signature == "":
		return "is missing"
	case err != nil:
		return "is not Base64 (RFC 7515 §7.1)"
	case strings.Count(string(data), string(data[:1])) == len(data) && len(data) > 1:
		return fmt.Sprintf("is the byte %#02x, %d times", data[0], len(data))
	}
	if before, known := b.signatures[side][signature]; known && before != content {
		return "is that of another token as well"
	}
	put(&b.signatures[side], signature, content)
	return ""
}
