package mutate

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// eventOrderOperators send events in another order. Each place in the sequence keeps its time. Two kinds of events may
// change places without being noticed: those that differ only in what the server generated, and those that a rule
// allows in any order. Nothing can follow the end of a socket or a program, so the end keeps its place.
var eventOrderOperators = []Operator{
	swapEvents("event-order", "swapped", "It sends an event after the one that should follow it", true),
	each("event-order", "first-last", "It sends the first event last", (*Subject).streams, func(st *stream, yield emit) {
		if all := st.movable(); len(all) > 2 && endsAreOrdered(all) {
			yield(moved(all, 0, len(all)-1))
		}
	}),
	each("event-order", "reversed", "It sends events in reverse order", (*Subject).streams, func(st *stream, yield emit) {
		if all := st.movable(); len(all) > 1 && endsAreOrdered(all) {
			yield(reordered(all, 0, "events 1 to last", "events last to 1", slices.Reverse[[]transcript.Event]))
		}
	}),
}

// swapEvents makes an operator that swaps neighbouring events: those that must keep their order, or those that need
// not.
func swapEvents(family, name, doc string, mustKeep bool) Operator {
	return each(family, name, doc, (*Subject).streams, func(st *stream, yield emit) {
		all := st.movable()
		for k := range len(all) - 1 {
			a, b := all[k], all[k+1]
			if a.isBeat || b.isBeat || !distinct(a, b) || ordered(a, b) != mustKeep {
				continue
			}
			if mustKeep || b.index == a.index+1 { // nothing answers what was not sent yet
				yield(moved(all, k, k+1))
			}
		}
	})
}

// movable returns the events of the stream without its end.
func (st *stream) movable() []*event {
	return slices.DeleteFunc(st.events(), func(e *event) bool { return isEnd(e.ev) })
}

// endsAreOrdered reports whether the first event must come before the last one, in a stream without heartbeats.
func endsAreOrdered(all []*event) bool {
	return ordered(all[0], all[len(all)-1]) && !slices.ContainsFunc(all, func(e *event) bool { return e.isBeat })
}

// moved returns the mutant in which an event comes at a later place.
func moved(all []*event, from, to int) Mutant {
	a := all[from]
	return reordered(all, from, excerpt(a.ev.Name+" before "+all[to].ev.Name), "after it", func(events []transcript.Event) {
		ev := events[from]
		copy(events[from:to], events[from+1:to+1])
		events[to] = ev
	})
}

// reordered returns the mutant in which events of a stream have another order. Each place keeps its time. The mutant is
// named after one of the events.
func reordered(all []*event, named int, before, after string, change func([]transcript.Event)) Mutant {
	e := all[named]
	m := e.stream.mutant(before, after, func(st *transcript.Stream) {
		moved := make([]transcript.Event, len(all))
		for i, own := range all {
			moved[i] = *own.ev
		}
		change(moved)
		for i, own := range all {
			moved[i].At = own.ev.At
			st.Events[own.index] = moved[i]
		}
	})
	m.Place, m.site = e.where, e.site()
	return m
}

// distinct reports whether two events differ in more than what the server generated.
func distinct(a, b *event) bool {
	if p, q := a.piece(), b.piece(); p != nil && q != nil && p.Joins(q) && p.Text+q.Text == q.Text+p.Text {
		return false // pieces of one text that give the same text in any order
	}
	return a.ev.Name != b.ev.Name || a.ev.Item != b.ev.Item || a.ev.Comment != b.ev.Comment || a.masked() != b.masked()
}

// masked returns an event's data with a mark instead of what the server generated.
func (e *event) masked() string {
	root, _, err := jsontree.Parse([]byte(e.ev.Data))
	if err != nil {
		return e.ev.Data
	}
	var ref *jsontree.Node
	if e.ref != nil {
		ref, _, _ = jsontree.Parse([]byte(e.ref.Data))
	}
	return e.stream.s.masked(root, ref, e.stream.s.wallClock(e.ev.At))
}

