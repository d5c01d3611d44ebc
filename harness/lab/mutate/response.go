package mutate

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// statusOperators respond with another status. Headers and body are unchanged.
var statusOperators = []Operator{
	status("class", "It fails where it should succeed, or succeeds where it should fail", func(n int) int {
		if n/100 == 2 {
			return 500
		}
		return 200
	}),
	status("neighbour", "It answers with the next status of the same class", func(n int) int {
		if n%100 == 99 {
			return n - 1
		}
		return n + 1
	}),
	status("redirect", "It redirects the client", func(int) int { return 302 }),
	status("general", "It answers with the general status of the class: 200, 400, 500", func(n int) int { return n / 100 * 100 }),
	status("unavailable", "It reports that it is busy", func(int) int { return 503 }),
}

func status(name, doc string, change func(int) int) Operator {
	return each("status", name, doc, answers, func(e *exchange, yield emit) {
		was := e.x.Response.Status
		if after := change(was); after != was {
			yield(e.mutant("status", strconv.Itoa(was), strconv.Itoa(after), func(x *transcript.Exchange) { x.Response.Status = after }))
		}
	})
}

// errorOperators confuse errors.
var errorOperators = []Operator{
	errorBody("other", "It answers with another error of the same scenario", func(e *exchange) string {
		for other := range e.s.responses() {
			if other.x.Response.Status >= 400 && !bytes.Equal(other.body(), e.body()) && other.body() != nil {
				return string(other.body())
			}
		}
		return string(e.body())
	}),
	each("error", "outcome", "It reports an error of a driver's call as a success, and a success as an error", (*Subject).responses, func(e *exchange, yield emit) {
		root, _, err := jsontree.Parse(e.body())
		if !e.isOutcome() || err != nil || len(root.Names) != 1 {
			return
		}
		root.Names = []string{map[string]string{"ok": "error", "error": "ok"}[root.Names[0]]}
		yield(e.withBody([]byte(root.String())))
	}),
	errorBody("general", "It answers with an error without details", func(*exchange) string { return `{"error":"Internal Server Error"}` }),
	errorBody("none", "It answers with an error that is empty", func(*exchange) string { return "{}" }),
	errorBody("page", "It answers with the error page of its framework", func(*exchange) string {
		return "<html><body>Internal Server Error</body></html>"
	}),
	replaceValues("error", "text", "It reports more about an error than it should", func(v *value, _ uint64) string {
		if !v.doc.isError || !v.is(jsontree.String, fixed) {
			return ""
		}
		return quoted(v.node.Text + ": EOF")
	}),
	each("error", "hidden", "It reports an error as a success", answers, func(e *exchange, yield emit) {
		if e.x.Response.Status >= 400 {
			yield(e.mutant("status and body", excerpt(string(e.body())), `200 {"success":true}`, func(x *transcript.Exchange) {
				x.Response.Status = 200
				setBody(x.Response, []byte(`{"success":true}`))
			}))
		}
	}),
}

// errorBody makes an operator from a function that returns the body of another error, or the same body.
func errorBody(name, doc string, change func(e *exchange) string) Operator {
	return each("error", name, doc, answers, func(e *exchange, yield emit) {
		if e.x.Response.Status < 400 || e.x.Response.Body.IsZero() || e.st.Burst {
			return
		}
		if after := change(e); after != string(e.body()) {
			yield(e.withBody([]byte(after)))
		}
	})
}

// headerOperators change header fields about the message. They skip Content-Type, which has its own family. As long as
// no rule names them, they also skip the fields about the connection and its framing (RFC 9110 §7.6.1, §8.6), and the
// time in Date. These are in the family "same".
var headerOperators = []Operator{
	changeField("header", "missing", "It leaves the field out", aboutMessage, func(string) []string { return nil }),
	changeField("header", "value", "It sends the field with another value", aboutMessage, func(v string) []string { return []string{v + "x"} }),
	changeField("header", "empty", "It sends the field without a value", aboutMessage, func(string) []string { return []string{""} }),
	changeField("header", "twice", "It sends the field twice", aboutMessage, func(v string) []string { return []string{v, v} }),
	changeField("header", "shorter", "It leaves out the last element of a list", aboutMessage, func(v string) []string {
		if i := strings.LastIndexByte(v, ','); i >= 0 {
			v = v[:i]
		}
		return []string{v}
	}),
	changeField("header", "method-case", "It names methods in lower case", aboutMethods, func(v string) []string { return []string{strings.ToLower(v)} }),
	each("header", "added", "It adds a field that a rule names", answers, func(e *exchange, yield emit) {
		for _, name := range e.s.Rules.Headers {
			if e.x.Response.Header.Has(name) {
				continue
			}
			m := e.mutant("header "+name, "", "1", func(x *transcript.Exchange) { x.Response.Header = withAdded(x.Response.Header, name) })
			m.site.header = name
			yield(m)
		}
	}),
	changeTrailer("trailer-missing", "It leaves out the fields after the body", func(transcript.Header) transcript.Header { return nil }),
	changeTrailer("trailer-value", "It sends a field after the body with another value", func(h transcript.Header) transcript.Header {
		if len(h) == 0 {
			return nil
		}
		return replaceField(h, 0, h[0].Value+"x")
	}),
	changeTrailer("trailer-added", "It sends a field after the body that should not be there", func(h transcript.Header) transcript.Header {
		return withAdded(h, "X-Mutated")
	}),
}

