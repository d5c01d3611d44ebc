package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
)

func TestNames(t *testing.T) {
	shapes := &Rules{IDs: []ident.IDShape{shape(t, "ticket", "T[0-9]{6}")}, Volatile: []jsondiff.Volatile{{At: "$.key", Kind: jsondiff.Token}, {At: "$.request_id", Kind: jsondiff.ID}}}
	for _, tc := range []struct {
		name      string
		ref, cand []string
		text      string // the text of the last difference
		want      []ident.Name
	}{
		{
			"after the prefix", []string{`["ses_0a1b2c3d4e5f","ses_1a1b2c3d4e5f"]`, `{"of":"ses_0a1b2c3d4e5f"}`}, []string{`["ses_f0eeddcc1122","ses_f1eeddcc1122"]`, `{"of":"ses_f1eeddcc1122"}`},
			`the candidate has ‹ses 2› ("ses_f1eeddcc1122") where the reference has ‹ses 1› ("ses_0a1b2c3d4e5f"); the reference's was paired with the candidate's "ses_f0eeddcc1122" at step 1 body /0`,
			[]ident.Name{{Name: "‹ses 1›", Reference: "ses_0a1b2c3d4e5f", Candidate: "ses_f0eeddcc1122"}, {Name: "‹ses 2›", Reference: "ses_1a1b2c3d4e5f", Candidate: "ses_f1eeddcc1122"}},
		},
		{
			"after the list, and one for two", []string{`{"sessions":[{"id":"` + uuidA + `"},{"id":"` + uuidB + `"}]}`}, []string{`{"sessions":[{"id":"` + uuidX + `"},{"id":"` + uuidX + `"}]}`},
			`the candidate has ‹session 1› ("` + uuidX + `") where the reference has another id ("` + uuidB + `"); the candidate's was paired with the reference's "` + uuidA + `" at step 1 body /sessions/0/id`,
			[]ident.Name{{Name: "‹session 1›", Reference: uuidA, Candidate: uuidX}},
		},
		{
			"after the member", []string{`{"requestID":"` + uuidA + `"}`, `"` + uuidA + `"`}, []string{`{"requestID":"` + uuidX + `"}`, `"` + uuidY + `"`},
			`the candidate has another id ("` + uuidY + `") where the reference has ‹request 1› ("` + uuidA + `"); the reference's was paired with the candidate's "` + uuidX + `" at step 1 body /requestID`,
			[]ident.Name{{Name: "‹request 1›", Reference: uuidA, Candidate: uuidX}},
		},
		{
			"after the member that a rule speaks of", []string{`{"request_id":"abcdefg"}`, `{"request_id":"abcdefg"}`}, []string{`{"request_id":"xyzxyzx"}`, `{"request_id":"tuvtuvt"}`},
			`the candidate has another id ("tuvtuvt") where the reference has ‹request 1› ("abcdefg"); the reference's was paired with the candidate's "xyzxyzx" at step 1 body /request_id`,
			[]ident.Name{{Name: "‹request 1›", Reference: "abcdefg", Candidate: "xyzxyzx"}},
		},
		{
			"after the kind", []string{`"` + uuidA + `"`, `["` + uuidA + `"]`}, []string{`"` + uuidX + `"`, `["` + uuidY + `"]`},
			`the candidate has another id ("` + uuidY + `") where the reference has ‹uuid 1› ("` + uuidA + `"); the reference's was paired with the candidate's "` + uuidX + `" at step 1 body`,
			[]ident.Name{{Name: "‹uuid 1›", Reference: uuidA, Candidate: uuidX}},
		},
		{
			"after the project's shape", []string{`{"a":"T000001"}`, `{"b":"T000001"}`}, []string{`{"a":"T000002"}`, `{"b":"T000003"}`},
			`the candidate has another id ("T000003") where the reference has ‹ticket 1› ("T000001"); the reference's was paired with the candidate's "T000002" at step 1 body /a`,
			[]ident.Name{{Name: "‹ticket 1›", Reference: "T000001", Candidate: "T000002"}},
		},
		{
			"in what differs otherwise", []string{`{"a":"` + uuidA + `","b":1}`, `{"x":{"a":"` + uuidA + `"}}`}, []string{`{"a":"` + uuidX + `","b":1}`, `{"x":1}`},
			"the types differ: object and number", []ident.Name{{Name: "‹a 1›", Reference: uuidA, Candidate: uuidX}},
		},
		{"of secrets there are none", []string{`{"key":"sk_live_0123456789abcdef"}`, `{"key":"sk_live_0123456789abcdef"}`}, []string{`{"key":"sk_live_fedcba9876543210"}`, `{"key":"sk_live_0000000000000000"}`},
			"the reference's ‹token of 24 characters› was paired with the candidate's ‹token of 24 characters› at step 1 body /key", nil},
		{"nor where nothing differs", []string{`"` + uuidA + `"`}, []string{`"` + uuidX + `"`}, "", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := compared(newSide("ref").answers(tc.ref...), newSide("cand").answers(tc.cand...), shapes)
			text := ""
			if n := len(r.Differences); n > 0 {
				text = r.Differences[n-1].Text()
			}
			if text != tc.text {
				t.Errorf("said: %s\nwant: %s", text, tc.text)
			}
			if diff := cmp.Diff(tc.want, r.Names); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}
