//go:build unix

package engine_test

import (
	"context"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/memnet"
	"github.com/lockstep-dev/lockstep/internal/memprocess"
)

// driverConfig is the lockstep.yaml of the drivers.
const driverConfig = `scenarios: scenarios
reference: right
targets:
  right: {driver: [driver]}
  wrong: {driver: [driver]}
stubs:
  api: {kind: http}
  model: {kind: openai}
compare:
  stubs:
    api: {headers: [Content-Type, Authorization, Last-Event-ID]}
limits: {step: 5s, scenario: 20s, settle: 200ms, events: 800}
`

// driverTarget is a target that runs a driver in memory, with stubs of its own. It lasts as long as the test.
func driverTarget(t *testing.T, name string, d faux.Driver) *run.Target {
	stubs, hosts := map[string]*stub.Server{}, map[string]*memnet.Listener{}
	for name, kind := range map[string]stub.Kind{"api": stub.HTTP, "model": stub.OpenAI} {
		l := memnet.Listen()
		stubs[name], hosts[name+":80"] = stub.Serve(l, name, kind, stub.Options{}), l
		t.Cleanup(stubs[name].Close)
	}
	d.Transport = func() *http.Transport {
		return &http.Transport{DialContext: func(ctx context.Context, _, address string) (net.Conn, error) { return hosts[address].Dial(ctx) }}
	}
	return &run.Target{Name: name, Stubs: stubs, Program: func(_ context.Context, o run.ProgramOptions) (run.Program, error) {
		env := maps.Clone(o.Env)
		if env == nil {
			env = map[string]string{}
		}
		env["API"], env["MODEL"] = "http://api", "http://model"
		return memprocess.Start(d.Main, o.Args, env, "/"), nil
	}}
}

// runDrivers runs scenarios on two drivers in memory, all when there are no ids.
func runDrivers(t *testing.T, p *project.Project, right, wrong faux.Driver, ids ...string) *engine.Result {
	t.Helper()
	return runInMemory(t, p, ids, func(t *testing.T) []*run.Target {
		return []*run.Target{driverTarget(t, "right", right), driverTarget(t, "wrong", wrong)}
	})
}

func TestEveryFaultOfADriverIsFoundAndNamed(t *testing.T) {
	p := programs(t, driverConfig, faux.WriteCalling)
	for _, f := range faux.DriverFaults() {
		t.Run(f.ID+"/in the candidate", func(t *testing.T) {
			t.Parallel()
			isSaidOfAProgram(t, f.In, f.Doc, f.Reason, f.Says, runDrivers(t, p, faux.Driver{}, faux.Driver{Fault: f}, showing(p, f.In, f.Also)...))
		})
		t.Run(f.ID+"/in the reference", func(t *testing.T) {
			t.Parallel()
			want := f.Turned
			if want == nil {
				want = turned(f.Says)
			}
			result := runDrivers(t, p, faux.Driver{Fault: f}, faux.Driver{}, f.In)
			if f.Reason == "" {
				isSaidOfAProgram(t, f.In, f.Doc, "", want, result)
				return
			}
			s := result.Scenarios[0] // without a reference there are no findings
			if text := "the reference's process" + strings.TrimPrefix(f.Reason, "the process"); s.Verdict != verdict.Unknown || len(s.Findings) > 0 || len(s.Reasons) != 1 || s.Reasons[0].Text != text {
				t.Errorf("it is %s: %v %v, want %s", s.Verdict, s.Findings, s.Reasons, text)
			}
		})
	}
}

func TestACorrectDriverIsNotAccused(t *testing.T) {
	p := programs(t, driverConfig, faux.WriteCalling)
	for i, w := range faux.AllWays() {
		plain, other := faux.Driver{Style: faux.NewStyle(uint64(1000 + i))}, faux.Driver{Style: faux.NewStyle(uint64(i)), Ways: w}
		t.Run(w.ID+"/in the candidate", func(t *testing.T) {
			t.Parallel()
			driversMatch(t, runDrivers(t, p, plain, other))
		})
		t.Run(w.ID+"/in the reference", func(t *testing.T) {
			t.Parallel()
			driversMatch(t, runDrivers(t, p, other, plain))
		})
	}
}

func driversMatch(t *testing.T, result *engine.Result) {
	t.Helper()
	programsMatch(t, result, 54, 150)
}
