package harness

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A Part is the run file of one shard.
type Part struct {
	Name string // what it is called, such as its path
	File io.Reader
}

// Merge reads the run files of all shards of a run and returns what one run would have written, see Record.Write. The
// error is a *UsageError when they do not make a whole: a shard is missing, or there twice, or of another run.
//
// The beginning is that of the shard that began first, and the end that of the one that ended last; jobs are those of the
// shard that had the most. All else is as the shards have it.
func (p *Project) Merge(parts []Part) (*Record, error) {
	m := merging{project: p, there: map[int]string{}, unchecked: map[string]string{}}
	for _, part := range parts {
		record, err := p.ReadRun(part.File)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.Name, err)
		}
		if err := m.add(part.Name, record); err != nil {
			return nil, err
		}
	}
	return m.whole()
}

// A merging is a merge under way.
type merging struct {
	project *Project
	first   string // the name of the first part
	header  transcript.RunHeader
	there   map[int]string // the names of the parts, by index
	cases   map[*scenario.Scenario]*Case
	ended   time.Time
	// unchecked has what the footers say of targets.
	unchecked map[string]string
}

// add takes a part, if it is one of the same run as those before it.
func (m *merging) add(name string, r *Record) error {
	h := r.Header
	if h.Shard == nil {
		return &UsageError{name + " is a whole run, and no shard", "name the run files that lockstep run --shard has written"}
	}
	if h.Shard.Index < 1 || h.Shard.Index > h.Shard.Of {
		return &UsageError{fmt.Sprintf("%s says that it is shard %d/%d, which there is not", name, h.Shard.Index, h.Shard.Of), "run that shard again"}
	}
	end := h.Started.Add(r.Footer.Took)
	if m.first == "" {
		m.first, m.header, m.ended, m.cases = name, h, end, map[*scenario.Scenario]*Case{}
	}
	if err := m.foreign(name, &h); err != nil {
		return err
	}
	if other, twice := m.there[h.Shard.Index]; twice {
		return &UsageError{fmt.Sprintf("%s and %s are both shard %d/%d", other, name, h.Shard.Index, h.Shard.Of), "name one of them"}
	}
	m.there[h.Shard.Index] = name
	if h.Started.Before(m.header.Started) {
		m.header.Started = h.Started
	}
	if end.After(m.ended) {
		m.ended = end
	}
	m.header.Jobs = max(m.header.Jobs, h.Jobs)
	maps.Copy(m.unchecked, r.Footer.OwnerUnchecked)
	m.header.AllowEmpty = m.header.AllowEmpty && h.AllowEmpty
	for _, c := range r.Cases {
		m.cases[c.Scenario] = c
	}
	return m.complete(name, r)
}

// foreign reports in what a part is not of the same run as the first one.
func (m *merging) foreign(name string, h *transcript.RunHeader) error {
	a := &m.header
	const fix = "merge the shards of one run; make them with the same files and flags"
	both := func(what string, one, other any) error {
		return &UsageError{fmt.Sprintf("%s and %s are no shards of one run: %s (%v and %v)", m.first, name, what, one, other), fix}
	}
	switch {
	case a.Contract != h.Contract:
		return both("their contracts differ", short(a.Contract), short(h.Contract))
	case a.Scenarios != h.Scenarios:
		return both("their scenarios differ", short(a.Scenarios), short(h.Scenarios))
	case a.Repeat != h.Repeat:
		return both("their scenarios were run a different number of times", max(1, a.Repeat), max(1, h.Repeat))
	case a.Rules != h.Rules:
		return both("their lockstep.yaml differ", short(a.Rules), short(h.Rules))
	case a.Version != h.Version:
		return both("their versions of lockstep differ", a.Version, h.Version)
	case !slices.Equal(a.Targets, h.Targets):
		return both("their targets differ", targetsText(a), targetsText(h))
	case !alike(a.Shard.Reference, h.Shard.Reference):
		return &UsageError{fmt.Sprintf("%s and %s are no shards of one run: their references differ, in version, settings or limits", m.first, name), fix}
	case a.Shard.Of != h.Shard.Of:
		return both("their numbers of shards differ", a.Shard.Of, h.Shard.Of)
	case !slices.Equal(a.Shard.Selection, h.Shard.Selection):
		return both("they select other scenarios", selectionText(a), selectionText(h))
	case a.Seed != h.Seed:
		e := &UsageError{fmt.Sprintf("%s and %s have the seeds %d and %d", m.first, name, a.Seed, h.Seed), "give all shards one --seed, or none: then they come to the same by themselves"}
		return e
	}
	return nil
}

