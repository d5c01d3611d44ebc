package compare

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/match"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A Shortfall is something one target did not do that it had to do by itself, whatever the other does.
type Shortfall struct {
	Kind     ShortfallKind
	Step     string
	Exchange int    // -1 when it is not about an exchange
	Stream   string // "" when it is not about a stream
	Event    int    // -1 when it is not about an event
	Place    string
	Want     string
	Got      string
	Text     string // one sentence
	// Fingerprint is equal for shortfalls that differ in nothing but values that were made up.
	Fingerprint string
}

// ShortfallKind names a shortfall. Kinds appear in reports, so renaming one is a change of their format.
type ShortfallKind string

// The shortfalls.
const (
	ExchangeFailed   ShortfallKind = "exchange-failed"
	ExpectationUnmet ShortfallKind = "expectation"
	EventAwaited     ShortfallKind = "event-awaited"   // an awaited event did not come
	EndAwaited       ShortfallKind = "end-awaited"     // the server did not end the stream
	PollUnmet        ShortfallKind = "poll"            // a poll never held
	CaptureMissing   ShortfallKind = "capture-missing" // the value to capture is not there
	EventForbidden   ShortfallKind = "event-forbidden" // an event came that must not
	StreamMissing    ShortfallKind = "stream-missing"  // a step needs a stream, and the answer was none
	StreamBroken     ShortfallKind = "stream-broken"
	HeartbeatLate    ShortfallKind = "heartbeat-late"
	HeartbeatEarly   ShortfallKind = "heartbeat-early"
	HeartbeatMissing ShortfallKind = "heartbeat-missing"
	TargetExited     ShortfallKind = "target-exited"
	TargetNotStopped ShortfallKind = "target-not-stopped"
	TargetNotStarted ShortfallKind = "target-not-restarted"

	ArchiveBroken  ShortfallKind = "archive"        // what is called an archive is none, or none that can be looked into
	CodingMistaken ShortfallKind = "content-coding" // a body is not in the coding that Content-Encoding names
	CodingUnasked  ShortfallKind = "content-coding-unasked"

	UpstreamUnexpected ShortfallKind = "upstream-unexpected" // a request to a stub that nothing answers
	UpstreamMissing    ShortfallKind = "upstream-missing"    // a rule of a stub had nothing to answer
)

// ShortfallKinds returns every kind of shortfall.
func ShortfallKinds() []ShortfallKind {
	return []ShortfallKind{
		ExchangeFailed, ExpectationUnmet, EventAwaited, EndAwaited, PollUnmet, CaptureMissing, EventForbidden, StreamMissing,
		StreamBroken, HeartbeatLate, HeartbeatEarly, HeartbeatMissing, TargetExited, TargetNotStopped, TargetNotStarted,
		ArchiveBroken, CodingMistaken, CodingUnasked, UpstreamUnexpected, UpstreamMissing,
	}
}

// Shortfalls returns what a target did not do by itself: demands of the scenario that do not hold, exchanges and
// streams that broke, heartbeats that came at the wrong time.
//
// One thing that happened is told once. A process that ended broke its connections, a stream that broke brings no more
// events, an answer that did not come has nothing to capture, and of a stream that is none the first step that needs it
// tells: what only follows is left out.
func Shortfalls(t *transcript.Transcript, rules *Rules) []Shortfall {
	return ShortfallsWith(nil, t, rules)
}

// ShortfallsWith is Shortfalls with documents that the rest of a judgement reads as well.
func ShortfallsWith(docs *jsontree.Documents, t *transcript.Transcript, rules *Rules) []Shortfall {
	d := diagnose(t)
	var out []Shortfall
	for i := range t.Steps {
		out = append(out, stepShortfalls(&t.Steps[i], d, match.Matcher{Documents: docs})...)
	}
	for i := range t.Upstream {
		out = append(out, upstreamShortfalls(&t.Upstream[i], d)...)
	}
	for _, s := range t.Streams {
		out = append(out, streamShortfalls(t, s, rules.stream(s.Name, s.Operation), d)...)
		if name := miscodedStream(t, s); name != "" {
			out = append(out, Shortfall{
				Kind: CodingMistaken, Step: s.Step, Exchange: -1, Stream: s.Name, Event: -1, Place: "header Content-Encoding",
				Want: "no content coding: the events are in none", Got: name, Text: "the stream is not in its content coding",
			})
		}
	}
	for _, w := range t.Windows {
		out = append(out, windowShortfalls(t, w, rules)...)
	}
	if t.Exit != nil {
		out = append(out, Shortfall{
			Kind: TargetExited, Step: d.deathbed(), Exchange: -1, Event: -1, Place: "process",
			Want: "to go on", Got: t.Exit.Status, Text: exitText(t.Exit),
		})
	}
	for i := range out {
		f := &out[i]
		f.Fingerprint = f.fingerprint(rules, t)
	}
	return out
}

