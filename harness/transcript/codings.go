package transcript

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// Decoded reports whether the body was sent in a content coding and Bytes are decoded.
func (b Body) Decoded() bool { return b.Sent > 0 && (b.Withheld == nil || b.Withheld.Archive != "") }

// Decode decodes the content codings of the body, if all are known and no decoded result exceeds the limit. Otherwise
// the body stays as it was received, and is Undecoded.
func (b *Body) Decode(h Header, limit int64) {
	names := h.Codings()
	if len(names) == 0 || len(b.Bytes) == 0 || !b.Whole() {
		return
	}
	if content, err := DecodeCodings(names, bytes.NewReader(b.Bytes), limit); err == nil {
		*b = Body{Bytes: content, Size: int64(len(content)), Sent: b.Size}
	}
}

// Undecoded reports whether the header names content codings that are not decoded.
func (b Body) Undecoded(h Header) bool { return b.Size > 0 && !b.Decoded() && len(h.Codings()) > 0 }

// maxChecked limits how much of a body is decoded to check its codings.
const maxChecked = 64 << 20

// Opaque says why a body with codings is not decoded: this package does not decode it (unread), or it is not valid in
// its codings (mistaken). Both are "" when there is nothing to decode. part marks the body of a 206.
func (b Body) Opaque(h Header, part bool) (unread, mistaken string) {
	if b.Withheld != nil {
		return b.Withheld.Unread, b.Withheld.Mistaken
	}
	if b.Size == 0 || !b.Whole() {
		return "", ""
	}
	if names := h.TransferCodings(); len(names) > 0 {
		return fmt.Sprintf("it is in the transfer coding %q, which is not decoded", strings.Join(names, ", ")), ""
	}
	if !b.Undecoded(h) {
		return "", ""
	}
	if part {
		return fmt.Sprintf("it is a part of what is in the coding %q, and a part cannot be decoded by itself", strings.Join(h.Codings(), ", ")), ""
	}
	switch err := checkCodings(h.Codings(), bytes.NewReader(b.Bytes), maxChecked); {
	case err == nil:
		return "it was not decoded when it came, because it holds more than limits.body keeps, or because an older lockstep recorded it", ""
	case isLimit(err):
		return err.Error(), ""
	default:
		return "", err.Error()
	}
}

// Codings returns the content codings that the header names, in the order in which they were applied.
func (h Header) Codings() []string { return ContentCodings(h.Values("Content-Encoding")) }

// TransferCodings returns the transfer codings of a body without chunked, which has been decoded (RFC 9112 §7).
func (h Header) TransferCodings() []string {
	return slices.DeleteFunc(ContentCodings(h.Values("Transfer-Encoding")), func(name string) bool { return name == "chunked" })
}

// Withheld says what is known about a content that is withheld because it may contain a secret. All fields are "" when
// the content could be decoded, or is incomplete.
type Withheld struct {
	Unread   string `json:"unread,omitempty"`   // why its codings are not decoded
	Mistaken string `json:"mistaken,omitempty"` // why it is not valid in its codings
	Archive  string `json:"archive,omitempty"`  // why it is not the archive that its type says
}

// Withhold replaces a content by its length and its checksum, so that equal contents stay equal.
func (b *Body) Withhold(why Withheld) {
	text := fmt.Appendf(nil, "‹%d bytes withheld, since they may hide a secret; SHA-256 %x›", len(b.Bytes), sha256.Sum256(b.Bytes))
	*b = Body{Bytes: text, Size: b.Size - int64(len(b.Bytes)) + int64(len(text)), Sent: b.Length(), Withheld: &why}
}
