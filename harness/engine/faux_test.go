package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/memnet"
)

// A walk runs scenarios on two servers, the reference first, or on the first one alone when the other is nil. Without
// ids, it runs all scenarios but those about processes.
type walk func(t *testing.T, p *project.Project, right, wrong *faux.Server, ids ...string) *engine.Result

// where returns the walk in which a fault can be seen reliably.
func where(f *faux.Fault) walk {
	if f.Clock {
		return inMemory
	}
	return overSockets
}

// overSockets also leaves out the scenarios about time.
func overSockets(t *testing.T, p *project.Project, right, wrong *faux.Server, ids ...string) *engine.Result {
	t.Helper()
	targets := []string{"right=" + faux.Serve(t, right)}
	if wrong != nil {
		targets = append(targets, "wrong="+faux.Serve(t, wrong))
	}
	var file bytes.Buffer
	result, err := engine.Run(t.Context(), p, &engine.Options{
		Targets: targets,
		Select:  project.Selection{Paths: ids, Skip: []string{"clock", "process"}},
		RunFile: &file,
	})
	if err != nil {
		t.Fatal(err)
	}
	isJudgedAgain(t, p, &file, result) // so every behaviour is judged twice
	return result
}

// inMemory needs no sockets. Its fake clock advances only when all goroutines wait.
func inMemory(t *testing.T, p *project.Project, right, wrong *faux.Server, ids ...string) *engine.Result {
	t.Helper()
	result := &engine.Result{Alone: wrong == nil}
	synctest.Test(t, func(t *testing.T) {
		targets := []*run.Target{{Name: "right", Client: dial(t, right)}}
		if wrong != nil {
			targets = append(targets, &run.Target{Name: "wrong", Client: dial(t, wrong)})
		}
		for _, s := range p.Scenarios {
			if !s.Fresh && (len(ids) == 0 || slices.Contains(ids, s.ID)) {
				result.Add(*engine.Walk(t.Context(), p, s, targets))
			}
		}
		result.Conclude()
	})
	return result
}