// ordered reports whether two distinct events must keep their order.
func ordered(a, b *event) bool {
	if !distinct(a, b) {
		return false
	}
	key, anchors := a.stream.correlation, a.stream.rule.Anchors
	return key == nil || slices.Contains(anchors, a.ev.Name) || slices.Contains(anchors, b.ev.Name) || key(a.ev) == key(b.ev)
}

// eventDropOperators omit events.
var eventDropOperators = []Operator{
	each("event-drop", "one", "It does not send an event", visibleEvents, func(e *event, yield emit) { yield(e.without()) }),
	each("event-drop", "rest", "It sends nothing from an event on", visibleEvents, func(e *event, yield emit) {
		yield(e.withEvents("", 0, func(all []transcript.Event) []transcript.Event {
			return append(all[:e.index], e.stream.withoutContent(all[e.index:])...)
		}))
	}),
	each("event-drop", "all", "It sends no event at all", (*Subject).streams, func(st *stream, yield emit) {
		if len(st.content(st.st)) > 0 {
			yield(st.mutant(strconv.Itoa(len(st.st.Events))+" events", "", func(out *transcript.Stream) { out.Events = st.withoutContent(out.Events) }))
		}
	}),
}

// withoutContent returns the events that the server has not sent, or that no rule compares.
func (st *stream) withoutContent(events []transcript.Event) []transcript.Event {
	return slices.DeleteFunc(events, func(ev transcript.Event) bool { return !st.isFixed(&ev) })
}

// eventDuplicateOperators send events more than once.
var eventDuplicateOperators = []Operator{
	each("event-duplicate", "next", "It sends an event twice", repeatable, func(e *event, yield emit) { yield(e.twice()) }),
	each("event-duplicate", "again", "It sends an event again at the end", repeatable, func(e *event, yield emit) {
		yield(e.withEvents("again at the end", 0, func(all []transcript.Event) []transcript.Event {
			return appended(all, all[e.index])
		}))
	}),
}

// repeatable leaves the ends of sockets and programs out, because nothing ends twice.
var repeatable = filter(visibleEvents, func(e *event) bool { return !isEnd(e.ev) })

// renamedOperators send an event under another name.
var renamedOperators = []Operator{
	renameEvent("other", "It gives an event another name", func(e *event) string { return e.ev.Name + "x" }),
	renameEvent("case", "It writes an event's name in another case", func(e *event) string { return strings.ToUpper(e.ev.Name) }),
	renameEvent("sibling", "It gives an event the name of another event of the stream", func(e *event) string {
		events := e.stream.st.Events
		for i := range events {
			if name := events[i].Name; name != e.ev.Name && name != "" && !e.stream.isBeat(&events[i]) {
				return name
			}
		}
		return ""
	}),
	each("renamed", "no-field", "It leaves out the event field", serverSentEvents, func(e *event, yield emit) {
		if e.ev.Type == "" {
			return
		}
		yield(e.mutant(" event field", e.ev.Type, "", func(ev *transcript.Event) {
			ev.Type, ev.Framing = "", strings.Replace(ev.Framing, "event: •\n", "", 1)
			if e.stream.s.EventNamer == nil {
				ev.Name = "message"
			}
		}))
	}),
	each("renamed", "field", "It sends an event field that should not be there", serverSentEvents, func(e *event, yield emit) {
		if e.ev.Type != "" || e.ev.Comment || e.ev.Name == "message" { // without the field, the name is "message"
			return
		}
		yield(e.mutant(" event field", "", e.ev.Name, func(ev *transcript.Event) {
			ev.Type, ev.Framing = ev.Name, "event: •\n"+ev.Framing
		}))
	}),
	each("renamed", "comment", "It sends an event as a comment", serverSentEvents, func(e *event, yield emit) {
		if !e.ev.Comment {
			yield(e.mutant("", e.ev.Name, "a comment", func(ev *transcript.Event) {
				*ev = transcript.Event{Comment: true, Data: "x " + ev.Data, Framing: ": •\n\n", At: ev.At}
			}))
		}
	}),
	each("renamed", "no-data", "It sends an event without data, which clients ignore", serverSentEvents, func(e *event, yield emit) {
		if !e.ev.Comment && !e.ev.Undispatched {
			yield(e.mutant(" data", e.ev.Data, "", func(ev *transcript.Event) {
				ev.Data, ev.Undispatched, ev.Framing = "", true, "event: •\n\n"
			}))
		}
	}),
}

