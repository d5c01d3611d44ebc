package waiver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/verdict/baseline"
)

// A Waiver accepts one known finding: what it is, where, why, who says so, until when. Another finding at the same place
// is not accepted.
type Waiver struct {
	ID string
	// Scenario is a scenario's id, that of a table, which means all of its rows, or a pattern: * matches any text.
	Scenario    string
	At          string // as the finding says its place
	Kind        string
	Fingerprint string
	Class       string // candidate-bug, reference-bug, contract-silent, intended
	Reason      string
	Owner       string
	Link        string
	Expires     time.Time // the first day on which it no longer holds, UTC
	When        Condition
	File        string
	Line        int
}

// A Condition says where a waiver holds. The zero value holds everywhere.
type Condition struct {
	Targets []string          // the finding's target is one of these; nil: any
	Env     map[string]string // each variable has this value
}

// Covers reports whether a waiver is for a scenario.
func (w *Waiver) Covers(id string) bool {
	table, _, _ := strings.Cut(id, "[")
	return w.Scenario == id || w.Scenario == table || strings.Contains(w.Scenario, "*") && matchesPattern(id, w.Scenario)
}

// matchesPattern reports whether a text matches a pattern, in which * matches any text.
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

// IsAt reports whether a finding is at the waiver's place, whatever it is.
func (w *Waiver) IsAt(f baseline.Entry) bool {
	return w.At == f.At && w.Covers(f.Scenario) && (w.When.Targets == nil || slices.Contains(w.When.Targets, f.Target))
}

// Matches reports whether a finding is the one that the waiver means.
func (w *Waiver) Matches(f baseline.Entry) bool {
	return w.Kind == f.Kind && w.Fingerprint == f.Fingerprint && w.IsAt(f)
}

// Next returns the first id behind those of the waivers: W-0008 behind W-0007.
func Next(waivers []Waiver) string {
	last := 0
	for i := range waivers {
		n, _ := strconv.Atoi(strings.TrimPrefix(waivers[i].ID, "W-"))
		last = max(last, n)
	}
	return fmt.Sprintf("W-%04d", last+1)
}
