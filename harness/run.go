package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Options say what to run and how. A nil *Options runs everything.
type Options struct {
	// Targets are names of the project's targets, or name=URL for servers that already run; all of the project when
	// empty. With one target there is nothing to compare: it is judged by the contract and by what scenarios expect.
	Targets   []string
	Reference string // the target that is taken as right, instead of the project's
	Select    Selection
	First     []string // ids of scenarios that run before the others
	Shard     Shard    // the part of the selection that runs; all of it when zero
	// AllowEmpty accepts that no scenario is selected, that the shard has none, and that nothing can be judged.
	AllowEmpty bool
	// Repeat is how often each scenario is run; once when 0. It is green when all of its runs are.
	Repeat int
	Jobs   int    // scenarios at a time; twice the processors, and at least four, when 0
	Seed   uint64 // decides which target starts a step; drawn when 0, for a shard as all of its run draw it
	// RunFile gets the transcripts, when set.
	RunFile io.Writer
	// Record gets those of the reference alone, when set: a recording.
	Record io.Writer
	// Against is a recording that stands in for the reference, which is not started then.
	Against *Recording
	// ReferenceVersion is what the reference is called, instead of what the project says.
	ReferenceVersion string
	// Program is lockstep's own, which targets are told to start by ${{ lockstep }}: "lockstep", looked for in their PATH,
	// when empty.
	Program string
	// Environ is the environment that targets inherit the usual variables from, as os.Environ returns it.
	Environ []string
	// Progress is called when a scenario is judged, one call at a time, in the order in which they end.
	Progress func(done, of int, s *verdict.Scenario)
	// Today is the day that decides which waivers have expired; that of the start when zero.
	Today   time.Time
	Monitor *Monitor     // tells how far the run is, when set
	Log     *slog.Logger // what happens to targets; nil: nobody listens
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Jobs <= 0 {
		out.Jobs = max(4, 2*runtime.GOMAXPROCS(0))
	}
	if out.Seed == 0 && out.Shard == (Shard{}) {
		out.Seed = rand.Uint64()>>11 | 1 // short enough to be typed again
	}
	if out.Program == "" {
		out.Program = "lockstep"
	}
	if out.Log == nil {
		out.Log = slog.New(slog.DiscardHandler)
	}
	if out.Monitor == nil {
		out.Monitor = &Monitor{}
	}
	return out
}

// A Result is a run and its judgement.
type Result struct {
	verdict.Run
	Started time.Time
	Took    time.Duration
	Seed    uint64
	Jobs    int
	Alone   bool // there was one target and nothing to compare it with
	// Latency is by operation, Evidence by scenario: what stands behind its findings.
	Latency  []report.Latency
	Evidence map[string]*report.Evidence
}

// Validate reports whether Run will do what the options ask for: the error is a *UsageError when they ask for what is
// not there, and scenario.Problems when a target's command is not. It starts nothing, and touches no file that they name.
func (p *Project) Validate(options *Options) error {
	opts := options.withDefaults()
	_, _, _, err := p.grant(opts)
	return err
}

// grant returns the targets to run, the reference first, whether there is only one, and the scenarios, of all shards.
func (p *Project) grant(opts Options) (targets []Target, alone bool, scenarios []*scenario.Scenario, err error) {
	if opts.Against != nil {
		targets, err = p.chooseAgainst(opts.Targets, opts.Reference, opts.Against)
	} else {
		targets, alone, err = p.choose(opts.Targets, opts.Reference)
	}
	if err != nil {
		return nil, false, nil, err
	}
	if err := recordable(&opts); err != nil {
		return nil, false, nil, err
	}
	if scenarios, err = p.fitting(opts.Select); err != nil {
		return nil, false, nil, err
	}
	if err := opts.Shard.validate(); err != nil {
		return nil, false, nil, err
	}
	switch {
	case opts.AllowEmpty:
	case len(scenarios) == 0:
		return nil, false, nil, p.nothing(opts.Select)
	case len(opts.Shard.take(scenarios)) == 0:
		return nil, false, nil, opts.Shard.empty(len(scenarios))
	}
	if err := p.noBaseline.Err(); err != nil {
		return nil, false, nil, err
	}
	if err := furnish(opts.live(targets), opts.Environ); err != nil {
		return nil, false, nil, err
	}
	return targets, alone, scenarios, p.startable(opts.live(targets), opts.Environ)
}

