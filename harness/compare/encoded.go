package compare

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A text can hold a document: the arguments of a call as JSON, a cursor in Base64, the claims of a JWT. Two that differ are
// compared by what they hold, so that an id in them is found like any other. What is held is another thing than how it is
// written: a client reads the text, and nothing has told it to take JSON for JSON. So texts whose documents are equal, and
// which are written differently all the same, differ, unless a rule says that the text is JSON.

const (
	mostNested  = 4       // documents in each other
	mostEncoded = 1 << 20 // bytes of a text that is looked into
	leastBase64 = 16      // shorter texts are Base64 by chance
)

// What is said of where a value stands in a text.
const (
	asJSON   = "⟨JSON⟩"
	asBase64 = "⟨Base64⟩"
	asHeader = "⟨JWT header⟩"
	asClaims = "⟨JWT claims⟩"
)

// held compares what two texts hold, when both hold something of one kind. told is whether anything differs in it.
func (d *documents) held(at *spot, ref, cand string) (told, holds bool) {
	if d.depth == mostNested || max(len(ref), len(cand)) > mostEncoded {
		return false, false
	}
	if r, c := documentIn(ref), documentIn(cand); r != nil && c != nil {
		return d.inside(at, asJSON, r, c), true
	}
	if r, c := jwtIn(ref), jwtIn(cand); r != nil && c != nil {
		told = d.inside(at, asHeader, r[0], c[0])
		return d.inside(at, asClaims, r[1], c[1]) || told, true
	}
	if r, rok := base64In(ref); rok {
		if c, cok := base64In(cand); cok {
			return d.inside(at, asBase64, textNode(r), textNode(c)), true
		}
	}
	return false, false
}

// inside compares two documents that stand in texts.
func (d *documents) inside(at *spot, mark string, ref, cand *jsontree.Node) (told bool) {
	inner := documents{b: d.b, place: d.place, name: d.called(at).String() + " " + mark, refuse: d.refuse, full: d.full, depth: d.depth + 1}
	for side, rules := range d.volatile {
		if rule := rules[everywhere]; rule != nil {
			inner.volatile[side] = map[string]*Volatile{everywhere: rule}
		}
	}
	inner.place.where = location{d.at(at).String() + " " + mark, nil}
	inner.place.alike = d.place.alike || mark == asClaims // a key is good for hours, or for a year
	inner.report = func(found Difference) {
		told = true
		found.At = at.pointers()
		d.report(found)
	}
	inner.json(ref, cand)
	return told
}

// encoded compares two texts that differ by what they hold. It reports false when they hold nothing, and nothing has been
// said of them.
func (d *documents) encoded(at *spot, ref, cand *jsontree.Node) bool {
	told, holds := d.held(at, ref.Text, cand.Text)
	if !holds {
		return false
	}
	why := d.b.writtenDifferently(ref.Text, cand.Text)
	if unlike := d.b.signed(ref.Text, cand.Text); why == "" {
		why = unlike
	}
	if !told && why != "" {
		d.differ(ValueDiffers, at, ref, cand, why)
	}
	return true
}

// writtenDifferently says how two texts differ that hold the same up to renaming; "" when they do not differ.
func (b *bindings) writtenDifferently(ref, cand string) string {
	switch {
	case documentIn(ref) != nil:
		if b.skeleton(0, ref) != b.skeleton(1, cand) {
			return "the JSON in the texts is the same, but is written differently"
		}
	case jwtIn(ref) != nil:
		if r, c := len(ref)-strings.LastIndexByte(ref, '.'), len(cand)-strings.LastIndexByte(cand, '.'); r != c {
			return "the signatures are of different lengths"
		}
	case variantsOf(ref)&variantsOf(cand) == 0:
		return "the texts hold the same, but are encoded differently"
	}
	return ""
}

// document compares two texts that a rule calls JSON.
func (d *documents) document(at *spot, ref, cand *jsontree.Node) {
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
			d.differ(ValueDiffers, at, ref, cand, sideNames[side]+"'s text is no JSON, although a rule says so: "+why)
			return
		}
		roots[side] = root
	}
	d.inside(at, asJSON, roots[0], roots[1])
}

// opens reports whether a text begins as one does that holds a document.
func opens(s string) bool {
	return s != "" && (s[0] == '{' || s[0] == '[') || strings.HasPrefix(s, "eyJ")
}

// documentIn returns the object or the list that a text holds as JSON without a defect; nil when it holds none.
func documentIn(s string) *jsontree.Node {
	s = strings.TrimSpace(s)
	if len(s) < 2 || s[0] != '{' && s[0] != '[' || s[len(s)-1] != '}' && s[len(s)-1] != ']' {
		return nil
	}
	root, defects, err := jsontree.Parse([]byte(s))
	if err != nil || len(defects) > 0 {
		return nil
	}
	return root
}

// jwtIn returns the header and the claims of a JWT (RFC 7519); nil when the text is none.
func jwtIn(s string) []*jsontree.Node {
	parts := strings.Split(s, ".")
	if len(parts) != 3 || !strings.HasPrefix(s, "eyJ") {
		return nil
	}
	var out []*jsontree.Node
	for _, part := range parts[:2] {
		data, err := base64.RawURLEncoding.Strict().DecodeString(part)
		if err != nil {
			return nil
		}
		root := documentIn(string(data))
		if root == nil {
			return nil
		}
		out = append(out, root)
	}
	return out
}

// base64Variants are the ways of writing Base64 (RFC 4648 §4, §5).
var base64Variants = []*base64.Encoding{
	base64.StdEncoding.Strict(), base64.RawStdEncoding.Strict(), base64.URLEncoding.Strict(), base64.RawURLEncoding.Strict(),
}

// variantsOf returns in which of the ways a text can be written, as a set of bits.
func variantsOf(s string) (set int) {
	for i, v := range base64Variants {
		if _, err := v.DecodeString(s); err == nil {
			set |= 1 << i
		}
	}
	return set
}

// base64In returns the readable text that a text holds.
func base64In(s string) (text string, ok bool) {
	if len(s) < leastBase64 || !inBase64(s) {
		return "", false
	}
	for _, v := range base64Variants {
		if data, err := v.DecodeString(s); err == nil {
			return string(data), readable(data)
		}
	}
	return "", false
}

func inBase64(s string) bool {
	for i := range len(s) {
		if !inNano[s[i]] && s[i] != '+' && s[i] != '/' && s[i] != '=' {
			return false
		}
	}
	return true
}

// readable reports whether bytes are a text that somebody has written.
func readable(data []byte) bool {
	if !utf8.Valid(data) {
		return false
	}
	for _, r := range string(data) {
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' || r == utf8.RuneError {
			return false
		}
	}
	return true
}

// encoded compares two texts that are no values of a document by what they hold. name is what they are called. It reports
// false when the texts hold nothing.
func (c *comparison) encoded(name string, p place, ref, cand string, report func(Difference)) bool {
	d := documents{b: c.b, place: p, name: name, refuse: c.refuse, report: report}
	return d.encoded(nil, textNode(ref), textNode(cand))
}

func textNode(s string) *jsontree.Node { return &jsontree.Node{Kind: jsontree.String, Text: s} }