// mediaOperators change what a response says about its body, but not the body.
var mediaOperators = []Operator{
	changeMedia("other", "It declares another type of body", func(v string) string {
		if strings.HasPrefix(v, "text/html") {
			return "text/plain"
		}
		return "text/html"
	}),
	changeMedia("charset", "It names another encoding of characters", func(v string) string {
		base, _, _ := strings.Cut(v, ";")
		return base + "; charset=iso-8859-1"
	}),
	changeMedia("suffix", "It declares JSON as a special kind of JSON", func(v string) string {
		if rest, ok := strings.CutPrefix(v, "application/json"); ok {
			return "application/problem+json" + rest
		}
		return v
	}),
	changeMedia("parameters", "It leaves the parameters out", func(v string) string {
		base, rest, found := strings.Cut(v, ";")
		if found && isDefaultCharset(base, rest) {
			return v
		}
		return base
	}),
	changeField("media", "missing", "It leaves out the type of the body", isContentType, func(string) []string { return nil }),
}

// changeField makes an operator that replaces a field by fields with other values. There is no mutant where the values
// are the same.
func changeField(family, name, doc string, which func(*compare.Rules, transcript.Field) bool, change func(value string) []string) Operator {
	return each(family, name, doc, answers, func(e *exchange, yield emit) {
		for i, f := range e.x.Response.Header {
			if !which(e.s.Rules, f) {
				continue
			}
			if after := change(f.Value); !slices.Equal(after, []string{f.Value}) {
				yield(e.withField(i, after...))
			}
		}
	})
}

func changeMedia(name, doc string, change func(string) string) Operator {
	return changeField("media", name, doc, isContentType, func(v string) []string { return []string{change(v)} })
}

// changeTrailer makes an operator on the fields after bodies, in responses that can have such fields (RFC 9110 §6.5.1).
func changeTrailer(name, doc string, change func(transcript.Header) transcript.Header) Operator {
	return each("header", name, doc, answers, func(e *exchange, yield emit) {
		was := e.x.Response.Trailer
		is := change(was)
		if e.x.Stream != "" || e.x.Response.Body.Size == 0 || slices.Equal(was, is) {
			return
		}
		before, after := excerpts(fieldValues(was), fieldValues(is))
		yield(e.mutant("trailer", before, after, func(x *transcript.Exchange) { x.Response.Trailer = is }))
	})
}

func withAdded(h transcript.Header, name string) transcript.Header {
	return append(slices.Clone(h), transcript.Field{Name: name, Value: "1"})
}

// fieldValues returns the values of fields, for a list of mutants.
func fieldValues(h transcript.Header) string {
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
var connectionFields = []string{"connection", "content-length", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
	"sec-websocket-accept", // of the handshake, which checks it
}

func isContentType(_ *compare.Rules, f transcript.Field) bool { return f.Is("Content-Type") }

// aboutMessage reports whether a field is about the message, or matters because of a rule. Content-Type has its own
// operators.
func aboutMessage(rules *compare.Rules, f transcript.Field) bool {
	return !isContentType(rules, f) && !isIncidental(rules, f)
}

func aboutMethods(_ *compare.Rules, f transcript.Field) bool {
	return f.Is("Allow") || f.Is("Access-Control-Allow-Methods")
}

// isIncidental reports whether a field is about the connection or the clock, and does not matter in any step because of
// a rule.
func isIncidental(rules *compare.Rules, f transcript.Field) bool {
	if !slices.Contains(connectionFields, strings.ToLower(f.Name)) && !f.Is("Date") {
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
	return transcript.ContainsName(rules.Headers, name) || transcript.ContainsName(rules.Steps[step].Headers, name)
}

// bodyOperators send another body, as bytes.
var bodyOperators = []Operator{
	changeBody("byte-order-mark", "It puts a byte order mark before a body", func(body string) string { return "\ufeff" + body }),
	changeBody("trailing", "It sends more after a body", func(body string) string { return body + "null" }),
	changeBody("no-body", "It sends no body", func(string) string { return "" }),
	each("presence", "some-body", "It sends a body where there should be no body", answers, func(e *exchange, yield emit) {
		if e.mayHaveBody() && len(e.body()) == 0 {
			yield(e.withBody([]byte("mutated")))
		}
	}),
	changeBody("cut", "It leaves out the last byte of a body", func(body string) string {
		if len(body) == 1 {
			return body
		}
		return body[:len(body)-1]
	}),
}

func (e *exchange) mayHaveBody() bool { return e.x.Stream == "" && e.x.Request.Method != "HEAD" }

// changeBody makes an operator from a function that returns another body for one that is not empty.
func changeBody(name, doc string, change func(body string) string) Operator {
	return each("presence", name, doc, answers, func(e *exchange, yield emit) {
		if !e.mayHaveBody() || len(e.body()) == 0 {
			return
		}
		if after := change(string(e.body())); after != string(e.body()) {
			yield(e.withBody([]byte(after)))
		}
	})
}
