package run

import (
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// counters are the members in which JSON-RPC libraries number their requests. Each library counts in its own way.
var counters = []string{"progressToken", "requestId"}

// withoutCounters returns parameters or a result with every counter set to 0.
func withoutCounters(body []byte) []byte {
	n, defects, err := jsontree.Parse(body)
	if err != nil || len(defects) > 0 {
		return body
	}
	resetCounters(n)
	return n.AppendTo(nil)
}

func resetCounters(n *jsontree.Node) {
	if n.Kind != jsontree.Object {
		return
	}
	for _, name := range counters {
		reset(n, name)
	}
	if meta := n.Member("_meta"); meta != nil {
		resetCounters(meta)
	}
}

// reset sets a number or a string to 0.
func reset(n *jsontree.Node, name string) {
	if value := n.Member(name); value != nil && (value.Kind == jsontree.Number || value.Kind == jsontree.String) {
		n.Set(name, &jsontree.Node{Kind: jsontree.Number, Text: "0"})
	}
}

// comparableMessage returns the body of a request to an MCP server over HTTP without what its library chooses: its ID and
// counters are 0, and missing parameters are empty ([record.Message.Parameters]). What is not a message stays as it is.
func comparableMessage(body transcript.Body) transcript.Body {
	m, defects, err := jsontree.Parse(body.Bytes)
	if err != nil || len(defects) > 0 || m.Kind != jsontree.Object || m.Member("jsonrpc") == nil {
		return body
	}
	reset(m, "id")
	if m.Member("method") != nil {
		parameters := m.Member("params")
		if parameters == nil {
			parameters = &jsontree.Node{Kind: jsontree.Object}
			m.Set("params", parameters)
		}
		resetCounters(parameters)
	}
	text := m.AppendTo(nil)
	return transcript.Body{Bytes: text, Size: int64(len(text))}
}
