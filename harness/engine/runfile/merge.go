package runfile

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A Part is the run file of one shard.
type Part struct {
	Name string // shown in messages, such as its path
	File io.Reader
}

// Merge reads the run files of all shards of a run and returns what one run would have written; see File.Write. The
// error is a *UsageError when a shard is missing, occurs twice, or belongs to another run.
//
// The merged run starts with the first shard and ends with the last one. It has the highest number of jobs of any
// shard.
func Merge(p *project.Project, parts []Part) (*File, error) {
	m := merger{project: p, names: map[int]string{}, unchecked: map[string]string{}}
	for _, part := range parts {
		record, err := Read(p, part.File)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.Name, err)
		}
		if err := m.add(part.Name, record); err != nil {
			return nil, err
		}
	}
	return m.result()
}

// A merger collects the parts of a run.
type merger struct {
	project *project.Project
	first   string // the name of the first part
	header  transcript.RunHeader
	names   map[int]string // the names of the parts, by index
	cases   map[*scenario.Scenario]*Case
	ended   time.Time
	// unchecked has OwnerUnchecked of all footers.
	unchecked map[string]string
}

// add adds a part if it belongs to the same run as those before it.
func (m *merger) add(name string, r *File) error {
	h := r.Header
	if h.Shard == nil {
		return &project.UsageError{What: name + " is a complete run, not a shard", Fix: "name the run files that lockstep run --shard wrote"}
	}
	if h.Shard.Index < 1 || h.Shard.Index > h.Shard.Of {
		return &project.UsageError{What: fmt.Sprintf("%s says that it is shard %d/%d, which does not exist", name, h.Shard.Index, h.Shard.Of), Fix: "run that shard again"}
	}
	end := h.Started.Add(r.Footer.Took)
	if m.first == "" {
		m.first, m.header, m.ended, m.cases = name, h, end, map[*scenario.Scenario]*Case{}
	}
	if err := m.checkSameRun(name, &h); err != nil {
		return err
	}
	if other, twice := m.names[h.Shard.Index]; twice {
		return &project.UsageError{What: fmt.Sprintf("%s and %s are both shard %d/%d", other, name, h.Shard.Index, h.Shard.Of), Fix: "name one of them"}
	}
	m.names[h.Shard.Index] = name
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
	return m.checkOwnScenarios(name, r)
}

// checkSameRun reports why a part does not belong to the run of the first one.
func (m *merger) checkSameRun(name string, h *transcript.RunHeader) error {
	a := &m.header
	const fix = "merge the shards of one run; make them with the same files and flags"
	both := func(what string, one, other any) error {
		return &project.UsageError{What: fmt.Sprintf("%s and %s are not shards of the same run: %s (%v and %v)", m.first, name, what, one, other), Fix: fix}
	}
	switch {
	case a.Contract != h.Contract:
		return both("their contracts differ", short(a.Contract), short(h.Contract))
	case a.Scenarios != h.Scenarios:
		return both("their scenarios differ", short(a.Scenarios), short(h.Scenarios))
	case a.Repeat != h.Repeat:
		return both("their scenarios were run a different number of times", max(1, a.Repeat), max(1, h.Repeat))
	case a.Confirm != h.Confirm:
		return both("their red scenarios were run again a different number of times", a.Confirm, h.Confirm)
	case a.Rules != h.Rules:
		return both("their lockstep.yaml differ", short(a.Rules), short(h.Rules))
	case a.Version != h.Version:
		return both("their versions of lockstep differ", a.Version, h.Version)
	case !slices.Equal(a.Targets, h.Targets):
		return both("their targets differ", targetsText(a), targetsText(h))
	case !sameReference(a.Shard.Reference, h.Shard.Reference):
		return &project.UsageError{What: fmt.Sprintf("%s and %s are not shards of the same run: their references differ, in version, settings or limits", m.first, name), Fix: fix}
	case a.Shard.Of != h.Shard.Of:
		return both("their numbers of shards differ", a.Shard.Of, h.Shard.Of)
	case !slices.Equal(a.Shard.Selection, h.Shard.Selection):
		return both("they select different scenarios", selectionText(a), selectionText(h))
	case a.Seed != h.Seed:
		e := &project.UsageError{What: fmt.Sprintf("%s and %s have the seeds %d and %d", m.first, name, a.Seed, h.Seed), Fix: "give all shards the same --seed, or none: then they choose the same one"}
		return e
	}
	return nil
}

