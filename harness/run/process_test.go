package run

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A life is a process as tests want it.
type life struct {
	exited chan struct{}
	status string
	err    error
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

// live takes a server that is a process through a story.
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

func TestATargetThatIsGoneIsUnusable(t *testing.T) {
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
