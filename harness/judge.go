package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// JudgeOptions say how a run file is judged. Nil is all defaults.
type JudgeOptions struct {
	// Progress is called when a scenario is judged, one call at a time, in the order in which they end.
	Progress func(done, of int, s *verdict.Scenario)
	Monitor  *Monitor // tells how far the judgement is, when set
	// Note is called with a sentence for each circumstance that may make this judgement another one than the run's.
	Note func(string)
	// Today is the day that decides which waivers have expired; that of the run when zero. Environ is the environment that
	// some hold in, as os.Environ returns it.
	Today   time.Time
	Environ []string
}

// A Record is a run file that has been read, and found to be of a project.
type Record struct {
	Header transcript.RunHeader
	Footer transcript.RunFooter
	Cases  []*Case // in the order of the project's scenarios

	ended     []*transcript.Transcript // in the order of the file
	reference *transcript.Recording    // of a run that was merged: what a recording of it depends on
}

// A Case is what the targets of a run did in one scenario.
type Case struct {
	Scenario      *scenario.Scenario
	NotApplicable string                   // why there are no transcripts
	Transcripts   []*transcript.Transcript // in the order of the header's targets
	// Again are the transcripts of its other runs, when it was repeated. When it has been judged, Transcripts are those of the
	// worst run.
	Again [][]*transcript.Transcript
	// Probe are those of its probe, see execution.probe; none when it was not probed.
	Probe []*transcript.Transcript
}

// add takes a transcript of one of the runs, or of the probe.
func (c *Case) add(t *transcript.Transcript) {
	if t.Probe {
		c.Probe = append(c.Probe, t)
		return
	}
	if t.Run <= 1 {
		c.Transcripts = append(c.Transcripts, t)
		return
	}
	for len(c.Again) < t.Run-1 {
		c.Again = append(c.Again, nil)
	}
	c.Again[t.Run-2] = append(c.Again[t.Run-2], t)
}

// all returns the transcripts of all runs.
func (c *Case) all() []*transcript.Transcript {
	return slices.Concat(c.Transcripts, slices.Concat(c.Again...))
}

// Alone reports whether there was one target and nothing to compare it with.
func (r *Record) Alone() bool { return len(r.Header.Targets) == 1 }

// ReadRun reads a run file of the project. The error is a *UsageError when the file is of another contract or of other
// scenarios, and transcript.ErrIncomplete when it has no end: such a file has no judgement.
func (p *Project) ReadRun(file io.Reader) (*Record, error) {
	r := &Record{}
	cases := map[string]*Case{}
	header := func(h transcript.RunHeader) error {
		r.Header = h
		return p.made(&h)
	}
	footer, err := transcript.ReadRun(file, header, func(t *transcript.Transcript) error {
		c, err := p.caseOf(cases, t.Scenario)
		if err == nil && t.Run > max(1, r.Header.Repeat) {
			err = fmt.Errorf("run %d of %s, of which there are %d", t.Run, t.Scenario, max(1, r.Header.Repeat))
		}
		if err == nil {
			c.add(t)
		}
		if err == nil && !t.Probe {
			r.ended = append(r.ended, t)
		}
		return err
	})
	if err != nil {
		if usage, ok := errors.AsType[*UsageError](err); ok {
			return nil, usage // the line says nothing
		}
		return nil, err
	}
	r.Footer = *footer
	for _, n := range footer.NotApplicable {
		c, err := p.caseOf(cases, n.Scenario)
		if err != nil {
			return nil, err
		}
		c.NotApplicable = n.Why
	}
	for _, s := range p.Scenarios {
		c := cases[s.ID]
		if c == nil {
			continue
		}
		if c.NotApplicable == "" && !c.arrange(&r.Header) {
			return nil, fmt.Errorf("read run file: the transcripts of %s are not those of the targets that the header names", s.ID)
		}
		r.Cases = append(r.Cases, c)
	}
	return r, nil
}

// made reports whether a run was made with the contract and the scenarios of the project.
func (p *Project) made(h *transcript.RunHeader) error {
	const fix = "judge it with the files that it was made with, or run again"
	switch {
	case h.Contract != p.sums.contract:
		return &UsageError{"the run file is of another contract than " + p.ContractFile, fix}
	case h.Scenarios != p.sums.scenarios:
		return &UsageError{"the run file is of other scenarios than those of " + p.File, fix}
	}
	return nil
}

