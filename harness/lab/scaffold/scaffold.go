// Package scaffold generates a first project from an OpenAPI document: a lockstep.yaml, and a scenario for each
// operation that sends a valid request.
//
// Values come from the document if it has them (example, examples, default, enum). Otherwise they are generated within
// its limits. Generated values contain a unique token, so that scenarios which run at the same time do not interfere.
// Each request is checked against the document before it is written. If no valid request can be generated, the scenario
// is saved as `.yaml.todo`, which no run reads, with the reason.
package scaffold

import (
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/harness/contract"
)

// Options say what is known in addition to the document. Nil means nothing.
type Options struct {
	// Targets are the servers, the reference first. When empty, there are placeholders for two servers.
	Targets []Target
	// Contract and Scenarios are the paths in lockstep.yaml. The defaults are openapi.yaml and scenarios.
	Contract, Scenarios string
	// Destructive also completes the scenarios of operations that may destroy what a server holds.
	Destructive bool
}

// A Target is a running server, a command that starts one, or a program that steps start.
type Target struct {
	Name    string
	URL     string
	Command []string
	Program bool        // the command is a program that talks over standard input and output
	Env     [][2]string // names and values, in order
}

// A Project is a first lockstep.yaml with its scenarios, generated from a document.
type Project struct {
	Config    []byte // lockstep.yaml
	Scenarios []File
}

// A File is a scenario, or what could be generated of it.
type File struct {
	Operation string // "POST /notes"
	Name      string // path in the folder of the scenarios: "notes/add-note.yaml", or with ".yaml.todo" when it is incomplete
	Text      []byte
	// Missing says why the scenario is incomplete; "" for one that runs.
	Missing string
}

// New generates a project from a document, which must have been read with KeepTree. For an absent one, the project has no
// contract, and one scenario to begin with.
func New(doc *contract.Document, options *Options) *Project {
	var opts Options
	if options != nil {
		opts = *options
	}
	g := generator{doc: doc, opts: opts, taken: map[string]bool{}, paths: paths{doc: doc, operations: map[string]*contract.Operation{}}}
	for _, op := range doc.Operations() {
		if key := op.Method + " " + anonymous(op.Path); g.paths.operations[key] == nil {
			g.paths.operations[key] = op
		}
	}
	out := &Project{Config: g.config()}
	if doc.IsAbsent() {
		out.Scenarios = []File{{Operation: "GET /", Name: "first.yaml", Text: []byte(first)}}
	}
	for _, op := range doc.Operations() {
		out.Scenarios = append(out.Scenarios, g.scenario(op))
	}
	if op := programOf(doc); op != nil {
		out.Scenarios = append(out.Scenarios, g.programScenario(op))
	}
	return out
}

// modeline tells editors which schema a file has. The URL is that of the published repository.
func modeline(schema string) string {
	return "# yaml-language-server: $schema=https://raw.githubusercontent.com/lockstep-dev/lockstep/main/harness/" + schema + "\n"
}

// first is the scenario of a project without a contract.
var first = modeline(scenarioSchema) + `scenario: first
why: The server answers
source: where that is written
steps:
  - http: GET /
    # expect: {status: 200}   # what each server must do, in addition to being equal
`

const (
	projectSchema  = "project/project.schema.json"
	scenarioSchema = "scenario/scenario.schema.json"
)

type generator struct {
	doc   *contract.Document
	opts  Options
	taken map[string]bool // ids of scenarios
	paths paths
}

// paths finds operations and path items of a document.
type paths struct {
	doc        *contract.Document
	operations map[string]*contract.Operation // by method and path without the names of its parameters; the first one
}

func (p paths) item(path string) *openapi3.PathItem { return p.doc.Tree.Paths.Value(path) }

// base returns the path that the document's servers put before all others.
func (p paths) base(path, method string) string {
	servers := p.doc.Tree.Servers
	if item := p.item(path); item != nil {
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

// started reports whether lockstep starts all targets, so that a scenario can have its own targets.
func (g *generator) started() bool {
	for _, t := range g.opts.Targets {
		if t.Command == nil {
			return false
		}
	}
	return len(g.opts.Targets) > 0
}
