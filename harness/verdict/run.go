package verdict

import (
	"iter"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/verdict/baseline"
)

// A Run is the judgement of a whole run.
type Run struct {
	Verdict   Verdict           `json:"verdict"`
	Scenarios []Scenario        `json:"scenarios"` // in the order of their files
	Totals    Totals            `json:"totals"`
	Blame     BlameMatrix       `json:"blame,omitzero"` // empty without a reference
	Coverage  coverage.Coverage `json:"coverage"`
	// Gate says whether the run reached as much of the contract as the project demands; nil without a demand.
	Gate *coverage.Gate `json:"coverage_gate,omitempty"`
	// Incomplete says why the run did not do everything that it was asked to do; "" when it did.
	Incomplete string `json:"incomplete,omitempty"`
	// Partial means that targets of the project were left out, or another target was the reference. A finding that is
	// missing may still occur on other targets.
	Partial bool `json:"partial,omitempty"`
	// Shard means that this is one of several parts of a run. What needs the whole run is left out.
	Shard *Shard `json:"shard,omitempty"`
	// AllowEmpty means that a run in which nothing was judged is green, because its user asked for that.
	AllowEmpty bool `json:"allow_empty,omitempty"`
	// OwnerUnchecked says, by target, why it could not be checked that its own process owns its port.
	OwnerUnchecked map[string]string `json:"owner_unchecked,omitempty"`
	// Waivers are all waivers, in the order of their file. Fixed is what the baseline has but the run does not.
	Waivers []WaiverUse      `json:"waivers,omitempty"`
	Fixed   []baseline.Entry `json:"fixed,omitempty"`
	// Unused are rules that never applied, although the run had everything that they are about.
	Unused []Rule `json:"unused_rules,omitempty"`
}

// A Shard is a part of a run.
type Shard struct {
	Index    int `json:"index"` // from 1
	Of       int `json:"of"`
	Selected int `json:"selected"` // number of scenarios in the whole run
}

// A Rule is a comparison rule, and where it is written.
type Rule struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Rule   string `json:"rule"` // "header ETag", "volatile $..id", "id session", "stream GET /event", "order $.id of GET /event"
}

type Totals struct {
	Match         int      `json:"match"`
	Differ        int      `json:"differ"`
	Unknown       int      `json:"unknown"`
	Waived        int      `json:"waived"`
	NotApplicable int      `json:"not_applicable"`
	Differences   int      `json:"differences"`
	Violations    int      `json:"violations"`
	Unmet         int      `json:"shortfalls"`
	Accepted      Accepted `json:"accepted"` // findings that are accepted
	Targets       []Target `json:"targets"`
	Compared      Compared `json:"compared"`
}

// Accepted counts accepted findings.
type Accepted struct {
	Waived int `json:"waived"` // by a waiver
	Known  int `json:"known"`  // by the baseline
}

// Add adds a scenario to the run.
func (r *Run) Add(s Scenario) {
	r.Scenarios = append(r.Scenarios, s)
	r.Blame.add(&s)
	t := &r.Totals
	switch s.Verdict {
	case Match:
		t.Match++
	case Differ:
		t.Differ++
	case Waived:
		t.Waived++
	case NotApplicable:
		t.NotApplicable++
	default:
		t.Unknown++
	}
	for _, f := range s.Findings {
		switch f.Class {
		case Difference:
			t.Differences++
		case Violation:
			t.Violations++
		default:
			t.Unmet++
		}
		switch {
		case f.Waiver != "":
			t.Accepted.Waived++
		case f.Known:
			t.Accepted.Known++
		}
	}
	for i, target := range s.Targets {
		if i == len(t.Targets) {
			t.Targets = append(t.Targets, Target{Name: target.Name})
		}
		t.Targets[i].Exchanges += target.Exchanges
		t.Targets[i].Add(target.Tally)
		t.Targets[i].Calls += target.Calls
		t.Targets[i].Done += target.Done
		t.Targets[i].Success += target.Success
		t.Targets[i].Unauthorized += target.Unauthorized
		t.Targets[i].Upstream += target.Upstream
	}
	t.Compared.add(&s.Compared)
	r.Verdict = Worse(r.Verdict, s.Verdict)
}

// Conclude returns the run's verdict, which is that of its worst scenario. It is also differ when a waiver is stale or
// less of the contract was reached than demanded. It is unknown when the run is incomplete, or when nothing was judged
// without AllowEmpty.
func (r *Run) Conclude() Verdict {
	if r.Gate != nil && r.Gate.State == coverage.GateMissed {
		r.Verdict = Worse(r.Verdict, Differ)
	}
	if slices.ContainsFunc(r.Waivers, func(w WaiverUse) bool { return w.State == Stale }) {
		r.Verdict = Worse(r.Verdict, Differ)
	}
	if r.Verdict == "" || r.Verdict == NotApplicable {
		r.Verdict = Unknown
		if r.AllowEmpty {
			r.Verdict = Match
		}
	}
	if r.Incomplete != "" {
		r.Verdict = Worse(r.Verdict, Unknown)
	}
	return r.Verdict
}

// findings ranges over the findings of all scenarios.
func (r *Run) findings() iter.Seq[*Finding] {
	return func(yield func(*Finding) bool) {
		for i := range r.Scenarios {
			for k := range r.Scenarios[i].Findings {
				if !yield(&r.Scenarios[i].Findings[k]) {
					return
				}
			}
		}
	}
}
