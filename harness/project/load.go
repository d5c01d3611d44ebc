package project

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/regular"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// Load reads lockstep.yaml, the contract and every scenario. When files have mistakes, the error is scenario.Problems
// with all mistakes of all files.
func Load(file string) (*Project, error) {
	l, err := read(file)
	if err != nil {
		return nil, err
	}
	if err := l.reader.problems.Err(); err != nil {
		return nil, err
	}
	return l.p, nil
}

// read reads a project as far as its mistakes allow, and sorts the mistakes.
func read(file string) (*loader, error) {
	data, err := regular.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, scenario.Problems{{File: file, What: "no such file", Fix: "lockstep init creates one; or name another with --config"}}
	}
	if err != nil {
		return nil, err
	}
	root, problems := yamldoc.Parse(file, data)
	if len(problems) > 0 {
		return nil, problems
	}
	p := &Project{File: file, Reference: root.Get("reference").Str(), Sums: Sums{Rules: sum(data)}, targetSettings: map[string]map[string]string{}}
	l := loader{reader: &reader{file: file, dir: filepath.Dir(file), problems: compiledSchema().Check(file, root)}, p: p}
	if len(l.reader.problems) == 0 { // otherwise the nodes may have any shape
		l.secrets(root.Get("secrets"))
		l.stubs(root.Get("stubs"))
		p.settings = settingSums("", root, "secrets", "stubs")
		(&targetLoader{reader: l.reader, p: p, root: root}).load()
		l.limits(root.Get("limits"))
		l.rules(root.Get("compare"))
		l.schemaOK = true
	}
	l.contract(root)
	l.p.WaiversFile = l.waiversFile(root)
	if err := l.scenarios(root.Get("scenarios")); err != nil {
		return nil, err
	}
	l.waivers(root.Get("waivers"))
	l.baseline(root.Get("baseline"))
	l.coverageGate(root.Entry("coverage"))
	l.checkStreamRules()
	l.reader.problems = l.reader.problems.Sort()
	return &l, nil
}

// A loader fills a project from the nodes of its file. It ignores nodes that break the schema, and still reads the
// other files.
type loader struct {
	reader          *reader
	p               *Project
	schemaOK        bool // the file obeys its schema
	brokenScenarios bool // some scenarios have mistakes
}

func (l *loader) limits(n *yamldoc.Node) {
	l.p.Limits = Limits{
		Step: l.reader.duration(n.Get("step")), Scenario: l.reader.duration(n.Get("scenario")), Settle: l.reader.duration(n.Get("settle")),
		Body: int64(l.reader.integer(n.Get("body"))), Events: l.reader.integer(n.Get("events")),
	}.withDefaults()
}

func (l *loader) rules(n *yamldoc.Node) {
	rules, problems := scenario.DecodeRules(l.p.File, n)
	l.checkStubNames(n.Get("stubs"))
	if n.Get("headers") == nil { // an empty list means that no header fields are compared
		rules.Headers = []string{"Content-Type"}
	}
	l.p.Rules = rules
	l.reader.problems = append(l.reader.problems, problems...)
}

func (l *loader) contract(root *yamldoc.Node) {
	n := root.Get("contract")
	if n == nil {
		l.p.Contract = contract.Absent()
	}
	if !namesFile(n) {
		return
	}
	file := l.reader.path(n.Text)
	data, err := regular.Read(file)
	if err != nil {
		l.reader.problem(n, err.Error(), "name the OpenAPI document, relative to this file")
		return
	}
	files := NewContractFiles(file)
	doc, err := contract.Parse(data, &contract.Options{
		File: file, AllowUndocumentedFields: root.Get("undocumented").Str() == "allow", Open: files.Open,
	})
	l.p.addedFiles = append(l.p.addedFiles, files.Names...)
	l.p.Sums.Contract = sum(append(data, files.texts...))
	if problems, ok := errors.AsType[contract.Problems](err); ok {
		for _, p := range problems {
			l.reader.problems = append(l.reader.problems, scenario.Problem(p))
		}
		return
	}
	l.p.Contract, l.p.ContractFile = doc, file
}

// namesFile reports whether a node is a file name, as the schema demands.
func namesFile(n *yamldoc.Node) bool { return n != nil && n.Kind == yamldoc.String && n.Text != "" }

