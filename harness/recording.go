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

// stale says what has changed since a scenario was recorded; "" when nothing has.
func (r *Recording) stale(s *scenario.Scenario) string {
	h, now := &r.Header, &r.project.sums
	sum, recorded := h.Recording.Scenarios[s.ID]
	was := h.Recording.Version
	switch {
	case h.Contract != now.contract:
		return "the contract has changed since the recording"
	case h.Rules != now.rules:
		return r.project.File + " has changed since the recording"
	case was != "" && r.version != "" && was != r.version:
		return fmt.Sprintf("the reference has changed since the recording, from %s to %s", was, r.version)
	case !recorded || r.transcripts[s.ID] == nil && r.notApplicable[s.ID] == "":
		return "the recording does not have the scenario"
	case sum != scenarioSum(s):
		return s.File + " has changed since the recording"
	}
	return ""
}

// Stale returns the scenarios of a selection that cannot be judged against the recording, and why, in their order.
func (r *Recording) Stale(sel Selection) (ids, why []string) {
	picked, err := r.project.pick(sel)
	if err != nil {
		return nil, nil
	}
	for _, s := range picked {
		if text := r.stale(s); text != "" {
			ids, why = append(ids, s.ID), append(why, text)
		}
	}
	return ids, why
}

func scenarioSum(s *scenario.Scenario) string { return sum(append([]byte(s.ID+"\n"), s.Text...))[:32] }

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
	return append([]*transcript.Transcript{r.transcripts[s.ID]}, ts...)
}

// unrecorded judges a scenario whose recording cannot be used, or says that it does not apply, and reports whether it has.
func (e *execution) unrecorded(i int) bool {
	r, s := e.opts.Against, e.scenarios[i]
	if r == nil {
		return false
	}
	why := r.stale(s)
	switch {
	case why != "":
		e.judge(i, e.unwalked(s, why, nil), "")
	case r.notApplicable[s.ID] != "":
		e.judge(i, nil, r.notApplicable[s.ID])
	default:
		return false
	}
	return true
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
		return &UsageError{"a recording cannot be recorded again", "record a run in which the reference takes part"}
	case o.Shard != Shard{}:
		return &UsageError{"a shard would record a part of the scenarios", "record the whole run"}
	}
	return nil
}

// openRecording begins to record the reference, or the only target.
func (e *execution) openRecording() error {
	if e.opts.Record == nil {
		return nil
	}
	h := e.header()
	h.Targets = []transcript.RunTarget{{Name: e.targets[0].Spec.Name, Reference: true}}
	version := e.opts.ReferenceVersion
	if version == "" {
		var err error
		if version, err = e.project.version(h.Targets[0].Name); err != nil {
			return err
		}
	}
	h.Recording = &transcript.Recording{Version: version, Scenarios: map[string]string{}}
	for _, s := range e.scenarios {
		h.Recording.Scenarios[s.ID] = scenarioSum(s)
	}
	var err error
	e.recording, err = transcript.NewRunWriter(e.opts.Record, h)
	return err
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
