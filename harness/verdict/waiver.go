package verdict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/verdict/baseline"
	"github.com/lockstep-dev/lockstep/harness/verdict/waiver"
)

// An Acceptance is what is accepted in a run.
type Acceptance struct {
	Waivers  []waiver.Waiver
	Baseline []baseline.Entry
	Today    time.Time
	Environ  []string // name=value
}

// applies reports whether the run has the environment that a waiver demands.
func (a *Acceptance) applies(w *waiver.Waiver) bool {
	for name, value := range w.When.Env {
		if a.variable(name) != value {
			return false
		}
	}
	return true
}

// variable returns the value of an environment variable. If a name occurs twice, the last value counts.
func (a *Acceptance) variable(name string) string {
	for _, entry := range slices.Backward(a.Environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// daysLeft returns how many days are left until a waiver expires; 0 or less when it has expired.
func (a *Acceptance) daysLeft(w *waiver.Waiver) int {
	const day = 24 * time.Hour
	return int(w.Expires.Sub(a.Today.UTC().Truncate(day)) / day)
}

// accept marks a finding that a waiver or the baseline accepts. If a waiver for the place does not accept it, the
// finding says why: the waiver has expired, or it is about another finding.
func (a *Acceptance) accept(f *Finding) {
	if a == nil {
		return
	}
	known := BaselineEntryOf(f)
	var expired, other string
	for i := range a.Waivers {
		w := &a.Waivers[i]
		switch {
		case !a.applies(w) || !w.IsAt(known):
		case !w.Matches(known):
			if other == "" {
				other = fmt.Sprintf("waiver %s is for a different finding here: %s %s", w.ID, w.Kind, w.Fingerprint)
			}
		case a.daysLeft(w) <= 0:
			expired = fmt.Sprintf("waiver %s expired on %s", w.ID, w.Expires.Format(time.DateOnly))
		default:
			f.Waiver = w.ID
			return
		}
	}
	if f.Note = expired; expired == "" {
		f.Note = other
	}
	f.Known = slices.Contains(a.Baseline, known) || slices.Contains(a.Baseline, known.WithoutTarget())
}

// Accepted reports whether a waiver or the baseline accepts the finding.
func (f *Finding) Accepted() bool { return f.Waiver != "" || f.Known }

// A WaiverState says what a waiver did in a run.
type WaiverState string

const (
	Holding   WaiverState = "holds"   // it accepts findings
	Expired   WaiverState = "expired" // what it accepted counts again
	Stale     WaiverState = "stale"   // what it accepted does not occur any more
	NotLooked WaiverState = "idle"    // unknown: its scenario was not judged, or it does not apply here
)

// A WaiverUse is a waiver with its state.
type WaiverUse struct {
	ID          string      `json:"id"`
	File        string      `json:"file"`
	Line        int         `json:"line"`
	State       WaiverState `json:"state"`
	Findings    int         `json:"findings"` // number of findings that it accepts, or would accept if it had not expired
	Scenario    string      `json:"scenario"`
	At          string      `json:"at"`
	Kind        string      `json:"kind"`
	Fingerprint string      `json:"fingerprint"`
	Class       string      `json:"class"`
	Reason      string      `json:"reason"`
	Owner       string      `json:"owner"`
	Link        string      `json:"link,omitempty"`
	Expires     string      `json:"expires"` // 2027-03-01, UTC
	Days        int         `json:"days"`    // days left
}

// ResolveAccepted sets the states of the waivers and finds fixed entries of the baseline, after all scenarios have been
// added. all are the ids of all existing scenarios: a waiver is stale only when every scenario that it covers was
// judged.
func (r *Run) ResolveAccepted(a *Acceptance, all []string) {
	if a == nil {
		return
	}
	judged := r.judged()
	for i := range a.Waivers {
		w := &a.Waivers[i]
		use := WaiverUse{
			ID: w.ID, File: w.File, Line: w.Line, Scenario: w.Scenario, At: w.At, Kind: w.Kind, Fingerprint: w.Fingerprint,
			Class: w.Class, Reason: w.Reason, Owner: w.Owner, Link: w.Link,
			Expires: w.Expires.Format(time.DateOnly), Days: a.daysLeft(w), State: NotLooked,
		}
		if a.applies(w) {
			use.Findings = r.count(w.Matches)
			switch {
			case use.Findings == 0 && r.wouldShow(w, all, judged):
				use.State = Stale
			case use.Findings == 0:
			case use.Days <= 0:
				use.State = Expired
			default:
				use.State = Holding
			}
		}
		r.Waivers = append(r.Waivers, use)
	}
	_, r.Fixed = r.DivideBaseline(a.Baseline, all)
}

// wouldShow reports whether the run would have shown what a waiver accepts.
func (r *Run) wouldShow(w *waiver.Waiver, all []string, judged map[string]bool) bool {
	if !r.Complete() {
		return false
	}
	if waiver.IsCode(w.Scenario) { // nobody knows which other scenarios a pattern covers
		return judged[w.Scenario]
	}
	for _, id := range all {
		if (w.Covers(id) || w.Kind == string(diff.Constant)) && !judged[id] {
			return false
		}
	}
	return true
}

// Complete reports whether all targets took part, and the run was not interrupted.
func (r *Run) Complete() bool { return r.Incomplete == "" && !r.Partial }

// judged returns the scenarios with a certain verdict.
func (r *Run) judged() map[string]bool {
	out := map[string]bool{}
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		out[s.ID] = len(s.Reasons) == 0 && s.Verdict != NotApplicable
	}
	return out
}

func (r *Run) count(is func(baseline.Entry) bool) int {
	n := 0
	for f := range r.findings() {
		if is(BaselineEntryOf(f)) {
			n++
		}
	}
	return n
}
