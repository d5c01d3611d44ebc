package run

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/match"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// excuse returns where the values were captured that make a request break the contract. It returns false when an
// objection is not about a captured value: then the request is a mistake of the scenario.
func (r *targetRun) excuse(req *scenario.Request, objections []scenario.Objection) (out []transcript.Captured, ok bool) {
	marked, err := r.markCaptured(req)
	if err != nil {
		return nil, false
	}
	for _, o := range objections {
		name, rest := marked.at(o.Place)
		from, ok := r.values.origin(name)
		if !ok || !o.Value || r.sentBefore(name, from) {
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

// sentBefore reports whether the client had sent a value before the server sent it. If so, the server did not generate
// it.
func (r *targetRun) sentBefore(name string, from origin) bool {
	value, _ := r.values.Lookup(name)
	text := strings.Trim(string(value), `"`)
	has := func(req *transcript.Request) bool {
		target, err := url.PathUnescape(req.Target)
		return strings.Contains(req.Target, text) || err == nil && strings.Contains(target, text) || strings.Contains(string(req.Body.Bytes), text) ||
			slices.ContainsFunc(req.Header, func(f transcript.Field) bool { return strings.Contains(f.Value, text) })
	}
	if from.request != nil && has(from.request) {
		return true
	}
	for i := range r.t.Steps {
		if r.t.Steps[i].ID == from.Step {
			break
		}
		for _, x := range r.t.Steps[i].Exchanges {
			if has(&x.Request) {
				return true
			}
		}
	}
	return false
}

// A markedRequest is a request in which markers replace the captured values.
type markedRequest struct {
	template string // of the path: "/items/{id}"
	target   string
	header   transcript.Header
	body     any // nil when the body is not JSON
}

// marker begins the text that replaces a captured value. The name of the value follows.
const marker = "lockstepcaptured"

// markedValues returns markers instead of captured values.
type markedValues struct{ *values }

func (m markedValues) Lookup(name string) (json.RawMessage, bool) {
	if m.Captured(name) {
		return quote(marker + name), true
	}
	return m.values.Lookup(name)
}

func (r *targetRun) markCaptured(req *scenario.Request) (m markedRequest, err error) {
	env := markedValues{&r.values}
	if m.target, err = req.Target(env); err != nil {
		return m, err
	}
	if m.header, err = req.Fields(env, nil, ""); err != nil {
		return m, err
	}
	body, err := req.Body.Plain(env)
	if err != nil {
		return m, err
	}
	_ = json.Unmarshal(body, &m.body)
	_, m.template, _ = strings.Cut(r.opts.Contract.Operation(req.Method, m.target), " ")
	return m, nil
}

// at returns the name of the captured value at a place. If the place is inside the value, rest is the place within it.
// The name is "" when the place does not hold a captured value.
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
	name, ok := strings.CutPrefix(value, marker)
	if !ok {
		return "", ""
	}
	return name, rest
}

// segment returns the path segment that fills a parameter. The target may begin with the server's base path.
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

// inBody returns the text at a JSON Pointer, or the nearest text that encloses that place, and the rest of the pointer.
func (m *markedRequest) inBody(pointer string) (value, rest string) {
	at := m.body
	for pointer != "" {
		token, after, more := strings.Cut(pointer[1:], "/")
		token = jsontree.UnescapeName(token)
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