// dial runs a server in memory until the test ends, and returns a client for it.
func dial(t *testing.T, s *faux.Server) *httpwire.Client {
	l := memnet.Listen()
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	c := httpwire.NewClient(&url.URL{Scheme: "http", Host: "memory"}, &httpwire.Options{
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx) },
	})
	t.Cleanup(func() {
		c.Close()
		s.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return c
}

func TestEveryFaultIsFoundAndNamed(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	for _, f := range faux.Faults() {
		walk := where(f)
		t.Run(f.ID+"/in the candidate", func(t *testing.T) {
			t.Parallel()
			isSaid(t, f.In, f.Doc, f.Says, walk(t, p, &faux.Server{}, &faux.Server{Fault: f}))
		})
		t.Run(f.ID+"/in the reference", func(t *testing.T) {
			t.Parallel()
			want := f.Turned
			if want == nil {
				want = turned(f.Says)
			}
			isSaid(t, f.In, f.Doc, want, walk(t, p, &faux.Server{Fault: f}, &faux.Server{}, f.In))
		})
	}
}

func TestAFailureIsReportedBeforeTheEventsThatItPrevented(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	wrong := &faux.Server{Fault: faux.Named(t, "no-answer-and-no-event")}
	for _, sides := range [][2]*faux.Server{{{}, wrong}, {{Fault: wrong.Fault}, {}}} {
		s := overSockets(t, p, sides[0], sides[1], wrong.Fault.In).Scenarios[0]
		if first := s.Findings[0]; len(s.Findings) != 2 || first.Kind != string(compare.ExchangeFailed) {
			t.Errorf("said first: %s", first)
		}
	}
}

// isSaid fails unless a fault causes exactly these findings, in one scenario and in no other.
func isSaid(t *testing.T, in, doc string, want []faux.Finding, result *engine.Result) {
	t.Helper()
	if result.Verdict != verdict.Differ || result.Incomplete != "" {
		t.Errorf("the run is %s %q, want %s and complete", result.Verdict, result.Incomplete, verdict.Differ)
	}
	shown := false
	for _, s := range result.Scenarios {
		if s.ID != in {
			if s.Verdict != verdict.Match || len(s.Findings)+len(s.Reasons) > 0 {
				t.Errorf("%s is %s: %v %v", s.ID, s.Verdict, s.Findings, s.Reasons)
			}
			continue
		}
		shown = true
		if s.Verdict != verdict.Differ || len(s.Reasons) > 0 {
			t.Errorf("%s is %s %v, want %s for no other reason", s.ID, s.Verdict, s.Reasons, verdict.Differ)
		}
		if diff := cmp.Diff(sorted(want), findings(&s)); diff != "" {
			t.Errorf("about a server with the fault %q (-want +got):\n%s", doc, diff)
		}
		isWellSaid(t, &s)
	}
	if !shown {
		t.Errorf("there is no scenario %s", in)
	}
}

// isWellSaid fails when a finding does not name the side, the place and the difference, or uses words of a library.
func isWellSaid(t *testing.T, s *verdict.Scenario) {
	t.Helper()
	for _, f := range s.Findings {
		text := madeUp.ReplaceAllString(f.String(), "…") // generated values may contain any letters
		for _, jargon := range []string{"context ", "EOF", "i/o timeout", "use of closed", "%!", "nil", "read tcp", "write tcp"} {
			if strings.Contains(text, jargon) && !strings.Contains(text, "nil map") {
				t.Errorf("%q is said to a reader: %s", jargon, text)
			}
		}
		if f.Kind == string(diff.IdentityBroken) && !bound.MatchString(f.Text) {
			t.Errorf("where two ids were bound is not said: %s", text)
		}
		if f.Scenario != s.ID || f.Line == 0 || f.StepText == "" || f.Text == "" || f.Target == "" {
			t.Errorf("who, where or what is missing: %+v", f)
		}
	}
}

// findings returns the findings of a scenario as the type of package faux.
func findings(s *verdict.Scenario) []faux.Finding {
	var out []faux.Finding
	for _, f := range s.Findings {
		g := faux.Finding{
			Class: string(f.Class), Kind: f.Kind, Step: f.Step, Place: f.Place,
			Reference: legible(f.Reference + f.Want), Candidate: legible(f.Candidate + f.Got), Blame: string(f.Blame),
		}
		if f.Stream != "" {
			g.Place = "stream " + f.Stream + ": " + g.Place
			g.Candidate = pinged.ReplaceAllString(g.Candidate, "after ‹some› bytes") // heartbeats are among these bytes
		}
		out = append(out, g)
	}
	return sorted(out)
}

// generated are the values that no test can know, and the names that replace them.
var generated = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`(itm|msg|mem|bin)_[0-9a-f]{20}`), "‹id›"},
	{regexp.MustCompile(`\bu[a-z2-7]{11}\b`), "‹unique›"},
	{regexp.MustCompile(`\b(20[2-9]\d-\d\d-\d\d|2000-01-01|1999-12-31)T\d\d:\d\d:\d\dZ`), "‹time›"}, // a fake clock begins with 2000
	{regexp.MustCompile(`\b[1-9]\d{4}\b`), "‹serial›"},
	{regexp.MustCompile(`[0-9A-Za-z+/]{27}=`), "‹accept›"},
	{regexp.MustCompile(`[0-9A-Za-z+/]{22}==`), "‹key›"},
}

var (
	pinged = regexp.MustCompile(`after \d+ bytes`)
	madeUp = regexp.MustCompile(`(itm|msg|mem|bin)_[0-9a-f]{20}|\bu[a-z2-7]{11}\b`)
	bound  = regexp.MustCompile(` at (step [12] body|stream (ann|bob) (message|sent) \d+ \(\w+\) data)( /(id|serial))?$`)
)

// legible replaces the generated parts of a value, and cuts a long value.
func legible(s string) string {
	for _, g := range generated {
		s = g.pattern.ReplaceAllString(s, g.name)
	}
	const most = 100
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}

func sorted(all []faux.Finding) []faux.Finding {
	return slices.SortedFunc(slices.Values(all), func(a, b faux.Finding) int {
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
}

// turned returns the expected findings after the two sides are swapped.
func turned(all []faux.Finding) []faux.Finding {
	kinds := map[string]string{
		"field-missing": "field-extra", "element-missing": "element-extra", "header-missing": "header-extra", "event-missing": "event-extra",
		"field-extra": "field-missing", "element-extra": "element-missing", "header-extra": "header-missing", "event-extra": "event-missing",
		"event-doubled": "event-missing",
	}
	sides := map[string]string{"candidate": "reference", "reference": "candidate"}
	var out []faux.Finding
	for _, f := range all {
		if side, ok := sides[f.Blame]; ok {
			f.Blame = side
		}
		if f.Class == "difference" {
			f.Reference, f.Candidate = f.Candidate, f.Reference
			if kind, ok := kinds[f.Kind]; ok {
				f.Kind = kind
			}
		}
		out = append(out, f)
	}
	return out
}
