package mutate

import (
	"strconv"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// The messages of sockets and the lines of programs are events: what changes the order, the number and the data of
// events changes theirs. These operators change the rest.

// messageOperators change what a message is, and which request it answers.
var messageOperators = []Operator{
	each("message", "kind", "It sends a text as a binary message, or the other way round", contentEvents, func(e *event, yield emit) {
		after := transcript.ItemBinary
		switch {
		case e.ev.Item == transcript.ItemBinary && utf8.ValidString(e.ev.Data):
			after = transcript.ItemText
		case e.ev.Item != transcript.ItemText:
			return
		}
		yield(e.mutant(" kind", string(e.ev.Item), string(after), func(ev *transcript.Event) {
			if ev.Name == string(ev.Item) {
				ev.Name = string(after)
			}
			ev.Item = after
		}))
	}),
	each("message", "response-id", "It answers a request of JSON-RPC with the id of another one", (*Subject).streams, func(st *stream, yield emit) {
		if !st.rule.JSONRPC {
			return
		}
		all := st.events()
		for _, e := range all {
			if other := answersAnother(e, all); other != nil {
				root := mustParse(e.ev.Data)
				before := root.Member("id").String()
				root.Set("id", other)
				yield(e.mutant(" data /id", before, other.String(), func(ev *transcript.Event) { ev.Data = root.String() }))
			}
		}
	}),
}

// answersAnother returns the id in the response to another request; nil when there is none.
func answersAnother(e *event, all []*event) *jsontree.Node {
	own := e.responds()
	for _, other := range all {
		if key := other.responds(); own != "" && key != "" && key != own {
			return mustParse(other.ev.Data).Member("id")
		}
	}
	return nil
}

// responds returns the correlation key of a response of JSON-RPC; "" for everything else.
func (e *event) responds() string {
	if e.ev.Item == transcript.ItemStderr {
		return ""
	}
	return e.stream.correlation(e.ev)
}

// closeOperators end a socket with another close frame (RFC 6455 §5.5.1). That it has none is an event that is left out.
var closeOperators = []Operator{
	changeEnd("close", "code", "It closes a socket with another code", transcript.ItemClose, func(end *jsontree.Node) {
		after := "1000"
		if textIn(end, "code") == after {
			after = "1001"
		}
		end.Set("code", number(after))
		if end.Member("reason") == nil {
			end.Set("reason", jsontree.NewText(""))
		}
	}),
	changeEnd("close", "no-code", "It closes a socket without a code", transcript.ItemClose, func(end *jsontree.Node) {
		end.Names, end.Items = nil, nil
	}),
	changeEnd("close", "reason", "It gives another reason for closing a socket", transcript.ItemClose, func(end *jsontree.Node) {
		if end.Member("code") == nil {
			return // only a code can have a reason
		}
		end.Set("reason", jsontree.NewText(textIn(end, "reason")+"x"))
	}),
	changeEnd("close", "no-reason", "It gives no reason for closing a socket", transcript.ItemClose, func(end *jsontree.Node) {
		if end.Member("reason") != nil {
			end.Set("reason", jsontree.NewText(""))
		}
	}),
}

// exitOperators let a program end in another way.
var exitOperators = []Operator{
	changeEnd("exit", "status", "It exits with another status", transcript.ItemExit, func(end *jsontree.Node) {
		status, _ := strconv.Atoi(textIn(end, "status")) // there is none after a signal
		setOnly(end, "status", number(strconv.Itoa(status+1)))
	}),
	changeEnd("exit", "success", "It exits as if nothing had happened", transcript.ItemExit, func(end *jsontree.Node) {
		setOnly(end, "status", number("0"))
	}),
	changeEnd("exit", "signal", "It crashes", transcript.ItemExit, func(end *jsontree.Node) {
		setOnly(end, "signal", jsontree.NewText("SIGSEGV"))
	}),
}

// changeEnd makes an operator on the close frames or exits that the server decides about. There is no mutant where
// nothing is changed.
func changeEnd(family, name, doc string, item transcript.Item, change func(end *jsontree.Node)) Operator {
	return each(family, name, doc, contentEvents, func(e *event, yield emit) {
		end, _, err := jsontree.Parse([]byte(e.ev.Data))
		if e.ev.Item != item || err != nil {
			return
		}
		before := end.String()
		if change(end); end.String() != before {
			yield(e.mutant("", before, end.String(), func(ev *transcript.Event) { ev.Data = end.String() }))
		}
	})
}

// textIn returns the text or the number of a member; "" when there is none.
func textIn(n *jsontree.Node, name string) string {
	if m := n.Member(name); m != nil {
		return m.Text
	}
	return ""
}

func number(text string) *jsontree.Node { return &jsontree.Node{Kind: jsontree.Number, Text: text} }

// setOnly gives an object one member.
func setOnly(n *jsontree.Node, name string, value *jsontree.Node) {
	n.Names, n.Items = []string{name}, []*jsontree.Node{value}
}
