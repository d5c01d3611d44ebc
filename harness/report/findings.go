package report

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// OneLine describes a finding in one line.
func OneLine(f *verdict.Finding) string {
	where := "step " + textfit.Clip(f.Step, 40)
	if f.Upstream != "" {
		where = textfit.Clip(f.StepText, 80)
	}
	if f.Stream != "" {
		where += ", stream " + textfit.Clip(f.Stream, 60)
	}
	target := textfit.Clip(f.Target, 60)
	text := fmt.Sprintf("%s: %s: %s", where, textfit.Clip(f.Place, 120), textfit.Clip(f.Says(), 200))
	switch f.Class {
	case verdict.Difference:
		return fmt.Sprintf("%s: reference %s, %s %s", text, textfit.Clip(f.Reference, 80), target, textfit.Clip(f.Candidate, 80))
	case verdict.Violation:
		return fmt.Sprintf("%s: %s breaks the contract", text, target)
	default:
		return fmt.Sprintf("%s: want %s, %s: got %s", text, textfit.Clip(f.Want, 80), target, textfit.Clip(f.Got, 80))
	}
}

// WhyNotMatch says in one line why a scenario does not match.
func WhyNotMatch(s *verdict.Scenario) string {
	findings := Unaccepted(s)
	text, more := "no reason given", len(findings)+len(s.Reasons)-1
	switch {
	case len(findings) > 0:
		text = OneLine(findings[0])
	case len(s.Reasons) > 0:
		text = textfit.Clip(s.Reasons[0].String(), 300)
	}
	if more > 0 {
		text += ", and " + strconv.Itoa(more) + " more"
	}
	return text
}

// Unaccepted returns the findings of a scenario that nothing accepts.
func Unaccepted(s *verdict.Scenario) []*verdict.Finding {
	var out []*verdict.Finding
	for i := range s.Findings {
		if f := &s.Findings[i]; !f.Accepted() {
			out = append(out, f)
		}
	}
	return out
}

// staleWaiverIDs returns the ids of the waivers that should be removed.
func staleWaiverIDs(d *Document) []string {
	var out []string
	for i := range d.Waivers {
		if d.Waivers[i].State == verdict.Stale {
			out = append(out, textfit.Clip(d.Waivers[i].ID, 20))
		}
	}
	return out
}

// StaleWaivers says which waivers are stale; "" when none is.
func StaleWaivers(d *Document) string {
	switch ids := staleWaiverIDs(d); len(ids) {
	case 0:
		return ""
	case 1:
		return "waiver " + ids[0] + " is stale: remove it"
	default:
		return "waivers " + textfit.List(ids, ", ") + " are stale: remove them"
	}
}

// Labels are the names of the two values of a finding.
func Labels(class string) [2]string {
	if class == string(verdict.Difference) {
		return [2]string{"reference", "candidate"}
	}
	return [2]string{"want", "got"}
}

// LabelledValues returns the two values of a finding without their common prefix, each with its label. It leaves out
// empty values.
func LabelledValues(class, left, right string) [][2]string {
	labels := Labels(class)
	left, right = WithoutCommonPrefix(left, right)
	pairs := [][2]string{{labels[0], left}, {labels[1], right}}
	return slices.DeleteFunc(pairs, func(p [2]string) bool { return p[1] == "" })
}

// WithoutCommonPrefix removes the common prefix of two long values, except for its last characters.
func WithoutCommonPrefix(a, b string) (string, string) {
	const most, kept = 400, 40
	if len(a) <= most && len(b) <= most {
		return a, b
	}
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	if from -= kept; from <= 0 || from >= min(len(a), len(b))-kept && a == b {
		return a, b
	}
	for from > 0 && (!utf8.RuneStart(a[from]) || !utf8.RuneStart(b[from])) {
		from--
	}
	return "…" + a[from:], "…" + b[from:]
}

var Signs = map[verdict.Verdict]string{verdict.Match: "✅", verdict.Waived: "✅", verdict.Differ: "❌", verdict.Unknown: "❔"}
