package scaffold

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// programOf returns the operation of a program that the document describes; nil when there is none.
func programOf(doc *contract.Document) *contract.Operation {
	if doc.IsAbsent() {
		return nil
	}
	op, _ := doc.Named(string(transcript.WireProgram))
	return op
}

// arePrograms reports whether the targets are programs: if they are given, or if the document has nothing else.
func (g *generator) arePrograms() bool {
	if len(g.opts.Targets) > 0 {
		return slices.ContainsFunc(g.opts.Targets, func(t Target) bool { return t.Program })
	}
	return programOf(g.doc) != nil && len(g.doc.Operations()) == 0
}

// programScenario generates the scenario of a program. It starts the program, and ends its input.
func (g *generator) programScenario(op *contract.Operation) File {
	f := File{Operation: op.String(), Name: op.String() + ".yaml"}
	var b strings.Builder
	b.WriteString(modeline(scenarioSchema))
	if !g.arePrograms() {
		f.Missing = "the targets are servers: a project of its own can start the program (--program)"
		f.Name += ".todo"
		fmt.Fprintf(&b, "# Set aside, because %s.\n", f.Missing)
	}
	fmt.Fprintf(&b, "scenario: %s\nwhy: The program starts, and ends with its input\nsource: %s\nsteps:\n", op, yamldoc.Line(cmp.Or(g.opts.Contract, "openapi.yaml")+", x-messages"))
	fmt.Fprintf(&b, "  - open: program\n    program: {}\n%s  - half-close: program\n  - await: program\n    match: {event: exit}\n", messageHint(op))
	f.Text = []byte(b.String())
	return f
}

// messageHint is written into a scenario whose socket or program is open, but which sends nothing yet.
func messageHint(op *contract.Operation) string {
	name := string(transcript.WireProgram)
	if op.IsSocket() {
		name = string(transcript.WireSocket)
	}
	var sent, received []string
	if op.Messages != nil {
		sent, received = op.Messages.Sent.Names, op.Messages.Received.Names
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  # Add a step that sends a message, and await the answer:\n  # - send: %s\n  #   json: {}%s\n", name, oneOf(sent))
	fmt.Fprintf(&b, "  # - await: %s\n  #   match: {event: its-name}%s\n", name, oneOf(received))
	return b.String()
}

// oneOf lists the names of messages as a comment.
func oneOf(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "   # " + oneLine(strings.Join(names, ", "))
}
