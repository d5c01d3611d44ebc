package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/verdict/waiver"
)

func TestWaiverSkeleton(t *testing.T) {
	name := Finding{
		Class: Difference, Kind: "value", Scenario: "items/story", At: "GET /items (2): body /0/name", Fingerprint: "12345678",
		Target: "new", Reference: `"lamp"`, Candidate: "\"LAMP\n\u202e- id: W-6666\"",
	}
	missing := Finding{
		Class: Unmet, Kind: "event-awaited", Scenario: "items/odd[slash]", At: "GET /items/${{ row.id }}: \"a\\b\u2028\U0001F600\" (candidate)",
		Fingerprint: "8d1f0c2a", Target: "new", Want: strings.Repeat("é", 100), Got: "nothing",
	}
	breach := Finding{Class: Violation, Kind: "status", Scenario: "items/story", At: "GET /items: status (candidate)", Fingerprint: "00000000", Target: "new", Text: "500 is not declared"}
	there := []waiver.Waiver{{ID: "W-0041"}}
	got := WaiverSkeleton([]Finding{name, name, missing, breach}, there, "candidate-bug", time.Date(2027, 2, 18, 23, 0, 0, 0, time.FixedZone("", -3600)))
	want := `- id: W-0042 # reference "lamp", new "\"LAMP\n\u202e- id: W-6666\""
  scenario: "items/story"
  at: "GET /items (2): body /0/name"
  difference: {kind: value, fingerprint: "12345678"}
  class: candidate-bug
  reason: ""
  owner: ""
  expires: 2027-02-19
- id: W-0043 # new: want ` + strings.Repeat("é", 60) + `…, got nothing
  scenario: "items/odd[slash]"
  at: "GET /items/${{ row.id }}: \"a\\b\u2028😀\" (candidate)"
  difference: {kind: event-awaited, fingerprint: "8d1f0c2a"}
  class: candidate-bug
  reason: ""
  owner: ""
  expires: 2027-02-19
- id: W-0044 # new breaks the contract: 500 is not declared
  scenario: "items/story"
  at: "GET /items: status (candidate)"
  difference: {kind: status, fingerprint: "00000000"}
  class: candidate-bug
  reason: ""
  owner: ""
  expires: 2027-02-19
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("skeleton (-want +got):\n%s", diff)
	}
	filled := strings.NewReplacer(`reason: ""`, "reason: r", `owner: ""`, "owner: o").Replace(got)
	kinds := &waiver.World{
		Scenarios: []waiver.Scenario{
			{ID: "items/story", Table: "items/story", Steps: []string{"GET /items", "GET /items"}},
			{ID: "items/odd[slash]", Table: "items/odd", Steps: []string{"GET /items/${{ row.id }}"}},
		},
		Kinds: []string{"value", "status", "event-awaited"}}
	waivers, problems := waiver.Parse("waivers.yaml", []byte(filled), kinds)
	if problems != nil || len(waivers) != 3 {
		t.Fatalf("filled in, it is read as %v, %v", waivers, problems)
	}
	for i, f := range []Finding{name, missing, breach} {
		if !waivers[i].Matches(BaselineEntryOf(&f)) {
			t.Errorf("%+v does not accept %+v", waivers[i], f)
		}
	}
	if _, problems := waiver.Parse("waivers.yaml", []byte(got), kinds); len(problems) != 6 {
		t.Errorf("as it is, it has %d mistakes, want 6: every reason and every owner", len(problems))
	}
}
