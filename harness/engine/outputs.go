package engine

import (
	"errors"

	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// outputs are the files that a run writes while it runs.
type outputs struct {
	run       *transcript.RunWriter // all targets; nil when not wanted
	recording *transcript.RunWriter // the reference alone; nil when not wanted
	written   map[int]bool          // scenarios, by index
	err       error                 // the first write error
}

// openOutputs creates the files that the options ask for. selection has the scenarios of all shards.
func openOutputs(e *execution, selection []*scenario.Scenario) (*outputs, error) {
	o := &outputs{written: map[int]bool{}}
	h := transcript.RunHeader{
		Version: Version, Started: e.judgement.result.Started, Seed: e.opts.Seed, Jobs: e.opts.Jobs, AllowEmpty: e.opts.AllowEmpty,
		Contract: e.judgement.project.Sums.Contract, Scenarios: e.judgement.project.Sums.Scenarios, Rules: e.judgement.project.Sums.Rules,
	}
	if e.opts.Repeat > 1 {
		h.Repeat = e.opts.Repeat
	}
	h.Confirm = e.opts.Confirm
	reference, err := recordedReference(e)
	if err != nil {
		return nil, err
	}
	if e.opts.Record != nil {
		if o.recording, err = runfile.NewRecordingWriter(e.opts.Record, h, e.targets[0].Spec.Name, reference, e.judgement.scenarios); err != nil {
			return nil, err
		}
	}
	if e.opts.RunFile == nil {
		return o, nil
	}
	for i, t := range e.targets {
		name := t.Spec.Name
		h.Targets = append(h.Targets, transcript.RunTarget{Name: name, Version: e.judgement.result.Versions[name], Reference: i == 0 && !e.judgement.result.Alone})
	}
	if s := e.opts.Shard; s != (project.Shard{}) {
		h.Shard = &transcript.RunShard{Index: s.Index, Of: s.Of, Selection: project.IDs(selection), Reference: reference}
	}
	o.run, err = transcript.NewRunWriter(e.opts.RunFile, h)
	return o, err
}

// recordedReference returns what a recording of the run depends on. It returns nil when no recording can be made from
// it.
func recordedReference(e *execution) (*transcript.Recording, error) {
	if e.opts.Against != nil || e.opts.Record == nil && (e.opts.RunFile == nil || e.opts.Shard == (project.Shard{})) {
		return nil, nil
	}
	version, name := e.opts.ReferenceVersion, e.targets[0].Spec.Name
	if version == "" {
		var err error
		if version, err = e.judgement.project.Version(name); err != nil {
			return nil, err
		}
	}
	return &transcript.Recording{Version: version, Settings: e.judgement.project.Settings(name), Limits: e.judgement.project.Limits.Recorded()}, nil
}

// add writes the i-th scenario: all transcripts of its runs, or why it does not apply.
func (o *outputs) add(i int, c *runfile.Case, all []*transcript.Transcript) {
	o.written[i] = true
	for _, w := range []*transcript.RunWriter{o.run, o.recording} {
		if w != nil && c.NotApplicable != "" {
			w.NotApplicable(c.Scenario.ID, c.NotApplicable)
		}
	}
	if o.recording != nil && c.NotApplicable == "" && o.err == nil {
		o.err = o.recording.Write(c.Transcripts[0])
	}
	o.write(all)
}

func (o *outputs) write(ts []*transcript.Transcript) {
	for _, t := range ts {
		if o.run != nil && o.err == nil {
			o.err = o.run.Write(t)
		}
	}
}

// close completes the files of a complete run. Those of an incomplete run lack the last line, which marks a file as
// complete.
func (o *outputs) close(r *Result) error {
	if r.Incomplete != "" {
		return o.err
	}
	if o.run != nil {
		o.run.OwnerUnchecked(r.OwnerUnchecked)
		o.err = errors.Join(o.err, o.run.Close(r.Took))
	}
	if o.recording != nil {
		o.err = errors.Join(o.err, o.recording.Close(r.Took))
	}
	return o.err
}
