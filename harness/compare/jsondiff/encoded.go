package jsondiff

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A text can contain a document: the arguments of a call as JSON, a cursor in Base64, the claims of a JWT. Two
// different texts are compared by these contents, so that an id in them is recognised like any other. But a client
// reads the text, and may not know that it is JSON. So texts that contain equal documents in different notations still
// differ, unless a rule says that the text is JSON.

// maxEncoded is the size in bytes up to which the contents of a text are compared.
const maxEncoded = 1 << 20

// These marks in a place say that a value is inside a text.
const (
	insideJSON      = "⟨JSON⟩"
	insideBase64    = "⟨Base64⟩"
	insideJWTHeader = "⟨JWT header⟩"
	insideJWTClaims = "⟨JWT claims⟩"
)

// embedded compares the documents that two texts contain.
type embedded struct {
	in  *setting
	out *reporter
}

// compareHeld compares the contents of two texts, if both have contents of the same kind. differs is whether these
// differ.
func (e embedded) compareHeld(at *ident.Path, ref, cand string) (differs, holds bool) {
	if e.in.depth == maxNesting || max(len(ref), len(cand)) > maxEncoded {
		return false, false
	}
	if r, c := documentIn(ref), documentIn(cand); r != nil && c != nil {
		return e.compareInside(at, insideJSON, r, c), true
	}
	if r, c := jwtIn(ref), jwtIn(cand); r != nil && c != nil {
		differs = e.compareInside(at, insideJWTHeader, r[0], c[0])
		return e.compareInside(at, insideJWTClaims, r[1], c[1]) || differs, true
	}
	if r, rok := base64In(ref); rok {
		if c, cok := base64In(cand); cok {
			return e.compareInside(at, insideBase64, textNode(r), textNode(c)), true
		}
	}
	return false, false
}

// compareInside compares two documents that are inside texts.
func (e embedded) compareInside(at *ident.Path, mark string, ref, cand *jsontree.Node) (differs bool) {
	inner := *e.in
	inner.depth++
	inner.rules = placedRules{}
	for side, rules := range e.in.rules {
		if rule := rules[allNumbers]; rule != nil {
			inner.rules[side] = map[string]*Volatile{allNumbers: rule}
		}
	}
	inner.place.Where = e.in.at(at).Inside(mark)
	inner.place.MayBeOld = inner.place.MayBeOld || mark == insideJWTClaims // a key may be hours or a year old
	inner.report = func(found diff.Difference) {
		differs = true
		e.in.report(found)
	}
	newDocuments(inner).node(nil, ref, cand)
	return differs
}

// compare compares the contents of two different texts. If they have none, it returns false and reports nothing.
func (e embedded) compare(at *ident.Path, ref, cand *jsontree.Node) bool {
	differs, holds := e.compareHeld(at, ref.Text, cand.Text)
	if !holds {
		return false
	}
	why := notationDiff(e.in.ids.Skeletons(), ref.Text, cand.Text)
	if signatures := e.in.history.signatureDiff(ref.Text, cand.Text); why.None() {
		why = signatures
	}
	if !differs {
		e.out.differ(why, at, ref, cand)
	}
	return true
}

// notationDiff compares the notations of two texts with equal contents, and returns how they differ.
func notationDiff(bare ident.Skeletons, ref, cand string) diff.Reason {
	var code diff.Code
	switch {
	case documentIn(ref) != nil:
		if bare.Of(0, ref) != bare.Of(1, cand) {
			code = diff.JSONNotation
		}
	case jwtIn(ref) != nil:
		if r, c := len(ref)-strings.LastIndexByte(ref, '.'), len(cand)-strings.LastIndexByte(cand, '.'); r != c {
			code = diff.SignatureLengths
		}
	case variantsOf(ref)&variantsOf(cand) == 0:
		code = diff.Base64Notation
	}
	if code == "" {
		return diff.Reason{}
	}
	return diff.Because(diff.ValueDiffers, code)
}

// compareJSON compares two texts that are JSON according to a rule.
func (e embedded) compareJSON(at *ident.Path, ref, cand *jsontree.Node) {
	var roots [2]*jsontree.Node
	for side, n := range [2]*jsontree.Node{ref, cand} {
		root, defects, err := jsontree.Parse([]byte(n.Text))
		why := ""
		if err != nil {
			why = err.Error()
		} else if i := slices.IndexFunc(defects, func(defect jsontree.Defect) bool { return defect.Kind == jsontree.TrailingText }); i >= 0 {
			why = defects[i].Text
		}
		if why != "" {
			e.out.differ(diff.Because(diff.ValueDiffers, diff.NoJSON, diff.Side(side), why), at, ref, cand)
			return
		}
		roots[side] = root
	}
	e.compareInside(at, insideJSON, roots[0], roots[1])
}

func textNode(s string) *jsontree.Node { return &jsontree.Node{Kind: jsontree.String, Text: s} }

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
