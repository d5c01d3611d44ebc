package noise

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

func placesOf(all []*verdict.Finding) []string {
	var out []string
	for _, f := range all {
		if place := placeText(f); !slices.Contains(out, place) {
			out = append(out, place)
		}
	}
	return out
}

func placeText(f *verdict.Finding) string { return f.Scenario + " step " + f.Step }

// placeOf returns the member that a finding is about, and the path to it in its document. ok is false where no rule for
// values can help.
func placeOf(f *verdict.Finding) (key, path string, ok bool) {
	switch diff.Kind(f.Kind) {
	case diff.ValueDiffers, diff.IdentityBroken, diff.IDForm:
	default:
		return "", "", false
	}
	return pathOf(f)
}

// pathOf returns the member of a document that a finding is about, and the path to it.
func pathOf(f *verdict.Finding) (key, path string, ok bool) {
	pointer, ok := diff.InDocument(f.Place, f.Upstream != "")
	if f.Class != verdict.Difference || !ok {
		return "", "", false
	}
	path = "$"
	for token := range strings.SplitSeq(pointer[1:], "/") {
		step := pathStep(jsontree.UnescapeName(token))
		path += step
		key = step
	}
	if key == "[*]" {
		key = path // an element has no name
	}
	return key, path, true
}

var listIndex = regexp.MustCompile(`^(0|[1-9]\d*)$`)

// pathStep returns a step of a JSONPath: any element of a list, or a member.
func pathStep(token string) string {
	if listIndex.MatchString(token) {
		return "[*]"
	}
	return jsontree.PathStep(token)
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}
