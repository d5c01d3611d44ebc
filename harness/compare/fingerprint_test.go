package compare

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestAFingerprintLeavesOutGeneratedValues(t *testing.T) {
	fingerprint := func(unique, id, name string) string {
		t.Helper()
		ref, cand := newSide("ref"), newSide("cand")
		ref.t.Unique = unique
		h := transcript.Header{{Name: "Location", Value: "/" + unique + "/ses_" + id + "/" + name}}
		return only(t, ref.exchange(200, h, ""), cand.exchange(200, nil, ""), &Rules{Headers: []string{"Location"}})
	}
	first := fingerprint("uref00000001", "0a1b2c3d4e5f", "lamp")
	if same := fingerprint("uref00000002", "ffeeddcc1122", "lamp"); same != first || same == "" {
		t.Errorf("of other ids: %q, want %q", same, first)
	}
	if other := fingerprint("uref00000001", "0a1b2c3d4e5f", "chair"); other == first {
		t.Errorf("of another value: %q again", other)
	}
}

// only returns the fingerprint of the only difference between two transcripts.
func only(t *testing.T, ref, cand side, rules *Rules) string {
	t.Helper()
	all := compared(ref, cand, rules).Differences
	if len(all) != 1 || len(all[0].Fingerprint) != 8 {
		t.Fatalf("differences %+v, want one with a fingerprint of 8 digits", all)
	}
	return all[0].Fingerprint
}

// A fingerprint also leaves out values that rules declare as ids, even if they have no partner, and the order of
// members.
func TestAFingerprintLeavesOutValuesWithARule(t *testing.T) {
	rules := &Rules{Volatile: []jsondiff.Volatile{{At: "$..serial", Kind: jsondiff.ID}}}
	of := func(ref, cand string) string {
		t.Helper()
		return only(t, newSide("ref").answers(ref), newSide("cand").answers(cand), rules)
	}
	first := of(`{"item":{"serial":10001,"name":"lamp"}}`, `{"item":"lamp"}`)
	if same := of(`{"item":{"name":"lamp","serial":20002}}`, `{"item":"lamp"}`); same != first {
		t.Errorf("of another serial: %q, want %q", same, first)
	}
	for _, other := range [][2]string{
		{`{"item":{"serial":10001,"name":"desk"}}`, `{"item":"lamp"}`},
		{`{"item":{"serial":10001,"name":"lamp"}}`, `{"item":"desk"}`},
		{`{"item":{"serial":10001,"name":"lamp"}}`, `{}`},
		{`{"Item":{"serial":10001,"name":"lamp"}}`, `{"Item":"lamp"}`},
	} {
		if got := of(other[0], other[1]); got == first {
			t.Errorf("of %s and %s: %q again", other[0], other[1], got)
		}
	}
}

func TestFingerprintsOfMisplacedIDs(t *testing.T) {
	of := func(first, second string) string {
		t.Helper()
		body := `{"id":"ses_` + first + `"}`
		return only(t, newSide("ref").answers(body, body), newSide("cand").answers(body, `{"id":"ses_`+second+`"}`), nil)
	}
	if a, b := of("0a1b2c3d4e5f", "ffeeddcc1122"), of("ddccbbaa9988", "112233445566"); a != b {
		t.Errorf("fingerprints %q and %q, want one", a, b)
	}
}

// The number of earlier events is chance.
func TestAFingerprintHasNoNumberOfAnEvent(t *testing.T) {
	of := func(before int, name string) string {
		t.Helper()
		ref, cand := newSide("ref"), newSide("cand")
		var events []string
		for n := range before {
			events = append(events, fmt.Sprintf(`tick {"n":%d}`, n))
		}
		return only(t, ref.stream("bus", append(events, name+` {"last":true}`)...), cand.stream("bus", events...), nil)
	}
	first := of(1, "done")
	if same := of(3, "done"); same != first {
		t.Errorf("of an event further down: %q, want %q", same, first)
	}
	if other := of(1, "failed"); other == first {
		t.Errorf("of another event: %q again", other)
	}
}

