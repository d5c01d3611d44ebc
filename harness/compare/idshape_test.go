package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
)

// A pattern of digits would match every year and every fraction of a second.
func TestTimesAreNoIDsOfAProject(t *testing.T) {
	rules := &Rules{IDs: []ident.IDShape{shape(t, "order", "[1-9][0-9]{2,3}")}}
	for _, tc := range []struct {
		name, ref, cand string
		want            []string
	}{
		{"parts of seconds", `{"at":"2026-03-01T12:00:28.290Z"}`, `{"at":"2026-03-01T12:00:28.089Z"}`, nil},
		{"before an id", `{"at":"2026-03-01T12:00:28.290Z of 1234"}`, `{"at":"2026-03-01T12:00:28.089Z of 4321"}`, nil},
		{"an id alone", `{"at":"1234"}`, `{"at":"4321"}`, nil},
		{"a time far away", `{"at":"2026-03-01T12:00:28.290Z"}`, `{"at":"2027-03-01T12:00:28.290Z"}`, []string{"value body /at"}},
	} {
		if diff := cmp.Diff(tc.want, kinds(compared(newSide("ref").answers(tc.ref), newSide("cand").answers(tc.cand), rules))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestIDsOfAProjectAreBound(t *testing.T) {
	rules := &Rules{IDs: []ident.IDShape{
		shape(t, "session", "sess[a-z]{8}"), shape(t, "job", "[a-z]{8}job"), shape(t, "path", "v([0-9])/[a-z]{3}"), shape(t, "number", "9[0-9]{7}"),
	}}
	for _, tc := range []struct {
		name      string
		ref, cand []string
		want      []string
	}{
		{"others that are the same everywhere", []string{`"sessabcdefgh"`, `{"at":"/x/sessabcdefgh"}`}, []string{`"sessijklmnop"`, `{"at":"/x/sessijklmnop"}`}, nil},
		{"another one", []string{`"sessabcdefgh"`, `{"at":"/x/sessabcdefgh"}`}, []string{`"sessijklmnop"`, `{"at":"/x/sessabcdefgh"}`}, []string{"identity body /at"}},
		{"one for two", []string{`["sessabcdefgh","sessabcdefgi"]`}, []string{`["sessijklmnop","sessijklmnop"]`}, []string{"identity body /1"}},
		{"of another name", []string{`"sessabcdefgh"`}, []string{`"abcdefghjob"`}, []string{"value body"}},
		{"equal, and then not", []string{`"sessabcdefgh"`, `"sessabcdefgh"`}, []string{`"sessabcdefgh"`, `"sessijklmnop"`}, []string{"identity body"}},
		{"what is outside the group", []string{`"v1/abc"`, `"v1/abc"`}, []string{`"v2/abc"`, `"v2/abd"`}, []string{"value body"}},
		{"in a name", []string{`{"sessabcdefgh":1}`}, []string{`{"sessijklmnop":1}`}, nil},
		{"numbers", []string{`90000001`, `[90000001]`}, []string{`90000002`, `[90000002]`}, nil},
		{"a number that is another", []string{`90000001`, `[90000001]`}, []string{`90000002`, `[90000001]`}, []string{"identity body /0"}},
		{"a number of another kind", []string{`90000001`}, []string{`80000001`}, []string{"value body"}},
		{"behind an escape", []string{`"x\nsessabcdefgh"`, `"sessabcdefgh"`}, []string{`"x\nsessabcdefgh"`, `"sessijklmnop"`}, []string{"identity body"}},
		{"escaped", []string{`"sess\u0061bcdefgh"`, `"sessabcdefgh"`}, []string{`"sess\u0061bcdefgh"`, `"sessijklmnop"`}, []string{"identity body"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := compared(newSide("ref").answers(tc.ref...), newSide("cand").answers(tc.cand...), rules)
			if diff := cmp.Diff(tc.want, kinds(r)); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

// A large document is read in another way if it can contain no generated values.
func TestIDsOfAProjectInLargeDocuments(t *testing.T) {
	rules := &Rules{IDs: []ident.IDShape{shape(t, "session", "sess[a-z]{8}")}}
	large := func(id string) string {
		out := `{"list":[`
		for range 200 {
			out += `{"name":"lamp","of":"a plain text","id":"` + id + `"},`
		}
		return out + `{}]}`
	}
	ref := newSide("ref").answers(large("sessabcdefgh"), `"sessabcdefgh"`)
	for _, tc := range []struct {
		name        string
		first, then string
		want        []string
	}{
		{"others", "sessijklmnop", "sessijklmnop", nil},
		{"equal", "sessabcdefgh", "sessabcdefgh", nil},
		{"equal, and then not", "sessabcdefgh", "sessijklmnop", []string{"identity body"}},
		{"others, and then not", "sessijklmnop", "sessabcdefgh", []string{"identity body"}},
	} {
		got := kinds(compared(ref, newSide("cand").answers(large(tc.first), `"`+tc.then+`"`), rules))
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestAShapeThatWasSeenHasApplied(t *testing.T) {
	rules := &Rules{IDs: []ident.IDShape{shape(t, "session", "sess[a-z]{8}"), shape(t, "job", "job[a-z]{8}")}}
	r := compared(newSide("ref").answers(`"sessabcdefgh"`), newSide("cand").answers(`"sessabcdefgh"`), rules)
	if r.Applied["lockstep.yaml:9:7 job"] || !r.Applied["lockstep.yaml:9:7 session"] {
		t.Errorf("applied: %v", r.Applied)
	}
}

func TestFingerprintsDoNotDependOnIDsOfAProject(t *testing.T) {
	rules := &Rules{IDs: []ident.IDShape{shape(t, "session", "sess[a-z]{8}")}}
	at := newSide("ref").t
	if a, b := Fingerprint(rules, at, "no sessabcdefgh"), Fingerprint(rules, at, "no sessijklmnop"); a != b {
		t.Errorf("fingerprints %s and %s", a, b)
	}
	if a, b := Fingerprint(nil, at, "no sessabcdefgh"), Fingerprint(nil, at, "no sessijklmnop"); a == b {
		t.Error("without the rule, the fingerprints are equal as well")
	}
	if got := Bare(rules, at, "/sessabcdefgh"); got != "/‹session›" {
		t.Errorf("Bare = %q", got)
	}
}

func TestOwnIDsAreThoseOfTheProjectsShapes(t *testing.T) {
	rules := &Rules{IDs: []ident.IDShape{shape(t, "session", "20[0-9]{6}_([0-9]+)"), shape(t, "order", "ord[0-9]{5}")}}
	for _, tc := range []struct {
		text string
		want []string // each match, followed by its generated part
	}{
		{"20261120_17", []string{"20261120_17", "17"}},
		{"see msg_20261120_17_0, ord12345.", []string{"20261120_17", "17", "ord12345", "ord12345"}},
		{"x20261120_17 and 20261120_17x", nil},
		{"itm_0a1b2c3d4e5f6a7b8c9d", nil},
	} {
		var got []string
		for _, id := range rules.ProjectIDs(tc.text) {
			got = append(got, tc.text[id.Start:id.End], tc.text[id.From:id.To])
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tc.text, diff)
		}
	}
	if got := new(Rules).ProjectIDs("20261120_17"); got != nil {
		t.Errorf("without shapes: %v", got)
	}
}

func shape(t *testing.T, name, pattern string) ident.IDShape {
	t.Helper()
	s, err := ident.NewIDShape(name, pattern, "lockstep.yaml:9:7 "+name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
