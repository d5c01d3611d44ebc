package mutate

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// sameOperators make changes that no client can notice. If such a mutant is found, that is a false alarm.
var sameOperators = []Operator{
	rewriteDocument("key-order", "It sends members in another order", reverseMembers),
	each("same", "list-order", "It sends a list whose order does not matter in another order", (*Subject).values, func(v *value, yield emit) {
		if n := len(v.node.Items); n > 1 && v.isLoose() && distinctTexts(v.maskedElements()) { // nothing tells others apart
			yield(v.permuted("reversed", descending(n)))
		}
	}),
	rewriteDocument("white-space", "It sends JSON with other white space", spaced),
	rewriteDocument("escapes", "It escapes characters without need", func(n *jsontree.Node) string {
		return strings.ReplaceAll(n.String(), "/", `\/`)
	}),
	rewriteDocument("last-line", "It ends its JSON with an end of line", func(n *jsontree.Node) string { return n.String() + "\n" }),
	replaceValues("same", "number-spelling", "It writes a number in another way", func(v *value, _ uint64) string {
		// Integers are skipped, because many clients do not accept 1.0 as an integer.
		if !v.is(jsontree.Number, fixed) || !strings.Contains(v.node.Text, ".") || strings.ContainsAny(v.node.Text, "eE") {
			return ""
		}
		return v.node.Text + "0"
	}),
	rewriteFields("header-order", "It sends header fields in another order", func(_ *compare.Rules, h transcript.Header) transcript.Header {
		slices.SortStableFunc(h, func(a, b transcript.Field) int {
			return strings.Compare(strings.ToLower(b.Name), strings.ToLower(a.Name))
		})
		return h
	}),
	rewriteFields("header-case", "It writes the names of header fields in lower case", func(_ *compare.Rules, h transcript.Header) transcript.Header {
		for i := range h {
			h[i].Name = strings.ToLower(h[i].Name)
		}
		return h
	}),
	rewriteFields("connection", "It sends other header fields of the connection", func(rules *compare.Rules, h transcript.Header) transcript.Header {
		h = slices.DeleteFunc(h, func(f transcript.Field) bool { return isIncidental(rules, f) })
		for _, f := range []transcript.Field{{Name: "Connection", Value: "keep-alive"}, {Name: "Keep-Alive", Value: "timeout=5"}, {Name: "Date", Value: "Thu, 01 Jan 1970 00:00:00 GMT"}} {
			if isIncidental(rules, f) {
				h = append(h, f)
			}
		}
		return h
	}),
	operator("same", "unique", "Another client runs the scenario", func(s *Subject, seed uint64, yield emit) {
		if unique := s.Candidate.Unique; unique != "" {
			other := similarID(unique, seed)
			yield(s.mutant(site{}, "everywhere", unique, other, func(t *transcript.Transcript) { rewriteAll(t, replaceEncoded(unique, other)) }))
		}
	}),
	renameEverywhere("fresh-ids", "It generates another id, and always uses it", freshID),
	renameEverywhere("fresh-folders", "It generates another temporary folder, and always uses it", func(v *value, seed uint64) (name, other string) {
		if name = temporaryFolder(v.node); v.origin != generated || len(name) < 8 {
			return "", ""
		}
		return name, similarID(name, seed)
	}),
	operator("same", "clock", "The scenario runs some minutes later", func(s *Subject, _ uint64, yield emit) {
		const by = 7 * time.Minute
		was := s.Candidate.Started.UTC().Format(time.RFC3339)
		yield(s.mutant(site{}, "everywhere", was, "7 minutes later", func(t *transcript.Transcript) { delay(t, s, by) }))
	}),
	each("same", "arrival", "Its events arrive together", (*Subject).streams, func(st *stream, yield emit) {
		own, h := st.st, st.rule.Heartbeat
		hasWindow := slices.ContainsFunc(st.s.Candidate.Windows, func(w transcript.Window) bool { return w.Stream == own.Name })
		if len(own.Events) < 2 || h != nil && h.Every > 0 || hasWindow || st.rule.Gap != nil {
			return
		}
		yield(st.mutant("one after the other", "at once", func(out *transcript.Stream) {
			for k := range out.Events {
				out.Events[k].At = out.Events[len(out.Events)-1].At
			}
		}))
	}),
	each("same", "beats", "It sends more heartbeats, where no rule limits them", freeBeats, func(e *event, yield emit) {
		yield(e.twice())
	}),
	each("same", "beat-text", "It sends heartbeats with another comment, where any is allowed", (*Subject).events, func(e *event, yield emit) {
		if e.isBeat && e.ev.Comment && !e.stream.rule.Heartbeat.Same {
			yield(e.mutant("", e.ev.Data, e.ev.Data+" still", func(ev *transcript.Event) { ev.Data += " still" }))
		}
	}),
	each("same", "no-beats", "It sends fewer heartbeats, where no rule demands them", freeBeats, func(e *event, yield emit) {
		yield(e.without())
	}),
	swapEvents("same", "interleaving", "It swaps events that a rule allows in any order", false),
	changeFraming("same", "framing", "It writes events in another way, where that does not matter", false, func(f string) string {
		return strings.ReplaceAll(f, ": •", ":•")
	}),
	changeFraming("same", "line-ends", "It ends lines with CR LF, where that does not matter", false, func(f string) string {
		return strings.ReplaceAll(f, "\n", "\r\n")
	}),
	changeFraming("same", "frames", "It sends a message in two frames, where that does not matter", false, inTwoFrames),
	eachStep("same", "order-in-burst", "It answers concurrent requests in another order", func(s *Subject, i int, yield emit) {
		if st := &s.Candidate.Steps[i]; st.Burst && len(st.Exchanges) > 1 {
			yield(s.mutant(site{step: st.ID}, "step "+st.ID, "the first one first", "the last one first", func(t *transcript.Transcript) {
				slices.Reverse(t.Steps[i].Exchanges)
			}))
		}
	}),
	eachPiece("same", "split-piece", "It cuts a text into more pieces, where that does not matter", func(e *event, p *streamdiff.Piece, yield emit) {
		runes := []rune(p.Text)
		if len(runes) < 2 || !utf8.ValidString(p.Text) { // half of a character cannot be split again
			return
		}
		half := len(runes) / 2
		yield(e.withEvents("in two pieces", 1, func(all []transcript.Event) []transcript.Event {
			return replaceEvents(all, e.index, 1, p.With(string(runes[:half])), p.With(string(runes[half:])))
		}))
	}),
	eachPiece("same", "joined-pieces", "It cuts a text into fewer pieces, where that does not matter", func(e *event, p *streamdiff.Piece, yield emit) {
		if next := e.nextPiece(p); next != nil {
			yield(e.withEvents("one piece with the next", -1, func(all []transcript.Event) []transcript.Event {
				return replaceEvents(all, e.index, 2, p.With(jsontree.Join(p.Text, next.Text)))
			}))
		}
	}),
}