func TestFingerprintsOfShortfalls(t *testing.T) {
	of := func(s Unmet, unique string) string {
		return s.fingerprint(nil, &transcript.Transcript{Unique: unique})
	}
	for _, tc := range []struct {
		name       string
		one, other Unmet
		same       bool
	}{
		{"the token of the run", Unmet{Kind: EventAwaited, Want: "event of c-uone0000001"}, Unmet{Kind: EventAwaited, Want: "event of c-utwo0000002"}, true},
		{"how many other events came", Unmet{Kind: EventAwaited, Got: "it did not come; 1 other event came since"}, Unmet{Kind: EventAwaited, Got: "it did not come; no other event came since"}, true},
		{"why it did not come", Unmet{Kind: EventAwaited, Got: "it did not come"}, Unmet{Kind: EventAwaited, Got: "the stream ended"}, false},
		{"how late a heartbeat was", Unmet{Kind: HeartbeatLate, Got: "1.104s"}, Unmet{Kind: HeartbeatLate, Got: "987ms"}, true},
		{"which heartbeat", Unmet{Kind: HeartbeatLate, Stream: "bus", Place: "heartbeat 2"}, Unmet{Kind: HeartbeatLate, Stream: "bus", Place: "heartbeat 13"}, true},
		{"early or late", Unmet{Kind: HeartbeatEarly, Got: "1s"}, Unmet{Kind: HeartbeatLate, Got: "1s"}, false},
		{"after how many bytes", Unmet{Kind: StreamBroken, Got: "cut off after 120 bytes"}, Unmet{Kind: StreamBroken, Got: "cut off after 7 bytes"}, true},
		{"after which bytes", Unmet{Kind: ExchangeFailed, Got: `it was closed in the head, after "HTTP/1.1 200 OK"`}, Unmet{Kind: ExchangeFailed, Got: `it was closed in the head, after "HTTP"`}, true},
		{"how it broke", Unmet{Kind: StreamBroken, Got: "cut off after 120 bytes"}, Unmet{Kind: StreamBroken, Got: "reset after 120 bytes"}, false},
		{"what came instead", Unmet{Kind: ExpectationUnmet, Got: "404"}, Unmet{Kind: ExpectationUnmet, Got: "500"}, false},
		{"what was wanted", Unmet{Kind: ExpectationUnmet, Want: "200"}, Unmet{Kind: ExpectationUnmet, Want: "201"}, false},
	} {
		a, b := of(tc.one, "uone0000001"), of(tc.other, "utwo0000002")
		if (a == b) != tc.same {
			t.Errorf("%s: fingerprints %q and %q, want one: %t", tc.name, a, b, tc.same)
		}
	}
}

func TestHalfAnIdIsNotPartOfAFingerprint(t *testing.T) {
	of := func(text string) string { return Fingerprint(nil, &transcript.Transcript{}, text) }
	one, other := of(`the string "shelf itm_0a1b2c"… stands here`), of(`the string "shelf itm_ffeedd"… stands here`)
	if one != other {
		t.Errorf("fingerprints %q and %q, want one", one, other)
	}
	if third := of(`the string "desk itm_0a1b2c"… stands here`); third == one {
		t.Errorf("of another text: %q again", third)
	}
}

// Rules cannot select places in a text that is not JSON, but they know the names of the values.
func TestAFingerprintLeavesOutValuesWithARuleInBrokenJSON(t *testing.T) {
	rules := &Rules{Volatile: []jsondiff.Volatile{{At: "$..serial", Kind: jsondiff.ID}}}
	of := func(broken string) string {
		t.Helper()
		return only(t, newSide("ref").answers(`{"name":"lamp"}`), newSide("cand").answers(broken), rules)
	}
	first := of(`{"serial": 10001, "name": lamp}`)
	if same := of(`{"serial": 20002, "name": lamp}`); same != first {
		t.Errorf("of another serial: %q, want %q", same, first)
	}
	for _, other := range []string{`{"serial": 10001, "name": desk}`, `{"serial": 10001`, `{"serial"`, `{"Serial": 10001, "name": lamp}`} {
		if got := of(other); got == first {
			t.Errorf("of %s: %q again", other, got)
		}
	}
}

// The order of the responses in a burst is chance. So is the order of requests that no rule answers.
func TestAFingerprintDoesNotDependOnEarlierMessages(t *testing.T) {
	expect := func(bodies ...string) string {
		s := newSide("ref")
		s.answers("0")
		s.t.Steps[0].Burst, s.t.Steps[0].Expect = true, &transcript.Expect{JSON: &transcript.JSONPattern{Whole: []byte(`1`)}}
		for _, body := range bodies {
			s.answers(body)
		}
		all := s.t.Steps[1:]
		s.t.Steps, s.t.Steps[0].Exchanges = s.t.Steps[:1], nil
		for i := range all {
			s.t.Steps[0].Exchanges = append(s.t.Steps[0].Exchanges, all[i].Exchanges...)
		}
		return AllUnmet(nil, s.t, &Rules{})[0].Fingerprint
	}
	first := expect("1", "2", "3")
	for _, other := range [][]string{{"2", "1", "3"}, {"3", "2", "1"}} {
		if got := expect(other...); got != first {
			t.Errorf("of a burst that came as %v: %s, want %s", other, got, first)
		}
	}
	if other := expect("1", "4", "5"); other == first {
		t.Errorf("of another burst: %s again", other)
	}
	unexpected := func(bodies ...string) map[string]bool {
		s, out := newSide("ref"), map[string]bool{}
		s.t.Upstream = []transcript.Step{{ID: "llm.unexpected", Unmet: &transcript.Unmet{Kind: unexpectedKind}}}
		for _, body := range bodies {
			s.t.Upstream[0].Exchanges = append(s.t.Upstream[0].Exchanges, asks(body))
		}
		for _, f := range AllUnmet(nil, s.t, &Rules{}) {
			out[f.Fingerprint] = true
		}
		return out
	}
	if diff := cmp.Diff(unexpected("1", "2"), unexpected("2", "1")); diff != "" {
		t.Errorf("of requests that nothing answers (-want +got):\n%s", diff)
	}
}
