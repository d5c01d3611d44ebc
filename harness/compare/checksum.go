package compare

import (
	"bytes"
	"mime"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// If a body contains ids, its checksum is different on each side, because the ids are. Equal bodies have equal
// checksums.

// checksums are the fields with a checksum of the body: RFC 9110 §8.8.3, RFC 9530 §2 and §3, RFC 3230 §4.3.2,
// RFC 1864.
var checksums = []string{"ETag", "Content-Digest", "Repr-Digest", "Digest", "Content-MD5"}

// checksumExplained binds the checksums of two bodies that differ only as they may, for example in bound ids. From then
// on, the checksums must appear together, so the same content must have the same checksum again. same is whether no
// difference was found in the bodies.
func (h *fields) checksumExplained(step, name string, ref, cand *transcript.Response, same bool) bool {
	if !same || !transcript.ContainsName(checksums, name) {
		return false
	}
	r, o := ref.Header.Values(name), cand.Header.Values(name)
	if len(r) != 1 || len(o) != 1 || r[0] == o[0] || !sameFormat(r[0], o[0]) || !h.contentsDiffer(ref, cand) {
		return false
	}
	return h.json.IDs.BindWhole(r[0], o[0], ident.InStep(step, diff.At{Part: "header " + name})).None()
}

// sameFormat reports whether two checksums have the same format: the same length, and the same symbols in the same
// places (W/"…", sha-256=:…=:), apart from those of Base64.
func sameFormat(ref, cand string) bool {
	if len(ref) != len(cand) || len(ref) < ident.MinKnown {
		return false
	}
	form := func(s string) string {
		label, sum, labelled := strings.Cut(s, "=")
		if !labelled || label == "" || strings.Contains(label, `"`) {
			label, sum = "", s
		}
		return label + strings.Map(func(r rune) rune {
			if r < 0x80 && (ident.Alnum(byte(r)) || r == '+' || r == '/' || r == '-' || r == '_') {
				return 'x'
			}
			return r
		}, strings.TrimPrefix(sum, "W/"))
	}
	return strings.HasPrefix(ref, "W/") == strings.HasPrefix(cand, "W/") && form(ref) == form(cand)
}

// contentsDiffer reports whether two bodies have different values, and not only different notations.
func (h *fields) contentsDiffer(ref, cand *transcript.Response) bool {
	if bytes.Equal(ref.Body.Bytes, cand.Body.Bytes) {
		return false
	}
	sides := bodyContents(ref, cand)
	r, rerr := h.json.Parse(sides[0])
	o, oerr := h.json.Parse(sides[1])
	return rerr != nil || oerr != nil || !jsontree.Equal(r, o, jsontree.Exact.Equal)
}

// bindBoundaries binds the delimiters of two multipart bodies (RFC 2046 §5.1.1), which are generated. In the bodies,
// they must appear in the same places.
func (h *fields) bindBoundaries(ref, cand transcript.Header, where ident.Location) {
	if ref.ContentType() == cand.ContentType() {
		return
	}
	if r, o := boundary(ref), boundary(cand); r != "" && o != "" && r != o {
		_ = h.json.IDs.BindWhole(r, o, where)
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
