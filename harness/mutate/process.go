package mutate

import "github.com/lockstep-dev/lockstep/harness/transcript"

// processOperators let a process end, or begin, otherwise than it should when a step wants it to.
var processOperators = []Operator{
	processStep("exit-status", "It ends with another status when it is asked to", asked, func(st *transcript.Step) string {
		after := "exit status 1"
		if st.Process.Status == after {
			after = "exit status 0"
		}
		st.Process = &transcript.ProcessEnd{Signal: st.Process.Signal, Status: after, Took: st.Process.Took}
		return after
	}),
	processStep("never-ends", "It does not end when it is asked to", asked, func(st *transcript.Step) string {
		const after = "still running after SIGTERM"
		st.Unmet = &transcript.Unmet{Kind: "exit", What: st.Process.Status, Why: after}
		st.Process = &transcript.ProcessEnd{Signal: st.Process.Signal, Took: st.Process.Took}
		return after
	}),
	processStep("not-again", "It does not come up again", func(st *transcript.Step) bool { return st.Kind == "restart" }, func(st *transcript.Step) string {
		const after = "exited before it was ready: exit status 1"
		st.Unmet = &transcript.Unmet{Kind: "restart", What: "the target to be ready again", Why: after}
		return after
	}),
}

// asked reports whether a step has asked the process to end. One that is killed has no say in how it ends.
func asked(st *transcript.Step) bool { return st.Process != nil && st.Process.Signal == "SIGTERM" }

// processStep makes an operator on steps that end or begin a process; change returns what is there afterwards.
func processStep(name, doc string, of func(*transcript.Step) bool, change func(*transcript.Step) string) Operator {
	return operator("process", name, doc, func(s *Subject, _ uint64, yield emit) {
		for i := range s.Candidate.Steps {
			st := &s.Candidate.Steps[i]
			if st.Skipped != "" || st.Unmet != nil || !of(st) {
				continue
			}
			before := "it is ready again"
			if st.Process != nil {
				before = st.Process.Status
			}
			changed := *st
			after := change(&changed)
			if !yield(Mutant{
				Place: "step " + st.ID + " process", Before: before, After: after, site: site{step: st.ID},
				Build: func() *transcript.Transcript { return s.withStep(i, func(st *transcript.Step) { change(st) }) },
			}) {
				return
			}
		}
	})
}
