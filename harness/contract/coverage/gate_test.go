package coverage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
)

// gateDoc has one schema that only a single status uses, and one that several use.
const gateDoc = sample.Head + `paths:
  /a:
    get:
      responses:
        '200': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Note'}}}}
        '403': {description: no, content: {application/json: {schema: {$ref: '#/components/schemas/Denied'}}}}
  /feed:
    get:
      responses:
        '200':
          description: ok
          content: {text/event-stream: {schema: {type: string}, x-events: {events: {note: {schema: {$ref: '#/components/schemas/Note'}}, gone: {schema: {$ref: '#/components/schemas/Gone'}}}}}}
components:
  schemas:
    Note: {type: object, properties: {text: {type: string}}}
    Denied: {type: object, properties: {code: {type: string, enum: [DENIED]}, note: {$ref: '#/components/schemas/Note'}}}
    Gone: {type: object, properties: {why: {type: string}}}
`

func except(measure Measure, name string) Exception {
	return Exception{Key: Key{measure, name}, Because: "of that", File: "lockstep.yaml", Line: 9}
}

// measured writes a measure as "statuses 66.66% 2/3 of 95% missing GET /a 403".
func measured(m MeasureGate) string {
	s := fmt.Sprintf("%s %s %d/%d of %s", m.Measure, m.Percent, m.Reached, m.Declared, m.Least)
	for _, miss := range m.Missing {
		s += " missing " + miss.Name
	}
	if m.Met {
		s += " met"
	}
	return s
}

func TestAGateReportsWhatIsMissing(t *testing.T) {
	d := sample.Parse(t, gateDoc)
	const all = 10_000
	for _, tc := range []struct {
		name  string
		least []Minimum
		not   []Exception
		state GateState
		want  []string
	}{
		{"enough, to the hundredth", []Minimum{{StatusesReached, 6666}}, nil, GateMet, []string{"statuses 66.66% 2/3 of 66.66% met"}},
		{"a hundredth too little", []Minimum{{StatusesReached, 6667}}, nil, GateMissed, []string{"statuses 66.66% 2/3 of 66.67% missing GET /a 403"}},
		{"one of two measures", []Minimum{{OperationsReached, all}, {EventsReached, 5050}}, nil, GateMissed, []string{
			"operations 100% 2/2 of 100% met", "events 50% 1/2 of 50.5% missing GET /feed gone",
		}},
		{"what belongs to an exception, and only leads from there", []Minimum{{StatusesReached, all}, {MediaReached, all}, {CodesReached, all}, {PropertiesSeen, 5000}, {EnumsSeen, all}},
			[]Exception{except(StatusesReached, "GET /a 403")}, GateMet, []string{
				"statuses 100% 2/2 of 100% met", "media 100% 2/2 of 100% met", "codes 100% 0/0 of 100% met", "properties 50% 1/2 of 50% met", "enums 100% 0/0 of 100% met",
			}},
		{"an event", []Minimum{{EventsReached, all}, {PropertiesSeen, all}}, []Exception{except(EventsReached, "GET /feed gone")}, GateMissed, []string{
			"events 100% 1/1 of 100% met", "properties 33.33% 1/3 of 100% missing Denied code missing Denied note",
		}},
		{"a property", []Minimum{{PropertiesSeen, all}}, []Exception{except(PropertiesSeen, "Gone why"), except(PropertiesSeen, "Denied code")}, GateMissed,
			[]string{"properties 50% 1/2 of 100% missing Denied note"}},
		{"an operation that is reached", []Minimum{{OperationsReached, 100}}, []Exception{except(OperationsReached, "GET /a")}, GateMissed, []string{"operations 100% 1/1 of 1% met"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := New(d)
			c.Add(sample.Response("GET", "/a", 200, sample.Header("Content-Type", "application/json"), `{"text":"x"}`))
			feed := fed(sample.Event("note", `{}`))
			c.Add(feed)
			g := (&Demand{File: "lockstep.yaml", Line: 7, Least: tc.least, Except: tc.not}).Judge(c)
			var got []string
			for _, m := range g.Measures {
				got = append(got, measured(m))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || g.State != tc.state {
				t.Errorf("%s, want %s (-want +got):\n%s", g.State, tc.state, diff)
			}
			if stale := strings.Contains(tc.name, "is reached"); len(tc.not) > 0 && g.Except[0].Stale != stale {
				t.Errorf("the exception is stale: %v, want %v", g.Except[0].Stale, stale)
			}
		})
	}
}

func TestAGateReportsAMistakeInALine(t *testing.T) {
	d := sample.Parse(t, gateDoc)
	c := New(d)
	c.Add(sample.Response("GET", "/a", 200, nil, ""))
	g := (&Demand{Least: []Minimum{{OperationsReached, 10_000}, {StatusesReached, 1}}, Except: []Exception{except(StatusesReached, "GET /a 200")}}).Judge(c)
	if got, want := g.String(), "operations 50% (at least 100%); statuses 0% (at least 0.01%); the exception for status GET /a 200 is stale"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (&Demand{}).NotJudged("3 of 9 scenarios were selected").String(); got != "not judged: 3 of 9 scenarios were selected" {
		t.Error(got)
	}
}

func TestEveryMeasureHasAName(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Measures() {
		if one := m.Singular(); one == string(m) || seen[one] {
			t.Errorf("one of %s is called %q", m, one)
		} else {
			seen[one] = true
		}
	}
}