// renameEvent makes an operator from a function that returns another name for an event, or "". The name is changed in
// every place of the event. A message has its name only in its data.
func renameEvent(name, doc string, change func(e *event) string) Operator {
	return each("renamed", name, doc, contentEvents, func(e *event, yield emit) {
		after := change(e)
		if e.ev.Name == "" || after == "" || after == e.ev.Name || e.ev.Item != "" && !strings.Contains(e.ev.Data, quoted(e.ev.Name)) {
			return
		}
		yield(e.mutant(" name", e.ev.Name, after, func(ev *transcript.Event) {
			ev.Data = strings.ReplaceAll(ev.Data, quoted(ev.Name), quoted(after))
			if ev.Type != "" {
				ev.Type = after
			}
			ev.Name = after
		}))
	})
}

// framingOperators split a stream into other events. Where a rule says that framing matters, they also write events in
// another way.
var framingOperators = []Operator{
	each("chunk", "split", "It sends the halves of an event as two", contentEvents, func(e *event, yield emit) {
		if !isMessage(e.ev) || len(e.ev.Data) < 2 {
			return
		}
		half := len(e.ev.Data) / 2
		yield(e.withEvents("two events", 1, func(all []transcript.Event) []transcript.Event {
			second := all[e.index]
			second.Data = second.Data[half:]
			all[e.index].Data = all[e.index].Data[:half]
			return slices.Insert(all, e.index+1, second)
		}))
	}),
	each("chunk", "joined", "It sends two events as one", contentEvents, func(e *event, yield emit) {
		next := e.next()
		if next == nil || !isMessage(e.ev) || !isMessage(next) || next.Item != e.ev.Item || e.stream.isBeat(next) {
			return
		}
		between := "\n"
		if e.ev.Item != "" {
			between = ""
		}
		yield(e.withEvents("one event with the next", -1, func(all []transcript.Event) []transcript.Event {
			all[e.index].Data += between + all[e.index+1].Data
			return slices.Delete(all, e.index+1, e.index+2)
		}))
	}),
	each("chunk", "line", "It breaks a line of data in two, within a word", serverSentEvents, func(e *event, yield emit) {
		i := strings.IndexFunc(e.ev.Data, func(r rune) bool { return r >= 'a' && r <= 'z' })
		if e.ev.Comment || i < 0 || i+1 >= len(e.ev.Data) {
			return
		}
		yield(e.mutant(" data", e.ev.Data, "with a line break", func(ev *transcript.Event) {
			ev.Data, ev.Framing = ev.Data[:i+1]+"\n"+ev.Data[i+1:], strings.Replace(ev.Framing, "data: •\n", "data: •\ndata: •\n", 1)
		}))
	}),
	addEventField("id", "It numbers its events", "7", func(ev *transcript.Event) *string { return &ev.ID }),
	addEventField("retry", "It sets a reconnection time", "3000", func(ev *transcript.Event) *string { return &ev.Retry }),
	changeFraming("chunk", "line-end", "It ends lines with CR LF", true, func(f string) string { return strings.ReplaceAll(f, "\n", "\r\n") }),
	changeFraming("chunk", "no-blank", "It writes no blank after the colon", true, func(f string) string { return strings.ReplaceAll(f, ": •", ":•") }),
	changeFraming("chunk", "blank-line", "It sends one blank line too many", true, func(f string) string {
		if !strings.HasSuffix(f, "\n\n") { // it is a line of a program
			return f
		}
		return f + "\n"
	}),
	changeFraming("chunk", "frames", "It sends a message in two frames", true, inTwoFrames),
	each("chunk", "no-line-end", "It does not end its last line, where that matters", contentEvents, func(e *event, yield emit) {
		if line, ok := strings.CutSuffix(e.ev.Framing, "\n"); ok && e.stream.rule.Exact && e.ev.Item == transcript.ItemLine && e.isLastLine() {
			yield(e.mutant(" framing", e.ev.Framing, line, func(ev *transcript.Event) { ev.Framing = line }))
		}
	}),
}

