package mutate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// sameOperators change what no client can tell. A mutant of theirs that is found is a false alarm.
var sameOperators = []Operator{
	harmless(rewritten("key-order", "It sends members in another order", func(n *jsontree.Node) string { return reversed(n).String() })),
	harmless(rewritten("white-space", "It sends JSON with other white space", func(n *jsontree.Node) string { return spaced(n) })),
	harmless(rewritten("escapes", "It escapes characters that need not be", func(n *jsontree.Node) string {
		return strings.ReplaceAll(n.String(), "/", `\/`)
	})),
	harmless(rewritten("last-line", "It ends its JSON with an end of line", func(n *jsontree.Node) string { return n.String() + "\n" })),
	harmless(values("same", "number-spelling", "It writes a number in another way", func(v *spot, _ uint64) (string, bool) {
		// Of an integer there is no other spelling: many clients do not read 1.0 as one.
		return v.node.Text + "0", v.node.Kind == jsontree.Number && v.class == fixed && strings.Contains(v.node.Text, ".") && !strings.ContainsAny(v.node.Text, "eE")
	})),
	harmless(headers("header-order", "It sends header fields in another order", func(s *Subject, h transcript.Header) transcript.Header {
		out := slices.Clone(h)
		slices.SortStableFunc(out, func(a, b transcript.Field) int {
			return strings.Compare(strings.ToLower(b.Name), strings.ToLower(a.Name))
		})
		return out
	})),
	harmless(headers("header-case", "It writes the names of header fields in lower case", func(s *Subject, h transcript.Header) transcript.Header {
		out := slices.Clone(h)
		for i := range out {
			out[i].Name = strings.ToLower(out[i].Name)
		}
		return out
	})),
	harmless(headers("connection", "It says other things of the connection", func(s *Subject, h transcript.Header) transcript.Header {
		out := slices.DeleteFunc(slices.Clone(h), func(f transcript.Field) bool { return s.incidental(f) })
		for _, f := range []transcript.Field{{Name: "Connection", Value: "keep-alive"}, {Name: "Keep-Alive", Value: "timeout=5"}, {Name: "Date", Value: "Thu, 01 Jan 1970 00:00:00 GMT"}} {
			if s.incidental(f) {
				out = append(out, f)
			}
		}
		return out
	})),
	harmless(operator("same", "unique", "Another client walks through the scenario", func(s *Subject, seed uint64, yield emit) {
		unique := s.Candidate.Unique
		if unique == "" {
			return
		}
		other := fresh(unique, seed)
		yield(Mutant{
			Place: "everywhere", Before: unique, After: other,
			Build: func() *transcript.Transcript { return s.everywhere(renaming(unique, other)) },
		})
	})),
	harmless(operator("same", "fresh-ids", "It makes another id, and keeps to it", func(s *Subject, seed uint64, yield emit) {
		told := map[string]bool{}
		s.spots(func(v *spot) bool {
			id, other := s.freshID(v, seed)
			if other == "" || told[id] {
				return true
			}
			told[id] = true
			replace := renaming(id, other)
			if len(s.Rules.OwnIDs(id)) > 0 {
				replace = words(id, other)
			}
			return yield(Mutant{
				Place: "everywhere", Before: shown(id), After: shown(other), site: v.doc.site,
				Build: func() *transcript.Transcript { return s.everywhere(replace) },
			})
		})
	})),
	harmless(operator("same", "fresh-folders", "It makes another temporary folder, and keeps to it", func(s *Subject, seed uint64, yield emit) {
		told := map[string]bool{}
		s.spots(func(v *spot) bool {
			name := temporaryIn(v.node)
			if v.class != made || len(name) < 8 || told[name] {
				return true
			}
			told[name] = true
			other := fresh(name, seed)
			return other == name || yield(Mutant{
				Place: "everywhere", Before: shown(name), After: shown(other), site: v.doc.site,
				Build: func() *transcript.Transcript { return s.everywhere(renaming(name, other)) },
			})
		})
	})),
	harmless(operator("same", "clock", "Its scenario runs some minutes later", func(s *Subject, _ uint64, yield emit) {
		const later = 7 * time.Minute
		yield(Mutant{
			Place: "everywhere", Before: s.Candidate.Started.UTC().Format(time.RFC3339), After: "7 minutes later",
			Build: func() *transcript.Transcript { return s.later(later) },
		})
	})),
	harmless(operator("same", "arrival", "Its events come together", func(s *Subject, _ uint64, yield emit) {
		for i, st := range s.Candidate.Streams {
			if h := s.rule(st).Heartbeat; len(st.Events) < 2 || h != nil && h.Every > 0 || s.watched(st) || s.rule(st).Gap != nil {
				continue
			}
			if !yield(Mutant{
				Place: "stream " + st.Name, Before: "one after the other", After: "at once", site: site{step: st.Step, stream: st},
				Build: func() *transcript.Transcript {
					return s.withStream(i, func(c *transcript.Stream) {
						for k := range c.Events {
							c.Events[k].At = c.Events[len(c.Events)-1].At
						}
					})
				},
			}) {
				return
			}
		}
	})),
	harmless(operator("same", "beats", "It keeps a stream alive more often, where it may do that whenever it likes", func(s *Subject, _ uint64, yield emit) {
		s.events(func(o *occurrence) bool {
			if h := s.rule(o.st).Heartbeat; !o.beat || h.Every > 0 {
				return true
			}
			return yield(s.sequenceMutant(o, "twice", 1, func(all []transcript.Event) []transcript.Event {
				return slices.Insert(all, o.index, all[o.index])
			}))
		})
	})),
	harmless(operator("same", "beat-text", "It keeps a stream alive with another comment, where any will do", func(s *Subject, _ uint64, yield emit) {
		s.events(func(o *occurrence) bool {
			return !o.beat || !o.ev.Comment || s.rule(o.st).Heartbeat.Same || yield(s.eventMutant(o, "", o.ev.Data, o.ev.Data+" still", func(ev *transcript.Event) { ev.Data += " still" }))
		})
	})),
	harmless(operator("same", "no-beats", "It keeps a stream alive less often, where it may do that whenever it likes", func(s *Subject, _ uint64, yield emit) {
		s.events(func(o *occurrence) bool {
			if h := s.rule(o.st).Heartbeat; !o.beat || h.Every > 0 {
				return true
			}
			return yield(s.sequenceMutant(o, "", -1, func(all []transcript.Event) []transcript.Event {
				return slices.Delete(all, o.index, o.index+1)
			}))
		})
	})),
	harmless(reordered("same", "interleaving", "It sends events the other way round that a rule lets come in any order", false)),
	harmless(framing("same", "framing", "It writes events in another way, where that does not matter", false, func(f string) string {
		return strings.ReplaceAll(f, ": •", ":•")
	})),
	harmless(operator("same", "order-in-burst", "It answers requests that were made at once in another order", func(s *Subject, _ uint64, yield emit) {
		for i := range s.Candidate.Steps {
			st := &s.Candidate.Steps[i]
			if !st.Burst || len(st.Exchanges) < 2 {
				continue
			}
			if !yield(Mutant{
				Place: "step " + st.ID, Before: "the first one first", After: "the last one first", site: site{step: st.ID},
				Build: func() *transcript.Transcript {
					return s.withStep(i, func(st *transcript.Step) {
						st.Exchanges = slices.Clone(st.Exchanges)
						slices.Reverse(st.Exchanges)
					})
				},
			}) {
				return
			}
		}
	})),
}

