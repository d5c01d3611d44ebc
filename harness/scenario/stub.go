package scenario

import (
	"bytes"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// StubPrefix is the prefix of the name of a stub's URL: ${{ stub.llm }}.
const StubPrefix = "stub."

// A Stub is what a scripted upstream responds in a scenario.
type Stub struct {
	Name         string // as in lockstep.yaml
	Rules        []StubRule
	Line, Column int // of the name
}

// A StubRule responds to requests that a target sends to a stub. A request gets the response of the first rule that
// matches it and is not used up.
type StubRule struct {
	Name string // its name in the file, or its number

	Line, Column int
	// Min and Max are how often it may respond. A negative Max means any number.
	Min, Max int
	// AnyOrder means that the requests that it answers have no order.
	AnyOrder bool
	Cadence  *Cadence
	When     When
	Answer   StubAnswer
	// Silent means that it has no answer: it takes what was exported to a collector.
	Silent  bool
	Compare Rules
}

// A Cadence says when the target must ask again, see transcript.Cadence. Since is the name of a rule of the same stub.
type Cadence struct {
	transcript.Cadence
	Line, Column int
}

// Of returns the cadence with the id of a step of the stub; nil without one.
func (c *Cadence) Of(stub string) *transcript.Cadence {
	if c == nil {
		return nil
	}
	out := c.Cadence
	if out.Since != "" {
		out.Since = UpstreamID(stub, out.Since)
	}
	return &out
}

// A When selects requests. Every field that is set must match.
type When struct {
	Method  string    // "" means any
	Path    *Template // without a query; nil means any, or the path for chats
	Query   []Parameter
	Demands *Expect // of header fields and the body
	// The other fields are about the conversation that is sent to a model.
	Last, System, Result *Template  // texts in the last message, in the system prompt, in a tool result that is the last message
	Tool, Model          *Template  // a tool that is offered, and the requested model
	Args                 []Template // all arguments of a started program; nil means any
	Stream               *bool
}

// Converses reports whether it has a condition on a conversation with a model.
func (w *When) Converses() bool {
	return w.Last != nil || w.System != nil || w.Result != nil || w.Tool != nil || w.Model != nil || w.Stream != nil
}

// A StubAnswer is the response of a rule: a message of a model, or a plain HTTP response.
type StubAnswer struct {
	After  time.Duration // delay before its head
	Status int           // 0 means 200
	Header []Parameter
	Body   *Body     // a plain response
	Error  *Template // a message, in the format of the upstream's errors
	Pieces []StubPiece
	ID     *Template // of the message
	Model  *Template
	Stop   *Template // why the model stopped, as it is sent
	Usage  StubUsage
	End    StubEnd
	Script *StubScript // the response is another protocol
	// Callback are parameters of the redirection to the client of an authorization server. nil leaves one out.
	Callback map[string]*Template
}

// A StubScript is what a stub does on a socket, or as a program.
type StubScript struct {
	Wire  transcript.Wire
	Turns []Turn
}

// A Turn is one line of a script.
type Turn struct {
	After time.Duration // delay before it
	// Do is a *Send, an *Await, a *Hangup that closes or drops a socket, or the *Exit of a program. They name no stream.
	Do           Action
	Line, Column int
}

// A StubPiece is a part of a message, of one kind.
type StubPiece struct {
	After          time.Duration // delay after the previous piece
	Text, Thinking *Template
	Each           bool      // if the text is a list, each of its items is a piece
	Raw            *Template // bytes that are sent unchanged, whatever the format
	Tool           *StubTool
}

// A StubTool is a tool call.
type StubTool struct {
	Name      Template
	ID        *Template
	Input     Value      // unset means {}
	Arguments []Template // its text in the pieces of a stream, instead of Input
	Each      bool       // if the only item is a list, each of its items is a piece
}

type StubUsage struct{ Input, Output int }

type StubEnd string

// The ways in which a response can end early.
const (
	StubCut   StubEnd = "cut"   // the connection is closed
	StubReset StubEnd = "reset" // the connection is reset
	StubHang  StubEnd = "hang"  // nothing more is sent
)

// asItIs reports whether it is a plain HTTP response.
func (a *StubAnswer) asItIs() bool { return a.Body != nil || a.Error != nil }

// A StubUse is where a scenario uses a stub's URL.
type StubUse struct {
	Name string
	Place
}

// UsesStubs returns where the scenario's file uses the URLs of stubs.
func (s *Scenario) UsesStubs() []StubUse {
	if !bytes.Contains(s.Text, []byte(StubPrefix)) {
		return nil
	}
	var out []StubUse
	root, _ := yamldoc.Parse(s.File, s.Text) // the file has been parsed before without a problem
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

// each calls f with a node and everything inside it.
func each(n *yamldoc.Node, f func(*yamldoc.Node)) {
	f(n)
	for _, k := range n.Keys {
		f(k)
	}
	for _, item := range n.Items {
		each(item, f)
	}
}
