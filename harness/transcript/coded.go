package transcript

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/coding"
)

// Decoded reports whether the body came in a content coding, of which Bytes have nothing any more.
func (b Body) Decoded() bool { return b.Sent > 0 && (b.Withheld == nil || b.Withheld.Archive != "") }

// Decode takes the body out of its content codings, if they can be read, and none holds more than so many bytes. Else the body
// stays as it came, and is Undecoded.
func (b *Body) Decode(h Header, most int64) {
	names := h.Codings()
	if len(names) == 0 || len(b.Bytes) == 0 || !b.Whole() {
		return
	}
	if content, err := coding.Decode(names, bytes.NewReader(b.Bytes), most); err == nil {
		*b = Body{Bytes: content, Size: int64(len(content)), Sent: b.Size}
	}
}

// Undecoded reports whether Bytes are still in a content coding, or in none although the header names one.
func (b Body) Undecoded(h Header) bool { return b.Size > 0 && !b.Decoded() && len(h.Codings()) > 0 }

// mostChecked is how much of a body is decoded to see whether it can be.
const mostChecked = 64 << 20

// Opaque says why a body is still as it came, when it names codings: it goes beyond what is decoded (unread), or it is not in
// them (mistaken). Both are "" when there is nothing to decode. part says that it is a part of a body (206).
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
	switch err := coding.Check(h.Codings(), bytes.NewReader(b.Bytes), mostChecked); {
	case err == nil:
		return "it was not decoded when it came, because it holds more than limits.body keeps, or because an older lockstep recorded it", ""
	case coding.Limited(err):
		return err.Error(), ""
	default:
		return "", err.Error()
	}
}

// Codings returns the content codings that are named, in the order in which they were applied.
func (h Header) Codings() []string { return coding.Of(h.Values("Content-Encoding")) }

// TransferCodings returns the transfer codings around a body, apart from chunked, of which it is taken out (RFC 9112 §7).
func (h Header) TransferCodings() []string {
	return slices.DeleteFunc(coding.Of(h.Values("Transfer-Encoding")), func(name string) bool { return name == "chunked" })
}

// Withheld says what was found about a content before it was withheld, as it may hide a secret. All are "" when the content
// could be read, or did not come to its end.
type Withheld struct {
	Unread   string `json:"unread,omitempty"`   // why its codings cannot be read
	Mistaken string `json:"mistaken,omitempty"` // how it is not in its codings
	Archive  string `json:"archive,omitempty"`  // why it is not the archive that it is called
}

// Withhold puts the length and the sum of a content in its place, so that equal ones stay equal.
func (b *Body) Withhold(why Withheld) {
	text := fmt.Appendf(nil, "‹%d bytes withheld, since they may hide a secret; SHA-256 %x›", len(b.Bytes), sha256.Sum256(b.Bytes))
	*b = Body{Bytes: text, Size: b.Size - int64(len(b.Bytes)) + int64(len(text)), Sent: b.Length(), Withheld: &why}
}