func (p *Project) caseOf(cases map[string]*Case, id string) (*Case, error) {
	if c := cases[id]; c != nil {
		return c, nil
	}
	i := slices.IndexFunc(p.Scenarios, func(s *scenario.Scenario) bool { return s.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("the project has no scenario %q", id)
	}
	cases[id] = &Case{Scenario: p.Scenarios[i]}
	return cases[id], nil
}

// arrange puts the transcripts of each run into the order of the targets. There must be one for each. A scenario may have been
// run less often than others, and then not at all: because its recording is stale, or lockstep itself has failed.
func (c *Case) arrange(h *transcript.RunHeader) bool {
	if len(c.Transcripts) > 0 && c.Transcripts[0].Run > 0 && len(c.Again) != h.Repeat-1 {
		return false
	}
	if len(c.Probe) > 0 && !arranged(c.Probe, h.Targets) {
		return false
	}
	for _, ts := range append([][]*transcript.Transcript{c.Transcripts}, c.Again...) {
		if !arranged(ts, h.Targets) {
			return false
		}
	}
	return true
}

func arranged(ts []*transcript.Transcript, targets []transcript.RunTarget) bool {
	at := func(t *transcript.Transcript) int {
		return slices.IndexFunc(targets, func(r transcript.RunTarget) bool { return r.Name == t.Target })
	}
	slices.SortStableFunc(ts, func(a, b *transcript.Transcript) int { return cmp.Compare(at(a), at(b)) })
	return slices.EqualFunc(ts, targets, func(t *transcript.Transcript, r transcript.RunTarget) bool { return t.Target == r.Name })
}

// judge judges a case. Of one that was repeated the worst run decides, the first of several.
func (p *Project) judge(c *Case, alone bool, accept *verdict.Acceptance) verdict.Scenario {
	worst := p.judgeRun(c, alone, accept)
	if len(c.Again) == 0 {
		return worst
	}
	repeated := &verdict.Repeated{Shown: 1}
	repeated.Count(worst.Verdict)
	for i, ts := range c.Again {
		other := *c
		other.Transcripts = ts
		v := p.judgeRun(&other, alone, accept)
		repeated.Count(v.Verdict)
		if v.Verdict != worst.Verdict && verdict.Worse(v.Verdict, worst.Verdict) == v.Verdict {
			worst, repeated.Shown = v, i+2
		}
	}
	if i := repeated.Shown - 2; i >= 0 {
		c.Transcripts, c.Again[i] = c.Again[i], c.Transcripts
	}
	worst.Repeated = repeated
	return worst
}

// judgeRun judges one run of a case by the rules of the project as they are now. When that breaks, by a mistake of ours, the scenario
// is unknown, and the others are judged.
func (p *Project) judgeRun(c *Case, alone bool, accept *verdict.Acceptance) (v verdict.Scenario) {
	defer func() {
		if cause := recover(); cause != nil {
			v = broken(c.Scenario, cause, debug.Stack())
		}
	}()
	return verdict.Judge(&verdict.Case{
		ID: c.Scenario.ID, File: c.Scenario.File, Line: c.Scenario.Line, Why: c.Scenario.Why, Tags: c.Scenario.Tags, NotApplicable: c.NotApplicable,
		Transcripts: c.Transcripts, Alone: alone, Rules: compareRules(p.Rules, c.Scenario), Contract: p.Contract,
		Accept: accept,
	})
}

// Judge judges a run file again, without any server. It comes to what the run came to, as long as the rules of the project
// and the version of lockstep are the same; that they are not is no error but a note. An interrupt leaves an incomplete
// judgement.
func (p *Project) Judge(ctx context.Context, file io.Reader, options *JudgeOptions) (*Result, error) {
	var o JudgeOptions
	if options != nil {
		o = *options
	}
	if err := p.noBaseline.Err(); err != nil {
		return nil, err
	}
	record, err := p.ReadRun(file)
	if err != nil {
		return nil, err
	}
	return p.JudgeRead(ctx, record, &o)
}

// JudgeRead judges a run file that has been read, or merged, see Judge.
func (p *Project) JudgeRead(ctx context.Context, record *Record, options *JudgeOptions) (*Result, error) {
	var o JudgeOptions
	if options != nil {
		o = *options
	}
	if err := p.noBaseline.Err(); err != nil {
		return nil, err
	}
	if o.Note != nil {
		p.notes(&record.Header, o.Note)
	}
	result, _, err := p.judgeRecord(ctx, record, Options{Progress: o.Progress, Monitor: o.Monitor, Today: o.Today, Environ: o.Environ})
	return result, err
}

func (p *Project) judgeRecord(ctx context.Context, record *Record, opts Options) (*Result, *verdict.Constancy, error) {
	h := &record.Header
	e := &execution{
		project: p, opts: opts,
		result:   &Result{Started: h.Started, Seed: h.Seed, Jobs: h.Jobs, Alone: record.Alone()},
		judged:   make([]*verdict.Scenario, len(record.Cases)),
		coverage: p.Contract.NewCoverage(),
	}
	e.accept = p.acceptance(&opts, h.Started)
	e.result.Partial, e.result.Shard, e.result.AllowEmpty = p.partial(targetsOf(h), record.Alone()), shardOf(h), h.AllowEmpty
	for _, c := range record.Cases {
		e.scenarios = append(e.scenarios, c.Scenario)
	}
	if opts.Monitor != nil {
		opts.Monitor.begin(len(record.Cases))
	}
	e.result.OwnerUnchecked = record.Footer.OwnerUnchecked
	e.judgeAll(ctx, record.Cases)
	for i, c := range record.Cases {
		if e.judged[i] != nil && len(c.Probe) > 0 {
			e.addProbe(i, c.Probe)
		}
	}
	scenarios := map[string]*scenario.Scenario{}
	for _, s := range e.scenarios {
		scenarios[s.ID] = s
	}
	for _, t := range record.ended {
		e.cover(scenarios[t.Scenario], t)
	}
	result, err := e.conclude(ctx)
	result.Took = record.Footer.Took
	return result, e.known, err
}

// notes says in what the judgement of a run file may not be that of the run.
func (p *Project) notes(h *transcript.RunHeader, note func(string)) {
	if h.Rules != p.sums.rules {
		note(p.File + " is not what it was when the run was made; its rules of now hold")
	}
	if h.Version != Version {
		note(fmt.Sprintf("the run was made by lockstep %s, and is judged by %s", h.Version, Version))
	}
}

// judgeAll judges cases, as many at a time as there are processors.
func (e *execution) judgeAll(ctx context.Context, cases []*Case) {
	queue := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range queue {
				v := e.project.judge(cases[i], e.result.Alone, e.accept)
				e.mu.Lock()
				e.keep(cases[i].Scenario, &v, cases[i].Transcripts)
				e.settle(i, &v)
				e.mu.Unlock()
			}
		})
	}
	for i := range cases {
		if ctx.Err() != nil {
			break
		}
		queue <- i
	}
	close(queue)
	workers.Wait()
}
