package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/match"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// An Unmet is a demand that one target did not meet, whatever the other one does.
type Unmet struct {
	Kind     UnmetKind
	Step     string
	Exchange int    // -1 when it is not about an exchange
	Stream   string // "" when it is not about a stream
	Event    int    // -1 when it is not about an event
	Place    string
	Want     string
	Got      string
	Text     string // one sentence
	// Fingerprint is the same for unmet demands that differ only in generated values.
	Fingerprint string
}

// UnmetKind names a kind of unmet demand. Kinds appear in reports, so renaming one changes their format.
type UnmetKind string

// The kinds of unmet demands.
const (
	ExchangeFailed   UnmetKind = "exchange-failed"
	ExpectationUnmet UnmetKind = "expectation"
	EventAwaited     UnmetKind = "event-awaited"   // an awaited event did not come
	EndAwaited       UnmetKind = "end-awaited"     // the server did not end the stream
	PollUnmet        UnmetKind = "poll"            // the condition of a poll never held
	CaptureMissing   UnmetKind = "capture-missing" // the value to capture does not exist
	EventForbidden   UnmetKind = "event-forbidden" // an event came that must not come
	StreamMissing    UnmetKind = "stream-missing"  // a step needs a stream, but the response was not one
	StreamBroken     UnmetKind = "stream-broken"
	HeartbeatLate    UnmetKind = "heartbeat-late"
	HeartbeatEarly   UnmetKind = "heartbeat-early"
	HeartbeatMissing UnmetKind = "heartbeat-missing"
	MessageNotTaken  UnmetKind = "message-not-taken" // the target did not take what was sent to it
	TargetExited     UnmetKind = "target-exited"
	TargetNotStopped UnmetKind = "target-not-stopped"
	TargetNotStarted UnmetKind = "target-not-restarted"

	ArchiveBroken  UnmetKind = "archive"        // a declared archive is not a valid one, or cannot be read
	CodingMistaken UnmetKind = "content-coding" // a body is not in the coding that Content-Encoding names
	CodingUnasked  UnmetKind = "content-coding-unasked"

	UpstreamUnexpected UnmetKind = "upstream-unexpected" // no rule of the stub answers the request
	UpstreamMissing    UnmetKind = "upstream-missing"    // a rule of the stub got no request
	UpstreamCadence    UnmetKind = "upstream-cadence"    // the target asked again at the wrong time
)

// UnmetKinds returns every kind of unmet demand.
func UnmetKinds() []UnmetKind {
	return []UnmetKind{
		ExchangeFailed, ExpectationUnmet, EventAwaited, EndAwaited, PollUnmet, CaptureMissing, EventForbidden, StreamMissing,
		StreamBroken, HeartbeatLate, HeartbeatEarly, HeartbeatMissing, MessageNotTaken, TargetExited, TargetNotStopped,
		TargetNotStarted,
		ArchiveBroken, CodingMistaken, CodingUnasked, UpstreamUnexpected, UpstreamMissing, UpstreamCadence,
	}
}

// AllUnmet returns what a target did not do by itself: demands of the scenario that it did not meet, exchanges and
// streams that broke, and heartbeats at the wrong time.
//
// Each cause is reported once. When a process ends, its connections break. A broken stream brings no more events, and a
// missing response has nothing to capture. Such consequences are left out. If several steps need a missing stream, only
// the first one is reported.
//
// docs are parsed documents that other parts of a judgement use as well; nil for none.
func AllUnmet(docs *jsontree.Documents, t *transcript.Transcript, rules *Rules) []Unmet {
	d := diagnose(t)
	var out []Unmet
	for i := range t.Steps {
		out = append(out, unmetInStep(&t.Steps[i], d, match.Matcher{Documents: docs})...)
	}
	for i := range t.Upstream {
		out = append(out, unmetUpstream(&t.Upstream[i], d)...)
	}
	for _, s := range t.Streams {
		out = append(out, unmetInStream(t, s, rules.stream(s.Name, s.Operation), d)...)
		if name, wrong := streamCodings(t, s); name != "" && wrong {
			out = append(out, Unmet{
				Kind: CodingMistaken, Step: s.Step, Exchange: -1, Stream: s.Name, Event: -1, Place: "header Content-Encoding",
				Want: "no content coding: the events are in none", Got: name, Text: "the stream is not encoded as its Content-Encoding says",
			})
		}
	}
	for _, w := range t.Windows {
		out = append(out, unmetInWindow(t, w, rules)...)
	}
	if t.Exit != nil {
		out = append(out, Unmet{
			Kind: TargetExited, Step: d.lastStep(), Exchange: -1, Event: -1, Place: "process",
			Want: "to go on", Got: t.Exit.Status, Text: exitText(t.Exit),
		})
	}
	for i := range out {
		f := &out[i]
		f.Fingerprint = f.fingerprint(rules, t)
	}
	return out
}

