package verdict

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

var (
	listIndex = regexp.MustCompile(`^(0|[1-9]\d*)$`)
	oneWord   = regexp.MustCompile(`^[\w.:~+/=-]+$`) // the characters of ids
)

// JSONPath returns the path to what a difference is about in its document, with [*] for the element of a list, and the
// last step of it. ok is false if it is not in a document.
func (f *Finding) JSONPath() (path, last string, ok bool) {
	pointer, ok := diff.InDocument(f.Place, f.Upstream != "")
	if f.Class != Difference || !ok {
		return "", "", false
	}
	path = "$"
	for token := range strings.SplitSeq(pointer[1:], "/") {
		last = JSONPathStep(jsontree.UnescapeName(token))
		path += last
	}
	return path, last, true
}

// JSONPathStep returns the step for a token of a JSON Pointer: any element of a list, or a member.
func JSONPathStep(token string) string {
	if listIndex.MatchString(token) {
		return "[*]"
	}
	return jsontree.PathStep(token)
}

// RuleSkeleton returns the volatile rule for a difference whose values may be generated, or "". Its reason is left empty,
// because a person must fill it in. Sentences and plain words get no rule: it would hide too much.
func RuleSkeleton(f *Finding) string {
	path, _, ok := f.JSONPath()
	if !ok || diff.IsInside(f.Place) {
		return ""
	}
	switch diff.Kind(f.Kind) {
	case diff.ValueDiffers, diff.IdentityBroken, diff.IDForm:
	default:
		return ""
	}
	kind := ""
	for _, text := range []string{f.Reference, f.Candidate} {
		next := kindOf(text)
		if next == "" || kind != "" && next != kind {
			return ""
		}
		kind = next
	}
	return fmt.Sprintf("- {at: %s, %s, because: \"\"}", quoted(path), kind)
}

// kindOf returns the members of a rule for a value: a time, a number, or an id.
func kindOf(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return `kind: number, tolerance: ""`
	}
	word, err := strconv.Unquote(text)
	switch {
	case err != nil || !oneWord.MatchString(word) || !strings.ContainsAny(word, "0123456789"):
		return ""
	case ident.RFC3339Len(word) == len(word):
		return "kind: time, near: 1m"
	}
	return "kind: id"
}
