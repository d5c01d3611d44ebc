package runfile

import (
	"fmt"
	"io"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A Recording is what a reference did in a run. Other runs judge candidates against it without starting the reference.
// Nil means no recording.
type Recording struct {
	Header transcript.RunHeader

	transcripts   map[string]*transcript.Transcript // by scenario
	notApplicable map[string]string                 // the reason, by scenario
	project       *project.Project
	version       string // of the current reference; "" when unknown
}

// ReadRecording reads a recording and finds out what has changed since. The scenarios that a change concerns are
// unknown in a run. version is that of the current reference; when "", the project states it, if it can. The error is
// transcript.ErrIncomplete when the recording lacks its last line, and a *UsageError when the file is not a recording.
func ReadRecording(p *project.Project, file io.Reader, version string) (*Recording, error) {
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
		return nil, &project.UsageError{What: "the run file is not a recording", Fix: "lockstep run --record writes one"}
	}
	if r.Header.Recording.Limits == (transcript.Limits{}) {
		return nil, &project.UsageError{What: "the recording was made by an older lockstep, and does not say what it depends on", Fix: "record again"}
	}
	for _, n := range footer.NotApplicable {
		r.notApplicable[n.Scenario] = n.Why
	}
	if r.version == "" {
		r.version, err = p.Version(r.Reference())
	}
	return r, err
}

// Reference is the name of the recorded target.
func (r *Recording) Reference() string { return r.Header.Targets[0].Name }

// String says what was recorded, and when: "typescript 1.2, recorded on 2026-11-20 09:30 UTC by lockstep 0.1.0".
func (r *Recording) String() string {
	name := r.Reference()
	if v := r.Header.Recording.Version; v != "" {
		name += " " + v
	}
	return fmt.Sprintf("%s, recorded on %s by lockstep %s", name, r.Header.Started.UTC().Format("2006-01-02 15:04 UTC"), r.Header.Version)
}

// NotApplicable says why a scenario did not apply to the reference, or returns "".
func (r *Recording) NotApplicable(s *scenario.Scenario) string { return r.notApplicable[s.ID] }

// Transcript returns what the reference did in a scenario, or nil without a recording.
func (r *Recording) Transcript(s *scenario.Scenario) *transcript.Transcript {
	if r == nil {
		return nil
	}
	return r.transcripts[s.ID]
}

// Join puts the reference's transcript before those of the candidates.
func (r *Recording) Join(s *scenario.Scenario, ts []*transcript.Transcript) []*transcript.Transcript {
	if r == nil {
		return ts
	}
	reference := *r.transcripts[s.ID]
	reference.Recorded = true
	return append([]*transcript.Transcript{&reference}, ts...)
}

var ErrRecordedAgain = &project.UsageError{What: "a recording cannot be recorded again", Fix: "record a run that was made with the reference itself"}

// NewRecordingWriter begins a recording of scenarios.
func NewRecordingWriter(to io.Writer, h transcript.RunHeader, name string, reference *transcript.Recording, scenarios []*scenario.Scenario) (*transcript.RunWriter, error) {
	h.Shard, h.Targets = nil, []transcript.RunTarget{{Name: name, Reference: true}}
	recording := *reference
	recording.Scenarios = map[string]string{}
	for _, s := range scenarios {
		recording.Scenarios[s.ID] = project.ScenarioSum(s)
	}
	h.Recording = &recording
	return transcript.NewRunWriter(to, h)
}

// Recordable reports whether a merged run can be recorded. The error is a *UsageError when a recording replaced the
// reference.
func (r *File) Recordable() error {
	if r.reference == nil {
		return ErrRecordedAgain
	}
	return nil
}

// WriteRecording writes the recording of a merged run: what Options.Record would have got from a single run.
func (r *File) WriteRecording(to io.Writer) error {
	if err := r.Recordable(); err != nil {
		return err
	}
	scenarios := make([]*scenario.Scenario, len(r.Cases))
	for i, c := range r.Cases {
		scenarios[i] = c.Scenario
	}
	name := r.Header.Targets[0].Name
	w, err := NewRecordingWriter(to, r.Header, name, r.reference, scenarios)
	if err != nil {
		return err
	}
	return r.writeAll(w, slices.DeleteFunc(slices.Clone(r.Transcripts), func(t *transcript.Transcript) bool { return t.Target != name }))
}
