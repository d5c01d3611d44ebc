package verdict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A Finding is one thing that is not as it should be.
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
	Contract []Word `json:"contract,omitempty"`
	// Silence is the place of the contract that admits both sides of a difference, when neither is outside.
	Silence *contract.Silence `json:"silence,omitempty"`
	// Fingerprint is equal for findings that say the same of a place but for values that a target has made up, today and
	// tomorrow.
	Fingerprint string `json:"fingerprint,omitempty"`
	// At is where in the script: the step as its file says it, the stream, the place. It stays when steps are put in
	// before, and events come before.
	At string `json:"at,omitempty"`
	// Waiver is the id of the waiver that accepts the finding, Known says that the baseline has it. Note says why a waiver
	// for this place does not hold.
	Waiver string `json:"waiver,omitempty"`
	Known  bool   `json:"known,omitempty"`
	Note   string `json:"note,omitempty"`
	// With are the scenarios that show a constant when they run together, this one among them. None shows it alone.
	With []string `json:"with,omitempty"`

	exchange  int
	burst     bool   // its exchange is one of a burst, which are in no order
	exchanges [2]int // of a difference: the indexes of its exchanges, the reference's first
	event     int
	while     int                      // of an upstream's: the line of the step that was under way
	events    [2]int                   // of a difference: the indexes of its events, the reference's first
	came      map[string]time.Duration // when the events came that a difference is between, by target
	behind    int                      // the line of the failure that it follows from; 0 when there is none
}

// Class is what a finding is.
type Class string

// The classes.
const (
	Difference Class = "difference"
	Violation  Class = "violation"
	Shortfall  Class = "shortfall"
)

// Blame says who is outside the contract. It is evidence, never an excuse: the contract itself may be wrong.
type Blame string

// Who is outside the contract.
const (
	BlameCandidate Blame = "candidate"
	BlameReference Blame = "reference"
	BlameBoth      Blame = "both"
	BlameNobody    Blame = "contract silent" // both are inside, and yet they differ
)

// A Word is what the contract has against one side.
type Word struct {
	Target string `json:"target"`
	Place  string `json:"place"`
	Text   string `json:"text"`
	Schema string `json:"schema,omitempty"`
	Line   int    `json:"line,omitempty"` // in the contract's file
}

// difference makes a finding of a difference between the reference and a candidate, with the violations of each side
// that have to do with it.
func (j *judge) difference(i int, d compare.Difference, outside [2][]contract.Violation) Finding {
	f := Finding{
		Class: Difference, Kind: string(d.Kind), Step: d.Step, Target: j.Transcripts[i].Target, Stream: d.Stream,
		Place: d.Place, Text: d.Text, Reference: d.Reference, Candidate: d.Candidate,
		Fingerprint: d.Fingerprint, exchange: d.Exchange, exchanges: d.Exchanges, event: max(d.Events[0], d.Events[1]), events: d.Events, came: j.came(i, d),
	}
	refWords, candWords := words(j.Transcripts[0].Target, outside[0]), words(f.Target, outside[1])
	f.Contract = append(refWords, candWords...)
	switch {
	case len(refWords) > 0 && len(candWords) > 0:
		f.Blame = BlameBoth
	case len(candWords) > 0:
		f.Blame = BlameCandidate
	case len(refWords) > 0:
		f.Blame = BlameReference
	case j.upstream(d.Step) != "":
		f.Blame = BlameNobody // the contract does not speak of what a server asks others
	default:
		f.Blame, f.Silence = BlameNobody, j.silence(i, &d)
	}
	return f
}

func words(target string, vs []contract.Violation) []Word {
	var out []Word
	for _, v := range vs {
		out = append(out, Word{target, v.Place, v.Text, v.Schema, v.Line})
	}
	return out
}

// relevant returns a side's violations that have to do with a difference, at its place or around it: a date that is none
// says nothing about the title that differs beside it.
func relevant(d compare.Difference, all []compare.Difference, vs, others []contract.Violation, side int) []contract.Violation {
	var out []contract.Violation
	for _, v := range vs {
		if sameMessage(d, v, side) && (ofMessage[v.Kind] || concerns(d, v, side) || followsStatus(d, v, all, others, side)) {
			out = append(out, v)
		}
	}
	return out
}

// sameMessage reports whether a violation is one of the answer or event that a difference is about.
func sameMessage(d compare.Difference, v contract.Violation, side int) bool {
	if d.Stream != "" {
		return v.Stream == d.Stream && d.Events[side] >= 0 && v.Event == d.Events[side]
	}
	return v.Stream == "" && v.Step == d.Step && d.Exchange >= 0 && v.Exchange == d.Exchanges[side]
}

func concerns(d compare.Difference, v contract.Violation, side int) bool {
	return within(v.Place, d.At[side]) || within(d.At[side], v.Place)
}

// followsStatus reports whether a violation is one because the status is another: the status says which schema the body
// has to obey. Then the other side is inside the contract at that place, with the same content.
func followsStatus(d compare.Difference, v contract.Violation, all []compare.Difference, others []contract.Violation, side int) bool {
	if d.Kind != compare.StatusDiffers {
		return false
	}
	return !slices.ContainsFunc(others, func(o contract.Violation) bool {
		return sameMessage(d, o, 1-side) && o.Place == v.Place
	}) && !slices.ContainsFunc(all, func(o compare.Difference) bool {
		return o.Kind != compare.StatusDiffers && sameMessage(o, v, side) && concerns(o, v, side)
	})
}

