package compare

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestLengthsFollowFromBodies(t *testing.T) {
	rules := &Rules{
		Headers:  []string{"content-length"},
		Volatile: []jsondiff.Volatile{{At: "$.say", Kind: jsondiff.Text}},
		IDs:      []ident.IDShape{shape(t, "session", "20[0-9]{6}_([0-9]+)")},
	}
	answer := func(s side, kind, body string, length int) side {
		return s.exchange(200, transcript.Header{{Name: "Content-Type", Value: kind}, {Name: "Content-Length", Value: strconv.Itoa(length)}}, body)
	}
	told := []string{"header-value header content-length"}
	for _, tc := range []struct {
		name, kind, ref, cand string
		more                  int // by how much the candidate's Content-Length exceeds its body
		want                  []string
	}{
		{"another id", "application/json", `{"id":"20261120_9"}`, `{"id":"20261120_10"}`, 0, nil},
		{"another id in the name of a member", "application/json", `{"20261120_9":1}`, `{"20261120_10":1}`, 0, nil},
		{"another id in JSON in a text", "application/json", `"{\"id\":\"20261120_9\"}"`, `"{\"id\":\"20261120_10\"}"`, 0, nil},
		{"another id in a text", "text/plain", `see 20261120_9`, `see 20261120_10`, 0, nil},
		{"another text where a rule says so", "application/json", `{"say":"no \"tag\"","id":""}`, `{"say":"what is this?","id":""}`, 0, nil},
		{"a blank", "application/json", `{"id":"20261120_9"}`, `{"id": "20261120_9"}`, 0, nil},
		{"a blank and another id", "application/json", `{"id":"20261120_9"}`, `{"id": "20261120_10"}`, 0, nil},
		{"an escape", "application/json", `{"id":"20261120_9"}`, `{"id":"20261120\u005f9"}`, 0, nil},
		{"a line break behind it", "application/json", `{"id":"20261120_9"}`, "{\"id\":\"20261120_10\"}\n", 0, nil},
		{"another value", "application/json", `{"a":"b"}`, `{"a":"bc"}`, 0, []string{"value body /a"}},
		{"another text", "text/plain", `see`, `seen`, 0, []string{"body body"}},
		{"no JSON", "application/json", `{"a":"b"}`, `{"a":"b"`, 0, []string{"body-not-json body"}},
		{"a length that is none of the body", "application/json", `{"id":"20261120_9"}`, `{"id":"20261120_10"}`, 1, told},
		{"a length that is none of the same body", "application/json", `{"a":1}`, `{"a":1}`, 1, told},
		{"a length that is none of another body", "application/json", `{"a":1}`, `{"a":2}`, -1, append(told[:1:1], "value body /a")},
		{"answers to HEAD", "application/json", "", "", 20, told},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ref := answer(newSide("ref"), tc.kind, tc.ref, len(tc.ref))
			cand := answer(newSide("cand"), tc.kind, tc.cand, len(tc.cand)+tc.more)
			var got []string
			for _, d := range compared(ref, cand, rules).Differences {
				got = append(got, string(d.Kind)+" "+d.At.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}
