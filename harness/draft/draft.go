// Package draft makes a first project of an OpenAPI document: a lockstep.yaml, and a scenario for each operation that
// sends a request which obeys the document.
//
// Values are taken from the document where it has them (example, examples, default, enum), and made up within its bounds
// where it has none. What is made up has a token of its own in it, so that scenarios which run side by side do not meet.
// Each request is held against the document before it is written; where none can be found that obeys it, the draft is set
// aside, under a name that no run reads, with what the document has against it.
package draft

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

// A Draft is a project that nobody has looked at yet.
type Draft struct {
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
func New(data []byte, doc *contract.Document, options *Options) (*Draft, error) {
	var opts Options
	if options != nil {
		opts = *options
	}
	tree, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	d := drafter{doc: doc, tree: tree, opts: opts, taken: map[string]bool{}}
	out := &Draft{Config: d.config()}
	for _, op := range doc.Operations() {
		out.Scenarios = append(out.Scenarios, d.scenario(op))
	}
	return out, nil
}

// A drafter makes one project.
type drafter struct {
	doc   *contract.Document
	tree  *openapi3.T
	opts  Options
	taken map[string]bool // ids of scenarios
}

// item returns what the document has for a path.
func (d *drafter) item(path string) *openapi3.PathItem { return d.tree.Paths.Value(path) }

// base returns the path that the document's servers put before all others.
func (d *drafter) base(path, method string) string {
	servers := d.tree.Servers
	if item := d.item(path); item != nil {
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
func (d *drafter) started() bool {
	for _, t := range d.opts.Targets {
		if t.Command == nil {
			return false
		}
	}
	return len(d.opts.Targets) > 0
}