// ofMessage are the violations that leave nothing in the message as the contract has it, whatever their place.
var ofMessage = map[contract.Kind]bool{
	contract.UndocumentedStatus:    true,
	contract.UndocumentedMediaType: true,
	contract.MissingBody:           true,
	contract.UndocumentedBody:      true,
	contract.JSONSyntax:            true,
	contract.JSONTrailingText:      true,
	contract.UndocumentedEvent:     true,
	contract.UndocumentedComment:   true,
	contract.EventData:             true,
}

// within reports whether a place is in another, or the same: "body/error/code" is in "body/error", and in "body"; "event
// data" is in "event". Names of header fields have no case.
func within(place, other string) bool {
	if strings.HasPrefix(place, "header ") {
		return strings.EqualFold(place, other)
	}
	rest, in := strings.CutPrefix(place, other)
	return in && (rest == "" || rest[0] == '/' || rest[0] == ' ')
}

// side returns the blame of something that one target did by itself.
func (j *judge) side(i int) Blame {
	if i == 0 && !j.Alone {
		return BlameReference
	}
	return BlameCandidate
}

// violation makes a finding of a violation. labels are what the events of its stream are called.
func (j *judge) violation(i int, v contract.Violation, labels []string) Finding {
	f := Finding{
		Class: Violation, Kind: string(v.Kind), Step: v.Step, Target: j.Transcripts[i].Target, Stream: v.Stream,
		Place: v.Place, Text: v.Text, Blame: j.side(i), exchange: v.Exchange, exchanges: [2]int{v.Exchange, v.Exchange}, event: v.Event,
		Contract: []Word{{j.Transcripts[i].Target, v.Place, v.Text, v.Schema, v.Line}},
	}
	if s := j.steps[v.Step]; s != nil {
		f.burst = s.Burst && v.Stream == ""
	}
	if v.Stream != "" {
		f.Place = labels[v.Event] + strings.TrimPrefix(v.Place, "event")
	}
	place := f.Place
	if f.Stream != "" {
		place = compare.Unnumbered(place)
	}
	text := f.Text
	if j.declared(j.Transcripts[i], &v) { // it shows a value that is another one in each run
		text = v.Schema
	}
	f.Fingerprint = compare.Fingerprint(j.Rules, j.Transcripts[i], string(f.Class), f.Kind, place, text)
	return f
}

// Rest reports whether a finding says that there are more than those that are listed.
func (f *Finding) Rest() bool {
	return f.Kind == string(compare.MoreDiffer) || f.Kind == string(contract.MoreViolations)
}

// A message is one that violations are about.
type message struct {
	of              *transcript.Transcript
	step, stream    string
	exchange, event int
}

// declared reports whether a rule speaks of the value that breaks the contract. Those of one message follow one another.
func (j *judge) declared(t *transcript.Transcript, v *contract.Violation) bool {
	if m := (message{t, v.Step, v.Stream, v.Exchange, v.Event}); j.places == nil || m != j.placesOf {
		j.placesOf, j.places = m, j.placesIn(t, v)
	}
	return j.places(v.Place)
}

// placesIn returns a function that reports whether a rule speaks of a place of the message that breaks the contract.
func (j *judge) placesIn(t *transcript.Transcript, v *contract.Violation) func(place string) bool {
	for _, s := range t.Streams {
		if v.Stream != "" && s.Name == v.Stream && v.Event < len(s.Events) {
			return j.Rules.DeclaredInEvent(s.Step, &s.Events[v.Event])
		}
	}
	for i := range t.Steps {
		if s := &t.Steps[i]; s.ID == v.Step && v.Stream == "" && v.Exchange < len(s.Exchanges) && s.Exchanges[v.Exchange].Response != nil {
			return j.Rules.Declared(s.ID, s.Exchanges[v.Exchange].Response)
		}
	}
	return func(string) bool { return false }
}

func (j *judge) shortfall(i int, s compare.Shortfall) Finding {
	return Finding{
		Class: Shortfall, Kind: string(s.Kind), Step: s.Step, Target: j.Transcripts[i].Target, Stream: s.Stream,
		Place: s.Place, Text: s.Text, Want: s.Want, Got: s.Got, Blame: j.side(i),
		Fingerprint: s.Fingerprint, exchange: s.Exchange, exchanges: [2]int{s.Exchange, s.Exchange}, event: s.Event,
	}
}

// at says where in the script a finding is: "GET /items: body /0/name". Of steps that say the same, all but the first have
// a number. What is about one side alone says which.
func (j *judge) at(f *Finding) string {
	place := f.Place
	if f.Stream != "" || f.Kind == string(compare.UpstreamUnexpected) {
		place = compare.Unnumbered(place)
	}
	for _, t := range j.Transcripts {
		place = compare.Bare(j.Rules, t, place)
	}
	if f.Class != Difference {
		place += " (" + string(f.Blame) + ")"
	}
	return j.stepAt(f.Step) + place
}

// stepAt is what At says of a step.
func (j *judge) stepAt(step string) string {
	s := j.steps[step]
	if s == nil {
		return ""
	}
	nth := 1
	for _, other := range j.steps {
		if other.Text == s.Text && (other.Line < s.Line || other.Line == s.Line && other.ID < s.ID) {
			nth++
		}
	}
	if nth > 1 {
		return fmt.Sprintf("%s (%d): ", s.Text, nth)
	}
	return s.Text + ": "
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
