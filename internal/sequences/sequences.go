// Package sequences generates scenarios at random: sequences of requests in which later steps meet the state that
// earlier ones left. The operations and the schemas of their bodies come from the contract; interesting values come
// from tables. The same seed gives the same sequences, byte for byte.
package sequences

import (
	"cmp"
	"fmt"
	"math/rand"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A Generator generates sequences for a contract.
type Generator struct {
	api      *openapi3.T
	contract *contract.Document
	ops      []operation
	total    int
}

type operation struct {
	*openapi3.Operation
	method, path string
}

// New returns a generator for a contract.
func New(document []byte) (*Generator, error) {
	api, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		return nil, err
	}
	checked, err := contract.Parse(document, nil)
	if err != nil {
		return nil, err
	}
	g := &Generator{api: api, contract: checked}
	for path, item := range api.Paths.Map() {
		for method, op := range item.Operations() {
			g.ops = append(g.ops, operation{op, method, path})
			g.total += weights[op.OperationID]
		}
	}
	slices.SortFunc(g.ops, func(a, b operation) int { return cmp.Compare(a.OperationID, b.OperationID) })
	return g, nil
}

// A Sequence is a generated scenario, in groups of steps.
type Sequence struct {
	Groups []Group
	seed   uint64
	number int
	env    string
	vars   map[string]string
	rules  []string // of the model; a later rule wins
}

// A Group is a list of steps that only make sense together. Shrinking removes them together.
type Group struct {
	Steps        []string
	gives, needs []string // names of captures and streams
}

// Sequence generates the sequence with the given number.
func (g *Generator) Sequence(seed uint64, number int) *Sequence {
	v := &values{Rand: rand.New(rand.NewSource(int64(seed*1_000_003) + int64(number))), schemas: g.api.Components.Schemas}
	q := &Sequence{seed: seed, number: number, vars: map[string]string{"client": v.pick(clients), "other": v.pick(clients), "ours": "our-" + v.pick(clients), "unknown": v.pick([]string{"20000101_1", "none", "__proto__", "é"})}}
	s := &story{g: g, sequence: q, values: v, out: &writer{contract: g.contract, sequence: q}, ask: v.chance(3)}
	v.names = []string{v.pick(extensions), v.pick(extensions)}
	mode := "auto"
	if s.ask {
		mode = "approve"
	}
	q.env = fmt.Sprintf("{GOOSE_MODE: %s}", mode)
	withSessions := true
	if v.chance(3) {
		v.small = true
		s.clients = &clientTools{values: v, out: s.out, tools: map[string]int{}, pending: map[string]string{}, ours: []string{"ours"}}
		withSessions = v.chance(3)
		s.out.add("- open: bus\n  sse: GET /event\n  ready: {event: server.connected}\n")
	}
	if withSessions {
		s.start()
		for range v.Intn(3) {
			s.extend()
		}
	}
	for want := 5 + v.Intn(11); q.Steps() < want; {
		if s.clients != nil && (!withSessions || v.chance(2)) && !v.chance(4) {
			s.clients.tool()
			continue
		}
		s.next(withSessions)
	}
	return q
}

// next adds one action: one that creates, uses or ends state, or any operation.
func (s *story) next(withSessions bool) {
	if withSessions {
		switch s.values.Intn(18) {
		case 0:
			s.start()
			return
		case 1:
			s.remove()
			return
		case 2, 3, 4:
			s.reply()
			return
		case 5, 6:
			s.meanwhile()
			return
		case 7:
			s.copied()
			return
		case 8, 9:
			s.extend()
			return
		case 10:
			s.imported()
			return
		}
	}
	n := s.values.Intn(s.g.total)
	for _, o := range s.g.ops {
		if n -= weights[o.OperationID]; n < 0 {
			if ours := strings.HasPrefix(o.path, "/client-tools"); ours && s.clients != nil || !ours && withSessions {
				s.generic(o)
			}
			return
		}
	}
}

// extend adds an extension to a session.
func (s *story) extend() {
	name, odd := text(s.values.pick(s.values.names)).String(), text(s.values.safe()).String()
	config := parse(strings.NewReplacer("NAME", name, "ODD", odd).Replace(s.values.pick(configs)))
	s.out.add(s.out.step("POST", "/agent/add_extension", object("session_id", s.values.session(), "config", config), "within: 20s"))
}

