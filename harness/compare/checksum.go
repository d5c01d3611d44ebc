package compare

import (
	"bytes"
	"mime"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// The sum of a body that has ids in it is another on each side, as the ids are. Equal bodies have equal sums.

// checksums are the fields that have a sum of the body (RFC 9110 §8.8.3, RFC 9530 §2 and §3, RFC 3230 §4.3.2, RFC 1864).
var checksums = []string{"ETag", "Content-Digest", "Repr-Digest", "Digest", "Content-MD5"}

// checksumExplained binds the sums of two bodies that differ, and in nothing but what may: such as ids that are bound.
// From then on one stands for the other, so that a content that comes again must have its own again. same is whether
// nothing was found in the bodies.
func (c *comparison) checksumExplained(step, name string, ref, cand *transcript.Response, same bool) bool {
	if !same || !slices.ContainsFunc(checksums, func(n string) bool { return strings.EqualFold(n, name) }) {
		return false
	}
	r, o := ref.Header.Values(name), cand.Header.Values(name)
	if len(r) != 1 || len(o) != 1 || r[0] == o[0] || !madeAlike(r[0], o[0]) || !c.contentsDiffer(ref, cand) {
		return false
	}
	return c.b.bindWhole(r[0], o[0], location{what: "step " + step + " header " + name}) == ""
}

// madeAlike reports whether two sums have one form: as many characters, and all signs in the same places (W/"…", sha-256=:…=:),
// but for those of Base64 itself.
func madeAlike(ref, cand string) bool {
	if len(ref) != len(cand) || len(ref) < minKnown {
		return false
	}
	form := func(s string) string {
		label, sum, labelled := strings.Cut(s, "=")
		if !labelled || label == "" || strings.Contains(label, `"`) {
			label, sum = "", s
		}
		return label + strings.Map(func(r rune) rune {
			if r < 0x80 && (alnum(byte(r)) || r == '+' || r == '/' || r == '-' || r == '_') {
				return 'x'
			}
			return r
		}, strings.TrimPrefix(sum, "W/"))
	}
	return strings.HasPrefix(ref, "W/") == strings.HasPrefix(cand, "W/") && form(ref) == form(cand)
}

// contentsDiffer reports whether two bodies hold different values, and not only the same in another way.
func (c *comparison) contentsDiffer(ref, cand *transcript.Response) bool {
	if bytes.Equal(ref.Body.Bytes, cand.Body.Bytes) {
		return false
	}
	sides := bodyContents(ref, cand)
	r, rerr := c.parse(sides[0])
	o, oerr := c.parse(sides[1])
	return rerr != nil || oerr != nil || !jsontree.Equal(r, o, jsontree.Exact.Equal)
}

// boundaries binds the delimiters of two bodies in several parts (RFC 2046 §5.1.1), which are made up: in the bodies they must
// stand where they belong.
func (c *comparison) boundaries(ref, cand transcript.Header, where location) {
	if ref.ContentType() == cand.ContentType() {
		return
	}
	if r, o := boundary(ref), boundary(cand); r != "" && o != "" && r != o {
		_ = c.b.bindWhole(r, o, where)
	}
}

func boundary(h transcript.Header) string {
	value := h.ContentType()
	if !strings.Contains(strings.ToLower(value), "boundary") {
		return ""
	}
	media, parameters, err := mime.ParseMediaType(value)
	if err != nil || !strings.HasPrefix(media, "multipart/") {
		return ""
	}
	return parameters["boundary"]
}
