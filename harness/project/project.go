// Package project reads lockstep.yaml and the files that it names: the contract, the scenarios, the waivers, the
// baseline. It reports all mistakes in them at once. A Project says which targets, scenarios and rules a run has.
package project

import (
	_ "embed"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict/baseline"
	"github.com/lockstep-dev/lockstep/harness/verdict/waiver"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// Schema is the JSON Schema of lockstep.yaml.
//
//go:embed project.schema.json
var Schema []byte

var compiledSchema = sync.OnceValue(func() *yamldoc.Schema { return yamldoc.MustSchema(Schema, scenario.Schema) })

// A Project is lockstep.yaml, with the contract and the scenarios that it names.
type Project struct {
	File     string
	Contract *contract.Document // absent if the file names none
	// ContractFile is the path of the contract.
	ContractFile string
	Scenarios    []*scenario.Scenario // all scenarios, in the order of their files
	Reference    string               // the target that is taken as right
	Targets      []Target             // in the order of the file
	Rules        scenario.Rules
	Limits       Limits
	Secrets      Secrets
	Stubs        []Stub // upstreams; each target gets its own
	// Waivers accept findings for a while. WaiversFile is their file, which need not exist.
	Waivers     []waiver.Waiver
	WaiversFile string
	// Baseline has the known findings. BaselineFile is its path; "" when there is no baseline.
	Baseline     []baseline.Entry
	BaselineFile string
	// Demand is how much of the contract a run of all scenarios must reach; nil when nothing is demanded.
	Demand *coverage.Demand

	settings       map[string]string            // checksums of what recordings depend on, by its name in lockstep.yaml
	targetSettings map[string]map[string]string // the same for what recordings of a single target depend on
	scenarioDir    string                       // the folder of the scenarios
	addedFiles     []string                     // files that are written into directories
	Sums           Sums
	// declaresCapabilities means that a target has a list of capabilities, which may be empty.
	declaresCapabilities bool
	missingBaseline      scenario.Problems // set when lockstep.yaml names a missing baseline, which matters only in a run
}

// A Target is a server or a program of a project.
type Target struct {
	Spec   target.Spec
	Driver bool              // the program drives a client library, which calls the stubs
	Header transcript.Header // sent with every request
	// Capabilities are what it can do, in names of the project's own. Scenarios name those that they need.
	Capabilities []string
	// VersionFile is a file or a folder that changes with the version of the server, or "". VersionText is the version
	// itself.
	VersionFile, VersionText string
	// Watch are patterns of the target's files, relative to the folder of lockstep.yaml.
	Watch []string
	// Line and Column are where the file has the command or the program; 0 for a server that already runs.
	Line, Column int
}

// Limits are the limits of a run. The comments state the defaults.
type Limits struct {
	Step     time.Duration // time for a step: 10 s
	Scenario time.Duration // time for a scenario: 60 s
	Settle   time.Duration // time for a slower stream to catch up: 1 s
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

// Sums are the SHA-256 checksums, for the run file, of what a run depends on.
type Sums struct{ Contract, Scenarios, Rules string }

// Secrets say what must not be in any report, run file or line of a terminal.
type Secrets struct {
	Env     []string // variables of lockstep's environment; a target's headers may use them: ${{ env.API_KEY }}
	Headers []string // header fields, in addition to the usual ones
	At      []string // JSONPaths of texts in bodies and events
}

// A Stub is a scripted upstream that a project declares.
type Stub struct {
	Name   string
	Kind   stub.Kind
	Models []string // the models that it lists; empty means one that is called stub
	Env    []string // the variables of a started program that are recorded
}
