package harness

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A Recording is what a reference did in a run. It stands in for the reference in other runs, which judge candidates
// against it. Nil is none.
type Recording struct {
	Header transcript.RunHeader

	transcripts   map[string]*transcript.Transcript // by scenario
	notApplicable map[string]string                 // why, by scenario
	project       *Project
	version       string // of the reference as it is now; "" when nobody knows
}

// ReadRecording reads a recording, and looks what has changed since: the scenarios concerned are unknown in a run. version
// is that of the reference now, "" when the project is to say it, if it can. The error is transcript.ErrIncomplete when the
// recording has no end, and a *UsageError when the file is none.
func (p *Project) ReadRecording(file io.Reader, version string) (*Recording, error) {
	r := &Recording{transcripts: map[string]*transcript.Transcript{}, notApplicable: map[string]string{}, project: p, version: version}
	footer, err := transcript.ReadRun(file, func(h transcript.RunHeader) error {
		r.Header = h
		return nil
	}, func(t *transcript.Transcript) error {
		r.transcripts[t.Scenario] = t
		return nil
	})
	if err != nil {
		return nil, err
	}
	if r.Header.Recording == nil || len(r.Header.Targets) != 1 {
		return nil, &UsageError{"the run file is no recording", "lockstep run --record writes one"}
	}
	if r.Header.Recording.Limits == (transcript.Limits{}) {
		return nil, &UsageError{"the recording is one of an earlier lockstep, and does not say what it depends on", "record again"}
	}
	for _, n := range footer.NotApplicable {
		r.notApplicable[n.Scenario] = n.Why
	}
	if r.version == "" {
		r.version, err = p.version(r.Reference())
	}
	return r, err
}

// Reference is the name of the target that was recorded.
func (r *Recording) Reference() string { return r.Header.Targets[0].Name }

// String says what was recorded when: "typescript 1.2, recorded on 2026-11-20 09:30 UTC by lockstep 0.1.0".
func (r *Recording) String() string {
	name := r.Reference()
	if v := r.Header.Recording.Version; v != "" {
		name += " " + v
	}
	return fmt.Sprintf("%s, recorded on %s by lockstep %s", name, r.Header.Started.UTC().Format("2006-01-02 15:04 UTC"), r.Header.Version)
}

// transcript returns what the reference did in a scenario; nil without a recording.
func (r *Recording) transcript(s *scenario.Scenario) *transcript.Transcript {
	if r == nil {
		return nil
	}
	return r.transcripts[s.ID]
}

// join puts what the reference did before what the candidates did.
func (r *Recording) join(s *scenario.Scenario, ts []*transcript.Transcript) []*transcript.Transcript {
	if r == nil {
		return ts
	}
	reference := *r.transcripts[s.ID]
	reference.Recorded = true
	return append([]*transcript.Transcript{&reference}, ts...)
}

// unwalked are the transcripts of a scenario that nobody has walked: the first says why.
func (e *execution) unwalked(s *scenario.Scenario, why string, log []string) []*transcript.Transcript {
	out := make([]*transcript.Transcript, len(e.targets))
	for i, t := range e.targets {
		out[i] = &transcript.Transcript{Scenario: s.ID, Target: t.Spec.Name, Started: time.Now()}
	}
	out[0].Unusable, out[0].Log = why, log
	return out
}

// live returns the targets that run: all but a reference that was recorded.
func (o *Options) live(targets []Target) []Target {
	if o.Against != nil {
		return targets[1:]
	}
	return targets
}

// chooseAgainst returns the recorded reference and the targets to run: by default all of the project but the reference.
func (p *Project) chooseAgainst(wishes []string, reference string, r *Recording) ([]Target, error) {
	recorded := r.Reference()
	if reference != "" && reference != recorded {
		return nil, &UsageError{fmt.Sprintf("reference %q is not the one that was recorded", reference), fmt.Sprintf("leave it out: the recording is of %q", recorded)}
	}
	if len(wishes) == 0 {
		wishes = slices.DeleteFunc(names(p.Targets), func(name string) bool { return name == recorded })
	}
	targets := []Target{{Spec: target.Spec{Name: recorded}}}
	for _, wish := range wishes {
		t, err := p.target(wish)
		if err != nil {
			return nil, err
		}
		t.Spec.Name = p.unlike(t.Spec.Name, targets)
		targets = append(targets, t)
	}
	if len(targets) == 1 {
		return nil, &UsageError{fmt.Sprintf("there is nothing to hold against the recording of %q", recorded), "name a target with --target"}
	}
	return targets, distinct(targets[1:])
}

