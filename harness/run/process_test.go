package run

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/runqueue"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A life is a fake process.
type life struct {
	exited  chan struct{}
	status  string
	err     error
	again   error // the error of a restart
	restart int
	use     func(age time.Duration) runqueue.Use // returns its processor use, when set
}

func (l *life) Exited() <-chan struct{} { return l.exited }
func (l *life) ExitStatus() string      { return l.status }
func (l *life) Log() []string           { return []string{"the last words"} }

func (l *life) UnderWay() []string { return []string{"other step 3 POST /x"} }

func (l *life) Terminate(context.Context) (string, error) {
	if l.err == nil {
		close(l.exited)
	}
	return l.status, l.err
}

func (l *life) Processors(age time.Duration) (runqueue.Use, bool) {
	if l.use == nil {
		return runqueue.Use{}, false
	}
	return l.use(age), true
}

func (l *life) Grace() time.Duration { return time.Second }

func (l *life) Kill(context.Context) (string, error) {
	l.status = "signal: killed"
	close(l.exited)
	return l.status, nil
}

func (l *life) Restart(context.Context) error {
	l.restart++
	if l.again == nil {
		l.exited = make(chan struct{})
	}
	return l.again
}

// live runs a story on one server that has a process.
func live(t *testing.T, text string, handler func(*life) http.Handler, check func(*testing.T, *life, *transcript.Transcript)) {
	t.Helper()
	s := story(t, text)
	synctest.Test(t, func(t *testing.T) {
		l := &life{exited: make(chan struct{}), status: "exit status 0"}
		target := target(t, "ref", handler(l))
		target.Process = l
		check(t, l, Scenario(t.Context(), s, []*Target{target}, options())[0])
	})
}

const stopping = `
isolate: fresh
steps:
  - stop: target
    exit: 3
  - http: GET /x
`

func TestAProcessThatIsAskedToEndHasNotExited(t *testing.T) {
	for _, tc := range []struct {
		name   string
		status string
		err    error
		want   string
	}{
		{"as it should", "exit status 3", nil, "1 done"},
		{"otherwise", "signal: killed", nil, "1 unmet: exit status 3: signal: killed"},
		{"not at all", "", errors.New("still running"), "1 unmet: exit status 3: still running"},
	} {
		live(t, stopping, func(l *life) http.Handler {
			l.status, l.err = tc.status, tc.err
			return answer("{}")
		}, func(t *testing.T, _ *life, got *transcript.Transcript) {
			same(t, tc.name, outcomes(got)[:1], []string{tc.want})
			if got.Exit != nil {
				t.Errorf("%s: it has exited: %+v", tc.name, got.Exit)
			}
		})
	}
}

func TestATargetThatIsNoProcessCannotBeStopped(t *testing.T) {
	walk(t, story(t, stopping), options(), answer("{}"), answer("{}"), func(t *testing.T, ref, _ *transcript.Transcript, _ time.Duration) {
		same(t, "steps", outcomes(ref), []string{"1 fault: the target was not started by lockstep, so it cannot be stopped", "2 done"})
	})
}

func TestAnExitSkipsTheRest(t *testing.T) {
	steps := `
steps:
  - http: GET /x
  - http: GET /dies
  - http: GET /x
teardown:
  - http: GET /x
`
	live(t, steps, func(l *life) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer("{}")(w, r)
			if strings.HasSuffix(r.URL.Path, "dies") {
				l.status = "exit status 2"
				close(l.exited)
			}
		})
	}, func(t *testing.T, _ *life, got *transcript.Transcript) {
		same(t, "steps", outcomes(got), []string{"1 done", "2 done", "3 skipped: " + transcript.Exited, "teardown.1 skipped: " + transcript.Exited})
		if got.Exit == nil || got.Exit.Status != "exit status 2" || len(got.Exit.Log) != 1 || len(got.Exit.UnderWay) != 1 {
			t.Errorf("exit %+v", got.Exit)
		}
	})
}

func TestATargetThatHasExitedIsUnusable(t *testing.T) {
	live(t, "steps: [{http: GET /x}]", func(l *life) http.Handler {
		l.status = "exit status 2"
		close(l.exited)
		return answer("{}")
	}, func(t *testing.T, _ *life, got *transcript.Transcript) {
		const why = "the target is not running: exit status 2"
		same(t, "steps", outcomes(got), []string{"1 skipped: " + why})
		if got.Unusable != why || len(got.Log) != 1 || got.Exit != nil {
			t.Errorf("unusable %q, log %q, exit %+v", got.Unusable, got.Log, got.Exit)
		}
	})
}

func TestAProcessIsStartedAgain(t *testing.T) {
	for _, tc := range []struct {
		name, before string
		err, again   error
		want         []string
		process      transcript.ProcessEnd
	}{
		{"one that runs", "http: GET /x", nil, nil, []string{"2 done", "3 done"}, transcript.ProcessEnd{Signal: "SIGTERM", Status: "exit status 0"}},
		{"one that does not end", "http: GET /x", errors.New("still running"), nil, []string{"2 unmet: to end: still running", "3 done"}, transcript.ProcessEnd{Signal: "SIGTERM"}},
		{"one that was stopped", "stop: target", nil, nil, []string{"2 done", "3 done"}, transcript.ProcessEnd{}},
		{"one that was killed", "kill: target", nil, nil, []string{"2 done", "3 done"}, transcript.ProcessEnd{}},
		{"one that does not start again", "kill: target", nil, errors.New("no disk"), []string{
			"2 unmet: the target to be ready again: no disk", "3 skipped: " + transcript.NotRestarted}, transcript.ProcessEnd{}},
	} {
		live(t, "isolate: fresh\nsteps:\n  - "+tc.before+"\n  - restart: target\n  - http: GET /x\n", func(l *life) http.Handler {
			l.err, l.again = tc.err, tc.again
			return answer("{}")
		}, func(t *testing.T, l *life, got *transcript.Transcript) {
			same(t, tc.name, outcomes(got)[1:], tc.want)
			var process transcript.ProcessEnd
			if p := got.Steps[1].Process; p != nil {
				process = *p
			}
			if process != tc.process || l.restart != 1 || got.Exit != nil {
				t.Errorf("%s: %+v, %d restarts, exit %+v", tc.name, process, l.restart, got.Exit)
			}
		})
	}
}

func TestAProcessThatWasStartedAgainCanExit(t *testing.T) {
	live(t, "isolate: fresh\nsteps:\n  - kill: target\n  - restart: target\n  - http: GET /x\n  - http: GET /x\n", func(l *life) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer("{}")(w, r)
			l.status = "exit status 2"
			close(l.exited)
		})
	}, func(t *testing.T, _ *life, got *transcript.Transcript) {
		same(t, "steps", outcomes(got), []string{"1 done", "2 done", "3 done", "4 skipped: " + transcript.Exited})
		if got.Exit == nil || got.Exit.Status != "exit status 2" {
			t.Errorf("exit %+v", got.Exit)
		}
	})
}
