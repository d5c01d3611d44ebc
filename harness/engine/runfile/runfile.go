// Package runfile reads the run files of a project and merges those of shards. It also reads and writes recordings,
// which replace the reference in other runs.
package runfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict/waiver"
)

// A File is a run file that has been read and belongs to a project.
type File struct {
	Header transcript.RunHeader
	Footer transcript.RunFooter
	Cases  []*Case // in the order of the project's scenarios

	Transcripts []*transcript.Transcript // in the order of the file
	reference   *transcript.Recording    // what a recording of a merged run depends on; nil when it cannot be recorded
}

// A Case is what the targets of a run did in one scenario.
type Case struct {
	Scenario      *scenario.Scenario
	NotApplicable string                   // why there are no transcripts
	Transcripts   []*transcript.Transcript // in the order of the header's targets
	// Again has the transcripts of the other runs of a repeated scenario. Judging swaps them, so that Transcripts are
	// those of the worst run.
	Again [][]*transcript.Transcript
	// Probe has the transcripts of the probe, which ran to find out whether values are constants. It is empty without a
	// probe.
	Probe []*transcript.Transcript
}

// Add adds a transcript of one of the runs, or of the probe.
func (c *Case) Add(t *transcript.Transcript) {
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

func (c *Case) All() []*transcript.Transcript {
	return slices.Concat(c.Transcripts, slices.Concat(c.Again...))
}

// Messages yields the bodies of requests and responses, and the data of events.
func Messages(t *transcript.Transcript) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for s := range t.AllSteps() {
			for _, x := range s.Exchanges {
				if !yield(x.Request.Body.Bytes) || x.Response != nil && !yield(x.Response.Body.Bytes) {
					return
				}
			}
		}
		for _, s := range t.Streams {
			for i := range s.Events {
				if !yield([]byte(s.Events[i].Data)) {
					return
				}
			}
		}
	}
}

// Alone reports whether there was one target, and nothing to compare it with.
func (r *File) Alone() bool { return len(r.Header.Targets) == 1 }

// Read reads a run file of the project. The error is a *UsageError when the file belongs to another contract or other
// scenarios. It is transcript.ErrIncomplete when the last line is missing: such a file cannot be judged.
func Read(p *project.Project, file io.Reader) (*File, error) {
	r := &File{}
	cases := map[string]*Case{}
	header := func(h transcript.RunHeader) error {
		r.Header = h
		return checkOrigin(p, &h)
	}
	footer, err := transcript.ReadRun(file, header, func(t *transcript.Transcript) error {
		c, err := caseOf(p, cases, t.Scenario)
		if err == nil && t.Run > max(1, r.Header.Repeat, 1+r.Header.Confirm) {
			err = fmt.Errorf("run %d of %s, but there are only %d", t.Run, t.Scenario, max(1, r.Header.Repeat, 1+r.Header.Confirm))
		}
		if err == nil {
			c.Add(t)
		}
		if err == nil && !t.Probe {
			r.Transcripts = append(r.Transcripts, t)
		}
		return err
	})
	if err != nil {
		if usage, ok := errors.AsType[*project.UsageError](err); ok {
			return nil, usage // the line number would not help
		}
		return nil, err
	}
	r.Footer = *footer
	for _, n := range footer.NotApplicable {
		c, err := caseOf(p, cases, n.Scenario)
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

// checkOrigin checks whether a run was made with the contract and the scenarios of the project.
func checkOrigin(p *project.Project, h *transcript.RunHeader) error {
	const fix = "use the files that it was made with, or run again"
	switch {
	case h.Contract != p.Sums.Contract:
		return &project.UsageError{What: "the run file was made with a different contract than " + p.ContractFile, Fix: fix}
	case h.Scenarios != p.Sums.Scenarios:
		return &project.UsageError{What: "the run file was made with different scenarios than those of " + p.File, Fix: fix}
	}
	return nil
}

func caseOf(p *project.Project, cases map[string]*Case, id string) (*Case, error) {
	if c := cases[id]; c != nil {
		return c, nil
	}
	i := slices.IndexFunc(p.Scenarios, func(s *scenario.Scenario) bool { return s.ID == id })
	if i < 0 && waiver.IsCode(id) {
		return nil, &project.UsageError{What: fmt.Sprintf("the run file has %s, a scenario in Go", id), Fix: "run its test again: only the test can judge it"}
	}
	if i < 0 {
		return nil, fmt.Errorf("the project has no scenario %q", id)
	}
	cases[id] = &Case{Scenario: p.Scenarios[i]}
	return cases[id], nil
}

// arrange puts the transcripts of each run into the order of the targets and reports whether each target has one. A
// scenario may have fewer runs than others only if it did not run at all: its recording is stale, or lockstep itself
// panicked.
func (c *Case) arrange(h *transcript.RunHeader) bool {
	if len(c.Transcripts) > 0 && c.Transcripts[0].Run > 0 && len(c.Again) != max(h.Repeat-1, h.Confirm) {
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
