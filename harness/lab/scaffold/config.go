package scaffold

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// config writes lockstep.yaml.
func (g *generator) config() []byte {
	targets := g.opts.Targets
	switch {
	case len(targets) == 0 && g.arePrograms():
		targets = []Target{{Name: "old", Command: []string{"./old"}, Program: true}, {Name: "new", Command: []string{"./new"}, Program: true}}
	case len(targets) == 0:
		targets = []Target{{Name: "old", URL: "http://127.0.0.1:3000"}, {Name: "new", URL: "http://127.0.0.1:3001"}}
	}
	var b strings.Builder
	b.WriteString(modeline(projectSchema))
	if g.doc.IsAbsent() {
		b.WriteString("# contract: openapi.yaml   # the OpenAPI document, if there is one: it decides which server is wrong\n")
	} else {
		fmt.Fprintf(&b, "contract: %s\n", yamldoc.Line(cmp.Or(g.opts.Contract, "openapi.yaml")))
	}
	fmt.Fprintf(&b, "scenarios: %s\n", yamldoc.Line(cmp.Or(g.opts.Scenarios, "scenarios")))
	fmt.Fprintf(&b, "reference: %s   # the target that is taken as correct\n\ntargets:\n", targets[0].Name)
	for _, t := range targets {
		g.target(&b, t)
	}
	b.WriteString("\ncompare:\n  headers: [Content-Type]   # the header fields that must be equal\n")
	return []byte(b.String())
}

func (g *generator) target(b *strings.Builder, t Target) {
	fmt.Fprintf(b, "  %s:\n", t.Name)
	within := ""
	switch {
	case t.Command != nil:
		key := "command"
		if t.Program {
			key = "program"
		}
		fmt.Fprintf(b, "    %s: %s\n", key, yamldoc.Flow(jsontree.NewTexts(t.Command)))
		if len(t.Env) > 0 {
			env := &jsontree.Node{Kind: jsontree.Object}
			for _, e := range t.Env {
				env.Set(e[0], jsontree.NewText(e[1]))
			}
			fmt.Fprintf(b, "    env: %s\n", yamldoc.Flow(env))
		}
		within = ", within: 60s"
	default:
		fmt.Fprintf(b, "    url: %s\n", yamldoc.Line(t.URL))
		if len(g.opts.Targets) == 0 {
			b.WriteString("    # where the server runs; or write how to start it on a free port:\n")
			b.WriteString("    # command: [./server, --port, \"${{ port }}\"]\n")
		}
	}
	if t.Program { // it has no requests
		return
	}
	ready, remark := g.ready(), ""
	if ready == guess {
		remark = "   # a guess: a request that shows that the server is ready"
	}
	fmt.Fprintf(b, "    ready: {%s%s}%s\n", ready, within, remark)
	if field, value := credentials(g.paths); field != "" {
		fmt.Fprintf(b, "    # headers: {%s: \"%s\"}   # the contract requires credentials; sent with every request\n", field, value)
	}
}

// credentials returns the header field that a security scheme of the document wants, with a value to fill in. Documents
// that declare 401 want one too, even if they define no scheme. It returns "" for a document without credentials.
func credentials(p paths) (field, value string) {
	tree := p.doc.Tree
	if tree == nil {
		return "", ""
	}
	var schemes openapi3.SecuritySchemes
	if tree.Components != nil {
		schemes = tree.Components.SecuritySchemes
	}
	for _, name := range slices.Sorted(maps.Keys(schemes)) {
		if s := schemes[name].Value; s != nil && s.Type == "apiKey" && s.In == "header" && headerName.MatchString(s.Name) {
			return s.Name, "…"
		}
	}
	rejects := func(op *contract.Operation) bool {
		return p.item(op.Path).GetOperation(op.Method).Responses.Value("401") != nil
	}
	if len(schemes) > 0 || slices.ContainsFunc(p.doc.Operations(), rejects) {
		return "Authorization", "Bearer …"
	}
	return "", ""
}

// headerName matches names that need no quotes in YAML.
var headerName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`)

// likely are words in the paths of operations that show whether a server is ready.
var likely = []string{"health", "ready", "alive", "live", "ping", "status", "version", "info"}

// ready returns the request that shows whether a server is ready. It prefers an operation whose path looks like that,
// and otherwise takes one that can be called without any data.
func (g *generator) ready() string {
	var asked []string
	for _, op := range g.doc.Operations() {
		if g.simple(op) {
			asked = append(asked, g.paths.base(op.Path, op.Method)+op.Path)
		}
	}
	for _, word := range likely {
		if i := slices.IndexFunc(asked, func(path string) bool { return strings.Contains(strings.ToLower(path), word) }); i >= 0 {
			return "get: " + yamldoc.Scalar(asked[i])
		}
	}
	if len(asked) > 0 {
		return "get: " + yamldoc.Scalar(asked[0])
	}
	for _, op := range g.doc.Operations() {
		if path := g.nowhere(op); path != "" {
			return "get: " + yamldoc.Scalar(path) + ", status: 404"
		}
	}
	return guess
}

// guess is used when the document has no suitable operation: most servers respond to it with 404.
const guess = "get: /, status: 404"

// nobody is a name that nothing has.
const nobody = "lockstep-ready"

// nowhere returns a path at which an operation finds nothing and responds with 404, as documented; "" when there is
// none.
func (g *generator) nowhere(op *contract.Operation) string {
	item := g.paths.item(op.Path)
	if op.Method != "GET" || op.Streams() || !strings.Contains(op.Path, "{") || item.Get.Responses.Value("404") == nil {
		return ""
	}
	path := g.paths.base(op.Path, op.Method)
	params := parameters(item, item.Get)
	for _, p := range params {
		if p.Required && p.In != "path" {
			return ""
		}
	}
	for _, part := range parts(op.Path) {
		path += part.text
		if part.name == "" {
			continue
		}
		if p := params["path "+part.name]; p == nil || p.Schema == nil || p.Schema.Value == nil || !free(p.Schema.Value) {
			return ""
		}
		path += nobody
	}
	return path
}

// free reports whether a schema accepts any text.
func free(s *openapi3.Schema) bool {
	s = flat(s, 0)
	return kind(s) == openapi3.TypeString && s.Format == "" && s.Pattern == "" && s.Enum == nil && s.MaxLength == nil && s.MinLength == 0 &&
		len(s.OneOf)+len(s.AnyOf) == 0 && s.Not == nil
}

// simple reports whether an operation can be called without any data.
func (g *generator) simple(op *contract.Operation) bool {
	if op.Method != "GET" || op.Streams() || strings.Contains(op.Path, "{") {
		return false
	}
	item := g.paths.item(op.Path)
	for _, p := range parameters(item, item.Get) {
		if p.Required {
			return false
		}
	}
	return true
}
