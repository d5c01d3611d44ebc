package baseline

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var (
	first  = Entry{Scenario: "items/story", At: "GET /items: body /name", Class: "difference", Kind: "value", Fingerprint: "12345678"}
	second = Entry{Scenario: "items/story", Target: "go", At: "GET /items: body/\"\\<\u2028\x01\U0001F600> (candidate)", Class: "violation", Kind: "type", Fingerprint: "0e123456"}
)

const whole = `{
  "format": 2,
  "findings": [
    {"scenario":"items/story","at":"GET /items: body /name","class":"difference","kind":"value","fingerprint":"12345678"},
    {"scenario":"items/story","target":"go","at":"GET /items: body/\"\\\u003c\u2028\u0001😀\u003e (candidate)","class":"violation","kind":"type","fingerprint":"0e123456"}
  ]
}
`

func TestABaselineSurvivesTheRoundTrip(t *testing.T) {
	text, err := Text([]Entry{second, first, second})
	if diff := cmp.Diff(whole, string(text)); diff != "" || err != nil {
		t.Fatalf("%v, text (-want +got):\n%s", err, diff)
	}
	got, problems := Parse("baseline.json", text)
	if diff := cmp.Diff([]Entry{first, second}, got); diff != "" || problems != nil {
		t.Errorf("%v, findings (-want +got):\n%s", problems, diff)
	}
	obeys(t, text)
}

func TestAnEmptyBaselineIsOne(t *testing.T) {
	text, err := Text(nil)
	if want := "{\n  \"format\": 2,\n  \"findings\": []\n}\n"; err != nil || string(text) != want {
		t.Errorf("%q, %v; want %q", text, err, want)
	}
	if got, problems := Parse("baseline.json", text); got == nil || len(got) > 0 || problems != nil {
		t.Errorf("it is read as %v, %v", got, problems)
	}
	obeys(t, text)
}

func obeys(t *testing.T, text []byte) {
	t.Helper()
	c := jsonschema.NewCompiler()
	var schema, doc any
	if err := json.Unmarshal(Schema, &schema); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("baseline.json", schema); err != nil {
		t.Fatal(err)
	}
	if err := c.MustCompile("baseline.json").Validate(doc); err != nil {
		t.Error(err)
	}
}

func TestABaselineOfTheFirstFormatIsRead(t *testing.T) {
	text := strings.NewReplacer(`"format": 2`, `"format": 1`, `"target":"go",`, "").Replace(whole)
	got, problems := Parse("baseline.json", []byte(text))
	if diff := cmp.Diff([]Entry{first, second.WithoutTarget()}, got); diff != "" || problems != nil {
		t.Errorf("%v, findings (-want +got):\n%s", problems, diff)
	}
}

func TestMistakesOfABaseline(t *testing.T) {
	for _, tc := range []struct{ name, old, new, want string }{
		{"another format", `"format": 2`, `"format": 3`, "baseline.json:2:13: \"format\" is 3\n\tfix: this lockstep reads the formats 1 and 2: write the baseline again with lockstep baseline update --accept-new"},
		{"another class", `"difference"`, `"differences"`, "baseline.json:4:69: \"class\" is \"differences\"\n\tfix: did you mean \"difference\"?"},
		{"half a fingerprint", `"12345678"`, `"1234"`, "baseline.json:4:111: \"fingerprint\" is \"1234\"\n\tfix: write it so that it matches ^[0-9a-f]{8}$"},
		{"no findings", `"findings"`, `"Findings"`, "baseline.json:3:3: unknown key \"Findings\"\n\tfix: did you mean \"findings\"?"},
	} {
		_, problems := Parse("baseline.json", []byte(strings.Replace(whole, tc.old, tc.new, 1)))
		if got := problems.Error(); got != tc.want {
			t.Errorf("%s:\n%s\nwant:\n%s", tc.name, got, tc.want)
		}
	}
	for _, half := range []string{"", "{", whole[:len(whole)/2]} {
		if _, problems := Parse("baseline.json", []byte(half)); len(problems) == 0 {
			t.Errorf("%q is read", half)
		}
	}
}
