package mutate

import (
	"regexp"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// echoOperators respond with another id than the one that the client sent in a header field, or sign tokens wrongly.
var echoOperators = []Operator{
	operator("identity", "echo-header", "It generates an id in a header field instead of the client's", func(s *Subject, seed uint64, yield emit) {
		for r := range s.responses() {
			for i, f := range r.x.Response.Header {
				if !aboutMessage(s.Rules, f) || !isCompared(s.Rules, r.st.ID, f.Name) {
					continue
				}
				if after := replaceSentID(r.x, f.Value, seed); after != f.Value {
					yield(r.withHeader(f.Name, f.Value, after, func(h transcript.Header) transcript.Header {
						return replaceField(h, i, transcript.Field{Name: f.Name, Value: after})
					}))
				}
			}
		}
	}),
	operator("identity", "echo-body", "It generates an id in a body instead of the one in the client's header fields", func(s *Subject, seed uint64, yield emit) {
		for v := range s.values() {
			if v.doc.exchange == nil || v.node.Kind != jsontree.String {
				continue
			}
			if after := replaceSentID(v.doc.exchange, v.node.Text, seed); after != v.node.Text {
				yield(v.set(quoted(after)))
			}
		}
	}),
	replaceValues("identity", "signature", "It signs tokens with zeros", func(v *value, _ uint64) (string, bool) {
		at := strings.LastIndexByte(v.node.Text, '.') + 1
		if v.origin != generated || !isJWT(v.node) || !isJWT(v.ref) || strings.Trim(v.node.Text[at:], "A") == "" {
			return "", false
		}
		return quoted(v.node.Text[:at] + strings.Repeat("A", len(v.node.Text)-at)), true
	}),
}

// sentID matches ids in a client's header fields, including those in a traceparent and in a cookie.
var sentID = regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9A-Za-z]+(?:_[0-9A-Za-z]+)*`)

// replaceSentID returns a text with another id instead of the first one that the client sent in a header field of the
// request.
func replaceSentID(x *transcript.Exchange, text string, seed uint64) string {
	const shortest = 8
	for _, f := range x.Request.Header {
		for _, id := range sentID.FindAllString(f.Value, -1) {
			if len(id) >= shortest && strings.ContainsAny(id, "0123456789") && nextWord(text, id, 0) >= 0 {
				return replaceWord(id, similarID(id, seed))(text)
			}
		}
	}
	return text
}

func isJWT(n *jsontree.Node) bool {
	if n == nil || n.Kind != jsontree.String {
		return false
	}
	parts := strings.Split(n.Text, ".")
	if len(parts) != 3 {
		return false
	}
	for _, part := range parts[:2] {
		if inner, _ := embeddedObject(&jsontree.Node{Kind: jsontree.String, Text: part}); inner == nil {
			return false
		}
	}
	return true
}

// embeddedOperators confuse ids that are part of a text: in JSON or Base64, or in the name of a temporary folder.
var embeddedOperators = []Operator{
	operator("identity", "encoded", "It sends an id that does not exist in a text that contains JSON", func(s *Subject, seed uint64, yield emit) {
		for v := range s.values() {
			inner, encode := embeddedObject(v.node)
			if inner == nil || v.ref == nil {
				continue
			}
			for i, name := range inner.Names {
				id := inner.Items[i]
				if !isIDName(name) || id.Kind != jsontree.String || len(id.Text) < 6 || !standsElsewhere(s, id.Text, v) {
					continue
				}
				after := encode(strings.Replace(inner.String(), quoted(id.Text), quoted(similarID(id.Text, seed)), 1))
				if after != v.node.Text {
					yield(v.set(quoted(after)))
				}
			}
		}
	}),
	operator("identity", "temporary", "It names a temporary folder that does not exist in one place", func(s *Subject, seed uint64, yield emit) {
		for v := range s.values() {
			if name := temporaryFolder(v.node); name != "" && v.origin != fixed && countValues(s, name) > 1 {
				yield(v.set(quoted(strings.Replace(v.node.Text, name, similarID(name, seed), 1))))
			}
		}
	}),
}

// standsElsewhere reports whether a text occurs in another value.
func standsElsewhere(s *Subject, text string, here *value) bool {
	for v := range s.values() {
		if v != here && v.node.Kind == jsontree.String && strings.Contains(v.node.Text, text) {
			return true
		}
	}
	return false
}

// temporaryFolder returns the name of the folder in /tmp at the beginning of a text, or "".
func temporaryFolder(n *jsontree.Node) string {
	rest, ok := strings.CutPrefix(n.Text, "/tmp/")
	if !ok || n.Kind != jsontree.String {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	if !isPlainID(name) {
		return ""
	}
	return name
}