func unmetInStep(s *transcript.Step, d *diagnosis, m match.Matcher) []Unmet {
	var out []Unmet
	add := func(f Unmet) {
		f.Step, f.Event = s.ID, -1
		out = append(out, f)
	}
	failed := false
	for i, x := range s.Exchanges {
		f := x.Failure
		failed = failed || f != nil
		if f != nil && f.Kind != transcript.FailCanceled && !s.Uncompared && !givenUp(s) && !d.causedByExit(f, x.Done) && !d.explainedByOutage(f, startOf(x), x.Done) {
			add(Unmet{
				Kind: ExchangeFailed, Exchange: i, Place: string(f.Phase), Want: "a complete answer",
				Got: f.Text, Text: "the exchange failed " + during[f.Phase],
			})
		}
		if why := brokenArchive(x); why != "" && !s.Uncompared {
			add(Unmet{
				Kind: ArchiveBroken, Exchange: i, Place: "body", Want: "a ZIP archive, as its content type says", Got: "it " + why,
				Text: "the archive cannot be read",
			})
		}
		if !s.Uncompared {
			for _, f := range unmetCodings(x) {
				f.Exchange = i
				add(f)
			}
		}
	}
	blind := slices.ContainsFunc(s.Exchanges, func(x *transcript.Exchange) bool { return unreadableResponse(x) != "" })
	if u := s.Unmet; u != nil && !failed && !d.causedByBrokenStream(s) && !d.reportedEarlier(s) && !(blind && (u.Kind == "capture" || u.Kind == "poll")) {
		add(Unmet{
			Kind: stepDemands[u.Kind].kind, Exchange: -1, Stream: s.Stream, Place: u.Kind,
			Want: u.What, Got: u.Why, Text: d.withNoun(stepDemands[u.Kind].text, s.Stream),
		})
	}
	if s.Expect == nil || s.Skipped != "" || len(s.Exchanges) == 0 {
		return out
	}
	last := len(s.Exchanges) - 1
	var mismatches []match.Mismatch
	if s.Burst {
		mismatches = m.Burst(s.Expect, s.Exchanges)
	} else if s.Exchanges[last].Failure == nil {
		mismatches = m.Exchange(s.Expect, s.Exchanges[last])
	}
	for _, m := range mismatches {
		if blind && strings.Contains(m.Place, "body") {
			continue // its contents are unknown
		}
		want, got := diff.Cut(diff.Show(m.Want).Text, diff.Show(m.Got).Text)
		add(Unmet{
			Kind: ExpectationUnmet, Exchange: last, Place: m.Place, Want: want.String(), Got: got.String(),
			Text: "the scenario expects something else",
		})
	}
	return out
}

// exitText says what a process was doing when it ended, because another scenario may be the cause.
func exitText(e *transcript.Exit) string {
	const text = "the target's process ended"
	if len(e.UnderWay) == 0 {
		return text
	}
	return text + " while " + transcript.UnderWay(e.UnderWay)
}

