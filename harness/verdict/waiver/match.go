package waiver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/verdict/baseline"
)

// A Waiver accepts one known finding: what it is, where, why, who decided it, and until when. It does not accept
// another finding at the same place.
type Waiver struct {
	ID string
	// Scenario is the id of a scenario, the id of a table, which means all of its rows, or a pattern: * matches any
	// text.
	Scenario    string
	At          string // the finding's place
	Kind        string
	Fingerprint string
	Class       string // candidate-bug, reference-bug, contract-silent, intended
	Reason      string
	Owner       string
	Link        string
	Expires     time.Time // the first day on which it no longer applies, UTC
	When        Condition
	File        string
	Line        int
}

// A Condition says where a waiver applies. The zero value applies everywhere.
type Condition struct {
	Targets []string          // the finding's target is one of these; nil means any
	Env     map[string]string // each variable has this value
}

func (w *Waiver) Covers(id string) bool {
	table, _, _ := strings.Cut(id, "[")
	return w.Scenario == id || w.Scenario == table || strings.Contains(w.Scenario, "*") && matchesPattern(id, w.Scenario)
}

func matchesPattern(text, pattern string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	text, ok := strings.CutPrefix(text, parts[0])
	for _, part := range parts[1:last] {
		if _, text, ok = cut(text, part, ok); !ok {
			return false
		}
	}
	return ok && strings.HasSuffix(text, parts[last])
}

func cut(text, at string, before bool) (string, string, bool) {
	head, tail, ok := strings.Cut(text, at)
	return head, tail, ok && before
}

// IsAt reports whether a finding is at the waiver's place, whatever the finding is.
func (w *Waiver) IsAt(f baseline.Entry) bool {
	return w.At == f.At && w.Covers(f.Scenario) && (w.When.Targets == nil || slices.Contains(w.When.Targets, f.Target))
}

// Matches reports whether a finding is the one that the waiver accepts.
func (w *Waiver) Matches(f baseline.Entry) bool {
	return w.Kind == f.Kind && w.Fingerprint == f.Fingerprint && w.IsAt(f)
}

// Next returns the id after the last waiver's: W-0008 after W-0007.
func Next(waivers []Waiver) string {
	last := 0
	for i := range waivers {
		n, _ := strconv.Atoi(strings.TrimPrefix(waivers[i].ID, "W-"))
		last = max(last, n)
	}
	return fmt.Sprintf("W-%04d", last+1)
}

// stepOf returns the step at the beginning of a place, and whether there is one. A step may contain a colon. If several
// steps have the same text, all but the first have a number: "GET /items (2): body /name". Without a step, the place is
// all of at.
func stepOf(at string, steps []string) (step string, ok bool) {
	for _, s := range steps {
		rest, is := strings.CutPrefix(at, s)
		if !is {
			continue
		}
		if strings.HasPrefix(rest, ": ") {
			return s, true
		}
		if number, _, is := strings.Cut(rest, "): "); is && strings.HasPrefix(number, " (") && strings.Trim(number[2:], "0123456789") == "" {
			return s, true
		}
	}
	step, place, cut := strings.Cut(at, ": ")
	if !cut || place == "" {
		return step, strings.HasPrefix(at, "process") // about a target that ended while no step was running
	}
	return step, false
}
