package jsondiff

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
)

// Only the servers have the key of a JWT, so a signature cannot be verified. Some properties can be checked: both
// sides' signatures have the same length, a signature is not one byte repeated, and different claims have different
// signatures.

// signatureDiff returns the defect of a signature, if only one of two JWTs has a defective one.
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

// signatureDefect returns why the signature of a JWT cannot be valid; "" when it can.
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
		return "is the same as that of another token"
	}
	ident.Put(&h.signatures[side], signature, content)
	return ""
}
