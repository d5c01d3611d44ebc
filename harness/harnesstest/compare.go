package harnesstest

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/code"
	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Compare runs a scenario that is written in Go. It calls steps with a client that performs each step on all targets of
// the project, and compares at the end what they did. The test fails as a subtest of Test would: when the targets differ
// or when the scenario could not be judged. The scenario is called like the test. keys are those of a scenario's file
// without its steps; why is required.
//
// Tests that share servers share a [Suite].
func Compare(t testing.TB, file string, keys code.Keys, steps func(*code.Client)) {
	t.Helper()
	s := Open(t, file, nil)
	s.compare(t, caller(), keys, steps)
}

// A Suite is one run of many scenarios in Go. They share the servers of the project, which start with the first
// scenario, and the reports. Tests may use it at the same time.
type Suite struct {
	t       testing.TB
	project *project.Project
	session *engine.Session

	mu   sync.Mutex // guards the fields below
	ids  map[string]bool
	end  sync.Once
	last *report.Document
}

// Open opens a suite, which ends with the test and its subtests. file is the project's lockstep.yaml. Nil options mean
// all targets. Options that select, repeat or record scenarios are errors.
func Open(t testing.TB, file string, options *engine.Options) *Suite {
	t.Helper()
	p, err := project.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	session, err := engine.Begin(context.WithoutCancel(t.Context()), p, withEnviron(options))
	if err != nil {
		t.Fatal(err)
	}
	s := &Suite{t: t, project: p, session: session, ids: map[string]bool{}}
	t.Cleanup(func() { s.Close() })
	return s
}

// Compare is the function of that name, for a scenario of the suite. Each test may call it once.
func (s *Suite) Compare(t testing.TB, keys code.Keys, steps func(*code.Client)) {
	t.Helper()
	s.compare(t, caller(), keys, steps)
}

func (s *Suite) compare(t testing.TB, at runtime.Frame, keys code.Keys, steps func(*code.Client)) {
	t.Helper()
	s.mu.Lock()
	again := s.ids[t.Name()]
	s.ids[t.Name()] = true
	s.mu.Unlock()
	if again {
		t.Fatalf("%s:%d: the suite already has a scenario %s: call Compare once in a test, and use t.Run for more", at.File, at.Line, t.Name())
	}
	story := &code.Story{
		ID: t.Name(), Keys: keys, Steps: steps, File: at.File, Line: at.Line, Failed: t.Failed,
		Fatal: func(err error) { t.Helper(); t.Fatal(err) },
	}
	err := code.Run(t.Context(), s.session, s.project, story, func(v *verdict.Scenario) { check(t, v) })
	if err != nil {
		t.Fatal(err)
	}
}

// Close stops the servers and returns the whole run, which the packages below report write as page, JUnit or JSON. The end
// of the test calls it, too; only the first call does something. No scenario may be running: call it in a t.Cleanup.
func (s *Suite) Close() *report.Document {
	s.t.Helper()
	s.end.Do(func() {
		result, err := s.session.End(context.WithoutCancel(s.t.Context()))
		if err != nil {
			s.t.Error(err)
		}
		for i := range result.Scenarios {
			for _, f := range result.Scenarios[i].Findings {
				if f.Constant() && !f.Accepted() { // found when all scenarios have run
					s.t.Errorf("%s:%d: %s", result.Scenarios[i].File, f.Line, f)
				}
			}
		}
		checkRun(s.t, result)
		s.last = result.Document(s.project)
	})
	return s.last
}

// caller returns where an exported function of this package was called.
func caller() runtime.Frame {
	var pcs [1]uintptr
	frame, _ := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])]).Next()
	return frame
}
