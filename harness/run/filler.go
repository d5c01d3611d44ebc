package run

import (
	"encoding/json"
	"regexp"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A filler fills a target's values into parts of a scenario. It keeps the first error, such as a MissingError. Values
// that it returns after an error are meaningless.
type filler struct {
	values scenario.Env
	err    error
}

func (f *filler) note(err error) {
	if f.err == nil {
		f.err = err
	}
}

// text returns the filled text, or nil without a template.
func (f *filler) text(t *scenario.Template) *string {
	if t == nil {
		return nil
	}
	s, err := t.Text(f.values, nil)
	f.note(err)
	return &s
}

// textOr returns the filled text, or a default without a template.
func (f *filler) textOr(t *scenario.Template, otherwise string) string {
	if s := f.text(t); s != nil {
		return *s
	}
	return otherwise
}

func (f *filler) value(v scenario.Value) json.RawMessage {
	raw, err := v.Resolve(f.values)
	f.note(err)
	return raw
}

func (f *filler) json(j *scenario.JSON) *transcript.JSONPattern {
	if j == nil {
		return nil
	}
	out := &transcript.JSONPattern{Absent: j.Absent}
	if j.Whole.IsSet() {
		out.Whole = f.value(j.Whole)
	}
	if len(j.At) > 0 {
		out.At = map[string]json.RawMessage{}
	}
	for _, at := range j.At {
		out.At[at.Path] = f.value(at.Value)
	}
	if len(j.Matches) > 0 {
		out.Matches = map[string]string{}
	}
	for _, m := range j.Matches {
		pattern, err := m.Pattern.Text(f.values, regexp.QuoteMeta)
		f.note(err)
		out.Matches[m.Path] = pattern
	}
	return out
}

func (f *filler) expect(e *scenario.Expect) *transcript.Expect {
	out := &transcript.Expect{Status: e.Status, Count: e.Count, Body: f.text(e.Body), JSON: f.json(e.JSON)}
	if len(e.Header) > 0 {
		out.Header = map[string]*string{}
	}
	for _, h := range e.Header {
		out.Header[h.Name] = f.text(h.Value)
	}
	for i := range e.OneOf {
		out.OneOf = append(out.OneOf, *f.expect(&e.OneOf[i]))
	}
	return out
}

// fillExpect fills values into an expectation. It returns nil when there is none. The error is a MissingError.
func fillExpect(e *scenario.Expect, env scenario.Env) (*transcript.Expect, error) {
	if e == nil {
		return nil, nil
	}
	f := filler{values: env}
	out := f.expect(e)
	if f.err != nil {
		return nil, f.err
	}
	return out, nil
}

// fillPattern fills values into the pattern of an event. It returns nil when there is none. The error is a
// MissingError.
func fillPattern(p *scenario.Pattern, env scenario.Env) (*transcript.Pattern, error) {
	if p == nil {
		return nil, nil
	}
	f := filler{values: env}
	out := &transcript.Pattern{Event: f.text(p.Event), Data: f.text(p.Data), JSON: f.json(p.JSON)}
	if f.err != nil {
		return nil, f.err
	}
	return out, nil
}
