package run

import (
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
)

// A faultError says why a step cannot run as it is written. It is never the target's fault.
type faultError struct{ why string }

func (e *faultError) Error() string { return e.why }

// malformed reports whether a request is marked as one that breaks the contract.
func malformed(mark scenario.Value, env scenario.Env) (bool, error) {
	if !mark.IsSet() {
		return false, nil
	}
	raw, err := mark.Resolve(env)
	if err != nil {
		return false, err
	}
	switch string(raw) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, &faultError{fmt.Sprintf("malformed is %s; make it true or false", raw)}
}

// A prepared request is complete, apart from what its connection adds.
type prepared struct {
	wire      *httpwire.Request
	do        *transcript.Request // what a driver is told to do, instead of a request on the wire
	sent      func()              // is called when it was sent; may be nil
	malformed bool
	captured  []transcript.Captured // values in the request that break the contract
}

// mark records that the request breaks the contract, and why it may.
func (p *prepared) mark(r *transcript.Request) { r.Malformed, r.Captured = p.malformed, p.captured }

// prepare fills a target's values into a request and checks it against the contract. Only two kinds of requests may
// break the contract: those marked malformed, and those with captured values that the server itself generated. Any
// other is a mistake of the scenario and is not sent. The error is a MissingError or a faultError.
func (r *targetRun) prepare(req *scenario.Request, accept string) (*prepared, error) {
	target, err := req.Target(&r.values)
	if err != nil {
		return nil, err
	}
	header, err := req.Fields(&r.values, r.target.Header, accept)
	if err != nil {
		return nil, err
	}
	p := &prepared{wire: &httpwire.Request{Method: req.Method, Target: target, Header: header, Chunked: req.Body.Chunked}}
	if p.wire.Body, p.wire.Fill, err = req.Body.Fill(&r.values); err != nil {
		return nil, err
	}
	if p.malformed, err = malformed(req.Malformed, &r.values); err != nil {
		return nil, err
	}
	objections := r.opts.Contract.Objections(req.Method, target, header, p.wire.Body)
	switch {
	case len(objections) > 0 && !p.malformed:
		var ok bool
		if p.captured, ok = r.excuse(req, objections); !ok {
			return nil, notSent("request", objections)
		}
	case len(objections) == 0 && p.malformed:
		return nil, &faultError{"the request is marked malformed, but obeys the contract: remove the mark"}
	}
	return p, nil
}

func notSent(what string, objections []scenario.Objection) error {
	texts := make([]string, len(objections))
	for i, o := range objections {
		texts[i] = o.Place + ": " + o.Text
	}
	return &faultError{fmt.Sprintf("the %s breaks the contract: %s (if this is intended, mark it malformed: true)", what, strings.Join(texts, "; "))}
}