// answer adds a rule for how the model answers a message that contains the mark, and returns the mark. A message can
// contain earlier ones that were never answered, so the last mark counts.
func (s *story) answer(word string) (mark string) {
	call := calls[s.values.Intn(len(calls))]
	if s.ask { // the server does not ask the user about a tool that does not exist
		call = calls[s.values.Intn(8)]
	}
	odd, more := yamldoc.Scalar(s.values.safe()), yamldoc.Scalar(s.values.safe())
	input := strings.NewReplacer("ODD", odd, "MORE", more).Replace(call[1])
	mark = fmt.Sprintf("(%d)", len(s.sequence.rules)+1)
	answer := strings.NewReplacer("CALL", yamldoc.Scalar(call[0]), "INPUT", input, "ODD", odd).Replace(answers[word])
	s.sequence.rules = append(s.sequence.rules, fmt.Sprintf("{name: answer%d, when: {last: %q}, answer: %s, times: 0..1}", len(s.sequence.rules)+1, mark, answer))
	return mark
}

// stubs returns the rules of the model stubs as YAML.
func (q *Sequence) stubs() string {
	var b strings.Builder
	for _, stub := range []string{"llm", "claude"} {
		b.WriteString("  " + stub + ":\n    - {name: title, when: {stream: false}, answer: {text: Titled}, times: any}\n")
		for _, r := range slices.Backward(q.rules) {
			b.WriteString("    - " + r + "\n")
		}
		// Without this rule, a server orders a model a thousand times to give the final output.
		b.WriteString("    - {name: ordered, when: {last: You MUST call}, answer: {status: 400, error: No}, times: any}\n")
		b.WriteString("    - {name: rest, answer: {text: As you like, usage: {input: 3, output: 4}}, times: any}\n")
	}
	return b.String()
}

// Name returns the path of the sequence's file.
func (q *Sequence) Name() string { return fmt.Sprintf("seed-%d/sequence-%d", q.seed, q.number) }

// Steps returns the number of steps.
func (q *Sequence) Steps() (n int) {
	for _, g := range q.Groups {
		for _, s := range g.Steps {
			n += strings.Count("\n"+s, "\n- ")
		}
	}
	return n
}

// Operations returns the contract's operations that the sequence requests, in order.
func (g *Generator) Operations(q *Sequence) (names []string) {
	for _, group := range q.Groups {
		for _, m := range asks.FindAllStringSubmatch(strings.Join(group.Steps, ""), -1) {
			if op, ok := g.contract.Operation(m[1], expression.ReplaceAllString(m[2], "x")); ok {
				names = append(names, op.String())
			}
		}
	}
	return names
}

// header starts each scenario: its name, number and seed, and the servers' environment.
const header = `scenario: %s
why: Sequence %d of seed %d
source: openapi.yaml
isolate: fresh
env: %s
compare: {ids: [{name: text-file, pattern: "mcp_response_([0-9A-Za-z_.]+)\\.txt", because: each server names the files of large texts in its own way}]}
`

var asks = regexp.MustCompile(`(?:http|sse): "?(\w+) ([^"\n]*)`)

// Scenario writes the sequence as a scenario with the given name.
func (q *Sequence) Scenario(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, header, name, q.number, q.seed, q.env)
	var steps strings.Builder
	for _, g := range q.Groups {
		steps.WriteString(strings.Join(g.Steps, ""))
	}
	var vars []string
	for _, v := range sorted(q.vars) {
		if strings.Contains(steps.String(), "{{ "+v+" }}") {
			vars = append(vars, v+": "+yamldoc.Scalar(q.vars[v]))
		}
	}
	if len(vars) > 0 {
		b.WriteString("vars: {" + strings.Join(vars, ", ") + "}\n")
	}
	rest := "stubs:\n" + q.stubs() + "steps:\n" + steps.String()
	if strings.Contains(rest, "${{ long }}") {
		b.WriteString("repeat: {long: {text: xy, times: 40000}}\n")
	}
	b.WriteString(rest)
	return b.String()
}

// Without returns the sequence without one group and without the groups that need its captures or streams.
func (q *Sequence) Without(i int) *Sequence {
	out := *q
	out.Groups = nil
	missing := map[string]bool{}
	for j, g := range q.Groups {
		lacks := slices.ContainsFunc(g.needs, func(n string) bool { return missing[n] })
		if j != i && !lacks {
			out.Groups = append(out.Groups, g)
			continue
		}
		for _, name := range g.gives {
			missing[name] = true
		}
	}
	return &out
}
