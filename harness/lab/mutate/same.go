package mutate

import (
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// sameOperators make changes that no client can notice. If such a mutant is found, that is a false alarm.
var sameOperators = []Operator{
	rewriteDocument("key-order", "It sends members in another order", func(n *jsontree.Node) string { return reverseMembers(n).String() }),
	rewriteDocument("white-space", "It sends JSON with other white space", spaced),
	rewriteDocument("escapes", "It escapes characters without need", func(n *jsontree.Node) string {
		return strings.ReplaceAll(n.String(), "/", `\/`)
	}),
	rewriteDocument("last-line", "It ends its JSON with an end of line", func(n *jsontree.Node) string { return n.String() + "\n" }),
	replaceValues("same", "number-spelling", "It writes a number in another way", func(v *value, _ uint64) (string, bool) {
		// Integers are skipped, because many clients do not accept 1.0 as an integer.
		return v.node.Text + "0", v.is(jsontree.Number, fixed) && strings.Contains(v.node.Text, ".") && !strings.ContainsAny(v.node.Text, "eE")
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
			yield(Mutant{
				Place: "everywhere", Before: unique, After: other,
				Build: func() *transcript.Transcript { return rewriteAll(s.Candidate, replaceEncoded(unique, other)) },
			})
		}
	}),
	renameEverywhere("fresh-ids", "It generates another id, and always uses it", otherID),
	renameEverywhere("fresh-folders", "It generates another temporary folder, and always uses it", func(_ *Subject, v *value, seed uint64) (name, other string) {
		if name = temporaryFolder(v.node); v.origin != generated || len(name) < 8 {
			return "", ""
		}
		return name, similarID(name, seed)
	}),
	operator("same", "clock", "The scenario runs some minutes later", func(s *Subject, _ uint64, yield emit) {
		const by = 7 * time.Minute
		yield(Mutant{
			Place: "everywhere", Before: s.Candidate.Started.UTC().Format(time.RFC3339), After: "7 minutes later",
			Build: func() *transcript.Transcript { return later(s, by) },
		})
	}),
}

// rewriteDocument makes an operator that writes a document in another way.
func rewriteDocument(name, doc string, change func(*jsontree.Node) string) Operator {
	return operator("same", name, doc, func(s *Subject, _ uint64, yield emit) {
		for _, d := range s.documents() {
			if d.packed || len(d.data) > 1<<16 || d.site.stream == nil && demandsBytes(stepOf(s.Candidate, d.site.step).Expect) {
				continue
			}
			after := change(mustParse(string(d.data)))
			if after == string(d.data) {
				continue
			}
			was, is := excerpts(string(d.data), after)
			yield(Mutant{
				Place: d.where, Before: was, After: is, site: d.site,
				Build: func() *transcript.Transcript { return d.put([]byte(after)) },
			})
		}
	})
}

// demandsBytes reports whether a scenario demands the exact text of a body.
func demandsBytes(e *transcript.Expect) bool {
	return e != nil && (e.Body != nil || slices.ContainsFunc(e.OneOf, func(one transcript.Expect) bool { return demandsBytes(&one) }))
}

// reverseMembers reverses the order of members. It skips an object with a repeated name, because there the last member
// counts.
func reverseMembers(n *jsontree.Node) *jsontree.Node {
	twice := false
	for i, name := range n.Names {
		twice = twice || n.Member(name) != n.Items[i]
	}
	if n.Kind == jsontree.Object && !twice {
		slices.Reverse(n.Names)
		slices.Reverse(n.Items)
	}
	for _, item := range n.Items {
		reverseMembers(item)
	}
	return n
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
	return eachResponse("same", name, doc, func(s *Subject, r *response, yield emit) {
		was := r.x.Response.Header
		after := change(s.Rules, slices.Clone(was))
		if slices.Equal(after, was) || demandsField(r.st.Expect, was, after) {
			return
		}
		yield(r.mutant("header", fieldNames(was), fieldNames(after), func(x *transcript.Exchange) { x.Response.Header = after }))
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
func renameEverywhere(name, doc string, change func(s *Subject, v *value, seed uint64) (text, other string)) Operator {
	return operator("same", name, doc, func(s *Subject, seed uint64, yield emit) {
		done := map[string]bool{}
		for v := range s.values() {
			text, other := change(s, v, seed)
			if text == other || done[text] {
				continue
			}
			done[text] = true
			replace := replaceEncoded(text, other)
			if len(s.Rules.ProjectIDs(text)) > 0 {
				replace = replaceWord(text, other)
			}
			yield(Mutant{
				Place: "everywhere", Before: excerpt(text), After: excerpt(other), site: v.doc.site,
				Build: func() *transcript.Transcript { return rewriteAll(s.Candidate, replace) },
			})
		}
	})
}

// otherID returns the generated id in a value, and another id of the same form that no value has. It returns "" when
// there is no generated id. It also does so when both sides have the same id, because a scenario may rely on it.
func otherID(s *Subject, v *value, seed uint64) (id, other string) {
	id = v.node.Text
	if !v.is(jsontree.String, generated) || v.doc.origins.equal(v.node, v.ref) {
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
		if other = v.doc.origins.similar(id, v.doc.seen, seed+n); other != id && countValues(s, other) == 0 {
			return id, other
		}
	}
	return "", ""
}
