package mutate

import (
	"iter"
	"regexp"
	"slices"
	"strconv"

	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A stream is an event stream, a socket or a program of the candidate, with the reference's of the same name.
type stream struct {
	s     *Subject
	index int
	st    *transcript.Stream
	ref   *transcript.Stream // nil when the reference has none
	rule  streamdiff.Rules   // the rules for this stream
	// correlation returns the key of events that are in order among themselves; nil when all are.
	correlation func(*transcript.Event) string
}

// streams ranges over the streams of the candidate.
func (s *Subject) streams() iter.Seq[*stream] {
	return func(yield func(*stream) bool) {
		for i, own := range s.Candidate.Streams {
			st := &stream{s: s, index: i, st: own, rule: s.ruleFor(own)}
			st.correlation = st.rule.Correlation(func(ev *transcript.Event) (*jsontree.Node, error) {
				root, _, err := jsontree.Parse([]byte(ev.Data))
				return root, err
			})
			for _, ref := range s.Reference.Streams {
				if ref.Name == own.Name {
					st.ref = ref
				}
			}
			if !yield(st) {
				return
			}
		}
	}
}

func (s *Subject) ruleFor(st *transcript.Stream) streamdiff.Rules {
	if r, ok := s.Rules.Streams[st.Name]; ok {
		return r
	}
	return s.Rules.Streams[st.Operation]
}

func (st *stream) site() site { return site{step: st.st.Step, stream: st.st} }

func (st *stream) isBeat(ev *transcript.Event) bool {
	return st.s.Rules.Beats(st.st.Name, st.st.Operation, ev)
}

// isFixed reports whether the server does not decide about an event, or no rule compares it: lockstep has sent it, or it
// is standard error.
func (st *stream) isFixed(ev *transcript.Event) bool {
	return st.s.Rules.Outside(st.st.Name, st.st.Operation, ev) && !st.isBeat(ev)
}

// content returns the events on one side of the stream that are part of the sequence.
func (st *stream) content(side *transcript.Stream) []*transcript.Event {
	var out []*transcript.Event
	for k := range side.Events {
		if ev := &side.Events[k]; !st.s.Rules.Outside(side.Name, side.Operation, ev) {
			out = append(out, ev)
		}
	}
	return out
}

// referenceBeats reports whether the reference keeps the stream alive as well.
func (st *stream) referenceBeats() bool {
	return st.ref != nil && len(st.content(st.ref)) < len(st.ref.Events)
}

// mutant returns the mutant in which the stream is changed.
func (st *stream) mutant(before, after string, change func(*transcript.Stream)) Mutant {
	return st.s.mutant(st.site(), "stream "+st.st.Name, before, after, func(t *transcript.Transcript) { change(t.Streams[st.index]) })
}

// An event is an event of the candidate, with its counterpart.
type event struct {
	stream *stream
	index  int
	where  string // "stream bus event 4"
	ev     *transcript.Event
	ref    *transcript.Event // the reference's event; nil when it is unknown
	isBeat bool
}

// events pairs the events of both sides. Heartbeats are marked and have no counterpart.
func (st *stream) events() []*event {
	pieces := st.rule.Pieces()
	whole := map[string][]*transcript.Event{} // the reference's events that are not pieces of texts, by pairKey
	byText := map[string]*transcript.Event{}
	if st.ref != nil {
		for _, ev := range st.content(st.ref) {
			if p := pieces.Of(ev); p != nil {
				byText[p.Text] = ev
			} else {
				whole[st.pairKey(ev)] = append(whole[st.pairKey(ev)], ev)
			}
		}
	}
	labels := st.s.Rules.Labels(st.st)
	var out []*event
	for k := range st.st.Events {
		if st.isFixed(&st.st.Events[k]) {
			continue
		}
		ev := &event{stream: st, index: k, where: "stream " + st.st.Name + " " + labels[k], ev: &st.st.Events[k]}
		ev.isBeat = st.isBeat(ev.ev)
		switch p := pieces.Of(ev.ev); {
		case ev.isBeat:
		case p != nil: // chance decides where a text is split, so its pieces have no counterparts by number
			ev.ref = byText[p.Text]
		default:
			key := st.pairKey(ev.ev)
			if left := whole[key]; len(left) > 0 {
				ev.ref, whole[key] = left[0], left[1:]
			}
		}
		out = append(out, ev)
	}
	return out
}

// pairKey is the correlation key if it is the same on both sides. The value at an OrderWithin path may be generated.
func (st *stream) pairKey(ev *transcript.Event) string {
	if st.correlation == nil || !st.rule.JSONRPC && ev.Item != transcript.ItemStderr {
		return ""
	}
	return st.correlation(ev)
}

// events ranges over the events of all streams, including heartbeats.
func (s *Subject) events() iter.Seq[*event] {
	return func(yield func(*event) bool) {
		for st := range s.streams() {
			for _, e := range st.events() {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// serverSentEvents are the contentEvents of event streams.
var serverSentEvents = filter(contentEvents, func(e *event) bool { return e.ev.Item == "" })

// contentEvents leaves heartbeats out. visibleEvents also leaves out empty pieces of a text, because they make no
// difference.
var (
	contentEvents = filter((*Subject).events, func(e *event) bool { return !e.isBeat })
	visibleEvents = filter(contentEvents, func(e *event) bool {
		p := e.piece()
		return p == nil || p.Text != ""
	})
)

func (e *event) site() site {
	at := e.stream.site()
	at.event = e.ev
	return at
}

// edit changes the event in a copy of the transcript. The event gets the name that the contract has for it after the
// change.
func (e *event) edit(t *transcript.Transcript, change func(*transcript.Event)) {
	ev := &t.Streams[e.stream.index].Events[e.index]
	change(ev)
	if e.stream.st.Wire != "" {
		settle(t, e.stream)
		return
	}
	if e.stream.s.EventNamer != nil && !ev.Comment {
		ev.Name = e.stream.s.EventNamer(e.stream.st.Operation)(ev)
	}
}

// settle gives the messages of a stream in a clone what depends on their contents: their names, which may depend on
// other messages, and the sizes of their frames.
func settle(t *transcript.Transcript, st *stream) {
	all := t.Streams[st.index].Events
	var name func(*transcript.Event) string
	if st.s.EventNamer != nil && st.st.Wire != "" {
		name = st.s.EventNamer(st.st.Operation)
	}
	for i := range all {
		ev := &all[i]
		if name != nil {
			ev.Name = name(ev)
		}
		if oneFrame.MatchString(ev.Framing) && !ev.Sent && ev.Item != transcript.ItemClose {
			ev.Framing = frame(ev.Item, len(ev.Data))
		}
	}
}

// oneFrame matches the framing of a message in one frame.
var oneFrame = regexp.MustCompile(`^[a-z]+ [0-9]+$`)

func frame(item transcript.Item, size int) string { return string(item) + " " + strconv.Itoa(size) }

// mutant returns the mutant in which a part of the event is changed.
func (e *event) mutant(part, before, after string, change func(*transcript.Event)) Mutant {
	before, after = excerpts(before, after)
	return e.stream.s.mutant(e.site(), e.where+part, before, after, func(t *transcript.Transcript) { e.edit(t, change) })
}

// withEvents returns the mutant in which the stream has other events from this one on. The windows of the scenario
// behind it move with the events, by the difference in their number, which is shift.
func (e *event) withEvents(after string, shift int, events func([]transcript.Event) []transcript.Event) Mutant {
	return e.stream.s.mutant(e.site(), e.where, excerpt(e.ev.Name+" "+e.ev.Data), excerpt(after), func(t *transcript.Transcript) {
		st := t.Streams[e.stream.index]
		st.Events = events(st.Events)
		settle(t, e.stream)
		for i := range t.Windows {
			if w := &t.Windows[i]; w.Stream == st.Name && w.First > e.index {
				w.First += shift
			}
		}
	})
}

// without returns the mutant in which the event is missing.
func (e *event) without() Mutant {
	return e.withEvents("", -1, func(all []transcript.Event) []transcript.Event { return slices.Delete(all, e.index, e.index+1) })
}

// twice returns the mutant in which the event comes twice.
func (e *event) twice() Mutant {
	return e.withEvents("twice", 1, func(all []transcript.Event) []transcript.Event { return slices.Insert(all, e.index, all[e.index]) })
}

// next returns the following event, or nil. Events with something between them that lockstep has sent do not follow
// each other.
func (e *event) next() *transcript.Event {
	if i := e.index + 1; i < len(e.stream.st.Events) && !e.stream.isFixed(&e.stream.st.Events[i]) {
		return &e.stream.st.Events[i]
	}
	return nil
}

// isMessage reports whether the server chooses the data of an event, unlike those of a close frame or of an exit.
func isMessage(ev *transcript.Event) bool {
	switch ev.Item {
	case transcript.ItemText, transcript.ItemBinary, transcript.ItemLine, transcript.ItemStderr, "":
		return !ev.Comment
	}
	return false
}

// isEnd reports whether nothing can follow an event: it is a close frame, or the exit of a program.
func isEnd(ev *transcript.Event) bool {
	return ev.Item == transcript.ItemClose || ev.Item == transcript.ItemExit
}

// appended adds an event at the end of a stream.
func appended(all []transcript.Event, ev transcript.Event) []transcript.Event {
	at := len(all)
	for at > 0 && isEnd(&all[at-1]) && !all[at-1].Sent {
		at--
	}
	if at > 0 {
		ev.At = all[at-1].At
	}
	return slices.Insert(all, at, ev)
}

// piece returns the piece of a text in the event, or nil.
func (e *event) piece() *streamdiff.Piece { return e.stream.rule.Pieces().Of(e.ev) }
