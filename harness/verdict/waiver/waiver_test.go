package waiver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

var world = &World{
	Scenarios: []Scenario{
		{ID: "items/story", Table: "items/story", Steps: []string{"POST /items", "open bus: GET /event", "GET /items", "GET /items"}},
		{ID: "items/odd[slash]", Table: "items/odd", Steps: []string{"GET /items/${{ row.id }}"}},
	},
	Targets: []string{"old", "new"},
	Kinds:   []string{"value", "status", "event-missing"},
}

const whole = `
# A waiver that says all that one can say.
- id: W-0001
  scenario: items/odd
  at: "GET /items/${{ row.id }}: body /name"
  difference: {kind: value, fingerprint: "12345678"}
  class: intended
  reason: the new server keeps slashes
  owner: ann
  link: https://example.com/7
  expires: 2027-03-01
  when: {targets: [new], env: {CI: "true"}}
- id: W-0007
  scenario: items/*
  at: "open bus: GET /event: event (added)"
  difference: {kind: event-missing, fingerprint: 8d1f0c2a}
  class: candidate-bug
  reason: it is being mended
  owner: bob
  expires: 2026-12-01
`

func TestParse(t *testing.T) {
	got, problems := Parse("waivers.yaml", []byte(whole), world)
	if problems != nil {
		t.Fatal(problems)
	}
	want := []Waiver{
		{
			ID: "W-0001", Scenario: "items/odd", At: "GET /items/${{ row.id }}: body /name", Kind: "value", Fingerprint: "12345678",
			Class: "intended", Reason: "the new server keeps slashes", Owner: "ann", Link: "https://example.com/7",
			Expires: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC),
			When:    Condition{Targets: []string{"new"}, Env: map[string]string{"CI": "true"}}, File: "waivers.yaml", Line: 3,
		},
		{
			ID: "W-0007", Scenario: "items/*", At: "open bus: GET /event: event (added)", Kind: "event-missing", Fingerprint: "8d1f0c2a",
			Class: "candidate-bug", Reason: "it is being mended", Owner: "bob",
			Expires: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), File: "waivers.yaml", Line: 13,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("waivers (-want +got):\n%s", diff)
	}
	if next := Next(got); next != "W-0008" {
		t.Errorf("the next is %s, want W-0008", next)
	}
}

func TestAFileWithoutWaivers(t *testing.T) {
	for _, text := range []string{"", "\n", "# none yet\n\n  # at all\n", "[]\n"} {
		if got, problems := Parse("waivers.yaml", []byte(text), world); len(got) > 0 || problems != nil {
			t.Errorf("%q: %v, %v", text, got, problems)
		}
	}
}

func TestEveryMistakeHasItsPlaceAndAFix(t *testing.T) {
	for _, tc := range []struct{ name, old, new, want string }{
		{"no list", whole, "id: W-0001\n", "waivers.yaml:1:1: the file is a map\n\tfix: write a list: each waiver begins with - id:"},
		{"an id without its form", "id: W-0007", "id: seven", "waivers.yaml:13:7: \"id\" is \"seven\"\n\tfix: write W- and four digits: W-0001"},
		{"an id twice", "id: W-0007", "id: W-0001", "waivers.yaml:13:7: two waivers are called W-0001, the first in line 3\n\tfix: give each its own id: W-0002"},
		{"a key that is none", "owner: bob", "ownr: bob", "waivers.yaml:19:3: unknown key \"ownr\"\n\tfix: did you mean \"owner\"?"},
		{"no reason", "reason: it is being mended", `reason: " "`, "waivers.yaml:18:11: \"reason\" is \" \"\n\tfix: say why it may stay"},
		{"no owner", "owner: bob", `owner: ""`, "waivers.yaml:19:10: \"owner\" is \"\"\n\tfix: say who answers for it"},
		{"another class", "class: intended", "class: intendet", "waivers.yaml:7:10: \"class\" is \"intendet\"\n\tfix: did you mean \"intended\"?"},
		{"no fingerprint", `"12345678"`, "12345678", "waivers.yaml:6:42: \"fingerprint\" is a number\n\tfix: write the eight characters that the report has behind the kind, in quotes"},
		{"a kind that is none", "kind: value", "kind: valu", "waivers.yaml:6:22: there is no kind \"valu\"\n\tfix: did you mean \"value\"?"},
		{"a day with a time", "2027-03-01", "2027-03-01T00:00:00Z", "waivers.yaml:11:12: \"expires\" is \"2027-03-01T00:00:00Z\"\n\tfix: write a day as 2027-03-01"},
		{"a day that is none", "2027-03-01", "2027-02-30", "waivers.yaml:11:12: \"2027-02-30\" is not a date\n\tfix: write a date such as 2027-03-01"},
		{"a scenario that is none", "items/odd", "items/od", "waivers.yaml:4:13: there is no scenario \"items/od\"\n\tfix: did you mean \"items/odd\"?"},
		{"a pattern of nothing", "items/*", "itemz/*", "waivers.yaml:14:13: there is no scenario \"itemz/*\"\n\tfix: name a scenario, one row of its table, or a pattern with *"},
		{"a row that is none", "items/odd", "items/odd[slasch]", "waivers.yaml:4:13: there is no scenario \"items/odd[slasch]\"\n\tfix: did you mean \"items/odd[slash]\"?"},
		{"a step that is none", `"open bus: GET /event: event`, `"shut: event`, "waivers.yaml:15:7: no step of items/* is called \"shut\"\n\tfix: begin with the step as in the scenario, then a colon and the place; lockstep waive writes it"},
		{"a step that is cut short", `"open bus: GET /event: event`, `"open bus: event`, "waivers.yaml:15:7: no step of items/* is called \"open bus\"\n\tfix: did you mean \"open bus: GET /event\"?"},
		{"a step that is nearly one", `"GET /items/${{ row.id }}:`, `"GET /items/${{ row }}:`, "waivers.yaml:5:7: no step of items/odd is called \"GET /items/${{ row }}\"\n\tfix: did you mean \"GET /items/${{ row.id }}\"?"},
		{"a target that is none", "[new]", "[now]", "waivers.yaml:12:20: there is no target \"now\"\n\tfix: did you mean \"new\"?"},
		{"a condition without one", `{targets: [new], env: {CI: "true"}}`, "{}", "waivers.yaml:12:9: \"when\" is too short\n\tfix: fill it in, or leave it out"},
		{"a variable that is no text", `CI: "true"`, "CI: true", "waivers.yaml:12:36: \"CI\" is a boolean\n\tfix: make it a string"},
	} {
		if !strings.Contains(whole, tc.old) {
			t.Fatalf("%s: %q is not in the file", tc.name, tc.old)
		}
		_, problems := Parse("waivers.yaml", []byte(strings.Replace(whole, tc.old, tc.new, 1)), world)
		if got := problems.Error(); got != tc.want {
			t.Errorf("%s:\n%s\nwant:\n%s", tc.name, got, tc.want)
		}
	}
}

