// Package mutaterun judges mutants of what the candidates did in a run: mutation testing of scenarios and rules.
package mutaterun

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/lab/mutate"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Options say which mutants of a run file are judged. Nil means all defaults.
type Options struct {
	Operators []mutate.Operator // default: those of package mutate
	Seed      uint64            // default: 1, so the same run file gives the same score
	// Sample limits how many mutants are judged. Each operator gets the same number. 0 means no limit.
	Sample  int
	Monitor *engine.Monitor // shows the progress in mutants, when set
}

// ErrNotGreen is returned by Run for a run that already has findings, because its mutants prove nothing.
var ErrNotGreen = errors.New("the run is not green")

// Run changes one thing at a time in what the candidates of a green run did. It judges each mutant in its own scenario,
// and reports those without a finding. After an interrupt, the score is incomplete.
func Run(ctx context.Context, p *project.Project, file io.Reader, options *Options) (*mutate.Score, error) {
	var o Options
	if options != nil {
		o = *options
	}
	if o.Operators == nil {
		o.Operators = mutate.Operators()
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	record, err := runfile.Read(p, file)
	if err != nil {
		return nil, err
	}
	if record.Alone() {
		return nil, fmt.Errorf("%w: there was one target, and nothing to compare it with", ErrNotGreen)
	}
	m := &analysis{project: p, opts: o, score: mutate.NewScore(o.Operators, o.Seed)}
	if err := m.subjects(ctx, record); err != nil {
		return nil, err
	}
	m.draw()
	started := time.Now()
	m.judgeAll(ctx)
	m.score.Took = time.Since(started)
	if ctx.Err() != nil {
		m.score.Incomplete = fmt.Sprintf("interrupted: %v", context.Cause(ctx))
	}
	m.score.Conclude()
	return m.score, nil
}

// An analysis is a mutation analysis in progress.
type analysis struct {
	project *project.Project
	opts    Options
	all     []*mutatedCase
	sample  *mutate.Sample

	mu    sync.Mutex // guards the fields below
	score *mutate.Score
	known *verdict.ConstantCheck // of the whole run
}

// A mutatedCase is what a candidate did in a scenario, and everything that is judged with it.
type mutatedCase struct {
	key   string // the scenario and the target
	which int    // index of the transcript
	c     *runfile.Case
	cost  float64
}

// subjects judges the unchanged run, and collects what can be changed.
func (m *analysis) subjects(ctx context.Context, record *runfile.File) error {
	result, known := engine.JudgeWithConstants(ctx, m.project, record, &engine.Options{})
	if ctx.Err() != nil {
		return nil // the run was not judged completely
	}
	if result.Verdict != verdict.Match && result.Verdict != verdict.Waived {
		return fmt.Errorf("%w: its verdict is %s; `lockstep judge` shows why", ErrNotGreen, result.Verdict)
	}
	m.known = known
	for i, c := range record.Cases {
		if result.Scenarios[i].Verdict == verdict.Waived { // every mutant of it would be found
			m.score.Waived++
			continue
		}
		for i := 1; i < len(c.Transcripts); i++ {
			m.all = append(m.all, &mutatedCase{c.Scenario.ID + " " + c.Transcripts[i].Target, i, c, cost(c.Transcripts[i])})
		}
	}
	return nil
}

// cost estimates the time to judge a scenario from its bytes, nesting and messages. For most scenarios, it is below 1.
func cost(t *transcript.Transcript) float64 {
	size, nested, messages := 0, 0, 0
	for message := range runfile.Messages(t) {
		size += len(message)
		messages++
		nested += bytes.Count(message, []byte("{")) + bytes.Count(message, []byte("["))
	}
	return float64(size)/16e3 + float64(nested)/300 + float64(messages)/30
}

// open makes the subject on which operators work. It makes a new one for each use, so that the parsed documents of all
// scenarios are not in memory at once.
func (m *analysis) open(s *mutatedCase) *mutate.Subject {
	return &mutate.Subject{
		Reference: s.c.Transcripts[0], Candidate: s.c.Transcripts[s.which],
		Rules: m.project.CompareRules(s.c.Scenario), EventNamer: m.project.ContractLookup().EventNamer,
	}
}

// draw counts the mutants and chooses among them.
func (m *analysis) draw() {
	m.sample = mutate.NewSample(len(m.opts.Operators), m.opts.Seed)
	counts := make([][]int, len(m.all))
	m.parallel(context.Background(), func(i int) {
		counts[i] = make([]int, len(m.opts.Operators))
		s := m.open(m.all[i])
		for k, op := range m.opts.Operators {
			for range op.Mutants(s, m.opts.Seed) {
				counts[i][k]++
			}
		}
	})
	for i, s := range m.all {
		for k, op := range m.opts.Operators {
			m.sample.Add(k, s.key, counts[i][k], s.cost)
			m.score.Operator(op.Name).Mutants += counts[i][k]
		}
	}
	chosen := m.sample.Draw(m.opts.Sample)
	if m.opts.Monitor != nil {
		m.opts.Monitor.Begin(chosen)
	}
}

// parallel calls f with the index of every case. The largest cases come first, because they take longest.
func (m *analysis) parallel(ctx context.Context, f func(i int)) {
	order := make([]int, len(m.all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.all[b].cost, m.all[a].cost) })
	engine.Parallel(ctx, len(order), func(i int) { f(order[i]) })
}

// judgeAll judges the chosen mutants.
func (m *analysis) judgeAll(ctx context.Context) {
	m.parallel(ctx, func(i int) {
		s := m.open(m.all[i])
		for k, op := range m.opts.Operators {
			chosen := m.sample.Of(k, m.all[i].key)
			if len(chosen) == 0 {
				continue
			}
			n := 0
			for mutant := range op.Mutants(s, m.opts.Seed) {
				if chosen[n] && ctx.Err() == nil {
					m.judge(&op, m.all[i], s, &mutant)
				}
				n++
			}
		}
	})
}

// judge judges one mutant together with the other targets in its scenario.
func (m *analysis) judge(op *mutate.Operator, of *mutatedCase, s *mutate.Subject, mutant *mutate.Mutant) {
	c := *of.c
	c.Transcripts = slices.Clone(c.Transcripts)
	c.Transcripts[of.which] = mutant.Build()
	v := engine.JudgeRun(m.project, &c, false, nil) // findings that the run accepts are in other scenarios
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known.Judge(&v, nil)
	found := v.Verdict != verdict.Match
	row := m.score.Operator(op.Name)
	row.Judged++
	if m.opts.Monitor != nil {
		m.opts.Monitor.Judged("", v.Verdict)
	}
	if found {
		row.Found++
	}
	if found == op.Matters {
		return
	}
	out := mutate.Case{
		Operator: op.Name, Scenario: c.Scenario.ID, Target: s.Candidate.Target, Place: mutant.Place, Before: mutant.Before, After: mutant.After,
	}
	if op.Matters {
		out.Hidden = mutant.Explain(s)
		m.score.Survivors = append(m.score.Survivors, out)
		return
	}
	if len(v.Findings) > 0 {
		out.Found = v.Findings[0].String()
	}
	m.score.FalseAlarms = append(m.score.FalseAlarms, out)
}
