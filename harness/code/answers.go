package code

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/match"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/scenario"
)

// Answers are what the targets did in a step. lockstep compares them by itself, at the end of the scenario. They are there
// for decisions, and for what only Go can check.
type Answers struct {
	client *Client
	step   string
	all    []Answer
}

// An Answer is what one target did in a step. The zero value, but for Target and Missing, means that it did nothing.
type Answer struct {
	Target  string
	Status  int // of a response
	Header  http.Header
	Event   string // the name of the event that the step awaited
	Body    []byte // of the response, or the data of the event; a driver answers {"ok": …} or {"error": …}
	Missing string // why there is no answer
}

// All returns the answers in the order of the targets, the reference first.
func (a *Answers) All() []Answer { return a.all }

// Of returns the answer of a target. For a target that is not part of the run, it is zero.
func (a *Answers) Of(target string) Answer {
	for _, answer := range a.all {
		if answer.Target == target {
			return answer
		}
	}
	return Answer{}
}

// Capture remembers, for each target, the value at a JSONPath. It returns an expression for later steps, such as
// "${{ id }}": in a path, a header field or a body, each target gets its own value. A target without the value has a
// finding.
func (a *Answers) Capture(path string) string {
	return a.client.capture(a.step, scenario.Capture{Path: path})
}

// CaptureHeader is Capture for a header field.
func (a *Answers) CaptureHeader(name string) string {
	return a.client.capture(a.step, scenario.Capture{Header: name})
}

// Get returns the one value at a JSONPath of the body, as encoding/json decodes it, and whether there is exactly one.
func (a Answer) Get(path string) (value any, ok bool) {
	raw, ok := match.Select(a.Body, path)
	if !ok || json.Unmarshal(raw, &value) != nil {
		return nil, false
	}
	return value, true
}

// Decode decodes the body, which is JSON.
func (a Answer) Decode(into any) error {
	if err := json.Unmarshal(a.Body, into); err != nil {
		return fmt.Errorf("%s: %w", a.Target, err)
	}
	return nil
}

// answer copies what a target did.
func answer(o *run.Observed) Answer {
	out := Answer{Target: o.Target}
	rec := &o.Step
	switch {
	case o.Event != nil:
		out.Event, out.Body = o.Event.Name, []byte(o.Event.Data)
	case rec.Fault != "":
		out.Missing = rec.Fault
	case rec.Skipped != "":
		out.Missing = rec.Skipped
	case rec.Unmet != nil:
		out.Missing = rec.Unmet.Why
	}
	if len(rec.Exchanges) == 0 {
		return out
	}
	x := rec.Exchanges[len(rec.Exchanges)-1]
	if x.Failure != nil {
		out.Missing = x.Failure.Text
	}
	if x.Response == nil {
		return out
	}
	out.Status, out.Header = x.Response.Status, http.Header{}
	for _, f := range x.Response.Header {
		out.Header.Add(f.Name, f.Value)
	}
	if o.Event == nil {
		out.Body = append([]byte(nil), x.Response.Body.Bytes...)
	}
	return out
}

// valueName makes the name of a value from the end of its path.
func valueName(path string) string {
	words := strings.FieldsFunc(path, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '_' && r != '-'
	})
	name := "value"
	if len(words) > 0 {
		name = words[len(words)-1]
	}
	if first := name[0] | 0x20; (first < 'a' || first > 'z') && name[0] != '_' {
		name = "value_" + name
	}
	return name
}