// freeBeats ranges over the heartbeats for which no rule sets the interval.
var freeBeats = filter((*Subject).events, func(e *event) bool { return e.isBeat && e.stream.rule.Heartbeat.Every == 0 })

// rewriteDocument makes an operator that writes a document in another way.
func rewriteDocument(name, doc string, change func(*jsontree.Node) string) Operator {
	return operator("same", name, doc, func(s *Subject, _ uint64, yield emit) {
		for _, d := range s.documents() {
			if d.packed || len(d.data) > 1<<16 || d.site.stream == nil && demandsBytes(stepOf(s.Candidate, d.site.step).Expect) {
				continue
			}
			if st := d.site.stream; st != nil && st.Wire == transcript.WireSocket && s.ruleFor(st).Exact {
				continue // the sizes of its frames matter
			}
			if after := change(d.parsed()); after != string(d.data) {
				was, is := excerpts(string(d.data), after)
				yield(d.mutant(d.site, d.where, was, is, func() []byte { return []byte(after) }))
			}
		}
	})
}

// demandsBytes reports whether a scenario demands the exact text of a body.
func demandsBytes(e *transcript.Expect) bool {
	return e != nil && (e.Body != nil || slices.ContainsFunc(e.OneOf, func(one transcript.Expect) bool { return demandsBytes(&one) }))
}

// distinctTexts reports whether no two texts are equal.
func distinctTexts(texts []string) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(texts)))) == len(texts)
}

// reverseMembers writes a value with the members of its objects in reverse order. It skips an object with a repeated
// name, because there the last member counts.
func reverseMembers(root *jsontree.Node) string {
	walk(root, func(n *jsontree.Node) {
		twice := false
		for i, name := range n.Names {
			twice = twice || n.Member(name) != n.Items[i]
		}
		if n.Kind == jsontree.Object && !twice {
			slices.Reverse(n.Names)
			slices.Reverse(n.Items)
		}
	})
	return root.String()
}

// spaced writes a value with spaces around every comma and colon.
func spaced(n *jsontree.Node) string {
	parts := make([]string, len(n.Items))
	for i, item := range n.Items {
		parts[i] = spaced(item)
		if n.Kind == jsontree.Object {
			parts[i] = quoted(n.Names[i]) + " : " + parts[i]
		}
	}
	switch n.Kind {
	case jsontree.Object:
		return "{ " + strings.Join(parts, " , ") + " }"
	case jsontree.Array:
		return "[ " + strings.Join(parts, " , ") + " ]"
	default:
		return n.String()
	}
}

