package harness

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/regular"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// ProjectSchema is the JSON Schema of lockstep.yaml.
//
//go:embed project.schema.json
var ProjectSchema []byte

var projectSchema = sync.OnceValue(func() *yamldoc.Schema { return yamldoc.MustSchema(ProjectSchema, scenario.Schema) })

// A Project is what lockstep.yaml says, with the contract and the scenarios it names.
type Project struct {
	File     string
	Contract *contract.Document
	// ContractFile is where it was read.
	ContractFile string
	Scenarios    []*scenario.Scenario // all of them, in the order of their files
	Reference    string               // the target that is taken as right
	Targets      []Target             // in the order of the file
	Rules        scenario.Rules
	Limits       Limits
	Secrets      Secrets
	Stubs        []Stub // upstreams, of which each target has its own
	// Waivers are findings that are accepted for a while, and WaiversFile is where they stand, or would.
	Waivers     []verdict.Waiver
	WaiversFile string
	// Baseline are findings that are known, and BaselineFile is where they stand; "" when there is no baseline.
	Baseline     []verdict.Known
	BaselineFile string
	// Demand is how much of the contract a run of all scenarios is to reach; nil when nothing is demanded.
	Demand *contract.Demand

	settings   map[string]string            // sums of what recordings depend on, by what lockstep.yaml calls it
	ofTarget   map[string]map[string]string // and of what those of one target depend on
	scenarios  string                       // the folder
	files      []string                     // that are put into directories
	sums       sums
	noBaseline scenario.Problems // lockstep.yaml names a baseline that is not there, which only matters in a run
}

// A Target is a server of a project.
type Target struct {
	Spec   target.Spec
	Header transcript.Header // sent with every request
	// VersionFile is a file, or a folder, that is another one in another version of the server; "" when there is none.
	VersionFile string
	// Watch are patterns of the files that it is made of, relative to the folder of lockstep.yaml.
	Watch []string
	// Line and Column are where the file has the command; 0 for a server that already runs.
	Line, Column int
}

// Limits bound a run. Zero values stand for the defaults that the comments name.
type Limits struct {
	Step     time.Duration // a step: 10 s
	Scenario time.Duration // a scenario: 60 s
	Settle   time.Duration // what a stream that lags behind gets to catch up: 1 s
	Body     int64         // bytes of a body that are kept: 64 MiB
	Events   int           // events of a stream that are kept: 100,000
}

func (l Limits) withDefaults() Limits {
	if l.Step == 0 {
		l.Step = 10 * time.Second
	}
	if l.Scenario == 0 {
		l.Scenario = 60 * time.Second
	}
	if l.Settle == 0 {
		l.Settle = time.Second
	}
	if l.Body == 0 {
		l.Body = 64 << 20
	}
	if l.Events == 0 {
		l.Events = 100_000
	}
	return l
}

// sums are the SHA-256 sums of what a run depends on, for its run file.
type sums struct{ contract, scenarios, rules string }

// Load reads lockstep.yaml, the contract and every scenario. The error is scenario.Problems when files have mistakes:
// all of them, of all files.
func Load(file string) (*Project, error) {
	data, err := regular.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, scenario.Problems{{File: file, What: "no such file", Fix: "write one (docs/project.md has an example), or name another with --config"}}
	}
	if err != nil {
		return nil, err
	}
	root, problems := yamldoc.Parse(file, data)
	if len(problems) > 0 {
		return nil, problems
	}
	p := &Project{File: file, Reference: root.Get("reference").Str(), sums: sums{rules: sum(data)}, ofTarget: map[string]map[string]string{}}
	l := loader{p: p, dir: filepath.Dir(file), problems: projectSchema().Check(file, root)}
	if len(l.problems) == 0 { // else who knows what the nodes are like
		l.secrets(root.Get("secrets"))
		l.stubs(root.Get("stubs"))
		p.settings = settingSums("", root, "secrets", "stubs")
		l.targets(root)
		l.limits(root.Get("limits"))
		l.rules(root.Get("compare"))
		l.shaped = true
	}
	l.contract(root)
	l.p.WaiversFile = l.waiversFile(root)
	if err := l.scenarios(root.Get("scenarios")); err != nil {
		return nil, err
	}
	l.waivers(root.Get("waivers"))
	l.baseline(root.Get("baseline"))
	l.demand(root.Entry("coverage"))
	l.streams()
	if err := l.problems.Sort().Err(); err != nil {
		return nil, err
	}
	return p, nil
}

// A loader fills a project from the nodes of its file. Those that the schema has something against are passed over, and
// the other files are read all the same.
type loader struct {
	p        *Project
	dir      string
	shaped   bool // the schema has nothing against the file
	problems scenario.Problems
	unread   bool // scenarios have mistakes
}

func (l *loader) problem(n *yamldoc.Node, what, fix string) {
	l.problems = append(l.problems, scenario.Problem{File: l.p.File, Line: n.Line, Column: n.Column, What: what, Fix: fix})
}