// isLastLine reports whether a program exits after a line, without another one.
func (e *event) isLastLine() bool {
	behind := slices.DeleteFunc(slices.Clone(e.stream.st.Events[e.index+1:]), func(ev transcript.Event) bool {
		return ev.Sent || ev.Item == transcript.ItemStderr
	})
	return len(behind) == 1 && behind[0].Item == transcript.ItemExit
}

// inTwoFrames returns the framing of a message in two frames instead of one.
func inTwoFrames(framing string) string {
	item, size, _ := strings.Cut(framing, " ")
	n, err := strconv.Atoi(size)
	if err != nil || item != string(transcript.ItemText) && item != string(transcript.ItemBinary) {
		return framing
	}
	return fmt.Sprintf("%s, end %d", frame(transcript.Item(item), n/2), n-n/2)
}

// addEventField makes an operator that adds a field to events without it.
func addEventField(name, doc, value string, field func(*transcript.Event) *string) Operator {
	return each("chunk", name, doc, serverSentEvents, func(e *event, yield emit) {
		if !e.ev.Comment && *field(e.ev) == "" {
			yield(e.mutant(" "+name, "", value, func(ev *transcript.Event) { *field(ev), ev.Framing = value, name+": •\n"+ev.Framing }))
		}
	})
}

// changeFraming makes an operator on how events are written. It works on streams where that matters, or on the others.
func changeFraming(family, name, doc string, matters bool, change func(string) string) Operator {
	return each(family, name, doc, contentEvents, func(e *event, yield emit) {
		after := change(e.ev.Framing)
		if after == e.ev.Framing || e.stream.rule.Exact != matters {
			return
		}
		m := e.mutant(" framing", e.ev.Framing, after, func(ev *transcript.Event) { ev.Framing = after })
		m.site.framing = true
		yield(m)
	})
}

// pieceOperators stream texts in another way. Where a text is split matters only if no rule joins the pieces. The text
// itself always matters.
var pieceOperators = []Operator{
	each("chunk", "pieces", "It sends a text in two pieces, where no rule joins them", contentEvents, func(e *event, yield emit) {
		if e.piece() != nil {
			return
		}
		if first, second, ok := halves(e); ok {
			yield(e.withEvents("in two pieces", 1, func(all []transcript.Event) []transcript.Event {
				return replaceEvents(all, e.index, 1, e.withData(first), e.withData(second))
			}))
		}
	}),
	eachPiece("chunk", "content", "It streams another letter in a text that may be cut in any way", func(e *event, p *streamdiff.Piece, yield emit) {
		i := strings.IndexFunc(p.Text, func(r rune) bool { return r >= 'a' && r < 'z' })
		if i < 0 {
			return
		}
		after := p.Text[:i] + string(p.Text[i]+1) + p.Text[i+1:]
		yield(e.mutant(" text", p.Text, after, func(ev *transcript.Event) { *ev = p.With(after) }))
	}),
	eachPiece("chunk", "swapped-pieces", "It swaps two pieces of a streamed text", func(e *event, p *streamdiff.Piece, yield emit) {
		next := e.nextPiece(p)
		if next == nil || p.Text+next.Text == next.Text+p.Text {
			return
		}
		yield(e.withEvents("behind the next piece", 0, func(all []transcript.Event) []transcript.Event {
			return replaceEvents(all, e.index, 2, p.With(next.Text), next.With(p.Text))
		}))
	}),
}

// eachPiece makes an operator from a function that is called with every piece of a text.
func eachPiece(family, name, doc string, change func(e *event, p *streamdiff.Piece, yield emit)) Operator {
	return each(family, name, doc, contentEvents, func(e *event, yield emit) {
		if p := e.piece(); p != nil {
			change(e, p, yield)
		}
	})
}

// nextPiece returns the piece of the same text in the next event, or nil.
func (e *event) nextPiece(p *streamdiff.Piece) *streamdiff.Piece {
	next := e.next()
	if next == nil {
		return nil
	}
	if other := e.stream.rule.Pieces().Of(next); other != nil && p.Joins(other) {
		return other
	}
	return nil
}

