package scenario

import (
	"bytes"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// StubPrefix is what the name of a stub's URL begins with: ${{ stub.llm }}.
const StubPrefix = "stub."

// A Stub is what a scenario has a scripted upstream answer.
type Stub struct {
	Name         string // as lockstep.yaml has it
	Rules        []StubRule
	Line, Column int // of the name
}

// A StubRule answers requests that a target sends to a stub. A request gets the answer of the first rule that means it and
// is not used up.
type StubRule struct {
	Name string // what the file calls it, or its number

	Line, Column int
	// Min and Max are how often it answers; without bound when Max is negative.
	Min, Max int
	// AnyOrder says that the requests it answers are in no order.
	AnyOrder bool
	When     When
	Answer   StubAnswer
	Compare  Rules
}

// When tells one request from the others. Every part that is set must hold.
type When struct {
	Method  string    // "" for any
	Path    *Template // without a query; nil: any, or where chats go
	Query   []Parameter
	Demands *Expect // of header fields, of the body
	// The others are about the conversation that is sent to a model.
	Last, System, Result *Template // texts in the last message, in the system prompt, in a tool's result that is the last message
	Tool, Model          *Template // a tool that is offered, and the model that is asked
	Stream               *bool
}

// Converses reports whether it asks for something of a conversation with a model.
func (w *When) Converses() bool {
	return w.Last != nil || w.System != nil || w.Result != nil || w.Tool != nil || w.Model != nil || w.Stream != nil
}

// A StubAnswer is what a rule answers: a message of a model, or an answer of HTTP as it is.
type StubAnswer struct {
	After  time.Duration // before its head
	Status int           // 0: 200
	Header []Parameter
	Body   *Body     // an answer as it is
	Error  *Template // a message, written as the upstream writes errors
	Pieces []StubPiece
	ID     *Template // of the message
	Model  *Template
	Stop   *Template // why the model stopped, in the words of the wire
	Usage  StubUsage
	End    StubEnd
}

// A StubPiece is a part of an answer, of one kind.
type StubPiece struct {
	After          time.Duration // since the piece before it
	Text, Thinking *Template
	Each           bool      // a list in the place of the text is a piece for each of its items
	Raw            *Template // bytes as they are, whatever the wire asks for
	Tool           *StubTool
}

// A StubTool is a call of a tool.
type StubTool struct {
	Name      Template
	ID        *Template
	Input     Value      // unset: {}
	Arguments []Template // its text, in the pieces in which it is streamed, in the place of Input
	Each      bool       // a list in the place of the one that there is, is a piece for each of its items
}

// A StubUsage counts tokens.
type StubUsage struct{ Input, Output int }

// StubEnd is the way in which an answer ends.
type StubEnd string

// The ways in which an answer ends, beside its own end.
const (
	StubCut   StubEnd = "cut"   // the connection ends
	StubReset StubEnd = "reset" // it is reset
	StubHang  StubEnd = "hang"  // nothing more comes
)

// asItIs reports whether it is an answer of HTTP.
func (a *StubAnswer) asItIs() bool { return a.Body != nil || a.Error != nil }

// A StubUse is where a scenario names a stub's URL.
type StubUse struct {
	Name string
	Place
}

// UsesStubs returns where the scenario's file has the URLs of stubs.
func (s *Scenario) UsesStubs() []StubUse {
	if !bytes.Contains(s.Text, []byte(StubPrefix)) {
		return nil
	}
	var out []StubUse
	root, _ := yamldoc.Parse(s.File, s.Text) // which has been read without a problem
	each(root, func(n *yamldoc.Node) {
		t, err := parseTemplate(n.Text)
		if n.Kind != yamldoc.String || err != nil {
			return
		}
		for _, name := range t.Names() {
			if stub, ok := strings.CutPrefix(name, StubPrefix); ok {
				out = append(out, StubUse{stub, Place{s.File, n.Line, n.Column}})
			}
		}
	})
	return out
}

// each calls f with a node and all below it.
func each(n *yamldoc.Node, f func(*yamldoc.Node)) {
	f(n)
	for _, k := range n.Keys {
		f(k)
	}
	for _, item := range n.Items {
		each(item, f)
	}
}
