package mutate

import (
	"regexp"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// echoOperators answer with another id than the one that the client has sent in a header field, or sign tokens badly.
var echoOperators = []Operator{
	operator("identity", "echo-header", "It makes up an id in a header field, in place of the client's", func(s *Subject, seed uint64, yield emit) {
		s.answers(func(a *answer) bool {
			for i, f := range a.x.Response.Header {
				if !isOfMessage(s, f) || !s.namedIn(a.st.ID, f.Name) {
					continue
				}
				after := s.notEchoed(a.x, f.Value, seed)
				if after != f.Value && !yield(s.headerMutant(a, f.Name, f.Value, after, func(h transcript.Header) transcript.Header {
					return replaced(h, i, transcript.Field{Name: f.Name, Value: after})
				})) {
					return false
				}
			}
			return true
		})
	}),
	operator("identity", "echo-body", "It makes up an id in a body, in place of the one in the client's header fields", func(s *Subject, seed uint64, yield emit) {
		s.answers(func(a *answer) bool {
			for _, d := range s.documents() {
				if d.answer != a.x {
					continue
				}
				for _, v := range d.spots {
					if v.node.Kind != jsontree.String {
						continue
					}
					after := s.notEchoed(a.x, v.node.Text, seed)
					if after != v.node.Text && !yield(v.set(text(after))) {
						return false
					}
				}
			}
			return true
		})
	}),
	values("identity", "signature", "It signs tokens with zeros", func(v *spot, _ uint64) (string, bool) {
		at := strings.LastIndexByte(v.node.Text, '.') + 1
		if v.class != made || !isJWT(v.node) || !isJWT(v.ref) || strings.Trim(v.node.Text[at:], "A") == "" {
			return "", false
		}
		return text(v.node.Text[:at] + strings.Repeat("A", len(v.node.Text)-at)), true
	}),
}

// sentID is what an id of a client's looks like in a header field: also that of a traceparent, and in a cookie.
var sentID = regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9A-Za-z]+(?:_[0-9A-Za-z]+)*`)

// notEchoed returns a text with other ids in the place of those that the client has sent in header fields of the request.
func (s *Subject) notEchoed(x *transcript.Exchange, text string, seed uint64) string {
	const shortest = 8
	for _, f := range x.Request.Header {
		for _, id := range sentID.FindAllString(f.Value, -1) {
			if len(id) >= shortest && strings.ContainsAny(id, "0123456789") && nextWord(text, id, 0) >= 0 {
				return words(id, fresh(id, seed))(text)
			}
		}
	}
	return text
}

// isJWT reports whether a value is a JWT (RFC 7519 §3).
func isJWT(n *jsontree.Node) bool {
	if n == nil || n.Kind != jsontree.String {
		return false
	}
	parts := strings.Split(n.Text, ".")
	if len(parts) != 3 {
		return false
	}
	for _, part := range parts[:2] {
		if inner, _ := heldIn(&jsontree.Node{Kind: jsontree.String, Text: part}); inner == nil {
			return false
		}
	}
	return true
}
