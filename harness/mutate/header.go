package mutate

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// headerOperators change header fields of responses that are about the message: not Content-Type, which is a family of
// its own, nor those about the connection and its framing (RFC 9110 §7.6.1, §8.6), nor the time in Date. These are in
// the family "same", as long as no rule names them.
var headerOperators = []Operator{
	headerChange("header", "missing", "It leaves the field out", isOfMessage, func(transcript.Field) ([]transcript.Field, bool) {
		return nil, true
	}),
	headerChange("header", "value", "It sends the field with another value", isOfMessage, func(f transcript.Field) ([]transcript.Field, bool) {
		return []transcript.Field{{Name: f.Name, Value: f.Value + "x"}}, true
	}),
	headerChange("header", "empty", "It sends the field without a value", isOfMessage, func(f transcript.Field) ([]transcript.Field, bool) {
		return []transcript.Field{{Name: f.Name}}, f.Value != ""
	}),
	headerChange("header", "twice", "It sends the field twice", isOfMessage, func(f transcript.Field) ([]transcript.Field, bool) {
		return []transcript.Field{f, f}, true
	}),
	headerChange("header", "shorter", "It leaves out the last element of a list", isOfMessage, func(f transcript.Field) ([]transcript.Field, bool) {
		i := strings.LastIndexByte(f.Value, ',')
		if i < 0 {
			return nil, false
		}
		return []transcript.Field{{Name: f.Name, Value: f.Value[:i]}}, true
	}),
	headerChange("header", "method-case", "It names methods in lower case", isOfMessage, func(f transcript.Field) ([]transcript.Field, bool) {
		lower := strings.ToLower(f.Value)
		return []transcript.Field{{Name: f.Name, Value: lower}}, lower != f.Value && isListOf(f, "Allow", "Access-Control-Allow-Methods")
	}),
	operator("header", "added", "It sends a field that rules name where there should be none", func(s *Subject, _ uint64, yield emit) {
		s.answers(func(a *answer) bool {
			for _, name := range s.Rules.Headers {
				if _, has := a.x.Response.Header.Get(name); has {
					continue
				}
				added := transcript.Field{Name: name, Value: "1"}
				if !yield(s.headerMutant(a, name, "", added.Value, func(h transcript.Header) transcript.Header {
					return append(slices.Clone(h), added)
				})) {
					return false
				}
			}
			return true
		})
	}),
	trailers("trailer-missing", "It leaves out the fields behind the body", func(transcript.Header) transcript.Header { return nil }),
	trailers("trailer-value", "It sends a field behind the body with another value", func(h transcript.Header) transcript.Header {
		out := slices.Clone(h)
		for i := range min(1, len(out)) {
			out[i].Value += "x"
		}
		return out
	}),
	trailers("trailer-added", "It sends a field behind the body that should not be there", func(h transcript.Header) transcript.Header {
		return append(slices.Clone(h), transcript.Field{Name: "X-Mutated", Value: "1"})
	}),
}

// trailers makes an operator on the fields behind bodies, in answers that can have some (RFC 9110 §6.5.1).
func trailers(name, doc string, change func(transcript.Header) transcript.Header) Operator {
	return operator("header", name, doc, func(s *Subject, _ uint64, yield emit) {
		s.answers(func(a *answer) bool {
			was := a.x.Response.Trailer
			is := change(was)
			if a.x.Stream != "" || a.x.Response.Body.Size == 0 || slices.Equal(was, is) {
				return true
			}
			before, after := contrast(fieldValues(was), fieldValues(is))
			return yield(Mutant{
				Place: a.where + " trailer", Before: before, After: after, site: a.site(),
				Build: func() *transcript.Transcript {
					return s.withExchange(a.step, a.index, func(x *transcript.Exchange) { x.Response.Trailer = is })
				},
			})
		})
	})
}

func isListOf(f transcript.Field, names ...string) bool {
	return f.Value != "" && slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, f.Name) })
}

// ofConnection are the fields that a connection has, and not a message, and the one that only counts the bytes of a body.
var ofConnection = []string{"connection", "content-length", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}

func isOfMessage(s *Subject, f transcript.Field) bool {
	return !isContentType(s, f) && !s.incidental(f)
}

// incidental reports whether a field is about the connection or the clock, and no rule makes it matter.
func (s *Subject) incidental(f transcript.Field) bool {
	if !slices.Contains(ofConnection, strings.ToLower(f.Name)) && !strings.EqualFold(f.Name, "Date") {
		return false
	}
	return !s.named(f.Name)
}

// named reports whether a rule names a header field, in any step.
func (s *Subject) named(name string) bool {
	same := func(n string) bool { return strings.EqualFold(n, name) }
	if slices.ContainsFunc(s.Rules.Headers, same) {
		return true
	}
	for _, step := range s.Rules.Steps {
		if slices.ContainsFunc(step.Headers, same) {
			return true
		}
	}
	return false
}

// headerChange makes an operator that puts other fields in the place of one.
func headerChange(family, name, doc string, which func(*Subject, transcript.Field) bool, change func(transcript.Field) ([]transcript.Field, bool)) Operator {
	return operator(family, name, doc, func(s *Subject, _ uint64, yield emit) {
		s.answers(func(a *answer) bool {
			for i, f := range a.x.Response.Header {
				if !which(s, f) {
					continue
				}
				after, ok := change(f)
				if !ok {
					continue
				}
				if !yield(s.headerMutant(a, f.Name, f.Value, fieldValues(after), func(h transcript.Header) transcript.Header {
					return replaced(h, i, after...)
				})) {
					return false
				}
			}
			return true
		})
	})
}

// fieldValues are the values of fields, for a list of mutants.
func fieldValues(h []transcript.Field) string {
	var values []string
	for _, f := range h {
		values = append(values, f.Value)
	}
	return strings.Join(values, " | ")
}

func (s *Subject) headerMutant(a *answer, name, before, after string, change func(transcript.Header) transcript.Header) Mutant {
	before, after = contrast(before, after)
	m := Mutant{
		Place: a.where + " header " + name, Before: before, After: after, site: a.site(),
		Build: func() *transcript.Transcript {
			return s.withExchange(a.step, a.index, func(x *transcript.Exchange) { x.Response.Header = change(x.Response.Header) })
		},
	}
	m.site.header = name
	return m
}