// Run starts the targets, walks the selected scenarios through them, stops the targets and returns the judgement. The
// error is what Validate says when the options ask for what is not there; nothing has been started then. A target that does
// not start, and an interrupt, are no errors but an incomplete run. When the run file cannot be written there is a
// judgement all the same, and the error beside it.
func (p *Project) Run(ctx context.Context, options *Options) (*Result, error) {
	opts := options.withDefaults()
	targets, alone, scenarios, err := p.grant(opts)
	if err != nil {
		return nil, err
	}
	selection := scenarios
	scenarios = opts.Shard.take(selection)
	if opts.Seed == 0 {
		opts.Seed = p.commonSeed(selection)
	}
	e := &execution{
		project: p, opts: opts, targets: targets, scenarios: scenarios, selection: selection,
		result: &Result{Started: time.Now(), Seed: opts.Seed, Jobs: opts.Jobs, Alone: alone},
		judged: make([]*verdict.Scenario, len(scenarios)), written: map[int]bool{}, places: newPlaces(opts.Jobs),
	}
	e.accept = p.acceptance(&opts, e.result.Started)
	e.result.Partial, e.result.Shard, e.result.AllowEmpty = p.partial(targets, alone), opts.Shard.of(selection), opts.AllowEmpty
	if err := errors.Join(e.openRunFile(), e.openRecording()); err != nil {
		return nil, err
	}
	e.coverage = p.Contract.NewCoverage()
	opts.Monitor.begin(len(scenarios), names(targets)...)
	e.drive(ctx)
	e.probe(ctx)
	return e.conclude(ctx)
}

// An execution is a run under way.
type execution struct {
	project   *Project
	opts      Options
	targets   []Target
	scenarios []*scenario.Scenario
	selection []*scenario.Scenario // of all shards
	result    *Result
	accept    *verdict.Acceptance
	places    places

	mu        sync.Mutex // guards what follows
	judged    []*verdict.Scenario
	known     *verdict.Constancy // when all are judged
	written   map[int]bool       // scenarios that are in the run file
	done      int
	cut       []int // scenarios that an interrupt cut short
	coverage  *contract.Coverage
	latencies report.Latencies
	undecided undecided
	file      *transcript.RunWriter
	recording *transcript.RunWriter
	failed    error // the run file cannot be written
}

func (e *execution) openRunFile() error {
	if e.opts.RunFile == nil {
		return nil
	}
	h := e.header()
	for i, t := range e.targets {
		h.Targets = append(h.Targets, transcript.RunTarget{Name: t.Spec.Name, Reference: i == 0 && !e.result.Alone})
	}
	var err error
	if s := e.opts.Shard; s != (Shard{}) {
		h.Shard = &transcript.RunShard{Index: s.Index, Of: s.Of, Selection: idsOf(e.selection)}
		if h.Shard.Reference, err = e.reference(); err != nil {
			return err
		}
	}
	e.file, err = transcript.NewRunWriter(e.opts.RunFile, h)
	return err
}

// header is what all files of the run begin with.
func (e *execution) header() transcript.RunHeader {
	return transcript.RunHeader{
		Version: Version, Started: e.result.Started, Seed: e.opts.Seed, Jobs: e.opts.Jobs, Repeat: repeats(e.opts.Repeat), AllowEmpty: e.opts.AllowEmpty,
		Contract: e.project.sums.contract, Scenarios: e.project.sums.scenarios, Rules: e.project.sums.rules,
	}
}

// repeats is what a run file says of scenarios that are run so often: nothing of one run.
func repeats(n int) int {
	if n > 1 {
		return n
	}
	return 0
}

func (e *execution) runOptions(s *scenario.Scenario) *run.Options {
	l := e.project.Limits
	rules := compareRules(e.project.Rules, s)
	return &run.Options{
		Step: l.Step, Scenario: l.Scenario, Settle: l.Settle, Events: l.Events, Seed: e.opts.Seed,
		Contract: consultant{e.project.Contract}, Heartbeat: rules.Beats, Recorded: e.opts.Against.transcript(s),
		Processors: target.OwnProcessors,
	}
}

// judge judges what the targets did, or notes why the scenario does not apply.
func (e *execution) judge(i int, ts []*transcript.Transcript, notApplicable string) {
	e.conclusive(i, &Case{Scenario: e.scenarios[i], NotApplicable: notApplicable, Transcripts: ts})
}

