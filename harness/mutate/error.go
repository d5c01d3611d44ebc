package mutate

import (
	"bytes"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// errorOperators confuse errors.
var errorOperators = []Operator{
	errorBodies("other", "It answers with another error of the same scenario", func(s *Subject, a *answer) []byte {
		var out []byte
		s.answers(func(b *answer) bool {
			if b.x.Response.Status >= 400 && !bytes.Equal(b.x.Response.Body.Bytes, a.x.Response.Body.Bytes) {
				out = b.x.Response.Body.Bytes
			}
			return out == nil
		})
		return out
	}),
	errorBodies("general", "It answers with an error that says nothing", func(*Subject, *answer) []byte {
		return []byte(`{"error":"Internal Server Error"}`)
	}),
	errorBodies("none", "It answers with an error that is empty", func(*Subject, *answer) []byte { return []byte("{}") }),
	errorBodies("page", "It answers with the error page of its framework", func(*Subject, *answer) []byte {
		return []byte("<html><body>Internal Server Error</body></html>")
	}),
	operator("error", "text", "It says more of an error than it should", func(s *Subject, _ uint64, yield emit) {
		s.spots(func(v *spot) bool {
			if !v.doc.fails || v.node.Kind != jsontree.String || v.class != fixed {
				return true
			}
			return yield(v.set(text(v.node.Text + ": EOF")))
		})
	}),
	operator("error", "hidden", "It calls an error a success", func(s *Subject, _ uint64, yield emit) {
		s.answers(func(a *answer) bool {
			if a.x.Response.Status < 400 {
				return true
			}
			return yield(Mutant{
				Place: a.where + " status and body", Before: shown(string(a.x.Response.Body.Bytes)), After: `200 {"success":true}`, site: a.site(),
				Build: func() *transcript.Transcript {
					return s.withExchange(a.step, a.index, func(x *transcript.Exchange) {
						x.Response.Status = 200
						send(x.Response, []byte(`{"success":true}`))
					})
				},
			})
		})
	}),
}

// errorBodies makes an operator of a function that returns the body of another error.
func errorBodies(name, doc string, change func(s *Subject, a *answer) []byte) Operator {
	return operator("error", name, doc, func(s *Subject, _ uint64, yield emit) {
		s.answers(func(a *answer) bool {
			if a.x.Response.Status < 400 || a.x.Response.Body.IsZero() || a.st.Burst {
				return true
			}
			after := change(s, a)
			if after == nil || bytes.Equal(after, a.x.Response.Body.Bytes) {
				return true
			}
			return yield(s.bodyMutant(a, after))
		})
	})
}
