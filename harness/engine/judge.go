package engine

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// JudgeOptions say how a run file is judged. Nil means all defaults.
type JudgeOptions struct {
	// Progress is called after each judged scenario, one call at a time.
	Progress func(done, of int, s *verdict.Scenario)
	Monitor  *Monitor // shows the progress, when set
	// Note is called with each reason why this judgement may differ from that of the run.
	Note func(string)
	// Today decides which waivers have expired. When zero, it is the day of the run. Environ is the environment that
	// some waivers depend on, as os.Environ returns it.
	Today   time.Time
	Environ []string
}

// judgeWorstRun judges a case. When the case was repeated, the first of its worst runs decides.
func judgeWorstRun(p *project.Project, c *runfile.Case, alone bool, accept *verdict.Acceptance) verdict.Scenario {
	worst := JudgeRun(p, c, alone, accept)
	if len(c.Again) == 0 {
		return worst
	}
	repeated := &verdict.Repeated{Shown: 1}
	repeated.Count(worst.Verdict)
	for i, ts := range c.Again {
		other := *c
		other.Transcripts = ts
		v := JudgeRun(p, &other, alone, accept)
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

// JudgeRun judges one run of a case by the current rules of the project. When lockstep itself panics, the scenario is
// unknown.
func JudgeRun(p *project.Project, c *runfile.Case, alone bool, accept *verdict.Acceptance) (v verdict.Scenario) {
	defer func() {
		if cause := recover(); cause != nil {
			v = internalError(c.Scenario, cause)
		}
	}()
	return verdict.Judge(&verdict.Case{
		ID: c.Scenario.ID, File: c.Scenario.File, Line: c.Scenario.Line, Why: c.Scenario.Why, Tags: c.Scenario.Tags, NotApplicable: c.NotApplicable,
		Transcripts: c.Transcripts, Alone: alone, Rules: p.CompareRules(c.Scenario), Contract: p.Contract, Accept: accept,
	})
}

// Judge judges a run file again, without any server. The result is that of the run, unless the project's rules or the
// version of lockstep have changed; then it calls Note. After an interrupt, the judgement is incomplete.
func Judge(ctx context.Context, p *project.Project, file io.Reader, options *JudgeOptions) (*Result, error) {
	if err := p.CheckBaseline(); err != nil {
		return nil, err
	}
	read, err := runfile.Read(p, file)
	if err != nil {
		return nil, err
	}
	return JudgeFile(ctx, p, read, options)
}

// JudgeFile is Judge for a run file that has been read or merged.
func JudgeFile(ctx context.Context, p *project.Project, file *runfile.File, options *JudgeOptions) (*Result, error) {
	if err := p.CheckBaseline(); err != nil {
		return nil, err
	}
	var o JudgeOptions
	if options != nil {
		o = *options
	}
	if o.Note != nil {
		noteChanges(p, &file.Header, o.Note)
	}
	result, _ := JudgeWithConstants(ctx, p, file, &Options{Progress: o.Progress, Monitor: o.Monitor, Today: o.Today, Environ: o.Environ})
	return result, nil
}

// noteChanges says why the judgement of a run file may differ from that of the run.
func noteChanges(p *project.Project, h *transcript.RunHeader, note func(string)) {
	if h.Rules != p.Sums.Rules {
		note(p.File + " has changed since the run; the current rules apply")
	}
	if h.Version != Version {
		note(fmt.Sprintf("the run was made by lockstep %s, but is judged by %s", h.Version, Version))
	}
}

// JudgeWithConstants judges a run file that has been read. It also returns what it found out about constants, which
// depend on all scenarios.
func JudgeWithConstants(ctx context.Context, p *project.Project, file *runfile.File, options *Options) (*Result, *verdict.ConstantCheck) {
	h, scenarios := &file.Header, map[string]*scenario.Scenario{}
	var all []*scenario.Scenario
	for _, c := range file.Cases {
		all = append(all, c.Scenario)
		scenarios[c.Scenario.ID] = c.Scenario
	}
	result := &Result{Started: h.Started, Seed: h.Seed, Jobs: h.Jobs, Alone: file.Alone()}
	names := make([]string, len(h.Targets))
	result.Versions = map[string]string{}
	for i, t := range h.Targets {
		if names[i] = t.Name; t.Version != "" {
			result.Versions[t.Name] = t.Version
		}
	}
	result.Partial, result.AllowEmpty = isPartial(p, names, file.Alone()), h.AllowEmpty
	if s := h.Shard; s != nil {
		result.Shard = shardOf(project.Shard{Index: s.Index, Of: s.Of}, len(s.Selection))
	}
	result.OwnerUnchecked = file.Footer.OwnerUnchecked
	opts := options.withDefaults()
	j := newJudgement(p, &opts, all, result)
	opts.Monitor.Begin(len(all))
	j.judgeAll(ctx, file.Cases)
	for i, c := range file.Cases {
		if j.verdicts[i] != nil && len(c.Probe) > 0 {
			j.addProbe(i, &runfile.Case{Scenario: c.Scenario, Transcripts: c.Probe})
		}
	}
	for _, t := range file.Transcripts {
		j.cover(scenarios[t.Scenario], t)
	}
	j.conclude(ctx, "")
	result.Took = file.Footer.Took
	return result, j.constancy
}

// judgeAll judges cases, as many at the same time as there are processors.
func (j *judgement) judgeAll(ctx context.Context, cases []*runfile.Case) {
	Parallel(ctx, len(cases), func(i int) {
		v := judgeWorstRun(j.project, cases[i], j.result.Alone, j.accept)
		j.mu.Lock()
		defer j.mu.Unlock()
		j.keepEvidence(cases[i].Scenario, &v, cases[i].Transcripts)
		j.addVerdict(i, &v)
	})
}

// Parallel calls do with 0 to n-1, in this order, on as many goroutines as there are processors. It stops early when
// ctx ends.
func Parallel(ctx context.Context, n int, do func(i int)) {
	queue := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range queue {
				do(i)
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		queue <- i
	}
	close(queue)
	workers.Wait()
}

// internalError is the verdict of a scenario in which lockstep itself panicked: unknown, with the stack trace. The
// recovering function must call it.
func internalError(s *scenario.Scenario, cause any) verdict.Scenario {
	return verdict.Scenario{
		ID: s.ID, File: s.File, Line: s.Line, Why: s.Why, Tags: s.Tags, Verdict: verdict.Unknown,
		Reasons: []verdict.Reason{{
			Text: fmt.Sprintf("lockstep itself failed: %v", cause),
			Log:  strings.Split(strings.TrimSpace(strings.ReplaceAll(string(debug.Stack()), "\t", "    ")), "\n"),
		}},
	}
}
