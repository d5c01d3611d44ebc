package mutate

import (
	"fmt"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A site is where a mutant differs, as far as rules may speak of it.
type site struct {
	step    string
	stream  *transcript.Stream
	event   *transcript.Event
	header  string
	doc     *document
	pointer string
	framing bool
}

// An answer is a response of the candidate, with its counterpart.
type answer struct {
	step, index int
	where       string // "step 3"
	x           *transcript.Exchange
	ref         *transcript.Exchange // nil where nobody knows which it is
	st          *transcript.Step
}

func (a *answer) site() site { return site{step: a.st.ID} }

// answers calls f with every complete response, until it returns false.
func (s *Subject) answers(f func(a *answer) bool) {
	for i := range s.Candidate.Steps {
		st := &s.Candidate.Steps[i]
		for k, x := range st.Exchanges {
			if x.Response == nil || x.Failure != nil {
				continue
			}
			a := &answer{step: i, index: k, where: "step " + st.ID, x: x, st: st, ref: s.counterpart(st, k)}
			if len(st.Exchanges) > 1 {
				a.where += fmt.Sprintf(" answer %d", k+1)
			}
			if !f(a) {
				return
			}
		}
	}
}

// counterpart returns the reference's exchange that stands in the place of the candidate's; nil for a burst, whose
// answers are in no order.
func (s *Subject) counterpart(st *transcript.Step, k int) *transcript.Exchange {
	if st.Burst {
		return nil
	}
	for i := range s.Reference.Steps {
		ref := &s.Reference.Steps[i]
		if ref.ID == st.ID && k < len(ref.Exchanges) && ref.Exchanges[k].Response != nil {
			return ref.Exchanges[k]
		}
	}
	return nil
}

// A moment of a stream is an event of the candidate, with its counterpart.
type occurrence struct {
	stream, index int
	where         string // "stream bus event 4"
	st            *transcript.Stream
	ev            *transcript.Event
	ref           *transcript.Event
	refStream     *transcript.Stream
	beat          bool
}

func (o *occurrence) site() site { return site{step: o.st.Step, stream: o.st, event: o.ev} }

// events calls f with every event, until it returns false.
func (s *Subject) events(f func(o *occurrence) bool) {
	for i := range s.Candidate.Streams {
		for _, o := range s.eventsOf(i) {
			if !f(o) {
				return
			}
		}
	}
}

// eventsOf returns the events of a stream. Those that keep it alive are marked, and have no counterpart.
func (s *Subject) eventsOf(i int) []*occurrence {
	st := s.Candidate.Streams[i]
	var ref *transcript.Stream
	for _, other := range s.Reference.Streams {
		if other.Name == st.Name {
			ref = other
		}
	}
	labels := s.Rules.Labels(st)
	var out []*occurrence
	var others []*transcript.Event
	if ref != nil {
		others = s.sequence(ref)
	}
	n, pieces := 0, s.rule(st).Pieces()
	own, mates := split(pieces, others)
	for k := range st.Events {
		o := &occurrence{
			stream: i, index: k, where: "stream " + st.Name + " " + labels[k], st: st, ev: &st.Events[k],
			refStream: ref, beat: s.Rules.Beats(st.Name, st.Operation, &st.Events[k]),
		}
		switch p := pieces.Of(o.ev); {
		case o.beat:
		case p != nil: // where a text is cut is chance, so that its pieces have no counterparts by their number
			o.ref = mates[p.Text]
		default:
			if n < len(own) {
				o.ref = own[n]
			}
			n++
		}
		out = append(out, o)
	}
	return out
}

// split returns the events that are no pieces of texts, and of those that are one for each piece.
func split(pieces compare.Pieces, events []*transcript.Event) (own []*transcript.Event, mates map[string]*transcript.Event) {
	mates = map[string]*transcript.Event{}
	for _, ev := range events {
		if p := pieces.Of(ev); p != nil {
			mates[p.Text] = ev
		} else {
			own = append(own, ev)
		}
	}
	return own, mates
}

// sequence returns the events of a stream without its heartbeats.
func (s *Subject) sequence(st *transcript.Stream) []*transcript.Event {
	var out []*transcript.Event
	for k := range st.Events {
		if !s.Rules.Beats(st.Name, st.Operation, &st.Events[k]) {
			out = append(out, &st.Events[k])
		}
	}
	return out
}

// rule returns the rules for a stream.
func (s *Subject) rule(st *transcript.Stream) compare.Stream {
	if r, ok := s.Rules.Streams[st.Name]; ok {
		return r
	}
	return s.Rules.Streams[st.Operation]
}

// shown shortens a text for a list.
func shown(text string) string {
	text, _ = contrast(text, "")
	return text
}

// contrast shortens two texts to what stands around the first place where they differ.
func contrast(a, b string) (string, string) {
	const most, before = 60, 20
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	if from = from - before; from < before {
		from = 0
	}
	cut := func(s string) string {
		start, end := min(from, len(s)), min(from+most, len(s))
		for start > 0 && start < len(s) && s[start]&0xc0 == 0x80 {
			start--
		}
		for end > start && end < len(s) && s[end]&0xc0 == 0x80 {
			end--
		}
		out := s[start:end]
		if start > 0 {
			out = "…" + out
		}
		if end < len(s) {
			out += "…"
		}
		return out
	}
	return cut(a), cut(b)
}

func seen(t *transcript.Transcript, at time.Duration) time.Time { return t.Started.Add(at) }

// stepOf returns the candidate's step of that id, or nil.
func (s *Subject) stepOf(id string) *transcript.Step {
	for st := range s.Candidate.AllSteps() {
		if st.ID == id {
			return st
		}
	}
	return nil
}
