package engine_test

import (
	"bytes"
	"context"
	"net"
	"net/url"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/faux/chat"
	"github.com/lockstep-dev/lockstep/internal/memnet"
)

// Over sockets, the scenario about time is left out. In memory, where time can be measured, a connection has no
// half-close.
const (
	chatsOverSockets = 59
	chatsInMemory    = 59
)

// chatOverSockets runs scenarios on two chat servers, the reference first. Without ids, it runs all but those about time.
func chatOverSockets(t *testing.T, p *project.Project, right, wrong *chat.Server, ids ...string) *engine.Result {
	t.Helper()
	serve := func(s *chat.Server) string {
		l := faux.Listen(t)
		t.Cleanup(s.Serve(l))
		return "http://" + l.Addr().String()
	}
	var file bytes.Buffer
	result, err := engine.Run(t.Context(), p, &engine.Options{
		Targets: []string{"right=" + serve(right), "wrong=" + serve(wrong)},
		Select:  project.Selection{Paths: ids, Skip: []string{"clock"}},
		RunFile: &file,
	})
	if err != nil {
		t.Fatal(err)
	}
	isJudgedAgain(t, p, &file, result)
	return result
}

// chatInMemory runs them under a fake clock, without those about half-closes.
func chatInMemory(t *testing.T, p *project.Project, right, wrong *chat.Server, ids ...string) *engine.Result {
	t.Helper()
	result := &engine.Result{}
	synctest.Test(t, func(t *testing.T) {
		dial := func(name string, s *chat.Server) *run.Target {
			l := memnet.Listen()
			stop := s.Serve(l)
			c := httpwire.NewClient(&url.URL{Scheme: "http", Host: "memory"}, &httpwire.Options{
				Dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx) },
			})
			t.Cleanup(func() {
				c.Close()
				stop()
			})
			return &run.Target{Name: name, Client: c}
		}
		targets := []*run.Target{dial("right", right), dial("wrong", wrong)}
		for _, s := range p.Scenarios {
			if !slices.Contains(s.Tags, "halves") && (len(ids) == 0 || slices.Contains(ids, s.ID)) {
				result.Add(*engine.Walk(t.Context(), p, s, targets))
			}
		}
		result.Conclude()
	})
	return result
}

// plain returns findings as the type of package faux.
func plain(all []chat.Finding) []faux.Finding {
	var out []faux.Finding
	for _, f := range all {
		out = append(out, faux.Finding(f))
	}
	return out
}

// beside returns the scenario of a fault, and some of the others, in which nothing must be reported. All faults together
// run each scenario many times.
func beside(p *project.Project, f *chat.Fault, number int) []string {
	const every = 6
	ids := []string{f.In}
	for i, s := range p.Scenarios {
		if i%every == number%every && s.ID != f.In {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

func TestEveryFaultOfASocketIsFoundAndNamed(t *testing.T) {
	p := fauxproject.Chat(t)
	for i, f := range chat.Faults() {
		run := chatInMemory
		if f.Halves {
			run = chatOverSockets
		}
		t.Run(f.ID+"/in the candidate", func(t *testing.T) {
			t.Parallel()
			isSaid(t, f.In, f.Doc, plain(f.Says), run(t, p, &chat.Server{}, &chat.Server{Fault: f}, beside(p, f, i)...))
		})
		want := plain(f.Turned)
		if want == nil {
			want = turned(plain(f.Says))
		}
		t.Run(f.ID+"/in the reference", func(t *testing.T) {
			t.Parallel()
			isSaid(t, f.In, f.Doc, want, run(t, p, &chat.Server{Fault: f}, &chat.Server{}, f.In))
		})
	}
}

// A fault has the same name over real connections, and when the server writes everything else in its own way.
func TestAFaultOfASocketHasTheSameNameInEveryStyle(t *testing.T) {
	p := fauxproject.Chat(t)
	styles := chat.Styles()
	for i, f := range chat.Faults() {
		if f.Clock {
			continue
		}
		style := styles[i%len(styles)]
		t.Run(f.ID+"/"+style.ID, func(t *testing.T) {
			t.Parallel()
			result := chatOverSockets(t, p, &chat.Server{}, &chat.Server{Fault: f, Style: style}, f.In)
			if diff := cmp.Diff(bare(plain(f.Says)), bare(findings(&result.Scenarios[0]))); diff != "" {
				t.Errorf("what is said about %s (-want +got):\n%s", f.Doc, diff)
			}
		})
	}
}

func TestAStyleOfASocketIsNotAccused(t *testing.T) {
	p := fauxproject.Chat(t)
	for _, style := range chat.Styles() {
		t.Run(style.ID, func(t *testing.T) {
			t.Parallel()
			overSockets := chatOverSockets(t, p, &chat.Server{}, &chat.Server{Style: style})
			isMatch(t, overSockets, chatsOverSockets)
			if n := overSockets.Totals.Compared.Unnamed["Sec-Websocket-Accept"]; n > 0 {
				t.Errorf("Sec-WebSocket-Accept is said to differ %d times: its keys are random", n)
			}
			isMatch(t, chatInMemory(t, p, &chat.Server{Style: style}, &chat.Server{}), chatsInMemory)
		})
	}
}
