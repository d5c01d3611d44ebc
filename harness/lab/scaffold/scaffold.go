// Package scaffold makes a first project from an OpenAPI document: a lockstep.yaml, and a scenario for each operation that
// sends a request which obeys the document.
//
// Values are taken from the document where it has them (example, examples, default, enum), and made up within its bounds
// where it has none. What is made up has a token of its own in it, so that scenarios which run side by side do not meet.
// Each request is checked against the document before it is written; if none can be found that obeys it, the scenario is saved
// as `.yaml.todo`, which no run reads, with the reason.
package scaffold

import (
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/harness/contract"
)

// Options say what is known beside the document. Nil is nothing.
type Options struct {
	// Targets are the servers, the reference first; places for two of them when empty.
	Targets []Target
	// Contract and Scenarios are the paths that lockstep.yaml has; openapi.yaml and scenarios when empty.
	Contract, Scenarios string
}

// A Target is a server that runs, or a command that starts one.
type Target struct {
	Name    string
	URL     string
	Command []string
	Env     [][2]string // names and values, in order
}

// A Project is a first lockstep.yaml with its scenarios, made from a document.
type Project struct {
	Config    []byte // lockstep.yaml
	Scenarios []File
}

// A File is a scenario, or what is left of one.
type File struct {
	Operation string // "POST /notes"
	Name      string // below the folder of the scenarios: "notes/add-note.yaml", or ".yaml.todo" of one that is set aside
	Text      []byte
	// Missing says why the scenario is set aside; "" for one that runs.
	Missing string
}

// New makes a project of a document, whose text data is.
func New(data []byte, doc *contract.Document, options *Options) (*Project, error) {
	var opts Options
	if options != nil {
		opts = *options
	}
	tree, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	g := generator{doc: doc, tree: tree, opts: opts, taken: map[string]bool{}}
	out := &Project{Config: g.config()}
	for _, op := range doc.Operations() {
		out.Scenarios = append(out.Scenarios, g.scenario(op))
	}
	return out, nil
}

// A generator makes one project.
type generator struct {
	doc   *contract.Document
	tree  *openapi3.T
	opts  Options
	taken map[string]bool // ids of scenarios
}

// item returns what the document has for a path.
func (g *generator) item(path string) *openapi3.PathItem { return g.tree.Paths.Value(path) }

// base returns the path that the document's servers put before all others.
func (g *generator) base(path, method string) string {
	servers := g.tree.Servers
	if item := g.item(path); item != nil {
		if len(item.Servers) > 0 {
			servers = item.Servers
		}
		if op := item.GetOperation(method); op != nil && op.Servers != nil && len(*op.Servers) > 0 {
			servers = *op.Servers
		}
	}
	if len(servers) == 0 {
		return ""
	}
	base, err := servers[0].BasePath()
	if err != nil {
		return ""
	}
	return strings.TrimRight(base, "/")
}

// started reports whether lockstep starts all targets, so that a scenario can have them for itself.
func (g *generator) started() bool {
	for _, t := range g.opts.Targets {
		if t.Command == nil {
			return false
		}
	}
	return len(g.opts.Targets) > 0
}
