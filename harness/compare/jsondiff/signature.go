package jsondiff

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
)

// Nobody but the servers has the key of a JWT, so a signature cannot be checked. That it is one can be seen as far as both
// sides show it: it is of as many bytes, it is not one byte over and over again, and other claims have another one.

// signatureDiff says in what the signature of one of two JWTs is none, and that of the other one is.
func (h *history) signatureDiff(ref, cand string) diff.Reason {
	var why [2]string
	for side, text := range [2]string{ref, cand} {
		if jwtIn(text) == nil {
			return diff.Reason{}
		}
		why[side] = h.signatureDefect(side, text)
	}
	for side := range why {
		if why[side] != "" && why[1-side] == "" {
			return diff.Because(diff.ValueDiffers, diff.SignatureInvalid, diff.Side(side), why[side])
		}
	}
	return diff.Reason{}
}

// signatureDefect says in what the signature of a JWT is none; "" when it may be one.
func (h *history) signatureDefect(side int, text string) string {
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
	if before, known := h.signatures[side][signature]; known && before != content {
		return "is that of another token as well"
	}
	ident.Put(&h.signatures[side], signature, content)
	return ""
}
