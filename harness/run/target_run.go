package run

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/archive"
	"github.com/lockstep-dev/lockstep/harness/match"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A targetRun is the run of one scenario on one target. All its steps share it.
type targetRun struct {
	opts     *Options
	scenario *scenario.Scenario
	target   *Target
	values   values
	t        *transcript.Transcript
	starved  starvationLog // when the target's process waited for a processor
}

func newTargetRun(sc *scenario.Scenario, target *Target, opts *Options) *targetRun {
	since, now := target.Since, time.Now()
	if target.Program != nil {
		since = now.UTC().Round(0) // no other scenario has its processes
	}
	r := &targetRun{opts: opts, scenario: sc, target: target, t: &transcript.Transcript{
		Scenario: sc.ID, Target: target.Name, Unique: unique(), Process: since, Started: now, Directory: target.Directory,
	}}
	r.values.values = map[string]json.RawMessage{"unique": quote(r.t.Unique)}
	if target.Directory != "" {
		r.values.set("directory", quote(target.Directory))
	}
	if sc.Lockstep {
		r.t.Lockstep = target.Lockstep
		r.values.set("lockstep", quote(target.Lockstep))
	}
	return r
}

// define sets the names that have a value before the first step.
func (r *targetRun) define() error {
	for name, s := range r.target.Stubs {
		r.values.set(scenario.StubPrefix+name, quote(s.URL()))
	}
	for _, v := range r.scenario.Definitions() {
		raw, err := v.Value.Resolve(&r.values)
		if err != nil {
			return fmt.Errorf("${{ %s }}: %w", v.Name, err)
		}
		r.values.set(v.Name, raw)
	}
	return nil
}

func (r *targetRun) since() time.Duration { return time.Since(r.t.Started) }

// exchange sends a request and waits for its response.
func (r *targetRun) exchange(ctx context.Context, p *prepared) (x *transcript.Exchange, err error) {
	defer func() { // act recovers only in the goroutine of the step, and some callers run in another one
		if cause := recover(); cause != nil {
			x, err = nil, internalError(cause)
		}
	}()
	wire := *p.wire // the requests of a burst share it
	wire.Sent = p.sent
	x, err = r.target.Client.Do(ctx, r.t.Started, &wire)
	if err != nil {
		return nil, &faultError{err.Error()}
	}
	p.mark(&x.Request)
	return x, nil
}

// captureResponse captures values from the response of the step's last exchange.
func (r *targetRun) captureResponse(x *transcript.Exchange, captures []scenario.Capture, rec *transcript.Step) {
	var (
		body   []byte
		header transcript.Header
		from   = origin{Captured: transcript.Captured{Step: rec.ID, Exchange: len(rec.Exchanges) - 1}, request: &x.Request}
	)
	if x.Response != nil {
		body, header = archive.Content(x.Response.Header.ContentType(), x.Response.Body.Bytes), x.Response.Header
	}
	r.capture(captures, body, header, from, rec)
}

// capture captures values from a document and header fields. It records the first one that is missing.
func (r *targetRun) capture(captures []scenario.Capture, doc []byte, h transcript.Header, from origin, rec *transcript.Step) {
	document := "body"
	if from.Stream != "" {
		document = "event data"
	}
	for _, c := range captures {
		var (
			value json.RawMessage
			found bool
			what  = c.Path
			why   = "there is no such field"
		)
		if c.Header != "" {
			var text string
			text, found = h.Get(c.Header)
			value, what = quote(text), "header "+c.Header
			from.From, from.path = what, ""
		} else {
			value, found = match.Select(doc, c.Path)
			from.From, from.doc, from.path = document, doc, c.Path
		}
		switch {
		case found:
			r.values.capture(c.Name, value, from)
		case rec.Unmet == nil:
			if c.Header == "" {
				why = match.Missing(doc, c.Path)
			}
			rec.Unmet = &transcript.Unmet{Kind: "capture", What: c.Name + " from " + what, Why: why}
		}
	}
}

// unique returns a new random token: a letter, then letters and digits.
func unique() string {
	return "u" + strings.ToLower(rand.Text()[:11])
}

// quote returns a text as a JSON string.
func quote(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("run: a string does not encode: %v", err))
	}
	return b
}
