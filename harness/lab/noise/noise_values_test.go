package noise

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// told returns the responses of a target, at intervals of a second.
func told(target string, bodies ...string) *transcript.Transcript {
	t := &transcript.Transcript{Target: target, Started: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	for i, body := range bodies {
		t.Steps = append(t.Steps, transcript.Step{Exchanges: []*transcript.Exchange{{
			Request:  transcript.Request{Method: "GET", Target: "/things?page=" + string(rune('1'+i))},
			Response: &transcript.Response{Status: 200, Body: transcript.Body{Bytes: []byte(body)}},
			Done:     time.Duration(i) * time.Second,
		}}})
	}
	return t
}

// wrote returns the lines of a program, at intervals of a second. What it is told has other values.
func wrote(target string, lines ...string) *transcript.Transcript {
	t, st := told(target), &transcript.Stream{Name: "server", Wire: transcript.WireProgram}
	for i, line := range lines {
		at := time.Duration(i) * time.Second
		st.Events = append(st.Events,
			transcript.Event{Item: transcript.ItemLine, Data: `{"at":1,"of":17,"and":18}`, Sent: true, At: at}, transcript.Event{Item: transcript.ItemLine, Data: line, At: at})
	}
	t.Streams = []*transcript.Stream{st}
	return t
}

func TestListsInAnotherOrderAreKnown(t *testing.T) {
	for _, tc := range []struct {
		name      string
		ref, cand []string
		want      []string
	}{
		{"another order", []string{`{"data":[{"id":7,"name":"Ann"},{"id":8,"name":"Bob"}]}`}, []string{`{"data":[{"id":3,"name":"Bob"},{"id":4,"name":"Ann"}]}`}, []string{"$.data[*]"}},
		{"in pages", []string{`{"data":["Ann","Bob"]}`, `{"data":["Cid"]}`}, []string{`{"data":["Cid","Ann"]}`, `{"data":["Bob"]}`}, []string{"$.data[*]"}},
		{"the same order", []string{`{"data":[{"id":7,"name":"Ann"},{"id":8,"name":"Bob"}]}`}, []string{`{"data":[{"id":3,"name":"Ann"},{"id":4,"name":"Bob"}]}`}, nil},
		{"another element", []string{`{"data":["Ann","Bob"]}`}, []string{`{"data":["Bob","Cid"]}`}, nil},
		{"no list", []string{`{"a":"Ann","b":"Bob"}`}, []string{`{"a":"Bob","b":"Ann"}`}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &measurement{reordered: map[string]bool{}}
			s.findReordered(&runfile.Case{Transcripts: []*transcript.Transcript{told("a", tc.ref...), told("b", tc.cand...)}})
			var got []string
			for list := range s.reordered {
				got = append(got, list)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("lists (-want +got):\n%s", diff)
			}
			at := s.reorderedListAt(&verdict.Finding{Class: verdict.Difference, Kind: string(diff.ValueDiffers), Place: "body /data/0/name"})
			if (at != "") != (tc.want != nil) {
				t.Errorf("a finding inside of it stands in %q", at)
			}
		})
	}
}

// Which rules are tried depends on the form of the values, and on where else they occur.
func TestRulesAreTriedIfTheValuesSuggestThem(t *testing.T) {
	const day = 24 * time.Hour
	for _, tc := range []struct {
		name      string
		ref, cand []string // the bodies of each side
		values    [][2]string
		want      []scenario.VolatileKind
		near      time.Duration // the widest one
	}{
		{"a word with digits", nil, nil, [][2]string{{`"x1"`, `"x2"`}}, []scenario.VolatileKind{"time", "id", "text"}, time.Minute},
		{"words made up", nil, nil, [][2]string{{`"INXCL"`, `"GUZVY"`}, {`"TEJQG"`, `"ESCSU"`}}, []scenario.VolatileKind{"time", "id", "text"}, time.Minute},
		{"words that both sides have", nil, nil, [][2]string{{`"Ann"`, `"Bob"`}, {`"Bob"`, `"Ann"`}}, []scenario.VolatileKind{"time"}, time.Minute},
		{"a sentence", nil, nil, [][2]string{{`"Customer 1006 has 2 siblings"`, `"Customer 1005 has 2 siblings"`}}, []scenario.VolatileKind{"time"}, time.Minute},
		{"a number that stands nowhere else", []string{`{"at":17}`}, []string{`{"at":18}`}, [][2]string{{"17", "18"}}, []scenario.VolatileKind{"time", "number"}, time.Minute},
		{"a number that stands under another name", []string{`{"at":17,"of":17}`}, []string{`{"at":18,"of":18}`}, [][2]string{{"17", "18"}}, []scenario.VolatileKind{"time", "id", "number"}, time.Minute},
		{"no whole number", []string{`{"at":1.7,"of":1.7}`}, []string{`{"at":1.8,"of":1.8}`}, [][2]string{{"1.7", "1.8"}}, []scenario.VolatileKind{"time", "number"}, time.Minute},
		{
			"numbers that are counted", []string{`{"at":11}`, `{"at":13}`, `{"at":14}`, `{"at":16}`, `{"at":17}`}, []string{`{"at":21}`, `{"at":22}`, `{"at":24}`, `{"at":25}`, `{"at":27}`},
			[][2]string{{"11", "21"}}, []scenario.VolatileKind{"time", "id", "number"}, time.Minute,
		},
		{
			"numbers that go up and down", []string{`{"at":11}`, `{"at":3}`, `{"at":14}`, `{"at":6}`, `{"at":17}`}, []string{`{"at":21}`, `{"at":2}`, `{"at":24}`, `{"at":5}`, `{"at":27}`},
			[][2]string{{"11", "21"}}, []scenario.VolatileKind{"time", "number"}, time.Minute,
		},
		{"times", nil, nil, [][2]string{{`"2026-12-20T18:06:13Z"`, `"2026-12-20T18:06:15Z"`}}, []scenario.VolatileKind{"time", "id", "text"}, 366 * day},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, by := range []func(string, ...string) *transcript.Transcript{told, wrote} {
				c := &runfile.Case{Transcripts: []*transcript.Transcript{by("a", tc.ref...), by("b", tc.cand...)}}
				it := &differingMember{key: ".at", paths: []string{"$.at"}, numbers: true}
				for _, v := range tc.values {
					it.findings, it.cases = append(it.findings, &verdict.Finding{Reference: v[0], Candidate: v[1]}), append(it.cases, c)
					it.numbers = it.numbers && isNumber(v[0]) && isNumber(v[1])
				}
				s := &measurement{cases: []*runfile.Case{c}, runs: []int{0}}
				var got []scenario.VolatileKind
				near := time.Duration(0)
				for _, rule := range s.candidateRules(it, "$.at") {
					got, near = append(got, rule.Kind), max(near, rule.Near)
				}
				if diff := cmp.Diff(tc.want, slices.Compact(got)); diff != "" || near != tc.near {
					t.Errorf("with %d streams, near %s, tried (-want +got):\n%s", len(c.Transcripts[0].Streams), near, diff)
				}
			}
		})
	}
}
