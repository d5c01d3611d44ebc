package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// made returns a side that created things in a burst, with its own ids, and then listed them.
func made(target, answered, listed string) side {
	id := func(letter string) string {
		n := strings.Index("abcdefwxyz", letter)
		return fmt.Sprintf("%08x-7ac9-4c20-b2b8-%012x", 0x1f8714af+n*7919*len(target), n*31+len(target))
	}
	s := newSide(target)
	var all []*transcript.Exchange
	for _, letter := range strings.Split(answered, "") {
		s.answers(`{"id":"` + id(letter) + `","name":"n"}`)
		all = append(all, s.t.Steps[len(s.t.Steps)-1].Exchanges...)
	}
	s.t.Steps = []transcript.Step{{ID: "1", Burst: true, Exchanges: all}}
	if listed == "" {
		return s
	}
	var items []string
	for _, letter := range strings.Split(listed, "") {
		items = append(items, `{"id":"`+id(letter)+`"}`)
	}
	return s.answers("[" + strings.Join(items, ",") + "]")
}

func TestLaterMessagesDistinguishTheAnswersOfABurst(t *testing.T) {
	for _, tc := range []struct {
		name      string
		ref, cand [2]string // the ids in the responses, and in the list
		want      []string
	}{
		{"one order", [2]string{"abc", "abc"}, [2]string{"abc", "abc"}, nil},
		{"another order of the answers", [2]string{"abc", "abc"}, [2]string{"cab", "abc"}, nil},
		{"another order of the list", [2]string{"abc", "cba"}, [2]string{"abc", "acb"}, nil},
		{"no list", [2]string{"abc", ""}, [2]string{"bca", ""}, nil},
		{"two answers with one id", [2]string{"abc", ""}, [2]string{"aba", ""}, []string{"identity body /id"}},
		{"two answers with one id, and a list", [2]string{"abc", "abc"}, [2]string{"aba", "abx"}, []string{"identity body /id"}},
		{"an id that no answer had", [2]string{"abc", "abc"}, [2]string{"bca", "bcx"}, []string{"identity body /2/id"}},
		{"an id twice", [2]string{"abc", "abc"}, [2]string{"abc", "abb"}, []string{"identity body /2/id"}},
	} {
		ref, cand := made("ref", tc.ref[0], tc.ref[1]), made("cand", tc.cand[0], tc.cand[1])
		if diff := cmp.Diff(tc.want, kinds(compared(ref, cand, nil))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// Responses are paired by their values. Their notation does not matter, and neither do ids that rules declare.
func TestAnswersOfABurstArePairedByTheirContent(t *testing.T) {
	burst := func(name, before string, bodies ...string) side {
		s := newSide(name).answers(before)
		var all []*transcript.Exchange
		for _, body := range bodies {
			s.answers(body)
			all = append(all, s.t.Steps[len(s.t.Steps)-1].Exchanges...)
		}
		s.t.Steps = []transcript.Step{s.t.Steps[0], {ID: "2", Burst: true, Exchanges: all}}
		return s
	}
	rules := &Rules{Volatile: []jsondiff.Volatile{{At: "$..id", Kind: jsondiff.ID}}}
	for _, tc := range []struct {
		name      string
		ref, cand []string
		want      []string
	}{
		{"ids that count", []string{`{}`, `{"id":7,"n":"a"}`, `{"id":8,"n":"b"}`}, []string{`{}`, `{"id":11,"n":"b"}`, `{"id":12,"n":"a"}`}, nil},
		{"members in another order", []string{`{}`, `{"a":1,"n":"x"}`, `{"a":2,"n":"w"}`}, []string{`{}`, `{"n":"x","a":1}`, `{"n":"w","a":2}`}, nil},
		{"ids that are bound", []string{`[{"id":7},{"id":8}]`, `{"id":7}`, `{"id":8}`}, []string{`[{"id":8},{"id":7}]`, `{"id":7}`, `{"id":8}`}, nil},
		{"one is another one", []string{`{}`, `{"n":1}`, `{"n":2}`, `{"n":3}`}, []string{`{}`, `{"n":2}`, `{"n":3}`, `{"n":4}`}, []string{"value body /n"}},
		{"one has an id of its own", []string{`[{"id":7},{"id":8}]`, `{"id":7}`, `{"id":8}`}, []string{`[{"id":8},{"id":7}]`, `{"id":7}`, `{"id":7}`}, []string{"identity body /id"}},
	} {
		got := kinds(compared(burst("ref", tc.ref[0], tc.ref[1:]...), burst("cand", tc.cand[0], tc.cand[1:]...), rules))
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}
