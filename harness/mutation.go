package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/mutate"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// MutateOptions say which mutants of a run file are judged. Nil is all defaults.
type MutateOptions struct {
	Operators []mutate.Operator // those of package mutate by default
	Seed      uint64            // 1 by default: the same run file gives the same score
	// Sample is how many mutants are judged at most, as many of each operator as of any other; 0 is all of them.
	Sample  int
	Monitor *Monitor // tells how far it is, in mutants; when set
}

// ErrNotGreen is returned by Mutate for a run in which something was found already: a mutant of it proves nothing.
var ErrNotGreen = errors.New("the run is not green")

// Mutate changes one thing at a time in what the candidates of a green run did, judges each mutant of the one scenario
// that it is of, and says which mutants nobody would have noticed. An interrupt leaves an incomplete score.
func (p *Project) Mutate(ctx context.Context, file io.Reader, options *MutateOptions) (*mutate.Score, error) {
	var o MutateOptions
	if options != nil {
		o = *options
	}
	if o.Operators == nil {
		o.Operators = mutate.Operators()
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	record, err := p.ReadRun(file)
	if err != nil {
		return nil, err
	}
	if record.Alone() {
		return nil, fmt.Errorf("%w: there was one target, and nothing to compare it with", ErrNotGreen)
	}
	m := &mutation{project: p, opts: o, score: mutate.NewScore(o.Operators, o.Seed)}
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

// A mutation is an analysis under way.
type mutation struct {
	project *Project
	opts    MutateOptions
	all     []*subject
	sample  *mutate.Sample

	mu    sync.Mutex // guards what follows
	score *mutate.Score
	known *verdict.Constancy // of the whole run
}

// A subject is what a candidate did in a scenario, and all that is judged with it.
type subject struct {
	key   string // the scenario and the target
	which int    // of the transcripts
	c     *Case
	cost  float64
}

// subjects judges the run as it is, and collects what can be changed.
func (m *mutation) subjects(ctx context.Context, record *Record) error {
	result, known, err := m.project.judgeRecord(ctx, record, Options{})
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return nil // there is nothing to say of the run
	}
	if result.Verdict != verdict.Match && result.Verdict != verdict.Waived {
		return fmt.Errorf("%w: its verdict is %s; `lockstep judge` shows why", ErrNotGreen, result.Verdict)
	}
	m.known = known
	for i, c := range record.Cases {
		if result.Scenarios[i].Verdict == verdict.Waived { // something is found in every mutant of it
			m.score.Waived++
			continue
		}
		for i := 1; i < len(c.Transcripts); i++ {
			m.all = append(m.all, &subject{c.Scenario.ID + " " + c.Transcripts[i].Target, i, c, cost(c.Transcripts[i])})
		}
	}
	return nil
}

// cost is about how much it takes to judge a scenario, from what is read in it: bytes, nesting, messages. That of most is
// below 1.
func cost(t *transcript.Transcript) float64 {
	bytes, nested, messages := 0, 0, 0
	count := func(text []byte) {
		bytes += len(text)
		messages++
		for _, c := range text {
			if c == '{' || c == '[' {
				nested++
			}
		}
	}
	for s := range t.AllSteps() {
		for _, x := range s.Exchanges {
			count(x.Request.Body.Bytes)
			if x.Response != nil {
				count(x.Response.Body.Bytes)
			}
		}
	}
	for _, s := range t.Streams {
		for i := range s.Events {
			count([]byte(s.Events[i].Data))
		}
	}
	return float64(bytes)/16e3 + float64(nested)/300 + float64(messages)/30
}

// open makes the subject that operators work on. It is made anew for each use, so that what it knows of documents is not
// kept for all scenarios at once.
func (m *mutation) open(s *subject) *mutate.Subject {
	return &mutate.Subject{
		Reference: s.c.Transcripts[0], Candidate: s.c.Transcripts[s.which],
		Rules: compareRules(m.project.Rules, s.c.Scenario), Name: consultant{m.project.Contract}.EventName,
	}
}

// draw counts the mutants and chooses among them.
func (m *mutation) draw() {
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
		m.opts.Monitor.begin(chosen)
	}
}

// parallel calls f with the index of every subject, on as many goroutines as there are processors. The largest come
// first, because they take longest.
func (m *mutation) parallel(ctx context.Context, f func(i int)) {
	order := make([]int, len(m.all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.all[b].cost, m.all[a].cost) })
	queue := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range queue {
				f(i)
			}
		})
	}
	for _, i := range order {
		if ctx.Err() != nil {
			break
		}
		queue <- i
	}
	close(queue)
	workers.Wait()
}

// judgeAll judges the mutants that were chosen.
func (m *mutation) judgeAll(ctx context.Context) {
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

// judge judges one mutant beside everybody else in its scenario.
func (m *mutation) judge(op *mutate.Operator, of *subject, s *mutate.Subject, mutant *mutate.Mutant) {
	c := *of.c
	c.Transcripts = slices.Clone(c.Transcripts)
	c.Transcripts[of.which] = mutant.Build()
	v := m.project.judgeRun(&c, false, nil) // what is accepted in the run is in other scenarios
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known.Judge(&v, nil)
	found := v.Verdict != verdict.Match
	row := m.score.Operator(op.Name)
	row.Judged++
	if m.opts.Monitor != nil {
		m.opts.Monitor.judged("", v.Verdict)
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