// conclusive judges all runs of a scenario, and keeps what there is to keep of them.
func (e *execution) conclusive(i int, c *Case) {
	s, notApplicable, all := c.Scenario, c.NotApplicable, c.all()
	v := e.project.judge(c, e.result.Alone, e.accept)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.written[i] = true
	if e.file != nil && notApplicable != "" {
		e.file.NotApplicable(s.ID, notApplicable)
	}
	e.record(s, c.Transcripts, notApplicable)
	for _, t := range all {
		e.cover(s, t)
		if e.file != nil && e.failed == nil {
			e.failed = e.file.Write(t)
		}
	}
	e.keep(s, &v, c.Transcripts)
	e.settle(i, &v)
}

// settle takes the judgement of a scenario and tells of it. The mutex is held.
func (e *execution) settle(i int, v *verdict.Scenario) {
	e.judged[i] = v
	e.done++
	if e.opts.Monitor != nil {
		e.opts.Monitor.judged(v.ID, v.Verdict)
	}
	if e.opts.Progress != nil {
		e.opts.Progress(e.done, len(e.scenarios), v)
	}
}

func (e *execution) conclude(ctx context.Context) (*Result, error) {
	r := e.result
	e.constants()
	r.Scenarios = slices.Grow(r.Scenarios, e.done)
	for i, v := range e.judged {
		if v != nil {
			r.Add(*v)
			e.judged[i] = nil // not kept twice
		}
	}
	if ctx.Err() != nil && e.done < len(e.scenarios) {
		r.Incomplete = fmt.Sprintf("interrupted after %d of %d scenarios: %v%s", e.done, len(e.scenarios), context.Cause(ctx), e.underWay())
	}
	r.Took = time.Since(r.Started)
	if e.file != nil && r.Incomplete == "" { // a file without its footer tells that it is not complete
		e.file.OwnerUnchecked(r.OwnerUnchecked)
		e.failed = errors.Join(e.failed, e.file.Close(r.Took))
	}
	if e.recording != nil && r.Incomplete == "" {
		e.failed = errors.Join(e.failed, e.recording.Close(r.Took))
	}
	r.Coverage, r.Latency = *e.coverage, e.latencies.Rows()
	r.Coverage.Uncompared = e.uncompared()
	r.Settle(e.accept, e.project.ids())
	r.Unused = e.unused()
	r.Gate = e.gate()
	r.Conclude()
	return r, e.failed
}

// unchecked notes a target of which nobody knows that it answers on its port itself.
func (e *execution) unchecked(name, why string) {
	if why == "" {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.result.OwnerUnchecked == nil {
		e.result.OwnerUnchecked = map[string]string{}
	}
	e.result.OwnerUnchecked[name] = why
}

// underWay names the scenarios that were cut short: one of them may be what took so long.
func (e *execution) underWay() string {
	slices.Sort(e.cut)
	names := make([]string, len(e.cut))
	for i, n := range e.cut {
		names[i] = e.scenarios[n].ID
	}
	if len(names) == 0 {
		return ""
	}
	return "; " + transcript.UnderWay(names)
}

// consultant answers what a run asks of the contract.
type consultant struct{ doc *contract.Document }

func (c consultant) Operation(method, target string) string {
	if op, ok := c.doc.Operation(method, target); ok {
		return op.String()
	}
	return ""
}

func (c consultant) EventName(operation string, ev *transcript.Event) string {
	op, _ := c.doc.Named(operation)
	return c.doc.EventName(op, ev)
}

func (c consultant) Objections(method, target string, h transcript.Header, body []byte) []run.Objection {
	var out []run.Objection
	for _, v := range c.doc.CheckRequest(method, target, h, body) {
		out = append(out, run.Objection{Place: v.Place, Text: v.Text, Value: v.Kind.OfValue()})
	}
	return out
}

// Document returns the run as reports show it.
func (r *Result) Document(p *Project) *report.Document {
	return &report.Document{
		Version: Version, Started: r.Started, Millis: r.Took.Milliseconds(), Seed: r.Seed, Jobs: r.Jobs, Alone: r.Alone,
		Project: p.File, Contract: p.ContractFile, Run: r.Run,
		Latency: r.Latency, Evidence: r.Evidence,
		Sums: &report.Sums{Contract: p.sums.contract, Scenarios: p.sums.scenarios, Rules: p.sums.rules},
	}
}