func stepShortfalls(s *transcript.Step, d *diagnosis, m match.Matcher) []Shortfall {
	var out []Shortfall
	add := func(f Shortfall) {
		f.Step, f.Event = s.ID, -1
		out = append(out, f)
	}
	failed := false
	for i, x := range s.Exchanges {
		f := x.Failure
		failed = failed || f != nil
		if f != nil && f.Kind != transcript.FailCanceled && !s.Uncompared && !givenUp(s) && !d.follows(f, x.Done) && !d.outOfService(f, begun(x), x.Done) {
			add(Shortfall{
				Kind: ExchangeFailed, Exchange: i, Place: string(f.Phase), Want: "a complete answer",
				Got: f.Text, Text: "the exchange failed " + during(f.Phase),
			})
		}
		if why := brokenArchive(x); why != "" && !s.Uncompared {
			add(Shortfall{
				Kind: ArchiveBroken, Exchange: i, Place: "body", Want: "a ZIP archive, as its content type says", Got: "it " + why,
				Text: "the archive cannot be read",
			})
		}
		if !s.Uncompared {
			for _, f := range codingShortfalls(x) {
				f.Exchange = i
				add(f)
			}
		}
	}
	blind := slices.ContainsFunc(s.Exchanges, func(x *transcript.Exchange) bool { return unreadAnswer(x) != "" })
	if u := s.Unmet; u != nil && !failed && !d.cut(s) && !d.told(s) && !(blind && (u.Kind == "capture" || u.Kind == "poll")) {
		add(Shortfall{
			Kind: unmetKind(u.Kind), Exchange: -1, Stream: s.Stream, Place: u.Kind,
			Want: u.What, Got: u.Why, Text: unmetText(u.Kind),
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
			continue // nobody knows what is in it
		}
		want, got := cut(show(m.Want), show(m.Got))
		add(Shortfall{
			Kind: ExpectationUnmet, Exchange: last, Place: m.Place, Want: want, Got: got,
			Text: "the scenario expects something else",
		})
	}
	return out
}

// exitText says what a process was doing when it ended: it may be another scenario that has brought it down.
func exitText(e *transcript.Exit) string {
	const text = "the target's process ended"
	if len(e.UnderWay) == 0 {
		return text
	}
	return text + " while " + transcript.UnderWay(e.UnderWay)
}

// givenUp reports whether the scenario hangs up on the step's exchange, instead of waiting for what becomes of it.
func givenUp(s *transcript.Step) bool { return s.Kind == "close" || s.Kind == "drop" }

func during(p transcript.Phase) string {
	switch p {
	case transcript.PhaseConnect:
		return "while connecting"
	case transcript.PhaseSend:
		return "while the request was sent"
	case transcript.PhaseHead:
		return "at the answer's head"
	default:
		return "in the answer's body"
	}
}

func unmetKind(kind string) ShortfallKind {
	switch kind {
	case "event", "ready":
		return EventAwaited
	case "end":
		return EndAwaited
	case "poll":
		return PollUnmet
	case "exit":
		return TargetNotStopped
	case "asked":
		return UpstreamMissing
	case "restart":
		return TargetNotStarted
	case "stream", "close":
		return StreamMissing
	default:
		return CaptureMissing
	}
}

func unmetText(kind string) string {
	switch kind {
	case "asked":
		return "the upstream was not asked what it should be"
	case "event":
		return "the event that is awaited did not come"
	case "ready":
		return "the event that tells that the stream is ready did not come"
	case "end":
		return "the server did not end the stream"
	case "poll":
		return "the answer did not become as it should"
	case "exit":
		return "the process did not end as it should"
	case "restart":
		return "the target was not ready again"
	case "stream":
		return "there is no stream to watch"
	case "close":
		return "there is no stream to hang up on"
	default:
		return "there is nothing to capture"
	}
}

func streamShortfalls(t *transcript.Transcript, s *transcript.Stream, rule Stream, d *diagnosis) []Shortfall {
	var out []Shortfall
	if f := s.Failure; s.Ended == transcript.EndedBroken && (f == nil || !d.follows(f, s.Until) && !d.outOfService(f, s.At, s.Until)) {
		got := "broken"
		if f != nil {
			got = f.Text
		}
		out = append(out, Shortfall{
			Kind: StreamBroken, Step: s.Step, Exchange: -1, Stream: s.Name, Event: -1, Place: "end",
			Want: "to end between two events", Got: got, Text: "the stream broke",
		})
	}
	if h := rule.Heartbeat; h != nil && h.Every > 0 {
		if f, _ := cadence(t, s, h); f != nil {
			f.Step, f.Stream, f.Exchange = s.Step, s.Name, -1
			out = append(out, *f)
		}
	}
	return out
}

// granted says what a bound is widened by.
func granted(stalled time.Duration) string {
	if stalled == 0 {
		return ""
	}
	return fmt.Sprintf("%s%s, for which this machine stood still", andBeyond, stalled.Round(time.Millisecond))
}

// andBeyond is what comes between a bound and what is granted on top of it.
const andBeyond = "; and up to "

// windowShortfalls returns the first event that came while it must not.
func windowShortfalls(t *transcript.Transcript, w transcript.Window, rules *Rules) []Shortfall {
	for _, s := range t.Streams {
		if s.Name != w.Stream {
			continue
		}
		heartbeat := rules.stream(s.Name, s.Operation).Heartbeat
		labels := heartbeat.labels(s)
		for i := w.First; i < len(s.Events) && s.Events[i].At <= w.To; i++ {
			ev := &s.Events[i]
			if w.Match == nil && (ev.Comment || heartbeat.beats(ev)) || w.Match != nil && !match.Event(w.Match, ev) {
				continue
			}
			_, got := cut("", showEvent(ev))
			return []Shortfall{{
				Kind: EventForbidden, Step: w.Step, Exchange: -1, Stream: s.Name, Event: i,
				Place: fmt.Sprintf("%s (%s)", labels[i], eventName(ev)), Want: fmt.Sprintf("nothing of the kind for %s", w.To-w.From),
				Got: got, Text: "an event came that must not",
			}}
		}
	}
	return nil
}
