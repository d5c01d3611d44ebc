package engine

import (
	"errors"

	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// outputs are the files that a run writes while it is under way.
type outputs struct {
	run       *transcript.RunWriter // of all targets; nil when not wanted
	recording *transcript.RunWriter // of the reference alone; nil when not wanted
	written   map[int]bool          // scenarios
	err       error                 // of the first write that failed
}

// openOutputs begins the files that the options ask for. selection has the scenarios of all shards.
func openOutputs(e *execution, selection []*scenario.Scenario) (*outputs, error) {
	o := &outputs{written: map[int]bool{}}
	h := transcript.RunHeader{
		Version: Version, Started: e.result.Started, Seed: e.opts.Seed, Jobs: e.opts.Jobs, AllowEmpty: e.opts.AllowEmpty,
		Contract: e.project.Sums.Contract, Scenarios: e.project.Sums.Scenarios, Rules: e.project.Sums.Rules,
	}
	if e.opts.Repeat > 1 {
		h.Repeat = e.opts.Repeat
	}
	reference, err := recordedReference(e)
	if err != nil {
		return nil, err
	}
	if e.opts.Record != nil {
		if o.recording, err = runfile.NewRecordingWriter(e.opts.Record, h, e.targets[0].Spec.Name, reference, e.scenarios); err != nil {
			return nil, err
		}
	}
	if e.opts.RunFile == nil {
		return o, nil
	}
	for i, t := range e.targets {
		h.Targets = append(h.Targets, transcript.RunTarget{Name: t.Spec.Name, Reference: i == 0 && !e.result.Alone})
	}
	if s := e.opts.Shard; s != (project.Shard{}) {
		h.Shard = &transcript.RunShard{Index: s.Index, Of: s.Of, Selection: project.IDs(selection), Reference: reference}
	}
	o.run, err = transcript.NewRunWriter(e.opts.RunFile, h)
	return o, err
}

// recordedReference says what a recording of the run depends on; nil when none can be made or merged of it.
func recordedReference(e *execution) (*transcript.Recording, error) {
	if e.opts.Against != nil || e.opts.Record == nil && (e.opts.RunFile == nil || e.opts.Shard == (project.Shard{})) {
		return nil, nil
	}
	version, name := e.opts.ReferenceVersion, e.targets[0].Spec.Name
	if version == "" {
		var err error
		if version, err = e.project.Version(name); err != nil {
			return nil, err
		}
	}
	return &transcript.Recording{Version: version, Settings: e.project.Settings(name), Limits: e.project.Limits.Recorded()}, nil
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

// write writes transcripts to the run file.
func (o *outputs) write(ts []*transcript.Transcript) {
	for _, t := range ts {
		if o.run != nil && o.err == nil {
			o.err = o.run.Write(t)
		}
	}
}

// close ends the files of a complete run. Those of an incomplete one lack their last line, which says that they are whole.
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