func (l *loader) scenarios(n *yamldoc.Node) error {
	if !namesFile(n) {
		return nil
	}
	dir := l.reader.path(n.Text)
	l.p.scenarioDir = dir
	if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		l.reader.problem(n, dir+" is not a folder", "name the folder with the scenarios, relative to this file")
		return nil
	}
	texts := sha256.New()
	err := scenario.Each(dir, func(rows []*scenario.Scenario) {
		if l.p.Contract != nil && l.schemaOK {
			rows = l.dropValidRows(rows)
		}
		for _, s := range rows {
			s.Fresh = s.Fresh || areDrivers(l.p.Targets) // so that all requests at its stubs are its own
		}
		l.p.Scenarios = append(l.p.Scenarios, rows...)
		l.checkAgainstContract(rows)
		if len(rows) > 0 && l.schemaOK {
			l.reader.problems = append(l.reader.problems, checkNeeds(l.p, rows[0])...)
		}
		for _, s := range rows {
			whole := s.Whole()
			fmt.Fprintf(texts, "%s\n%d\n", s.ID, len(whole))
			texts.Write(whole)
		}
	}, l.p.WaiversFile)
	l.p.Sums.Scenarios = hex.EncodeToString(texts.Sum(nil))
	if problems, ok := errors.AsType[scenario.Problems](err); ok {
		l.reader.problems, l.brokenScenarios = append(l.reader.problems, problems...), true
	} else if err != nil {
		return err
	} else if len(l.p.Scenarios) == 0 {
		l.reader.problem(n, "no scenario in "+dir, "write one: docs/scenarios.md describes the language")
	}
	return nil
}

// dropValidRows removes the generated rows whose requests obey the contract.
func (l *loader) dropValidRows(rows []*scenario.Scenario) (out []*scenario.Scenario) {
	left := map[int]bool{} // the lines of the file that still have rows
	for _, s := range rows {
		if !s.Generated || !obeysContract(l.p, s) {
			out, left[s.Line] = append(out, s), true
		}
	}
	for _, s := range rows {
		if !left[s.Line] {
			left[s.Line] = true
			l.reader.problems = append(l.reader.problems, scenario.Problem{
				File: s.File, Line: s.Line, Column: s.Column, What: "this row has no invalid value: the contract allows all of them",
				Fix: "name another column under wrong, and send it in a step marked malformed: true",
			})
		}
	}
	return out
}

// checkAgainstContract checks scenarios of a file against the contract. It does so while the script is in memory, see
// scenario.Script.
func (l *loader) checkAgainstContract(rows []*scenario.Scenario) {
	if l.p.Contract == nil {
		return
	}
	if len(rows) == 0 {
		return
	}
	l.reader.problems = append(l.reader.problems, checkScenario(l.p, rows[0])...) // rows share their steps
	if l.schemaOK {                                                               // needed for the header fields of targets
		l.reader.problems = append(l.reader.problems, checkRequests(l.p, rows)...)
	}
}

// checkStreamRules checks that the rules of the project name streams of the contract.
func (l *loader) checkStreamRules() {
	if l.p.Contract == nil {
		return
	}
	for name, rule := range l.p.Rules.Streams { // the order does not matter, because problems are sorted by their place
		op, _ := l.p.Contract.Named(name)
		l.reader.problems = append(l.reader.problems, checkStreamRule(l.p, name, rule)...)
		l.reader.problems = append(l.reader.problems, checkRuleEvents(op, rule)...)
	}
}

func (l *loader) secrets(n *yamldoc.Node) {
	s := &l.p.Secrets
	for key, list := range map[string]*[]string{"env": &s.Env, "headers": &s.Headers, "at": &s.At} {
		for _, item := range n.Get(key).Elements() {
			*list = append(*list, item.Text)
			if key != "at" {
				continue
			}
			if _, err := jsonpath.Parse(item.Text); err != nil {
				l.reader.problem(item, fmt.Sprintf("%q is not a valid JSONPath: %v", item.Text, err), "write a path such as $..apiKey (RFC 9535)")
			}
		}
	}
}

func (l *loader) stubs(n *yamldoc.Node) {
	for k, v := range n.Entries() {
		s := Stub{Name: k.Text, Kind: stub.Kind(v.Get("kind").Text)}
		if models, _ := v.Entry("models"); models != nil && !s.Kind.Chats() {
			l.reader.problem(models, fmt.Sprintf("the stub %q lists models, but its kind is %s", s.Name, s.Kind), "remove models, or write kind: openai or anthropic")
		}
		if env, _ := v.Entry("env"); env != nil && s.Kind != stub.Stdio {
			l.reader.problem(env, fmt.Sprintf("the stub %q names variables, but its kind is %s", s.Name, s.Kind), "remove env, or write kind: stdio")
		}
		for _, name := range v.Get("env").Elements() {
			s.Env = append(s.Env, name.Text)
		}
		for _, m := range v.Get("models").Elements() {
			s.Models = append(s.Models, m.Text)
		}
		l.p.Stubs = append(l.p.Stubs, s)
	}
}

// checkStubNames checks that the project's own rules for stubs name existing stubs.
func (l *loader) checkStubNames(n *yamldoc.Node) {
	for k := range n.Entries() {
		if !slices.Contains(l.p.stubNames(), k.Text) {
			l.reader.problem(k, fmt.Sprintf("the project does not define the stub %q", k.Text), problem.OneOf(k.Text, l.p.stubNames()))
		}
	}
}
