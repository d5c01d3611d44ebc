package noise

import (
	"slices"
	"strconv"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/verdict"
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
	path, key, ok = f.JSONPath()
	if key == "[*]" {
		key = path // an element has no name
	}
	return key, path, ok
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}