// during says in which phase an exchange failed.
var during = map[transcript.Phase]string{
	transcript.PhaseConnect: "while connecting",
	transcript.PhaseSend:    "while the request was being sent",
	transcript.PhaseHead:    "in the response's head",
	transcript.PhaseBody:    "in the response's body",
}

// stepDemands are the demands that transcript.Unmet names by their kinds. {event} is what the stream's events are called.
var stepDemands = map[string]struct {
	kind UnmetKind
	text string
}{
	"event":   {EventAwaited, "the awaited {event} did not come"},
	"ready":   {EventAwaited, "the {event} that shows that the stream is ready did not come"},
	"end":     {EndAwaited, "the server did not end the stream"},
	"poll":    {PollUnmet, "the response never matched what the step waits for"},
	"exit":    {TargetNotStopped, "the process did not exit as it should"},
	"asked":   {UpstreamMissing, missingRequests},
	"restart": {TargetNotStarted, "the target did not become ready again"},
	"send":    {MessageNotTaken, "the target did not take what was sent to it"},
	"stream":  {StreamMissing, "there is no stream to watch"},
	"close":   {StreamMissing, "there is no stream to close"},
	"capture": {CaptureMissing, "the value to capture is missing"},

	"upstream": {UpstreamMissing, missingRequests},
	"pong":     {EventAwaited, "the target did not answer a ping"},
	"closing":  {EndAwaited, "the target did not answer a close frame"},
	"hang-up":  {EndAwaited, "the target did not end the connection"},
}

const missingRequests = "the upstream did not get the expected requests"

// orderlyEnds are how a stream of each wire must end.
var orderlyEnds = map[transcript.Wire]string{
	"": "to end between two events", transcript.WireSocket: "to end after a close frame", transcript.WireProgram: "to end between two lines",
}

func unmetInStream(t *transcript.Transcript, s *transcript.Stream, rule streamdiff.Rules, d *diagnosis) []Unmet {
	var out []Unmet
	if f := s.Failure; s.Ended == transcript.EndedBroken && (f == nil || !d.causedByExit(f, s.Until) && !d.explainedByOutage(f, s.At, s.Until)) {
		got := "broken"
		if f != nil {
			got = f.Text
		}
		out = append(out, Unmet{
			Kind: StreamBroken, Step: s.Step, Exchange: -1, Stream: s.Name, Event: -1, Place: "end",
			Want: orderlyEnds[s.Wire], Got: got, Text: "the stream broke",
		})
	}
	if h := rule.Heartbeat; h != nil && h.Every > 0 {
		if f, _ := streamdiff.Cadence(t, s, h); f != nil {
			out = append(out, Unmet{
				Kind: UnmetKind("heartbeat-" + f.Kind), Step: s.Step, Exchange: -1, Stream: s.Name, Event: f.Event, Place: f.Place,
				Want: f.Want, Got: f.Got, Text: f.Text,
			})
		}
	}
	return out
}

// unmetInWindow returns the first event that came while it was forbidden.
func unmetInWindow(t *transcript.Transcript, w transcript.Window, rules *Rules) []Unmet {
	for _, s := range t.Streams {
		if s.Name != w.Stream {
			continue
		}
		rule := rules.stream(s.Name, s.Operation)
		labels := rule.Labels(s)
		for i := w.First; i < len(s.Events) && s.Events[i].At <= w.To; i++ {
			ev := &s.Events[i]
			if w.Match == nil && (ev.Comment || rule.Outside(ev)) || w.Match != nil && !match.Event(w.Match, ev) {
				continue
			}
			_, got := diff.Cut("", streamdiff.ShowEvent(ev).Text)
			return []Unmet{{
				Kind: EventForbidden, Step: w.Step, Exchange: -1, Stream: s.Name, Event: i,
				Place: streamdiff.Place(labels[i], ev.Label()), Want: fmt.Sprintf("nothing of the kind for %s", w.To-w.From),
				Got: got.String(), Text: cameAnyway(ev),
			}}
		}
	}
	return nil
}