// isWord reports whether a text is an id and nothing around it, so that it is the same wherever it stands.
func isWord(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}

// rewritten makes an operator that writes a document in another way.
func rewritten(name, doc string, change func(*jsontree.Node) string) Operator {
	return operator("same", name, doc, func(s *Subject, _ uint64, yield emit) {
		for _, d := range s.documents() {
			if d.archive || len(d.data) > 1<<16 || d.site.stream == nil && demandsBytes(s.stepOf(d.site.step).Expect) {
				continue
			}
			after := change(parsed(string(d.data)))
			if after == string(d.data) {
				continue
			}
			was, is := contrast(string(d.data), after)
			if !yield(Mutant{
				Place: d.where, Before: was, After: is, site: d.site,
				Build: func() *transcript.Transcript { return d.put([]byte(after)) },
			}) {
				return
			}
		}
	})
}

// demandsBytes reports whether a scenario demands the exact text of a body.
func demandsBytes(e *transcript.Expect) bool {
	return e != nil && (e.Body != nil || slices.ContainsFunc(e.OneOf, func(one transcript.Expect) bool { return demandsBytes(&one) }))
}

// reversed turns the order of members round, of a name that stands twice too: the last one counts, so such an object is
// left alone.
func reversed(n *jsontree.Node) *jsontree.Node {
	twice := false
	for i, name := range n.Names {
		twice = twice || n.Member(name) != n.Items[i]
	}
	if n.Kind == jsontree.Object && !twice {
		slices.Reverse(n.Names)
		slices.Reverse(n.Items)
	}
	for _, item := range n.Items {
		reversed(item)
	}
	return n
}

// spaced writes a value with a blank behind every comma and colon.
func spaced(n *jsontree.Node) string {
	switch n.Kind {
	case jsontree.Object:
		parts := make([]string, len(n.Items))
		for i, item := range n.Items {
			parts[i] = text(n.Names[i]) + " : " + spaced(item)
		}
		return "{ " + strings.Join(parts, " , ") + " }"
	case jsontree.Array:
		parts := make([]string, len(n.Items))
		for i, item := range n.Items {
			parts[i] = spaced(item)
		}
		return "[ " + strings.Join(parts, " , ") + " ]"
	default:
		return n.String()
	}
}

// headers makes an operator that sends other header fields that say the same.
func headers(name, doc string, change func(*Subject, transcript.Header) transcript.Header) Operator {
	return operator("same", name, doc, func(s *Subject, _ uint64, yield emit) {
		s.answers(func(a *answer) bool {
			after := change(s, a.x.Response.Header)
			if slices.Equal(after, a.x.Response.Header) || demandsField(a.st.Expect, a.x.Response.Header, after) {
				return true
			}
			return yield(Mutant{
				Place: a.where + " header", Before: names(a.x.Response.Header), After: names(after), site: a.site(),
				Build: func() *transcript.Transcript {
					return s.withExchange(a.step, a.index, func(x *transcript.Exchange) { x.Response.Header = after })
				},
			})
		})
	})
}