// halves returns the data of an event with its longest text split in two. It returns false when there is no such text.
func halves(e *event) (first, second string, ok bool) {
	root, _, err := jsontree.Parse([]byte(e.ev.Data))
	if err != nil {
		return "", "", false
	}
	var longest *jsontree.Node
	for i, item := range root.Items {
		if root.Kind == jsontree.Object && item.Kind == jsontree.String && item.Text != e.ev.Name && root.Names[i] != "id" &&
			(longest == nil || len(item.Text) > len(longest.Text)) {
			longest = item
		}
	}
	if longest == nil || len([]rune(longest.Text)) < 2 {
		return "", "", false
	}
	runes := []rune(longest.Text)
	longest.Text = string(runes[:len(runes)/2])
	first = root.String()
	longest.Text = string(runes[len(runes)/2:])
	return first, root.String(), true
}

// withData returns the event with other data.
func (e *event) withData(data string) transcript.Event {
	ev := *e.ev
	ev.Data = data
	return ev
}

// replaceEvents replaces n events of a list by others, at the time of the first one.
func replaceEvents(all []transcript.Event, at, n int, events ...transcript.Event) []transcript.Event {
	for i := range events {
		events[i].At = all[at].At
	}
	return slices.Replace(all, at, at+n, events...)
}

// foreignOperators send what belongs to another client.
var foreignOperators = []Operator{
	foreignEvent("event", "It sends another client's event too", func(e *event, data string) Mutant {
		return e.withEvents("and "+data, 1, func(all []transcript.Event) []transcript.Event {
			other := all[e.index]
			other.Data = data
			return slices.Insert(all, e.index+1, other)
		})
	}),
	foreignEvent("instead", "It sends another client's event instead of ours", func(e *event, data string) Mutant {
		return e.mutant(" data", e.ev.Data, data, func(ev *transcript.Event) { ev.Data = data })
	}),
	each("foreign", "answer", "It answers with the response to another request", (*Subject).responses, func(e *exchange, yield emit) {
		if e.x.Stream != "" || e.st.Burst {
			return
		}
		for other := range e.s.responses() {
			o := other.x.Response
			if other.x.Stream == "" && o.Status == e.x.Response.Status && other.index+other.step != e.index+e.step && !o.Body.IsZero() && !sameBody(e, other) {
				yield(e.withBody(o.Body.Bytes))
				return
			}
		}
	}),
	each("foreign", "stream", "It sends the events of one stream on another", (*Subject).streams, func(st *stream, yield emit) {
		for other := range st.s.streams() {
			content := other.content(other.st)
			if other.index == st.index || other.st.Wire != st.st.Wire || len(content) == 0 || isEnd(content[0]) {
				continue
			}
			ev := *content[0]
			yield(st.mutant("", excerpt("an event of "+other.st.Name+": "+ev.Data), func(out *transcript.Stream) { out.Events = appended(out.Events, ev) }))
		}
	}),
}

// foreignEvent makes an operator on events with the client's unique token. change gets the data that another client
// would get.
func foreignEvent(name, doc string, change func(e *event, data string) Mutant) Operator {
	return each("foreign", name, doc, contentEvents, func(e *event, yield emit) {
		if unique := e.stream.s.Candidate.Unique; unique != "" && isMessage(e.ev) && strings.Contains(e.ev.Data, unique) {
			yield(change(e, strings.ReplaceAll(e.ev.Data, unique, similarID(unique, 7))))
		}
	})
}

// sameBody reports whether two responses are the same to a client, apart from what the server generated.
func sameBody(a, b *exchange) bool {
	if bytes.Equal(a.body(), b.body()) {
		return true
	}
	x, y := a.document(), b.document()
	return x != nil && y != nil && x.s.masked(x.root, x.ref, x.seen) == y.s.masked(y.root, y.ref, y.seen)
}

// document returns the document in the body of a response, or nil.
func (e *exchange) document() *document {
	for _, d := range e.s.documents() {
		if d.where == e.where+" body" {
			return d
		}
	}
	return nil
}