// recordable refuses recordings that would be none.
func recordable(o *Options) error {
	switch {
	case o.Record == nil:
		return nil
	case o.Against != nil:
		return errRecordedAgain
	case o.Repeat > 1:
		return &UsageError{"a recording has one run of each scenario", "record without --repeat; --against a recording may be repeated"}
	case o.Shard != Shard{}:
		return &UsageError{"a shard has a part of the scenarios, and a recording is whole", "leave --record out, and give it to lockstep merge"}
	}
	return nil
}

var errRecordedAgain = &UsageError{"a recording cannot be recorded again", "record a run in which the reference takes part"}

// openRecording begins to record the reference, or the only target.
func (e *execution) openRecording() error {
	if e.opts.Record == nil {
		return nil
	}
	reference, err := e.reference()
	if err != nil {
		return err
	}
	e.recording, err = recordingWriter(e.opts.Record, e.header(), e.targets[0].Spec.Name, reference, e.scenarios)
	return err
}

// reference says what a recording depends on; nil when the reference is one itself.
func (e *execution) reference() (*transcript.Recording, error) {
	if e.opts.Against != nil {
		return nil, nil
	}
	version, name := e.opts.ReferenceVersion, e.targets[0].Spec.Name
	if version == "" {
		var err error
		if version, err = e.project.version(name); err != nil {
			return nil, err
		}
	}
	return &transcript.Recording{Version: version, Settings: e.project.settingsOf(name), Limits: e.project.Limits.recorded()}, nil
}

// recordingWriter begins a recording of scenarios.
func recordingWriter(to io.Writer, h transcript.RunHeader, name string, reference *transcript.Recording, scenarios []*scenario.Scenario) (*transcript.RunWriter, error) {
	h.Shard, h.Targets = nil, []transcript.RunTarget{{Name: name, Reference: true}}
	recording := *reference
	recording.Scenarios = map[string]string{}
	for _, s := range scenarios {
		recording.Scenarios[s.ID] = scenarioSum(s)
	}
	h.Recording = &recording
	return transcript.NewRunWriter(to, h)
}

// record writes what the reference did. The mutex is held.
func (e *execution) record(s *scenario.Scenario, ts []*transcript.Transcript, notApplicable string) {
	switch {
	case e.recording == nil || e.failed != nil:
	case notApplicable != "":
		e.recording.NotApplicable(s.ID, notApplicable)
	default:
		e.failed = e.recording.Write(ts[0])
	}
}

// Recordable reports whether a run that was merged can be recorded. The error is a *UsageError: the reference was not there,
// but recorded itself.
func (r *Record) Recordable() error {
	if r.reference == nil {
		return errRecordedAgain
	}
	return nil
}

// WriteRecording writes the recording of a run that was merged: what Options.Record would have got, had it been one run.
func (r *Record) WriteRecording(to io.Writer) error {
	if err := r.Recordable(); err != nil {
		return err
	}
	scenarios := make([]*scenario.Scenario, len(r.Cases))
	for i, c := range r.Cases {
		scenarios[i] = c.Scenario
	}
	name := r.Header.Targets[0].Name
	w, err := recordingWriter(to, r.Header, name, r.reference, scenarios)
	if err != nil {
		return err
	}
	for _, n := range r.Footer.NotApplicable {
		w.NotApplicable(n.Scenario, n.Why)
	}
	for _, t := range r.ended {
		if t.Target != name {
			continue
		}
		if err := w.Write(t); err != nil {
			return err
		}
	}
	return w.Close(r.Footer.Took)
}