func (l *loader) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(l.dir, p)
}

func (l *loader) targets(root *yamldoc.Node) {
	var names []string
	for k, n := range root.Get("targets").Entries() {
		names = append(names, k.Text)
		t := Target{Spec: target.Spec{
			Name: k.Text,
			URL:  n.Get("url").Str(),
			Ready: target.Ready{
				Path: n.Get("ready").Get("get").Str(), Status: l.integer(n.Get("ready").Get("status")),
				Within: l.duration(n.Get("ready").Get("within")), AnyOwner: n.Get("ready").Get("owner").Str() == "any",
			},
			Stop:   target.Stop{Grace: l.duration(n.Get("stop"))},
			Values: l.p.givenValues(),
		}}
		if t.Spec.URL == "" || n.Get("dir") != nil {
			t.Spec.Dir = l.workingDir(n.Get("dir"))
		}
		t.Spec.Files = l.files(n, root)
		l.p.ofTarget[k.Text] = targetSettings(k.Text, n, t.Spec.Files)
		for i, item := range n.Get("command").Elements() {
			t.Spec.Command = append(t.Spec.Command, l.placed(item))
			if i == 0 {
				t.Line, t.Column = item.Line, item.Column
			}
		}
		l.anchor(&t.Spec)
		t.Watch = l.patterns(n.Get("watch"))
		for _, item := range n.Get("inherit").Elements() {
			t.Spec.Inherit = append(t.Spec.Inherit, item.Text)
		}
		for k, v := range n.Get("env").Entries() {
			if t.Spec.Env == nil {
				t.Spec.Env = map[string]string{}
			}
			t.Spec.Env[k.Text] = l.placed(v)
		}
		if file := n.Get("version").Get("file").Str(); file != "" {
			t.VersionFile = l.path(file)
		}
		for k, v := range n.Get("headers").Entries() {
			l.variables(v)
			t.Header = append(t.Header, transcript.Field{Name: k.Text, Value: v.Text})
		}
		if n.Get("url") != nil && n.Get("command") != nil {
			l.problem(k, fmt.Sprintf("target %q has both a command and a url", k.Text), "keep one: a command is started, a url already runs")
		} else {
			l.validate(k, n, &t.Spec)
		}
		l.p.Targets = append(l.p.Targets, t)
	}
	if !slices.Contains(names, l.p.Reference) {
		l.problem(root.Get("reference"), fmt.Sprintf("reference %q is no target", l.p.Reference), problem.OneOf(l.p.Reference, names))
	}
}

// placed returns a text of a command or its environment. One that names what is not there is reported at its place; what
// comes back then names the port, so that nobody is told that the port is missing, too.
func (l *loader) placed(n *yamldoc.Node) string {
	if l.placeholders(n) {
		return n.Text
	}
	return "${{ port }}"
}

// placeholders reports whether all expressions of a text mean something, and what is wrong with one that does not.
func (l *loader) placeholders(n *yamldoc.Node) bool {
	names := slices.Collect(maps.Keys(l.p.givenValues()))
	_, err := target.Placeholders(n.Text, names...)
	if err == nil {
		return true
	}
	fix := "write ${{ port }}, ${{ host }} or ${{ directory }}"
	if unknown, ok := errors.AsType[*target.UnknownError](err); ok {
		fix = cmp.Or(problem.DidYouMean(unknown.Name, append(names, target.Names...)), fix)
		if variable, ok := strings.CutPrefix(unknown.Name, envPrefix); ok {
			fix = fmt.Sprintf("add %s to secrets: {env: […]}, so that its value is in no report; or hand the variable over with inherit: [%[1]s]", variable)
		}
	}
	l.problem(n, err.Error(), fix)
	return false
}

// validate reports what could not be started, or reached, as it is written.
func (l *loader) validate(k, n *yamldoc.Node, spec *target.Spec) {
	err := spec.Validate()
	if err == nil {
		return
	}
	for mistake := range strings.Lines(err.Error()) { // a joined error has a line for each
		mistake = strings.TrimSpace(mistake)
		if mistake == target.ErrNoPort.Error() {
			l.problem(n.Get("command"), fmt.Sprintf("target %q: %s", k.Text, mistake), "use ${{ port }}, or url: for a server that already runs")
			continue
		}
		l.problem(k, fmt.Sprintf("target %q: %s", k.Text, mistake), "docs/project.md has an example of each key")
	}
}

func (l *loader) limits(n *yamldoc.Node) {
	l.p.Limits = Limits{
		Step: l.duration(n.Get("step")), Scenario: l.duration(n.Get("scenario")), Settle: l.duration(n.Get("settle")),
		Body: int64(l.integer(n.Get("body"))), Events: l.integer(n.Get("events")),
	}.withDefaults()
}

func (l *loader) rules(n *yamldoc.Node) {
	rules, problems := scenario.DecodeRules(l.p.File, n)
	l.stubRules(n.Get("stubs"), rules.Stubs)
	if n.Get("headers") == nil { // an empty list compares none
		rules.Headers = []string{"Content-Type"}
	}
	l.p.Rules = rules
	l.problems = append(l.problems, problems...)
}

