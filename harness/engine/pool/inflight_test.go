package pool

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/run"
)

func TestARollHasWhatWasUnderWayWhenAServerEnded(t *testing.T) {
	const answered, broken, silent = run.Answered, run.Disconnected, run.Inconclusive
	type event struct {
		name string
		ends []run.Outcome // empty means that the step begins
	}
	begins := func(name string) event { return event{name, nil} }
	ends := func(name string, o run.Outcome) event { return event{name, []run.Outcome{o}} }
	for _, tc := range []struct {
		name   string
		events []event
		want   []string
	}{
		{"nothing", []event{begins("a"), ends("a", answered)}, nil},
		{"what has not ended", []event{begins("a"), begins("b"), ends("a", answered)}, []string{"b"}},
		{"what broke, although it is over", []event{begins("a"), begins("b"), ends("b", broken), ends("a", broken)}, []string{"a", "b"}},
		{"what broke and what has not ended", []event{begins("a"), begins("b"), ends("b", broken)}, []string{"a", "b"}},
		{"not what began behind its death", []event{begins("a"), ends("a", broken), begins("b"), ends("b", silent), begins("c")}, []string{"a"}},
		{"not what broke while it was alive", []event{begins("a"), ends("a", broken), begins("b"), ends("b", answered), begins("c")}, []string{"c"}},
		{
			"an answer that was on its way proves nothing",
			[]event{begins("a"), begins("b"), ends("b", broken), ends("a", answered), begins("c")}, []string{"b"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var r inflight
			done := map[string]func(run.Outcome){}
			for _, e := range tc.events {
				if len(e.ends) == 0 {
					done[e.name] = r.begin(run.Activity{Scenario: e.name, Step: "1", Text: "GET /"})
				} else {
					done[e.name](e.ends[0])
				}
			}
			r.close()
			var got []string
			for _, text := range r.texts() {
				got = append(got, strings.TrimSuffix(text, " step 1 GET /"))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("under way (-want +got):\n%s", diff)
			}
		})
	}
}
