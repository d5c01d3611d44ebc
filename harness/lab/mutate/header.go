package mutate

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// headerOperators change header fields about the message. They skip Content-Type, which has its own family. As long as
// no rule names them, they also skip the fields about the connection and its framing (RFC 9110 §7.6.1, §8.6), and the
// time in Date. These are in the family "same".
var headerOperators = []Operator{
	changeField("header", "missing", "It leaves the field out", aboutMessage, func(transcript.Field) ([]transcript.Field, bool) {
		return nil, true
	}),
	changeField("header", "value", "It sends the field with another value", aboutMessage, func(f transcript.Field) ([]transcript.Field, bool) {
		return []transcript.Field{{Name: f.Name, Value: f.Value + "x"}}, true
	}),
	changeField("header", "empty", "It sends the field without a value", aboutMessage, func(f transcript.Field) ([]transcript.Field, bool) {
		return []transcript.Field{{Name: f.Name}}, f.Value != ""
	}),
	changeField("header", "twice", "It sends the field twice", aboutMessage, func(f transcript.Field) ([]transcript.Field, bool) {
		return []transcript.Field{f, f}, true
	}),
	changeField("header", "shorter", "It leaves out the last element of a list", aboutMessage, func(f transcript.Field) ([]transcript.Field, bool) {
		i := strings.LastIndexByte(f.Value, ',')
		if i < 0 {
			return nil, false
		}
		return []transcript.Field{{Name: f.Name, Value: f.Value[:i]}}, true
	}),
	changeField("header", "method-case", "It names methods in lower case", aboutMessage, func(f transcript.Field) ([]transcript.Field, bool) {
		lower := strings.ToLower(f.Value)
		return []transcript.Field{{Name: f.Name, Value: lower}}, lower != f.Value && (strings.EqualFold(f.Name, "Allow") || strings.EqualFold(f.Name, "Access-Control-Allow-Methods"))
	}),
	eachResponse("header", "added", "It adds a field that a rule names", func(s *Subject, r *response, yield emit) {
		for _, name := range s.Rules.Headers {
			if _, has := r.x.Response.Header.Get(name); has {
				continue
			}
			added := transcript.Field{Name: name, Value: "1"}
			yield(r.withHeader(name, "", added.Value, func(h transcript.Header) transcript.Header { return append(slices.Clone(h), added) }))
		}
	}),
	changeTrailer("trailer-missing", "It leaves out the fields after the body", func(transcript.Header) transcript.Header { return nil }),
	changeTrailer("trailer-value", "It sends a field after the body with another value", func(h transcript.Header) transcript.Header {
		out := slices.Clone(h)
		for i := range min(1, len(out)) {
			out[i].Value += "x"
		}
		return out
	}),
	changeTrailer("trailer-added", "It sends a field after the body that should not be there", func(h transcript.Header) transcript.Header {
		return append(slices.Clone(h), transcript.Field{Name: "X-Mutated", Value: "1"})
	}),
}

// mediaOperators change what a response says about its body, but not the body.
var mediaOperators = []Operator{
	changeMedia("other", "It declares another type of body", func(v string) (string, bool) {
		if strings.HasPrefix(v, "text/html") {
			return "text/plain", true
		}
		return "text/html", true
	}),
	changeMedia("charset", "It names another encoding of characters", func(v string) (string, bool) {
		base, _, _ := strings.Cut(v, ";")
		return base + "; charset=iso-8859-1", true
	}),
	changeMedia("suffix", "It declares JSON as a special kind of JSON", func(v string) (string, bool) {
		return strings.Replace(v, "application/json", "application/problem+json", 1), strings.HasPrefix(v, "application/json")
	}),
	changeMedia("parameters", "It leaves the parameters out", func(v string) (string, bool) {
		base, rest, found := strings.Cut(v, ";")
		return base, found && !isDefaultCharset(base, rest)
	}),
	changeField("media", "missing", "It leaves out the type of the body", isContentType, func(transcript.Field) ([]transcript.Field, bool) {
		return nil, true
	}),
}

// changeField makes an operator that replaces one field by other fields.
func changeField(family, name, doc string, which func(*compare.Rules, transcript.Field) bool, change func(transcript.Field) ([]transcript.Field, bool)) Operator {
	return eachResponse(family, name, doc, func(s *Subject, r *response, yield emit) {
		for i, f := range r.x.Response.Header {
			if !which(s.Rules, f) {
				continue
			}
			if after, ok := change(f); ok {
				yield(r.withHeader(f.Name, f.Value, fieldValues(after), func(h transcript.Header) transcript.Header { return replaceField(h, i, after...) }))
			}
		}
	})
}

func changeMedia(name, doc string, change func(string) (string, bool)) Operator {
	return changeField("media", name, doc, isContentType, func(f transcript.Field) ([]transcript.Field, bool) {
		after, ok := change(f.Value)
		return []transcript.Field{{Name: f.Name, Value: after}}, ok && after != f.Value
	})
}

// changeTrailer makes an operator on the fields after bodies, in responses that can have such fields (RFC 9110 §6.5.1).
func changeTrailer(name, doc string, change func(transcript.Header) transcript.Header) Operator {
	return eachResponse("header", name, doc, func(_ *Subject, r *response, yield emit) {
		was := r.x.Response.Trailer
		is := change(was)
		if r.x.Stream != "" || r.x.Response.Body.Size == 0 || slices.Equal(was, is) {
			return
		}
		before, after := excerpts(fieldValues(was), fieldValues(is))
		yield(r.mutant("trailer", before, after, func(x *transcript.Exchange) { x.Response.Trailer = is }))
	})
}

// fieldValues returns the values of fields, for a list of mutants.
func fieldValues(h []transcript.Field) string {
	var values []string
	for _, f := range h {
		values = append(values, f.Value)
	}
	return strings.Join(values, " | ")
}

// isDefaultCharset reports whether the parameters of a media type only state the default: JSON is in UTF-8 (RFC 8259
// §8.1), and so is an event stream.
func isDefaultCharset(media, parameters string) bool {
	return (media == "application/json" || strings.HasSuffix(media, "+json") || media == "text/event-stream") &&
		strings.EqualFold(strings.TrimSpace(parameters), "charset=utf-8")
}

// connectionFields are about a connection and not about a message. Content-Length only counts the bytes of a body.
var connectionFields = []string{"connection", "content-length", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}

func isContentType(_ *compare.Rules, f transcript.Field) bool {
	return strings.EqualFold(f.Name, "Content-Type")
}

// aboutMessage reports whether a field is about the message, or matters because of a rule. Content-Type has its own
// operators.
func aboutMessage(rules *compare.Rules, f transcript.Field) bool {
	return !isContentType(rules, f) && !isIncidental(rules, f)
}

// isIncidental reports whether a field is about the connection or the clock, and does not matter in any step because of
// a rule.
func isIncidental(rules *compare.Rules, f transcript.Field) bool {
	if !slices.Contains(connectionFields, strings.ToLower(f.Name)) && !strings.EqualFold(f.Name, "Date") {
		return false
	}
	for step := range rules.Steps {
		if isCompared(rules, step, f.Name) {
			return false
		}
	}
	return !isCompared(rules, "", f.Name)
}

func isCompared(rules *compare.Rules, step, name string) bool {
	same := func(n string) bool { return strings.EqualFold(n, name) }
	return slices.ContainsFunc(rules.Headers, same) || slices.ContainsFunc(rules.Steps[step].Headers, same)
}