func TestAllMistakesAreReportedAtOnce(t *testing.T) {
	text := strings.NewReplacer("W-0007", "W-0001", "items/odd", "items/od", "2026-12-01", "2026-13-01", "kind: value", "kind: x").Replace(whole)
	_, problems := Parse("waivers.yaml", []byte(text), world)
	if len(problems) != 4 {
		t.Errorf("%d mistakes, want 4:\n%v", len(problems), problems)
	}
}

func TestTwoWaiversForOneFinding(t *testing.T) {
	first := whole[strings.Index(whole, "- id"):strings.Index(whole, "- id: W-0007")]
	_, problems := Parse("waivers.yaml", []byte(whole+strings.Replace(first, "W-0001", "W-0009", 1)), world)
	if want := "waivers.yaml:21:7: W-0009 accepts the same as W-0001 in line 3\n\tfix: remove one of them"; problems.Error() != want {
		t.Errorf("%v, want %s", problems, want)
	}
}

// Scenarios that could not be read are not reported as missing, too.
func TestScenariosWithMistakesAreNotReported(t *testing.T) {
	if _, problems := Parse("waivers.yaml", []byte(whole), &World{Kinds: world.Kinds, More: true}); problems != nil {
		t.Error(problems)
	}
}

func TestAppend(t *testing.T) {
	file := filepath.Join(t.TempDir(), "waivers.yaml")
	for _, text := range []string{"- a: 1 # first\n", "- b: 2"} {
		if err := Append(file, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := Append(file, "- c: 3\n"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if want := "- a: 1 # first\n- b: 2\n- c: 3\n"; err != nil || string(data) != want {
		t.Errorf("the file is %q, %v; want %q", data, err, want)
	}
	if err := Append(file, "d: 4\n"); err == nil {
		t.Error("a key is appended to a list")
	}
	if again, _ := os.ReadFile(file); string(again) != string(data) {
		t.Errorf("what cannot be appended has changed the file: %q", again)
	}
}

// The guide's waiver is valid.
func TestTheGuideIsTrue(t *testing.T) {
	guide := testfile.Text(t, "../../../docs/waivers.md")
	blocks := strings.Split(guide, "```yaml\n")
	if len(blocks) != 3 {
		t.Fatalf("docs/waivers.md has %d blocks of YAML, want 2", len(blocks)-1)
	}
	example, _, _ := strings.Cut(blocks[1], "```")
	when, _, _ := strings.Cut(blocks[2], "```")
	w := &World{
		Scenarios: []Scenario{{ID: "client-tools/odd-ids[a]", Table: "client-tools/odd-ids", Steps: []string{"GET /client-tools/tools/${{ row.id }}"}}},
		Targets:   []string{"typescript", "go"}, Kinds: []string{"value"},
	}
	if waivers, problems := Parse("waivers.yaml", []byte(example+when), w); problems != nil || len(waivers) != 1 || waivers[0].When.Targets == nil {
		t.Errorf("the example is read as %+v, %v", waivers, problems)
	}
}
