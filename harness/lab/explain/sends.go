package explain

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// sends returns what a step sends, as far as its file does not say so; nil when it sends nothing.
func (e *explainer) sends(step *scenario.Step) *jsontree.Node {
	switch do := step.Do.(type) {
	case *scenario.HTTP:
		if do.Request.Method == transcript.Do {
			return e.told(&do.Request)
		}
	case *scenario.Start:
		if do.Request.Method == transcript.Do {
			return e.told(&do.Request)
		}
	case *scenario.Send:
		return e.message(do)
	}
	if r := step.Request(); r != nil {
		return e.request(r, step)
	}
	return nil
}

// escaped matches an expression in a path or a query after percent-encoding.
var escaped = regexp.MustCompile(`%24%7B%7B(?:%20|\+)([A-Za-z0-9_.-]+)(?:%20|\+)%7D%7D`)

// request returns what a request sends: the whole target, and header fields.
func (e *explainer) request(r *scenario.Request, step *scenario.Step) *jsontree.Node {
	accept := "*/*"
	open, opens := step.Do.(*scenario.Open)
	isSocket := opens && open.Wire == transcript.WireSocket
	switch {
	case isSocket:
		accept = ""
	case opens:
		accept = "text/event-stream"
	}
	env := scenario.Partly{Known: e.values}
	target, err := r.Target(env)
	if err != nil {
		return nil
	}
	fields, err := r.Fields(env, nil, accept)
	if err != nil {
		return nil
	}
	if isSocket {
		fields = append(fields, e.handshake(r, &open.Socket)...)
	}
	lines := make([]string, len(fields))
	for i, f := range fields {
		lines[i] = f.Name + ": " + f.Value
	}
	of := &object{}
	of.text("request", r.Method+" "+escaped.ReplaceAllString(target, "$${{ $1 }}"))
	of.add("headers", truncate(jsontree.NewTexts(lines)))
	return of.node()
}

// handshake returns the fields that opening a socket adds to a request (RFC 6455 §4.1).
func (e *explainer) handshake(r *scenario.Request, of *scenario.Socket) transcript.Header {
	all := transcript.Header{
		{Name: "Upgrade", Value: "websocket"}, {Name: "Connection", Value: "Upgrade"},
		{Name: "Sec-WebSocket-Version", Value: "13"}, {Name: "Sec-WebSocket-Key", Value: "‹16 random bytes›"},
	}
	var offered []string
	for i := range of.Protocols {
		offered = append(offered, e.filled(&of.Protocols[i]))
	}
	if len(offered) > 0 {
		all = append(all, transcript.Field{Name: "Sec-WebSocket-Protocol", Value: strings.Join(offered, ", ")})
	}
	var out transcript.Header
	for _, f := range all {
		if !r.Names(f.Name) {
			out = append(out, f)
		}
	}
	return out
}

// message returns the message or the line that a step sends.
func (e *explainer) message(do *scenario.Send) *jsontree.Node {
	m, item := &do.Message, do.Message.Item
	if item == transcript.ItemText && e.wires[do.Stream] == transcript.WireProgram {
		item = transcript.ItemLine
	}
	of := &object{}
	switch {
	case m.Frames != nil:
		of.add("frames", e.frames(m.Frames))
	case m.JSON.IsSet():
		raw, err := m.JSON.Resolve(scenario.Partly{Known: e.values})
		if err != nil {
			return nil
		}
		of.text(string(item), string(raw))
	case m.Text != nil:
		of.text(string(item), e.filled(m.Text))
	default:
		of.text(string(item), fmt.Sprintf("‹%d bytes›", len(m.Bytes)))
	}
	if m.Fragments > 1 {
		of.text("in", fmt.Sprintf("%d frames", m.Fragments))
	}
	return truncate(of.node())
}

// frames describes frames with their defaults.
func (e *explainer) frames(all []scenario.Frame) *jsontree.Node {
	var out []string
	for i := range all {
		f := &all[i]
		size := len(f.Bytes)
		payload := fmt.Sprintf("%d bytes", size)
		if f.Text != nil {
			payload = e.filled(f.Text)
		}
		announced := ""
		if f.Length >= 0 {
			announced = fmt.Sprintf(", announced as %d bytes", f.Length)
		}
		out = append(out, fmt.Sprintf("opcode %d, fin %t, rsv %d, masked %t: %s%s", f.Opcode, f.Fin, f.RSV, f.Masked, payload, announced))
	}
	return jsontree.NewTexts(out)
}

// told returns the line to a driver. Its id counts what the driver was told.
func (e *explainer) told(r *scenario.Request) *jsontree.Node {
	line := struct {
		ID   string          `json:"id"`
		Do   string          `json:"do"`
		With json.RawMessage `json:"with,omitempty"`
	}{"‹number›", e.filled(&r.Path), nil}
	if r.Body.JSON.IsSet() {
		raw, err := r.Body.JSON.Resolve(scenario.Partly{Known: e.values})
		if err != nil {
			return nil
		}
		line.With = raw
	}
	of := &object{}
	of.add("line", truncate(tree(line)))
	return of.node()
}

// filled returns a text with the values that are known before the run.
func (e *explainer) filled(t *scenario.Template) string {
	text, err := t.Text(scenario.Partly{Known: e.values}, nil)
	if err != nil {
		return ""
	}
	return text
}
