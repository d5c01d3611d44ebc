package scenario

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"weak"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A Script is what a client does in a scenario. It is the same in all rows of a table, and must not be changed.
type Script struct {
	Texts    []Var  // repeated texts, which are the same in every run
	Vars     []Var  // in the order in which they are resolved
	Stubs    []Stub // what upstreams respond meanwhile
	Steps    []Step
	Teardown []Step
}

// A Var is a named value.
type Var struct {
	Name  string
	Value Value
}

// Definitions returns the values that have a name before the first step: repeated texts, the columns of the row,
// variables. Each may use only those before it.
func (s *Scenario) Definitions() []Var {
	script := s.Script()
	out := slices.Clone(script.Texts)
	for _, name := range slices.Sorted(maps.Keys(s.Row)) {
		out = append(out, Var{"row." + name, s.Row[name]})
	}
	return append(out, script.Vars...)
}

// Script returns what the client does. A script needs ten times the memory of its text, and is used only for a moment
// of the run. So it is kept while it is referenced, until the next garbage collection. Later calls decode it again.
func (s *Scenario) Script() *Script { return s.source.script() }

// Walk calls f with each step of the scenario, including those of parallel branches and of the teardown.
func (s *Scenario) Walk(f func(*Step)) { s.Script().walk(f) }

// Walk calls f with the step, and with those of its parallel branches.
func (s *Step) Walk(f func(*Step)) { walk([]Step{*s}, f) }

func (s *Script) walk(f func(*Step)) {
	walk(s.Steps, f)
	walk(s.Teardown, f)
}

// UpstreamText is the name in reports of the requests that a stub rule has answered.
func UpstreamText(stub, rule string) string {
	switch {
	case builtInRules[rule] != "":
		return "upstream " + stub + ", " + builtInRules[rule]
	case rule[0] >= '0' && rule[0] <= '9':
		return "upstream " + stub + ", rule " + rule
	default:
		return "upstream " + stub + ", rule " + strconv.Quote(rule)
	}
}

// These rules exist without being in a scenario.
const (
	ModelsRule        = "models"        // the list of models, which a stub answers by itself
	AuthorizationRule = "authorization" // what an authorization server answers by itself
	protectedRule     = "protected"     // what its protected MCP server answers, with the method
	UnexpectedRule    = "unexpected"    // what nothing answers
)

// builtInRules are the names in reports of the rules that exist without being in a scenario.
var builtInRules = map[string]string{
	ModelsRule: "the list of models", AuthorizationRule: "without a rule", UnexpectedRule: "no rule",
	protectedRule + "-post": "a message", protectedRule + "-get": "a stream of messages", protectedRule + "-delete": "the end of a session",
}

// BuiltInRules returns the names of the rules that exist without being in a scenario.
func BuiltInRules() []string { return slices.Sorted(maps.Keys(builtInRules)) }

// BuiltInRule is the rule of what a stub answers by itself. chats says whether it is the API of a model. A protected MCP
// server has one for each method: it is chance which of two methods comes first.
func BuiltInRule(chats, protected bool, method string) string {
	switch {
	case chats:
		return ModelsRule
	case protected && (method == "GET" || method == "POST" || method == "DELETE"):
		return protectedRule + "-" + strings.ToLower(method)
	}
	return AuthorizationRule
}

// UpstreamID is the id of a transcript's step with the requests that a stub rule has answered.
func UpstreamID(stub, rule string) string { return stub + "." + rule }

func walk(steps []Step, f func(*Step)) {
	for i := range steps {
		f(&steps[i])
		if p, ok := steps[i].Do.(*Parallel); ok {
			for _, b := range p.Branches {
				walk(b.Steps, f)
			}
		}
	}
}

// rules returns the rules of single steps.
func (s *Script) rules() []StepRules {
	var out []StepRules
	s.walk(func(step *Step) {
		if r := step.Rules(); !r.empty() {
			out = append(out, StepRules{step.ID, r})
		}
	})
	for _, stub := range s.Stubs {
		for _, rule := range stub.Rules {
			if !rule.Compare.empty() {
				out = append(out, StepRules{UpstreamID(stub.Name, rule.Name), rule.Compare})
			}
		}
	}
	return out
}

// A source is the text of a file without mistakes. All scenarios of the file share it.
type source struct {
	root   func() *yamldoc.Node // of the file, including the steps of fragments
	decode func() *Script

	mu      sync.Mutex
	decoded weak.Pointer[Script]
}

func (s *source) script() *Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.decoded.Value()
	if out == nil {
		out = s.decode()
		s.decoded = weak.Make(out)
	}
	return out
}