func (l *loader) contract(root *yamldoc.Node) {
	n := root.Get("contract")
	if !named(n) {
		return
	}
	file := l.path(n.Text)
	data, err := regular.Read(file)
	if err != nil {
		l.problem(n, err.Error(), "name the OpenAPI document, relative to this file")
		return
	}
	l.p.sums.contract = sum(data)
	doc, err := contract.Parse(data, &contract.Options{
		File: file, AllowUndocumentedFields: root.Get("undocumented").Str() == "allow",
	})
	if problems, ok := errors.AsType[contract.Problems](err); ok {
		for _, p := range problems {
			l.problems = append(l.problems, scenario.Problem(p))
		}
		return
	}
	l.p.Contract, l.p.ContractFile = doc, file
}

// named reports whether a node names a file, as the schema wants it to.
func named(n *yamldoc.Node) bool { return n != nil && n.Kind == yamldoc.String && n.Text != "" }

func (l *loader) scenarios(n *yamldoc.Node) error {
	if !named(n) {
		return nil
	}
	dir := l.path(n.Text)
	l.p.scenarios = dir
	if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		l.problem(n, dir+" is no folder", "name the folder with the scenarios, relative to this file")
		return nil
	}
	texts := sha256.New()
	err := scenario.Each(dir, func(rows []*scenario.Scenario) {
		if l.p.Contract != nil && l.shaped {
			rows = l.onlyWrong(rows)
		}
		l.p.Scenarios = append(l.p.Scenarios, rows...)
		l.references(rows)
		for _, s := range rows {
			whole := s.Whole()
			fmt.Fprintf(texts, "%s\n%d\n", s.ID, len(whole))
			texts.Write(whole)
		}
	}, l.p.WaiversFile)
	l.p.sums.scenarios = hex.EncodeToString(texts.Sum(nil))
	if problems, ok := errors.AsType[scenario.Problems](err); ok {
		l.problems, l.unread = append(l.problems, problems...), true
	} else if err != nil {
		return err
	} else if len(l.p.Scenarios) == 0 {
		l.problem(n, "no scenario in "+dir, "write one: docs/scenarios.md has the language")
	}
	return nil
}

// onlyWrong leaves out the rows that are generated although the contract has nothing against what they send.
func (l *loader) onlyWrong(rows []*scenario.Scenario) (out []*scenario.Scenario) {
	left := map[int]bool{} // the lines of the file that rows are left of
	for _, s := range rows {
		if !s.Generated || !l.p.obeys(s) {
			out, left[s.Line] = append(out, s), true
		}
	}
	for _, s := range rows {
		if !left[s.Line] {
			left[s.Line] = true
			l.problems = append(l.problems, scenario.Problem{
				File: s.File, Line: s.Line, Column: s.Column, What: "whatever is wrong in this row, the contract has nothing against it",
				Fix: "name another column under wrong, and send it in a step that is marked malformed: true",
			})
		}
	}
	return out
}

// references checks what a file says of the contract. It does so while the script is at hand, see scenario.Script.
func (l *loader) references(rows []*scenario.Scenario) {
	if l.p.Contract == nil {
		return
	}
	if len(rows) == 0 {
		return
	}
	l.problems = append(l.problems, l.p.checkScenario(rows[0])...) // rows share their steps
	if l.shaped {                                                  // for the header fields of targets
		l.problems = append(l.problems, l.p.checkRequests(rows)...)
	}
}

// streams checks that the rules of the project speak of streams that the contract has.
func (l *loader) streams() {
	if l.p.Contract == nil {
		return
	}
	for name, rule := range l.p.Rules.Streams { // in any order: problems are sorted by their place
		op, _ := l.p.Contract.Named(name)
		l.problems = append(l.problems, l.p.checkStreamRule(name, rule)...)
		l.problems = append(l.problems, checkRuleEvents(op, rule)...)
	}
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// duration returns a time; 0 when it is not given, and the default holds.
func (l *loader) duration(n *yamldoc.Node) time.Duration {
	if n == nil {
		return 0
	}
	d, err := time.ParseDuration(n.Text)
	if err != nil || d <= 0 { // the schema lets 0s pass, and more minutes than there are
		l.problem(n, fmt.Sprintf("%q is no time to wait", n.Text), "write a time above 0 with its unit, such as 300ms, 2s or 1m")
	}
	return d
}

// integer returns a number; 0 when it is not given, and the default holds.
func (l *loader) integer(n *yamldoc.Node) int {
	if n == nil {
		return 0
	}
	v, err := strconv.Atoi(n.Text)
	if err != nil { // the schema lets 2e2 and 200.0 pass, and numbers without bounds
		l.problem(n, fmt.Sprintf("%s is no number to count with", n.Text), "write it in digits, and not too large")
	}
	return v
}
