package verdict

import (
	"cmp"
	"fmt"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/contract/specgap"
)

// A Finding is one thing that is wrong: a difference, a violation of the contract, or an unmet expectation.
type Finding struct {
	Class    Class  `json:"class"`
	Kind     string `json:"kind"` // stable: "status", "event-order", "missing-field", …
	Scenario string `json:"scenario"`
	Step     string `json:"step"`
	Line     int    `json:"line"`      // of the step in the scenario's file
	StepText string `json:"step_text"` // as in the file
	// Target is the target that a violation or a shortfall is about, or the candidate of a difference.
	Target string `json:"target"`
	Stream string `json:"stream,omitempty"`
	// Upstream names the stub if the finding is about requests of the target to it.
	Upstream string `json:"upstream,omitempty"`
	// Operation is the contract's name of the request, "GET /items/{id}"; "" for a request outside the contract.
	Operation string `json:"operation,omitempty"`
	Place     string `json:"place"` // "status", "body /error/code", "event 3 (ping) data"
	Text      string `json:"text"`  // one sentence
	// Element names the element of a list without an order that the place is in: by its key, or by its content.
	Element string `json:"element,omitempty"`
	// Reference and Candidate are the two values of a difference. Want and Got are those of other findings.
	Reference string `json:"reference,omitempty"`
	Candidate string `json:"candidate,omitempty"`
	Want      string `json:"want,omitempty"`
	Got       string `json:"got,omitempty"`
	Blame     Blame  `json:"blame"`
	// Contract is what the contract says against each side of a difference.
	Contract []Remark `json:"contract,omitempty"`
	// SpecGap is the place of the contract that allows both sides of a difference, when neither breaks it.
	SpecGap *specgap.Gap `json:"silence,omitempty"`
	// Fingerprint is equal for findings that differ only in generated values, in every run.
	Fingerprint string `json:"fingerprint,omitempty"`
	// At is the place in the script: the step as in its file, the stream, the place. It does not change when steps or
	// events are added before it.
	At string `json:"at,omitempty"`
	// Waiver is the id of the waiver that accepts the finding. Known means that the baseline has it. Note says why a
	// waiver for this place does not accept it.
	Waiver string `json:"waiver,omitempty"`
	Known  bool   `json:"known,omitempty"`
	Note   string `json:"note,omitempty"`
	// With are the scenarios, including this one, that show a constant when they run together. None of them shows it
	// alone.
	With []string `json:"with,omitempty"`

	exchange    int
	burst       bool   // its exchange belongs to a burst, which has no order
	exchanges   [2]int // for a difference: the indexes of its exchanges, the reference's first
	event       int
	lineDuring  int                      // for an upstream: the line of the step that was running
	events      [2]int                   // for a difference: the indexes of its events, the reference's first
	arrivals    map[string]time.Duration // when the events of a difference came, by target
	stablePlace string                   // the place without what changes from run to run, if that is not Place
	followsLine int                      // the line of the failure that caused it; 0 when there is none
}

// Class is the class of a finding.
type Class string

const (
	Difference Class = "difference"
	Violation  Class = "violation"
	Unmet      Class = "shortfall"
)

// Blame says which target breaks the contract. It is evidence and not proof, because the contract itself may be wrong.
type Blame string

// The target that breaks the contract.
const (
	BlameCandidate Blame = "candidate"
	BlameReference Blame = "reference"
	BlameBoth      Blame = "both"
	BlameNobody    Blame = "contract silent" // neither breaks it, although they differ
	// BlameOutside is for a difference that no contract describes: in a project without one, and in summaries also for a
	// request to an upstream.
	BlameOutside Blame = "not in the contract"
)

// InSummary returns the blame as summaries show it.
func (f *Finding) InSummary() Blame {
	if f.Upstream != "" && f.Blame == BlameNobody {
		return BlameOutside
	}
	return f.Blame
}

// A Remark is what the contract says against one side.
type Remark struct {
	Target string `json:"target"`
	Place  string `json:"place"`
	Text   string `json:"text"`
	Schema string `json:"schema,omitempty"`
	Line   int    `json:"line,omitempty"` // in the contract's file
}

// IsOverflow reports whether a finding says that there are more findings than the listed ones.
func (f *Finding) IsOverflow() bool {
	return f.Kind == string(diff.MoreDiffer) || f.Kind == string(schema.MoreViolations)
}

// Says returns the sentence, with the element that it is about.
func (f *Finding) Says() string {
	if f.Element == "" {
		return f.Text
	}
	return f.Text + " (element " + f.Element + ")"
}

// String describes the finding in one line.
func (f Finding) String() string {
	at := "step " + f.Step
	if f.Stream != "" {
		at += ", stream " + f.Stream
	}
	switch f.Class {
	case Difference:
		return fmt.Sprintf("%s: %s: %s: reference %s, %s %s (%s)", at, f.Place, f.Says(), f.Reference, f.Target, f.Candidate, f.Blame)
	case Violation:
		return fmt.Sprintf("%s: %s: %s breaks the contract: %s", at, f.Place, f.Target, f.Says())
	default:
		return fmt.Sprintf("%s: %s: %s: %s: want %s, got %s", at, f.Place, f.Target, f.Says(), f.Want, f.Got)
	}
}

// Exchange returns the index of the exchange that the finding is about, on the reference (0) or on the candidate (1).
// It returns -1 when it is not about an exchange. A finding that was read from a report has lost this.
func (f *Finding) Exchange(side int) int {
	if f.exchange < 0 {
		return -1
	}
	return f.exchanges[side]
}

// Event returns the index of the event that the finding is about, on the reference (0) or on the candidate (1), or -1.
// A violation or a shortfall has one target, and the result is the same for both sides.
func (f *Finding) Event(side int) int {
	switch {
	case f.Stream == "":
		return -1
	case f.Class == Difference:
		return f.events[side]
	default:
		return f.event
	}
}

// Constant reports whether the finding comes from the whole run, see Constants.
func (f *Finding) Constant() bool { return f.Kind == string(diff.Constant) }

// A Weight says how bad a cause is. All formats list the causes with the greatest weight first, and those that are no
// difference last.
type Weight struct {
	Scenarios int  // that show it
	Shared    bool // several sides do it alike, so it is no difference between them
	Proven    bool // a side breaks the contract or a demand of the scenario
	Places    int
}

// Proven reports whether a finding proves that a side is wrong. A difference about which the contract is silent does
// not.
func (f *Finding) Proven() bool { return f.Blame != BlameNobody && f.Blame != BlameOutside }

// Compare orders weights, the worst first. Equal causes stay in the order of the run.
func (w Weight) Compare(other Weight) int {
	return cmp.Or(second(w.Shared, other.Shared), cmp.Compare(other.Scenarios, w.Scenarios), second(other.Proven, w.Proven), cmp.Compare(other.Places, w.Places))
}

// second puts what holds behind what does not.
func second(a, b bool) int {
	switch {
	case a && !b:
		return 1
	case b && !a:
		return -1
	}
	return 0
}
