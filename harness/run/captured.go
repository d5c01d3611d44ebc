package run

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/match"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A request that breaks the contract because of a value that the server itself has made is sent, and says where the value is
// from. All others are mistakes of the scenario, and are not sent.

// An Objection is what a contract has against a request.
type Objection struct {
	Place string // "path id", "query shelf", "header X-Id", "body/items/0"
	Text  string
	// Value says that a value of the right type stands at the place, and that nothing but the value is wrong.
	Value bool
}

// An origin is where a captured value is from.
type origin struct {
	transcript.Captured                     // without its place in the request, and From for values of documents
	doc                 []byte              // that the value stands in
	path                string              // and the JSONPath that selects it; "" of a header field's
	request             *transcript.Request // that was answered with it; nil for an event
}

// documentOf returns the place of the document that values are captured from.
func documentOf(from origin) string {
	if from.Stream != "" {
		return "event data"
	}
	return "body"
}

// captured returns where the values are from that a contract objects to; false when one of the objections is about something
// else, so that the request is the scenario's mistake.
func (w *walker) captured(r *scenario.Request, objections []Objection) (out []transcript.Captured, all bool) {
	marked, err := w.markCaptured(r)
	if err != nil {
		return nil, false
	}
	for _, o := range objections {
		name, rest := marked.at(o.Place)
		from, ok := w.env.origin(name)
		if !ok || !o.Value || w.given(name, from) {
			return nil, false
		}
		c := from.Captured
		c.Place = o.Place
		if from.path != "" {
			c.From += match.Pointer(from.doc, from.path) + rest
		}
		out = append(out, c)
	}
	return out, true
}

// given reports whether the client has sent a value before the server did: then it is not the server that has made it.
func (w *walker) given(name string, from origin) bool {
	value, _ := w.env.Lookup(name)
	text := strings.Trim(string(value), `"`)
	has := func(r *transcript.Request) bool {
		target, err := url.PathUnescape(r.Target)
		return strings.Contains(r.Target, text) || err == nil && strings.Contains(target, text) || strings.Contains(string(r.Body.Bytes), text) ||
			slices.ContainsFunc(r.Header, func(f transcript.Field) bool { return strings.Contains(f.Value, text) })
	}
	if from.request != nil && has(from.request) {
		return true
	}
	for i := range w.t.Steps {
		if w.t.Steps[i].ID == from.Step {
			break
		}
		for _, x := range w.t.Steps[i].Exchanges {
			if has(&x.Request) {
				return true
			}
		}
	}
	return false
}

// A markedRequest is a request in which each captured value is a word that stands nowhere else.
type markedRequest struct {
	template string // of its path: "/items/{id}"
	target   string
	header   transcript.Header
	body     any // nil where it is not JSON
}

// marking are the values of a walker, those that were captured replaced.
type marking struct{ *env }

// mark is what stands for a captured value, and where the names go on.
const mark = "lockstepcaptured"

func (m marking) Lookup(name string) (json.RawMessage, bool) {
	if _, captured := m.origin(name); captured {
		return quote(mark + name), true
	}
	return m.env.Lookup(name)
}

func (w *walker) markCaptured(r *scenario.Request) (m markedRequest, err error) {
	env := marking{&w.env}
	if m.target, err = RequestTarget(r, env); err != nil {
		return m, err
	}
	if m.header, err = RequestHeader(r, env, nil, ""); err != nil {
		return m, err
	}
	body, err := plainBody(&r.Body, env)
	if err != nil {
		return m, err
	}
	_ = json.Unmarshal(body, &m.body)
	_, m.template, _ = strings.Cut(w.stage.opts.Contract.Operation(r.Method, m.target), " ")
	return m, nil
}

// at returns the name of the captured value that is all that stands at a place, and where in it the place is; "" when there is
// something else.
func (m *markedRequest) at(place string) (name, rest string) {
	kind, of, _ := strings.Cut(place, " ")
	var value string
	switch kind {
	case "path":
		value = m.segment(of)
	case "query":
		_, query, _ := strings.Cut(m.target, "?")
		values, _ := url.ParseQuery(query)
		value = values.Get(of)
	case "header":
		value, _ = m.header.Get(of)
	default:
		pointer, inBody := strings.CutPrefix(place, "body")
		if !inBody {
			return "", ""
		}
		value, rest = m.inBody(pointer)
	}
	name, ok := strings.CutPrefix(value, mark)
	if !ok {
		return "", ""
	}
	return name, rest
}

// segment returns what stands for a parameter of the path. The server's base path may come first.
func (m *markedRequest) segment(parameter string) string {
	path, _, _ := strings.Cut(m.target, "?")
	template, actual := strings.Split(m.template, "/"), strings.Split(path, "/")
	i := slices.Index(template, "{"+parameter+"}")
	at := len(actual) - len(template) + i
	if i < 0 || at < 0 {
		return ""
	}
	return actual[at]
}

// inBody returns the text at a JSON Pointer, or at the nearest place around it that is a text, and the rest of the pointer.
func (m *markedRequest) inBody(pointer string) (value, rest string) {
	at := m.body
	for pointer != "" {
		token, after, more := strings.Cut(pointer[1:], "/")
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch v := at.(type) {
		case map[string]any:
			at = v[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return "", ""
			}
			at = v[i]
		case string:
			return v, pointer
		default:
			return "", ""
		}
		if pointer = ""; more {
			pointer = "/" + after
		}
	}
	value, _ = at.(string)
	return value, ""
}

// unsent says why a request is not sent.
func unsent(objections []Objection) error {
	texts := make([]string, len(objections))
	for i, o := range objections {
		texts[i] = o.Place + ": " + o.Text
	}
	return &faultError{fmt.Sprintf("the request breaks the contract: %s (if it is meant to, mark it malformed: true)", strings.Join(texts, "; "))}
}
