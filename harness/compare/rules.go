package compare

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Rules say how two targets may differ. The zero Rules compare everything but headers.
type Rules struct {
	Headers  []string // names of the response header fields to compare, in upper or lower case
	Volatile []jsondiff.Volatile
	IDs      []ident.IDShape // shapes of ids, in addition to the built-in ones
	// Streams has rules by the stream's name or its operation ("GET /event"). The name takes precedence.
	Streams map[string]streamdiff.Rules
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

// stream returns the rules for a stream.
func (r *Rules) stream(name, operation string) streamdiff.Rules {
	return r.Streams[r.streamKey(name, operation)]
}

// streamKey returns the key of the rules for a stream. All sockets of a stub's rule have the same rules.
func (r *Rules) streamKey(name, operation string) string {
	name, _, _ = strings.Cut(name, " ")
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

// Outside reports whether an event is not part of the sequence that is compared: see streamdiff.Rules.
func (r *Rules) Outside(stream, operation string, ev *transcript.Event) bool {
	rules := r.stream(stream, operation)
	return rules.Outside(ev)
}

// Beats reports whether an event is a heartbeat, and so only keeps its stream alive.
func (r *Rules) Beats(stream, operation string, ev *transcript.Event) bool {
	return r.stream(stream, operation).Heartbeat.Is(ev)
}

// Labels returns the names of a stream's events in reports: see streamdiff.Rules.
func (r *Rules) Labels(s *transcript.Stream) []string {
	rules := r.stream(s.Name, s.Operation)
	return rules.Labels(s)
}

// EventVolatile returns the rules for the values in an event of a stream, whose data are a JSON document.
func (r *Rules) EventVolatile(s *transcript.Stream, data *jsontree.Node) []jsondiff.Volatile {
	if !r.stream(s.Name, s.Operation).JSONRPC {
		return r.volatile(s.Step)
	}
	return rpcVolatile(data, r.volatile(s.Step))
}

// UpstreamVolatile returns the rules for values in requests that one rule of a stub answered, or that were sent to an
// MCP server with one method. The most specific rules come first.
func (r *Rules) UpstreamVolatile(step *transcript.Step) []jsondiff.Volatile {
	upstream, method, _ := strings.Cut(step.ID, ".")
	if step.ToMCP() {
		return slices.Concat(r.MCP[upstream+" "+method], r.MCP[method], r.Volatile)
	}
	return slices.Concat(r.Steps[step.ID].Volatile, r.Stubs[upstream].Volatile, r.Volatile)
}

// defaultUpstreamHeaders are the fields of requests to stubs that are compared when no rule names any. They show the
// type of the body, and the key for the upstream.
var defaultUpstreamHeaders = []string{"Content-Type", "Authorization", "X-Api-Key"}

// UpstreamHeaders returns the names of the header fields to compare in requests to a stub, each once. step is the id of
// the step for one of the stub's rules.
func (r *Rules) UpstreamHeaders(stub, step string) []string {
	names := defaultUpstreamHeaders
	if own := r.Stubs[stub].Headers; own != nil {
		names = own
	}
	return transcript.AddNames(names, r.Steps[step].Headers...)
}
