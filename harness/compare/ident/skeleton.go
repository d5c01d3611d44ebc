package ident

import (
	"regexp"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Skeletons describes texts without their generated values. Texts that can be equal apart from generated values have
// equal skeletons.
type Skeletons struct {
	vocabulary *Vocabulary
	partners   *partners // skeletons distinguish ids that have partners; nil: they do not
}

// Skeletons returns skeletons that do not distinguish ids.
func (b *Bindings) Skeletons() Skeletons { return Skeletons{vocabulary: &b.Vocabulary} }

// NamedSkeletons returns skeletons that distinguish ids that have partners.
func (b *Bindings) NamedSkeletons() Skeletons { return Skeletons{&b.Vocabulary, &b.partners} }

// Of returns a text of a side with its tokens replaced by their kinds.
func (k Skeletons) Of(side int, s string) string {
	v := k.vocabulary
	if jsontree.Plain(s) && len(v.Shapes.all) == 0 && !v.Mentions(side, s) {
		return s
	}
	tokens := v.Scan(side, s)
	if len(tokens) == 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	at := 0
	for _, t := range tokens {
		out = append(out, s[at:t.Start+t.prefix]...)
		out = append(out, "‹"+v.Shapes.kindName(t.Kind)+k.Name(side, t.Kind, s[t.Start:t.End])+"›"...)
		at = t.End
	}
	return string(append(out, s[at:]...))
}

// Name returns the part of a skeleton that distinguishes ids: a space and the reference's value, on both sides. If the
// id is not bound, it is only the space. If skeletons do not distinguish ids, it is "".
func (k Skeletons) Name(side int, kind tokenKind, value string) string {
	if k.partners == nil {
		return ""
	}
	partner, met := k.partners.partner(side, kind, value)
	switch {
	case side == 1:
		return " " + partner.value
	case met:
		return " " + value
	}
	return " "
}

// Placeholder replaces a value that is different in each run.
const Placeholder = "{…}"

// Shape returns a function that replaces such values in a text of a transcript, for example in a path. These are the
// values of ${{ unique }} and ${{ directory }}, everything with the shape of an id, a time or a port, and numbers
// between slashes, because servers count.
func Shape(ids []IDShape, t *transcript.Transcript) func(text string) string {
	v := Vocabulary{Shapes: newProjectShapes(ids), applied: map[string]bool{}}
	v.known[0].values = lockstepValues(t)
	return func(text string) string {
		var out strings.Builder
		at := 0
		for _, tok := range v.Scan(0, text) {
			out.WriteString(text[at : tok.Start+tok.prefix])
			out.WriteString(Placeholder)
			at = tok.End
		}
		out.WriteString(text[at:])
		return withoutNumberSegments(out.String())
	}
}

// withoutNumberSegments replaces the segments of a path that are numbers.
func withoutNumberSegments(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments[1:] {
		if s != "" && strings.Trim(s, "0123456789") == "" {
			segments[i+1] = Placeholder
		}
	}
	return strings.Join(segments, "/")
}

// number is a number with its unit: 900 ms today may be 1.1 s tomorrow.
var number = regexp.MustCompile(`[0-9]+(?:\.[0-9]+)*(?:(?:ms|µs|ns|s)([^0-9A-Za-z]|$))?`)

// WithoutNumbers replaces the numbers in a text: times and sizes that were measured.
func WithoutNumbers(s string) string { return number.ReplaceAllString(s, "‹n›$1") }
