package scenario

import (
	"encoding/base64"
	"fmt"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A wireDecoder decodes the steps on sockets and programs.
type wireDecoder struct {
	values   *valueDecoder
	messages *messageDecoder
}

// openSocket decodes how a step opens a socket.
func (d *wireDecoder) openSocket(o *Open, n *yamldoc.Node) {
	path := n.Get("socket")
	o.Wire = transcript.WireSocket
	o.Request = Request{
		Method: "GET", Path: d.values.template(path), Query: d.messages.parameters(n.Get("query")),
		Line: path.Line, Column: path.Column,
	}
	o.Request.Header, o.Request.Without = d.messages.headers(n.Get("headers"))
	if m := n.Get("malformed"); m != nil {
		o.Request.Malformed = d.values.value(m)
	}
	for _, item := range n.Get("protocols").Elements() {
		o.Socket.Protocols = append(o.Socket.Protocols, d.values.template(item))
	}
	for _, item := range n.Get("manual").Elements() {
		o.Socket.NoPong = o.Socket.NoPong || item.Text == "pong"
		o.Socket.NoEcho = o.Socket.NoEcho || item.Text == "close"
	}
}

// openProgram decodes what a step starts a program with.
func (d *wireDecoder) openProgram(o *Open, n *yamldoc.Node) {
	o.Wire = transcript.WireProgram
	for _, item := range n.Get("args").Elements() {
		o.Program.Args = append(o.Program.Args, d.values.template(item))
	}
	o.Program.Env = d.messages.parameters(n.Get("env"))
	o.Program.Directory = d.values.optional(n.Get("directory"))
}

func openText(n *yamldoc.Node) string {
	switch {
	case n.Get("socket") != nil:
		return "socket " + n.Get("socket").Text
	case n.Get("program") != nil:
		return "program"
	}
	return n.Get("sse").Text
}

// requestOrDo decodes the request of a step, or what it tells a driver to do.
func requestOrDo(d *messageDecoder, n *yamldoc.Node) Request {
	do := n.Get("do")
	if do == nil {
		return d.request(n, "http")
	}
	r := Request{Method: transcript.Do, Path: d.template(do), Line: do.Line, Column: do.Column}
	if with := n.Get("with"); with != nil {
		r.Body.JSON = d.value(with)
	}
	return r
}

func requestText(n *yamldoc.Node) string {
	if do := n.Get("do"); do != nil {
		return "do " + do.Text
	}
	return n.Get("http").Text
}

// sendable are the keys of a send step that say what it sends, with the items.
var sendable = []struct {
	key  string
	item transcript.Item
}{
	{"json", transcript.ItemText}, {"text", transcript.ItemText}, {"binary", transcript.ItemBinary}, {"ping", transcript.ItemPing},
	{"pong", transcript.ItemPong}, {"frames", transcript.ItemBytes}, {"bytes", transcript.ItemBytes},
}

func (d *wireDecoder) send(n *yamldoc.Node) *Send {
	s := &Send{Stream: n.Get("send").Text, Message: d.sent(n, true), Within: d.values.duration(n.Get("within"))}
	if m := n.Get("malformed"); m != nil {
		s.Malformed = d.values.value(m)
	}
	return s
}

// sent decodes what is sent. Frames are masked by default when lockstep is the client.
func (d *wireDecoder) sent(n *yamldoc.Node, masked bool) Message {
	var m Message
	first := ""
	for _, kind := range sendable {
		k, value := n.Entry(kind.key)
		switch {
		case value == nil:
			continue
		case first != "":
			d.values.problem(k, fmt.Sprintf("a step sends both %s and %s", first, kind.key), "use a step for each of them")
			continue
		}
		first, m = kind.key, d.message(kind.key, kind.item, value, masked)
	}
	if k, fragments := n.Entry("fragments"); fragments != nil {
		m.Fragments = d.values.number(fragments)
		if m.Item != transcript.ItemText && m.Item != transcript.ItemBinary {
			d.values.problem(k, first+" cannot be sent in fragments", "remove fragments; only json, text and binary can have them")
		}
	}
	return m
}

func (d *wireDecoder) message(key string, item transcript.Item, n *yamldoc.Node, masked bool) Message {
	m := Message{Item: item}
	switch key {
	case "json":
		m.JSON = d.values.value(n)
	case "binary":
		m.Bytes = decodeBase64(d.values, n)
	case "bytes":
		m.Text, m.Bytes = textOrBase64(d.values, n)
	case "frames":
		for _, f := range n.Elements() {
			m.Frames = append(m.Frames, d.frame(f, masked))
		}
	default:
		m.Text = d.values.optional(n)
	}
	return m
}

func (d *wireDecoder) frame(n *yamldoc.Node, masked bool) Frame {
	if m := n.Get("masked"); m != nil {
		masked = m.Text == "true"
	}
	f := Frame{
		Opcode: d.values.number(n.Get("opcode")), RSV: d.values.number(n.Get("rsv")), Length: numberOr(d.values, n.Get("length"), -1),
		Fin: n.Get("fin").Str() != "false", Masked: masked,
	}
	f.Text, f.Bytes = textOrBase64(d.values, n)
	return f
}

// textOrBase64 decodes the keys text and base64.
func textOrBase64(d *valueDecoder, n *yamldoc.Node) (*Template, []byte) {
	k, enc := n.Entry("base64")
	text := n.Get("text")
	switch {
	case text != nil && enc != nil:
		d.problem(k, "both text and base64 say what the bytes are", "remove one of them")
	case text != nil:
		return d.optional(text), nil
	case enc != nil:
		return nil, decodeBase64(d, enc)
	}
	return nil, nil
}

// decodeBase64 decodes a value in base64. It returns an empty slice for an empty one.
func decodeBase64(d *valueDecoder, n *yamldoc.Node) []byte {
	b, err := base64.StdEncoding.DecodeString(n.Text)
	if err != nil {
		d.problem(n, "base64: "+err.Error(), "write standard base64 with its padding")
	}
	return append([]byte{}, b...)
}

// numberOr returns the number of a node, or another one when there is no node.
func numberOr(d *valueDecoder, n *yamldoc.Node, otherwise int) int {
	if n == nil {
		return otherwise
	}
	return d.number(n)
}
