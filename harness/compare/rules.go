package compare

import (
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Rules say how two targets may differ. The zero Rules compare everything but headers.
type Rules struct {
	Headers  []string // names of the response header fields to compare, in upper or lower case
	Volatile []jsondiff.Volatile
	IDs      []ident.IDShape // shapes of ids, in addition to the built-in ones
	// Streams has rules by the stream's name or its operation ("GET /event"). The name takes precedence.
	Streams map[string]Stream
	// Steps adds rules for single steps, by the step's id. A stream belongs to the step that opened it.
	Steps map[string]Step
	// Stubs has rules for requests to upstreams, by the stub's name. Header fields that are named there replace the
	// default ones.
	Stubs map[string]Step
	// MCP has rules for messages to MCP servers, by the method ("tools/call"), or by the server's name and the method
	// ("tester tools/call").
	MCP map[string][]jsondiff.Volatile
}

// Step has the rules of one step.
type Step struct {
	Headers  []string
	Volatile []jsondiff.Volatile
}

// Stream says how the events of a stream are compared.
type Stream struct {
	// Exact compares the notation of each event byte for byte, and not only its meaning to a client.
	Exact bool
	// OrderWithin is a JSONPath. Events with the same value there are compared in order, and those with different
	// values in any order. With "", all events are in order.
	OrderWithin string
	// Anchors are the names of events that no other event may pass, even if the order is free.
	Anchors   []string
	Heartbeat *Heartbeat
	// Optional are the names of events that one side may send and the other not.
	Optional []string
	// Collapse says which events are pieces of texts.
	Collapse []Collapse
	Gap      *Gap // limits the time from a request to an event; nil: no limit
}

// stream returns the rules for a stream.
func (r *Rules) stream(name, operation string) Stream { return r.Streams[r.streamKey(name, operation)] }

// streamKey returns the key of the rules for a stream.
func (r *Rules) streamKey(name, operation string) string {
	if _, ok := r.Streams[name]; ok {
		return name
	}
	return operation
}

// volatile returns the rules for values in a step, the step's own first.
func (r *Rules) volatile(step string) []jsondiff.Volatile {
	own := r.Steps[step].Volatile
	if len(own) == 0 {
		return r.Volatile
	}
	return append(own[:len(own):len(own)], r.Volatile...)
}

// ProjectIDs returns the ids in a text that have one of the project's own shapes.
func (r *Rules) ProjectIDs(text string) []ident.ProjectID { return ident.ProjectIDs(r.IDs, text) }

// Shape returns a function that replaces values that change from run to run in texts of a transcript: see ident.Shape.
func (r *Rules) Shape(t *transcript.Transcript) func(text string) string {
	return ident.Shape(r.IDs, t)
}