// demandsField reports whether a scenario demands something of a field that two headers do not share.
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

func names(h transcript.Header) string {
	var out []string
	for _, f := range h {
		out = append(out, f.Name)
	}
	return shown(strings.Join(out, ", "))
}

// watched reports whether a time in which something must not come is about a stream.
func (s *Subject) watched(st *transcript.Stream) bool {
	return slices.ContainsFunc(s.Candidate.Windows, func(w transcript.Window) bool { return w.Stream == st.Name })
}

// everywhere returns a transcript in which texts are others wherever they stand: in what was sent, in what came back, and in
// what the scenario demands.
func (s *Subject) everywhere(replace func(string) string) *transcript.Transcript {
	out := s.sent(replace)
	// Everything but the contents of bodies is in the JSON of a transcript.
	plain, err := json.Marshal(out)
	if err != nil {
		panic(fmt.Sprintf("mutate: %v", err))
	}
	var t transcript.Transcript
	if err := json.Unmarshal([]byte(replace(string(plain))), &t); err != nil {
		panic(fmt.Sprintf("mutate: %v", err))
	}
	for i := range t.Steps {
		for k, x := range t.Steps[i].Exchanges {
			was := out.Steps[i].Exchanges[k]
			x.Request.Body = body([]byte(replace(string(was.Request.Body.Bytes))))
			x.Request.Body.Size, x.Request.Body.Fill = was.Request.Body.Size, was.Request.Body.Fill
			if x.Response != nil {
				x.Response.Body = was.Response.Body
			}
		}
	}
	for i := range t.Upstream {
		for k, x := range t.Upstream[i].Exchanges {
			x.Request.Body = out.Upstream[i].Exchanges[k].Request.Body
		}
	}
	return &t
}

// later returns a transcript that began later, with all times that it tells.
func (s *Subject) later(by time.Duration) *transcript.Transcript {
	t := *s.Candidate
	t.Steps, t.Upstream, t.Streams = slices.Clone(t.Steps), slices.Clone(t.Upstream), slices.Clone(t.Streams)
	for _, d := range s.documents() {
		if !slices.ContainsFunc(d.spots, func(v *spot) bool { return v.class == moment }) {
			continue
		}
		changed := shiftTimes(d, by)
		for i := range changed.Steps {
			if d.site.stream == nil && changed.Steps[i].ID == d.site.step {
				mergeStep(&t.Steps[i], &s.Candidate.Steps[i], &changed.Steps[i])
			}
		}
		for i := range changed.Upstream {
			if d.upstream != "" && changed.Upstream[i].ID == d.site.step {
				mergeStep(&t.Upstream[i], &s.Candidate.Upstream[i], &changed.Upstream[i])
			}
		}
		for i := range changed.Streams {
			mergeStream(t.Streams, i, s.Candidate.Streams[i], changed.Streams[i])
		}
	}
	t.Started = t.Started.Add(by)
	s.expectLater(t.Steps, by)
	return &t
}

// expectLater puts later times in the place of those that the candidate told before, and that the scenario expects again.
func (s *Subject) expectLater(steps []transcript.Step, by time.Duration) {
	moved := map[string]string{}
	s.spots(func(v *spot) bool {
		if t, how, ok := timeOf(v.node.Text, v.doc.seen); ok && v.class == moment {
			moved[v.node.Text] = how.write(t.Add(by))
		}
		return true
	})
	for i := range steps {
		if steps[i].Expect == nil {
			continue
		}
		was, err := json.Marshal(steps[i].Expect)
		if err != nil {
			panic(fmt.Sprintf("mutate: %v", err))
		}
		is := string(was)
		for _, text := range slices.Sorted(maps.Keys(moved)) {
			is = words(text, moved[text])(is)
		}
		if is == string(was) {
			continue
		}
		steps[i].Expect = &transcript.Expect{}
		if err := json.Unmarshal([]byte(is), steps[i].Expect); err != nil {
			panic(fmt.Sprintf("mutate: %v", err))
		}
	}
}

// mergeStep takes over the exchanges of a step that are others than they were.
func mergeStep(into, was, changed *transcript.Step) {
	into.Exchanges = slices.Clone(into.Exchanges)
	for k := range changed.Exchanges {
		if changed.Exchanges[k] != was.Exchanges[k] {
			into.Exchanges[k] = changed.Exchanges[k]
		}
	}
}

// mergeStream takes over the events of a stream that are others than they were.
func mergeStream(into []*transcript.Stream, i int, was, changed *transcript.Stream) {
	if was == changed {
		return
	}
	c := *into[i]
	c.Events = slices.Clone(c.Events)
	for k := range changed.Events {
		if changed.Events[k] != was.Events[k] {
			c.Events[k] = changed.Events[k]
		}
	}
	into[i] = &c
}