// rewriteFields makes an operator that sends other header fields with the same meaning. The function may change the
// header that it gets.
func rewriteFields(name, doc string, change func(*compare.Rules, transcript.Header) transcript.Header) Operator {
	return each("same", name, doc, answers, func(e *exchange, yield emit) {
		was := e.x.Response.Header
		after := change(e.s.Rules, slices.Clone(was))
		if slices.Equal(after, was) || demandsField(e.st.Expect, was, after) {
			return
		}
		yield(e.mutant("header", fieldNames(was), fieldNames(after), func(x *transcript.Exchange) { x.Response.Header = after }))
	})
}

// demandsField reports whether a scenario demands something of a field that is not equal in two headers.
func demandsField(e *transcript.Expect, before, after transcript.Header) bool {
	if e == nil {
		return false
	}
	for name := range e.Header {
		if strings.Join(before.Values(name), ", ") != strings.Join(after.Values(name), ", ") {
			return true
		}
	}
	return slices.ContainsFunc(e.OneOf, func(one transcript.Expect) bool { return demandsField(&one, before, after) })
}

func fieldNames(h transcript.Header) string {
	var out []string
	for _, f := range h {
		out = append(out, f.Name)
	}
	return excerpt(strings.Join(out, ", "))
}

// renameEverywhere makes an operator that replaces a text of a value in every place where it occurs. The function
// returns the text and its replacement. If they are equal, nothing is changed.
func renameEverywhere(name, doc string, change func(v *value, seed uint64) (text, other string)) Operator {
	return operator("same", name, doc, func(s *Subject, seed uint64, yield emit) {
		done := map[string]bool{}
		for v := range s.values() {
			text, other := change(v, seed)
			if text == other || done[text] {
				continue
			}
			done[text] = true
			replace := replaceEncoded(text, other)
			if len(s.Rules.ProjectIDs(text)) > 0 {
				replace = replaceWord(text, other)
			}
			yield(s.mutant(v.doc.site, "everywhere", excerpt(text), excerpt(other), func(t *transcript.Transcript) { rewriteAll(t, replace) }))
		}
	})
}

// freshID returns the generated id in a value, and another id of the same form that no value has. It returns "" when
// there is no generated id. It also does so when both sides have the same id, because a scenario may rely on it.
func freshID(v *value, seed uint64) (id, other string) {
	s := v.doc.s
	id = v.node.Text
	if !v.is(jsontree.String, generated) || s.equal(v.node, v.ref) {
		return "", ""
	}
	if own := s.Rules.ProjectIDs(id); len(own) > 0 {
		last := own[len(own)-1]
		id = id[last.Start:last.End]
	} else if inner, _ := embeddedObject(v.node); len(id) < 8 || !isPlainID(id) || inner != nil || strings.HasPrefix(id, "00-") {
		return "", "" // parts of the text may be generated, but not the whole text or the flags of a traceparent
	}
	const tries = 8
	for n := range uint64(tries) {
		if other = s.similar(id, v.doc.seen, seed+n); other != id && countValues(s, other) == 0 {
			return id, other
		}
	}
	return "", ""
}

// delay lets a transcript begin later, with all times in it moved.
func delay(t *transcript.Transcript, s *Subject, by time.Duration) {
	moved := map[string]string{} // the times that the candidate reported
	for v := range s.values() {
		if at, how, ok := v.time(); ok && v.origin == runTime {
			moved[v.node.Text] = how.write(at.Add(by))
		}
	}
	for _, d := range s.documents() {
		if slices.ContainsFunc(d.values, func(v *value) bool { return v.origin == runTime }) {
			d.put(t, d.delayed(by))
		}
	}
	t.Started = t.Started.Add(by)
	replace := func(text string) string {
		for _, was := range slices.Sorted(maps.Keys(moved)) {
			text = replaceWord(was, moved[was])(text)
		}
		return text
	}
	for i := range t.Steps {
		if t.Steps[i].Expect == nil {
			continue
		}
		if expect := (transcript.Expect{}); rewriteJSON(t.Steps[i].Expect, &expect, replace) {
			t.Steps[i].Expect = &expect
		}
	}
}

// delayed returns the data of a document with every time of the run moved.
func (d *document) delayed(by time.Duration) []byte {
	root := d.parsed()
	walk(root, func(n *jsontree.Node) {
		if n.Kind == jsontree.String || n.Kind == jsontree.Number {
			if t, how, ok := parseTime(n.Text, d.seen); ok {
				n.Text = how.write(t.Add(by))
			}
		}
	})
	return []byte(root.String())
}
