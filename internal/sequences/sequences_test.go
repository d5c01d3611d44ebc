package sequences

import (
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

func generator(t *testing.T) *Generator {
	t.Helper()
	document := testfile.Read(t, "../../openapi.yaml")
	g, err := New(document)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestASeedGivesTheSameSequences(t *testing.T) {
	one, other := generator(t), generator(t)
	for n := range 100 {
		q := one.Sequence(7, n)
		a, b := q.Scenario(q.Name()), other.Sequence(7, n).Scenario(q.Name())
		if a != b {
			t.Fatalf("sequence %d of seed 7 is another one the second time:\n%s\n\n%s", n, a, b)
		}
		if a == one.Sequence(8, n).Scenario(q.Name()) {
			t.Errorf("sequence %d is the same with seed 8", n)
		}
	}
}

// broken finds a stream whose request is malformed. A scenario would wait for such a stream until it times out.
var broken = regexp.MustCompile(`(?m)^- open: .*\n(  .*\n)*  malformed`)

func TestSequencesReachTheContract(t *testing.T) {
	g := generator(t)
	reached, malformed, half := map[string]bool{}, 0, 0
	for n := range 300 {
		q := g.Sequence(1, n)
		if steps := q.Steps(); steps < 5 {
			t.Errorf("sequence %d has %d steps, want 5 at least", n, steps)
		}
		for _, name := range g.Operations(q) {
			reached[name] = true
		}
		text := q.Scenario(q.Name())
		if broken.MatchString(text) {
			t.Errorf("sequence %d opens a stream with a malformed request:\n%s", n, text)
		}
		malformed += strings.Count(text, "malformed: true")
		half += strings.Count(text, `\\ud83d`)
	}
	never := map[string]bool{"GET /status": true, "GET /global/event": true} // sequences cannot show a difference there
	for _, op := range g.contract.Operations() {
		if !reached[op.String()] && !never[op.String()] {
			t.Errorf("no sequence has %s", op)
		}
	}
	if malformed < 50 || half < 10 {
		t.Errorf("%d malformed requests and %d halves of surrogate pairs, want 50 and 10", malformed, half)
	}
}

func TestAGroupIsLeftOutWithWhatNeedsIt(t *testing.T) {
	g := generator(t)
	for n := range 50 {
		q := g.Sequence(3, n)
		for i := range q.Groups {
			short := q.Without(i)
			if len(short.Groups) >= len(q.Groups) {
				t.Fatalf("sequence %d has as many groups without group %d", n, i)
			}
			given := map[string]bool{}
			for _, group := range q.Groups {
				for _, name := range group.gives {
					given[name] = false
				}
			}
			for _, group := range short.Groups {
				for _, name := range group.gives {
					given[name] = true
				}
				for _, name := range group.needs {
					if there, made := given[name]; made && !there {
						t.Errorf("sequence %d without group %d has a step that needs %s:\n%s", n, i, name, group.Steps)
					}
				}
			}
		}
	}
}
