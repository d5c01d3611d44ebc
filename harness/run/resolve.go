package run

import (
	"encoding/json"
	"regexp"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// The functions of this file fill a target's values into the demands of a scenario. The error is a MissingError.

func (w *walker) expect(e *scenario.Expect) (*transcript.Expect, error) {
	if e == nil {
		return nil, nil
	}
	out := &transcript.Expect{Status: e.Status, Count: e.Count}
	var err error
	if out.Body, err = w.text(e.Body); err != nil {
		return nil, err
	}
	if out.JSON, err = w.json(e.JSON); err != nil {
		return nil, err
	}
	for _, h := range e.Header {
		if out.Header == nil {
			out.Header = map[string]*string{}
		}
		if out.Header[h.Name], err = w.text(h.Value); err != nil {
			return nil, err
		}
	}
	for i := range e.OneOf {
		alternative, err := w.expect(&e.OneOf[i])
		if err != nil {
			return nil, err
		}
		out.OneOf = append(out.OneOf, *alternative)
	}
	return out, nil
}

func (w *walker) pattern(p *scenario.Pattern) (*transcript.Pattern, error) {
	if p == nil {
		return nil, nil
	}
	out := &transcript.Pattern{}
	var err error
	if out.Event, err = w.text(p.Event); err != nil {
		return nil, err
	}
	if out.Data, err = w.text(p.Data); err != nil {
		return nil, err
	}
	out.JSON, err = w.json(p.JSON)
	return out, err
}

func (w *walker) json(j *scenario.JSON) (*transcript.JSONPattern, error) {
	if j == nil {
		return nil, nil
	}
	out := &transcript.JSONPattern{Absent: j.Absent}
	var err error
	if j.Whole.IsSet() {
		if out.Whole, err = j.Whole.Resolve(&w.env); err != nil {
			return nil, err
		}
	}
	for _, at := range j.At {
		if out.At == nil {
			out.At = map[string]json.RawMessage{}
		}
		if out.At[at.Path], err = at.Value.Resolve(&w.env); err != nil {
			return nil, err
		}
	}
	for _, m := range j.Matches {
		if out.Matches == nil {
			out.Matches = map[string]string{}
		}
		if out.Matches[m.Path], err = m.Pattern.Text(&w.env, regexp.QuoteMeta); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (w *walker) text(t *scenario.Template) (*string, error) {
	if t == nil {
		return nil, nil
	}
	s, err := t.Text(&w.env, nil)
	return &s, err
}