func cameAnyway(ev *transcript.Event) string {
	article := "a "
	if ev.Item == "" || ev.Item == transcript.ItemStderr {
		article = "an "
	}
	return article + ev.Item.Noun() + " came that must not come"
}

// unmetUpstream returns the requests that a target must not send to a stub, and those that it did not send although it
// must.
func unmetUpstream(s *transcript.Step, d *diagnosis) []Unmet {
	var out []Unmet
	for i, x := range s.Exchanges {
		at := "request " + strconv.Itoa(i+1)
		switch f := x.Failure; {
		case f != nil && f.Kind != transcript.FailCanceled && !d.causedByExit(f, x.Done) && !d.explainedByOutage(f, startOf(x), x.Done):
			u := Unmet{
				Kind: ExchangeFailed, Step: s.ID, Exchange: i, Event: -1, Place: at, Want: "a complete request", Got: f.Text,
				Text: "the request to the upstream broke",
			}
			if f.Kind == transcript.FailMalformed {
				u.Want, u.Text = "a valid request", "the request to the upstream is not valid"
			}
			out = append(out, u)
		case f == nil && x.Request.Body.Undecoded(x.Request.Header) && !isUnexpected(s):
			if _, why := x.Request.Body.Opaque(x.Request.Header, false); why != "" {
				f := wrongCoding(x.Request.Header, why)
				f.Step, f.Exchange, f.Event, f.Place = s.ID, i, -1, at+" body"
				out = append(out, f)
			}
		case f == nil && isUnexpected(s):
			_, got := diff.Cut("", diff.Show(x.Request.Method+" "+x.Request.Target+" "+string(x.Request.Body.Bytes)).Text)
			out = append(out, Unmet{
				Kind: UpstreamUnexpected, Step: s.ID, Exchange: i, Event: -1, Place: at, Want: s.Unmet.What, Got: strings.TrimSpace(got.String()),
				Text: "unexpected request to the upstream: " + cmp.Or(x.Unanswered, s.Unmet.Why),
			})
		}
	}
	awaited := slices.ContainsFunc(d.t.Steps, func(o transcript.Step) bool { // a step that waited for the request has reported that
		return o.Unmet != nil && o.Unmet.Kind == "asked" && o.Text == "asked "+s.ID
	})
	if s.Unmet != nil && !isUnexpected(s) && !awaited && d.t.Exit == nil && d.t.Aborted == "" {
		place := "requests"
		if s.Unmet.Kind != "upstream" {
			place = s.Unmet.Kind
		}
		out = append(out, Unmet{
			Kind: stepDemands[s.Unmet.Kind].kind, Step: s.ID, Exchange: -1, Event: -1, Place: place, Want: s.Unmet.What, Got: s.Unmet.Why,
			Text: stepDemands[s.Unmet.Kind].text,
		})
	}
	if u := offCadence(d.t, s); u != nil {
		out = append(out, *u)
	}
	return out
}

// unmetCodings returns what is wrong with the coding of a response, whatever the other side does.
func unmetCodings(x *transcript.Exchange) []Unmet {
	var out []Unmet
	if names := unrequestedCodings(x); names != "" {
		asked := "none: the request has no Accept-Encoding; send one in the step if clients do"
		if values := x.Request.Header.Values("Accept-Encoding"); len(values) > 0 {
			asked = "one that Accept-Encoding asks for: " + strings.Join(values, ", ")
		}
		out = append(out, Unmet{
			Kind: CodingUnasked, Place: "header " + contentEncoding, Want: asked, Got: names,
			Text: "the response has a content coding that the request did not ask for",
		})
	}
	if _, why := opaqueResponse(x); why != "" {
		out = append(out, wrongCoding(x.Response.Header, why))
	}
	return out
}

func wrongCoding(h transcript.Header, why string) Unmet {
	return Unmet{
		Kind: CodingMistaken, Place: "body", Want: strings.Join(h.Codings(), ", ") + ", as Content-Encoding says", Got: why,
		Text: "the body is not encoded as its Content-Encoding says",
	}
}
