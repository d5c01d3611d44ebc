package verdict

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// burst is a target that has responded to several requests at once.
func burst(target string, bodies ...any) side {
	s := newSide(target).answers(bodies...)
	var all []*transcript.Exchange
	for _, st := range s.Steps {
		all = append(all, st.Exchanges...)
	}
	s.Steps = nil
	return s.step(transcript.Step{Text: "GET /n", Burst: true, Exchanges: all})
}

// Responses of a burst are compared in another order than they came in. The contract is checked in the order of
// arrival.
func TestBlameInABurstIsAboutTheComparedAnswers(t *testing.T) {
	for _, tc := range []struct {
		name      string
		ref, cand []any
		want      []string
		exchanges [2]int
		cells     string
	}{
		{"the candidate's last", []any{200, `{"n":1}`, 200, `{"n":2}`}, []any{200, `{"n":2}`, 200, `{"n":"1"}`},
			[]string{"difference type body /n (candidate)", "violation type body/n (candidate)"}, [2]int{0, 1}, "differ: candidate 1"},
		{"the reference's first", []any{200, `{"n":"1"}`, 200, `{"n":2}`}, []any{200, `{"n":2}`, 200, `{"n":1}`},
			[]string{"difference type body /n (reference)", "violation type body/n (reference)"}, [2]int{0, 1}, "differ: reference 1"},
		{"both the same, in another order", []any{200, `{"n":"1"}`, 200, `{"n":2}`}, []any{200, `{"n":2}`, 200, `{"n":"1"}`},
			[]string{"violation type body/n (reference)", "violation type body/n (candidate)"}, [2]int{0, 0}, "equal: both 1"},
	} {
		s := judged(t, burst("ref", tc.ref...), burst("cand", tc.cand...))
		if diff := cmp.Diff(tc.want, said(s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
			continue
		}
		if got := [2]int{s.Findings[0].Exchange(0), s.Findings[0].Exchange(1)}; got != tc.exchanges {
			t.Errorf("%s: it is about the exchanges %v, want %v", tc.name, got, tc.exchanges)
		}
		var run Run
		run.Add(s)
		if got := run.Blame.String(); got != tc.cells {
			t.Errorf("%s: the cells have %q, want %q", tc.name, got, tc.cells)
		}
	}
}

// A value that a rule calls generated changes from run to run, whatever the contract says about it.
func TestTheFingerprintOfAViolationLeavesOutValuesWithARule(t *testing.T) {
	of := func(rules *compare.Rules, s side) string {
		got := Judge(&Case{ID: "story", Rules: rules, Contract: numbers(t), Alone: true, Transcripts: []*transcript.Transcript{s.Transcript}})
		if len(got.Findings) != 1 {
			t.Fatalf("findings %v, want one", said(got))
		}
		return got.Findings[0].Fingerprint
	}
	answer := func(n string) side { return newSide("cand").answers(200, `{"n":`+n+`}`) }
	event := func(n string) side { return newSide("cand").stream(`n {"n":` + n + `}`) }
	declared := &compare.Rules{Volatile: []jsondiff.Volatile{{At: "$.n", Kind: jsondiff.Number}}}
	for _, made := range []func(string) side{answer, event} {
		if a, b := of(declared, made("1.25")), of(declared, made("7.5")); a != b {
			t.Errorf("of two values that a rule speaks of: %s and %s", a, b)
		}
		if a, b := of(&compare.Rules{}, made("1.25")), of(&compare.Rules{}, made("7.5")); a == b {
			t.Errorf("of two values that no rule speaks of: %s twice", a)
		}
	}
}
