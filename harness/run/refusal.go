package run

import (
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/match"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A stream is refused when the response to its open is complete but not an event stream. If all steps on that stream
// were skipped, lockstep would find nothing wrong with a server that lacks the stream. So these steps run, and at the end
// of the scenario noteRefusals records what they lack. It cannot do so earlier: the response may come late, after steps
// that took its end for the end of a stream.

// refuse records that the response to an open is not an event stream. A response that broke is reported as broken
// instead, and all steps on the stream are skipped.
func (s *streams) refuse(do *scenario.Open, x *transcript.Exchange, rec *transcript.Step) error {
	if x.Response == nil || x.Failure != nil {
		return nil
	}
	s.mu.Lock()
	s.refused[do.Name] = true
	s.mu.Unlock()
	ready, err := s.ready(do)
	if ready == nil || err != nil {
		return err
	}
	rec.Unmet = &transcript.Unmet{Kind: "ready", What: describe(do.Wire.Noun(), ready, 1)}
	return nil
}

// missing returns nil for a refused stream, so that its steps run, and errNotOpened for any other.
func (s *streams) missing(stream string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.refused[stream] {
		return errNotOpened
	}
	return nil
}

// A refusal is a response that is not an event stream.
type refusal struct {
	noun     string // "event stream" or "socket"
	response string // "404 application/json"
	expected bool   // the scenario expects it
}

// refusalOf describes the refusal in the response to an open.
func refusalOf(open *transcript.Step, x *transcript.Exchange) *refusal {
	response := strconv.Itoa(x.Response.Status)
	if value := x.Response.Header.ContentType(); value != "" {
		media, _, _ := strings.Cut(value, ";")
		response += " " + strings.TrimSpace(media)
	}
	noun := "event stream"
	if strings.Contains(open.Text, ": socket ") {
		noun = "socket"
	}
	return &refusal{
		noun: noun, response: response,
		expected: x.Response.Status/100 != 2 && open.Expect != nil && len(match.Exchange(open.Expect, x)) == 0,
	}
}

// noteRefusals records what steps lack because their stream was refused.
func noteRefusals(steps []transcript.Step) {
	refused := map[string]*refusal{}
	for i := range steps {
		rec := &steps[i]
		if rec.Kind == "open" {
			delete(refused, rec.Stream)
			if len(rec.Exchanges) == 0 {
				continue
			}
			if x := rec.Exchanges[0]; x.Stream == "" && x.Response != nil && x.Failure == nil {
				refused[rec.Stream] = refusalOf(rec, x)
			}
		}
		if r := refused[rec.Stream]; r != nil && rec.Skipped == "" && rec.Fault == "" {
			r.note(rec)
		}
	}
}

// note records what a step lacks. Closing a stream lacks nothing when the scenario expects the refusal.
func (r *refusal) note(rec *transcript.Step) {
	unmet := rec.Unmet // a step that awaits events has recorded them already
	switch {
	case unmet != nil || rec.Kind == "open":
	case rec.Kind == "await":
		unmet = &transcript.Unmet{Kind: "end", What: endOfStream}
	case rec.Kind == "never", rec.Kind == "send":
		unmet = &transcript.Unmet{Kind: "stream", What: r.aStream()}
	case !r.expected:
		unmet = &transcript.Unmet{Kind: "close", What: r.aStream()}
	}
	if rec.Unmet = unmet; unmet != nil {
		unmet.Why = "there is no " + r.noun + ": the answer is " + r.response
	}
}

// aStream names what steps need.
func (r *refusal) aStream() string {
	if r.noun == "socket" {
		return "a socket"
	}
	return anyStream
}