// alike reports whether two shards could be recorded as one.
func alike(a, b *transcript.Recording) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Version == b.Version && a.Limits == b.Limits && maps.Equal(a.Settings, b.Settings)
}

func short(sum string) string { return sum[:min(len(sum), 8)] }

func targetsText(h *transcript.RunHeader) string {
	var names []string
	for _, t := range h.Targets {
		name := t.Name
		if t.Reference {
			name += " (reference)"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

func selectionText(h *transcript.RunHeader) string {
	return fmt.Sprintf("%d, %s", len(h.Shard.Selection), selectionSum(h.Shard.Selection))
}

// complete reports a part that has not the scenarios that are its own.
func (m *merging) complete(name string, r *Record) error {
	selection, err := m.selection(r.Header.Shard.Selection)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	h := r.Header.Shard
	own, got := Shard{h.Index, h.Of}.take(selection), make([]*scenario.Scenario, len(r.Cases))
	for i, c := range r.Cases {
		got[i] = c.Scenario
	}
	if s := lacks(got, own); s != nil {
		return &UsageError{fmt.Sprintf("%s, which is shard %d/%d, says nothing of %s, which is its own", name, h.Index, h.Of, s.ID), "run that shard again: lockstep itself has failed in it"}
	}
	if s := lacks(own, got); s != nil {
		return &UsageError{fmt.Sprintf("%s, which is shard %d/%d, has %s, which is another's", name, h.Index, h.Of, s.ID), "run that shard again"}
	}
	return nil
}

// lacks returns the first of some scenarios that is not among others; nil when all are.
func lacks(among, all []*scenario.Scenario) *scenario.Scenario {
	there := map[*scenario.Scenario]bool{}
	for _, s := range among {
		there[s] = true
	}
	for _, s := range all {
		if !there[s] {
			return s
		}
	}
	return nil
}

// selection returns the scenarios of those ids.
func (m *merging) selection(ids []string) ([]*scenario.Scenario, error) {
	var out []*scenario.Scenario
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	for _, s := range m.project.Scenarios {
		if wanted[s.ID] {
			out = append(out, s)
		}
	}
	if len(out) != len(ids) {
		return nil, errors.New("the project has not all scenarios that it selects")
	}
	return out, nil
}

// whole puts the parts together, when all are there.
func (m *merging) whole() (*Record, error) {
	if m.first == "" {
		return nil, &UsageError{"no shard", "name the run files that lockstep run --shard has written"}
	}
	var missing []int
	for i := 1; i <= m.header.Shard.Of; i++ {
		if m.there[i] == "" {
			missing = append(missing, i)
		}
	}
	if len(missing) > 0 {
		return nil, &UsageError{
			fmt.Sprintf("of %d shards, %d are here; missing: %s", m.header.Shard.Of, len(m.there), shardNames(missing, m.header.Shard.Of)),
			fmt.Sprintf("run what is missing with the same selection: lockstep run --shard %d/%d", missing[0], m.header.Shard.Of),
		}
	}
	out := &Record{Header: m.header, reference: m.header.Shard.Reference, Footer: transcript.RunFooter{Took: m.ended.Sub(m.header.Started)}}
	out.Header.Shard, out.Footer.OwnerUnchecked = nil, m.unchecked
	for _, s := range m.project.Scenarios {
		if c := m.cases[s]; c != nil {
			out.Cases = append(out.Cases, c)
		}
	}
	for _, c := range out.walked() {
		out.ended = append(out.ended, c.all()...)
		if c.NotApplicable != "" {
			out.Footer.NotApplicable = append(out.Footer.NotApplicable, transcript.NotApplicable{Scenario: c.Scenario.ID, Why: c.NotApplicable})
		}
	}
	return out, nil
}

// walked returns the cases in the order of a run that does one at a time: those with targets of their own first.
func (r *Record) walked() []*Case {
	var out []*Case
	for _, fresh := range []bool{true, false} {
		for _, c := range r.Cases {
			if c.Scenario.Fresh == fresh {
				out = append(out, c)
			}
		}
	}
	return out
}

// Write writes the run file of a record that was merged.
func (r *Record) Write(to io.Writer) error {
	w, err := transcript.NewRunWriter(to, r.Header)
	if err != nil {
		return err
	}
	for _, n := range r.Footer.NotApplicable {
		w.NotApplicable(n.Scenario, n.Why)
	}
	written := slices.Clone(r.ended)
	for _, c := range r.Cases {
		written = append(written, c.Probe...)
	}
	for _, t := range written {
		if err := w.Write(t); err != nil {
			return err
		}
	}
	w.OwnerUnchecked(r.Footer.OwnerUnchecked)
	return w.Close(r.Footer.Took)
}
