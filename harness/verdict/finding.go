package verdict

import (
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
	StepText string `json:"step_text"` // how the file says it
	// Target is the one a violation or a shortfall is about, and the candidate of a difference.
	Target string `json:"target"`
	Stream string `json:"stream,omitempty"`
	// Upstream names the stub that the target has asked, of a finding about that.
	Upstream string `json:"upstream,omitempty"`
	// Operation is what the contract calls the request, "GET /items/{id}"; "" for one that it does not have.
	Operation string `json:"operation,omitempty"`
	Place     string `json:"place"` // "status", "body /error/code", "event 3 (ping) data"
	Text      string `json:"text"`  // one sentence
	// Reference and Candidate are the two values of a difference. Want and Got are those of the others.
	Reference string `json:"reference,omitempty"`
	Candidate string `json:"candidate,omitempty"`
	Want      string `json:"want,omitempty"`
	Got       string `json:"got,omitempty"`
	Blame     Blame  `json:"blame"`
	// Contract is what the contract has to say of each side of a difference.
	Contract []Remark `json:"contract,omitempty"`
	// SpecGap is the place of the contract that admits both sides of a difference, when neither is outside.
	SpecGap *specgap.Gap `json:"silence,omitempty"`
	// Fingerprint is equal for findings that differ only in values that a target has generated, in each run.
	Fingerprint string `json:"fingerprint,omitempty"`
	// At is where in the script: the step as its file says it, the stream, the place. It stays the same when steps or
	// events are added before it.
	At string `json:"at,omitempty"`
	// Waiver is the id of the waiver that accepts the finding, Known says that the baseline has it. Note says why a waiver
	// for this place does not hold.
	Waiver string `json:"waiver,omitempty"`
	Known  bool   `json:"known,omitempty"`
	Note   string `json:"note,omitempty"`
	// With are the scenarios that show a constant when they run together, this one among them. None shows it alone.
	With []string `json:"with,omitempty"`

	exchange    int
	burst       bool   // its exchange is one of a burst, which are in no order
	exchanges   [2]int // of a difference: the indexes of its exchanges, the reference's first
	event       int
	lineDuring  int                      // of an upstream's: the line of the step that was under way
	events      [2]int                   // of a difference: the indexes of its events, the reference's first
	arrivals    map[string]time.Duration // when the events came that a difference is between, by target
	followsLine int                      // the line of the failure that it follows from; 0 when there is none
}

// Class is what a finding is.
type Class string

// The classes.
const (
	Difference Class = "difference"
	Violation  Class = "violation"
	Unmet      Class = "shortfall"
)

// Blame says which target breaks the contract. It is evidence, never an excuse: the contract itself may be wrong.
type Blame string

// Who is outside the contract.
const (
	BlameCandidate Blame = "candidate"
	BlameReference Blame = "reference"
	BlameBoth      Blame = "both"
	BlameNobody    Blame = "contract silent" // both are inside, and yet they differ
)

// A Remark is what the contract has against one side.
type Remark struct {
	Target string `json:"target"`
	Place  string `json:"place"`
	Text   string `json:"text"`
	Schema string `json:"schema,omitempty"`
	Line   int    `json:"line,omitempty"` // in the contract's file
}

// IsOverflow reports whether a finding says that there are more than those that are listed.
func (f *Finding) IsOverflow() bool {
	return f.Kind == string(diff.MoreDiffer) || f.Kind == string(schema.MoreViolations)
}

// String describes the finding in one line.
func (f Finding) String() string {
	at := "step " + f.Step
	if f.Stream != "" {
		at += ", stream " + f.Stream
	}
	switch f.Class {
	case Difference:
		return fmt.Sprintf("%s: %s: %s: reference %s, %s %s (%s)", at, f.Place, f.Text, f.Reference, f.Target, f.Candidate, f.Blame)
	case Violation:
		return fmt.Sprintf("%s: %s: %s breaks the contract: %s", at, f.Place, f.Target, f.Text)
	default:
		return fmt.Sprintf("%s: %s: %s: %s: want %s, got %s", at, f.Place, f.Target, f.Text, f.Want, f.Got)
	}
}

// Exchange returns which of the step's exchanges the finding is about, on the reference (0) or on the candidate (1); -1 when
// it is about none of them. A finding that was read from a report does not know.
func (f *Finding) Exchange(side int) int {
	if f.exchange < 0 {
		return -1
	}
	return f.exchanges[side]
}

// Event returns which event of the stream the finding is about, on the reference (0) or on the candidate (1), -1 when it
// is about none. A violation and a shortfall are of one target, whichever is asked for.
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

// Constant reports whether the whole run has shown the finding.
func (f *Finding) Constant() bool { return f.Kind == string(diff.Constant) }