// sameReference reports whether the references of two shards can be recorded as one.
func sameReference(a, b *transcript.Recording) bool {
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

// checkOwnScenarios reports a part that lacks scenarios of its shard, or has others.
func (m *merger) checkOwnScenarios(name string, r *File) error {
	selection, err := m.selection(r.Header.Shard.Selection)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	h := r.Header.Shard
	own, got := project.Shard{Index: h.Index, Of: h.Of}.Take(selection), make([]*scenario.Scenario, len(r.Cases))
	for i, c := range r.Cases {
		got[i] = c.Scenario
	}
	if s := firstMissing(got, own); s != nil {
		return &project.UsageError{What: fmt.Sprintf("%s (shard %d/%d) lacks its scenario %s", name, h.Index, h.Of, s.ID), Fix: "run that shard again: lockstep itself failed in it"}
	}
	if s := firstMissing(own, got); s != nil {
		return &project.UsageError{What: fmt.Sprintf("%s (shard %d/%d) has the scenario %s, which belongs to another shard", name, h.Index, h.Of, s.ID), Fix: "run that shard again"}
	}
	return nil
}

// firstMissing returns the first scenario of all that among lacks, or nil.
func firstMissing(among, all []*scenario.Scenario) *scenario.Scenario {
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

// selection returns the scenarios with those ids.
func (m *merger) selection(ids []string) ([]*scenario.Scenario, error) {
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
		return nil, errors.New("the project lacks scenarios that it selects")
	}
	return out, nil
}

// result merges the parts if all of them are there.
func (m *merger) result() (*File, error) {
	if m.first == "" {
		return nil, &project.UsageError{What: "no shard", Fix: "name the run files that lockstep run --shard wrote"}
	}
	var missing []int
	for i := 1; i <= m.header.Shard.Of; i++ {
		if m.names[i] == "" {
			missing = append(missing, i)
		}
	}
	if len(missing) > 0 {
		return nil, &project.UsageError{What: fmt.Sprintf("of %d shards, %d are here; missing: %s", m.header.Shard.Of, len(m.names), shardNames(missing, m.header.Shard.Of)), Fix: fmt.Sprintf("run the missing shards with the same selection: lockstep run --shard %d/%d", missing[0], m.header.Shard.Of)}

	}
	out := &File{Header: m.header, reference: m.header.Shard.Reference, Footer: transcript.RunFooter{Took: m.ended.Sub(m.header.Started)}}
	out.Header.Shard, out.Footer.OwnerUnchecked = nil, m.unchecked
	for _, s := range m.project.Scenarios {
		if c := m.cases[s]; c != nil {
			out.Cases = append(out.Cases, c)
		}
	}
	for _, c := range out.inRunOrder() {
		out.Transcripts = append(out.Transcripts, c.All()...)
		if c.NotApplicable != "" {
			out.Footer.NotApplicable = append(out.Footer.NotApplicable, transcript.NotApplicable{Scenario: c.Scenario.ID, Why: c.NotApplicable})
		}
	}
	return out, nil
}

// inRunOrder returns the cases in the order of a run with one job: those with their own targets first.
func (r *File) inRunOrder() []*Case {
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

func (r *File) Write(to io.Writer) error {
	w, err := transcript.NewRunWriter(to, r.Header)
	if err != nil {
		return err
	}
	w.OwnerUnchecked(r.Footer.OwnerUnchecked)
	written := slices.Clone(r.Transcripts)
	for _, c := range r.Cases {
		written = append(written, c.Probe...)
	}
	return r.writeAll(w, written)
}

func (r *File) writeAll(w *transcript.RunWriter, ts []*transcript.Transcript) error {
	for _, n := range r.Footer.NotApplicable {
		w.NotApplicable(n.Scenario, n.Why)
	}
	for _, t := range ts {
		if err := w.Write(t); err != nil {
			return err
		}
	}
	return w.Close(r.Footer.Took)
}

// selectionSum returns a short checksum of a selection.
func selectionSum(ids []string) string {
	digest := sha256.Sum256([]byte(strings.Join(ids, "\n")))
	return hex.EncodeToString(digest[:4])
}

// shardNames writes shards as a list.
func shardNames(indexes []int, of int) string {
	slices.SortFunc(indexes, cmp.Compare)
	names := make([]string, len(indexes))
	for i, n := range indexes {
		names[i] = project.Shard{Index: n, Of: of}.String()
	}
	return strings.Join(names, ", ")
}
