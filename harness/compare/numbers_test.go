package compare

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/internal/docgen"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

const (
	asInteger = "the numbers are written differently: the candidate's as an integer, the reference's with a fraction or an exponent"
	asDouble  = "the numbers are written differently: the reference's as an integer, the candidate's with a fraction or an exponent"
)

func numbersAs(at string, kind jsondiff.VolatileKind) *Rules {
	return &Rules{Volatile: []jsondiff.Volatile{{At: at, Kind: kind, Rule: "here"}}}
}

func TestIntegersAreNotWhatIsWrittenWithAFraction(t *testing.T) {
	double, exact := numbersAs("", jsondiff.Double), numbersAs("", jsondiff.Exact)
	for _, tc := range []struct {
		ref, cand string
		rules     *Rules
		want      string // the text of the difference
	}{
		{"4096", "4096.0", nil, asDouble},
		{"0e0", "0", nil, asInteger},
		{"1.0", "1.00", nil, ""},
		{"0.1", "0.10000000000000001", nil, ""},
		{"9007199254740992", "9007199254740993", nil, "the numbers differ"},
		{"-0", "0", nil, ""},
		{"1e400", "1e401", nil, "the numbers differ"},
		{"1772366400", "1772366400.0", nil, "the times are written differently: the candidate sends seconds with a decimal point, the reference seconds"},
		{"4096", "4096.0", double, ""},
		{"4096", "4097.0", double, "the numbers differ"},
		{"9007199254740992", "9007199254740993", double, ""},
		{"1e400", "1e401", double, "the numbers differ"},
		{"1.0", "1.00", exact, "the numbers are written differently, and a rule compares them exactly"},
		{"-0", "0", exact, "the numbers are written differently, and a rule compares them exactly"},
		{"1772366400123", "1772366400124", exact, ""}, // it is still a time of the run
		{"4096", "4096.0", numbersAs("$.a", jsondiff.Double), ""},
		{"4096", "4096.0", numbersAs("$..a", jsondiff.Double), ""},
		{"4096", "4096.0", numbersAs("$.b", jsondiff.Double), asDouble},
		{"4096", "4096.0", &Rules{Volatile: []jsondiff.Volatile{{At: "$.a", Kind: jsondiff.Notation}, {Kind: jsondiff.Double}}}, asDouble},
		{"4096", "4096.0", &Rules{Volatile: []jsondiff.Volatile{{Kind: jsondiff.Notation}, {Kind: jsondiff.Double}}}, asDouble}, // the first one wins
		{"4096", "4096.0", &Rules{Volatile: []jsondiff.Volatile{{At: "$.a", Kind: jsondiff.Number, Tolerance: jsondiff.Tolerance{Amount: "1"}}, {Kind: jsondiff.Exact}}}, ""},
	} {
		for _, wrap := range []string{`{"a":#}`, `{"a":#,"pad":"` + strings.Repeat("lamp ", 1000) + `"}`} {
			got := compared(newSide("ref").answers(strings.Replace(wrap, "#", tc.ref, 1)), newSide("cand").answers(strings.Replace(wrap, "#", tc.cand, 1)), tc.rules)
			var want []string
			if tc.want != "" {
				want = []string{"value body /a: " + tc.want}
			}
			if diff := cmp.Diff(want, saidOf(got)); diff != "" {
				t.Errorf("%s and %s, by %v (-want +got):\n%s", tc.ref, tc.cand, tc.rules, diff)
			}
		}
	}
}

// saidOf returns the kind, place and text of each difference.
func saidOf(r Result) []string {
	var out []string
	for _, d := range r.Differences {
		out = append(out, string(d.Kind)+" "+d.At.String()+": "+d.Text())
	}
	return out
}

func TestTheNotationOfNumbersIsComparedEverywhere(t *testing.T) {
	const ref, cand = `{"max":4096}`, `{"max":4096.0}`
	in64 := base64.StdEncoding.EncodeToString
	double := numbersAs("", jsondiff.Double)
	text := func(s string) string {
		return `{"a":` + (&jsontree.Node{Kind: jsontree.String, Text: s}).String() + `}`
	}
	list := func(s string) string { return `[{"name":"lamp"},` + s + `,{"name":"rug"}]` }
	answers := func(body string) func(string) side {
		return func(target string) side { return newSide(target).answers(body) }
	}
	streams := func(data string) func(string) side {
		return func(target string) side { return newSide(target).stream("bus", "a "+data) }
	}
	asksFor := func(body string) func(string) side {
		return func(string) side { return side{t: asking(ours, asks(body))} }
	}
	calls := func(body string) func(string) side {
		return func(string) side { return side{t: sent("tester", "tools/call", body)} }
	}
	for _, tc := range []struct {
		name      string
		ref, cand func(string) side
		rules     *Rules
		want      []string
	}{
		{"in a body", answers(ref), answers(cand), nil, []string{"value body /max"}},
		{"in a list", answers(list(ref)), answers(list(cand)), nil, []string{"value body /1/max"}},
		{"in a list, by a rule", answers(list(ref)), answers(list(cand)), double, nil},
		{"in a list that lost its first, by a rule", answers(list(ref)), answers(`[` + cand + `,{"name":"rug"}]`), double, []string{"element-missing body /0"}},
		{"in an event", streams(ref), streams(cand), nil, []string{"value event 1 (a) data /max"}},
		{"in an event, by a rule", streams(ref), streams(cand), double, nil},
		{"to a stub", asksFor(ref), asksFor(cand), nil, []string{"value request body /max"}},
		{"to a stub, by a rule for it", asksFor(ref), asksFor(cand), &Rules{Stubs: map[string]Step{"llm": {Volatile: double.Volatile}}}, nil},
		{"to an MCP server", calls(ref), calls(cand), nil, []string{"value request body /max"}},
		{"to an MCP server, by a rule for the method", calls(ref), calls(cand), &Rules{MCP: map[string][]jsondiff.Volatile{"tools/call": double.Volatile}}, nil},
		{"in a text", answers(text(ref)), answers(text(cand)), nil, []string{"value body /a ⟨JSON⟩ /max"}},
		{"in Base64", answers(text(in64([]byte(ref + "    ")))), answers(text(in64([]byte(cand + "  ")))), nil, []string{"value body /a ⟨Base64⟩ ⟨JSON⟩ /max"}},
		{"in a text, by rules", answers(text(ref)), answers(text(cand)), &Rules{Volatile: []jsondiff.Volatile{{At: "$.a", Kind: jsondiff.JSON}, {Kind: jsondiff.Double}}}, nil},
	} {
		got := compared(tc.ref("ref"), tc.cand("cand"), tc.rules)
		if diff := cmp.Diff(tc.want, kinds(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		if tc.rules != nil && len(tc.rules.Volatile) > 0 && tc.rules.Volatile[0].Rule != "" && !got.Applied["here"] {
			t.Errorf("%s: the rule has not applied", tc.name)
		}
	}
}

// If a rule makes two numbers equal, they are equal in every document, whatever surrounds them. Without the rule, they
// differ.
func TestNumbersOfOneDoubleMatchByARuleAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := docgen.Story{docgen.Document(t, 3)}.In(0)[0]
		large := rapid.Bool().Draw(t, "large")
		wrap := func(n string) string {
			if large {
				return docgen.Enlarged(one, `[[`+n+`,"lamp"],`+one+`]`)
			}
			return `[` + n + `,` + one + `]`
		}
		pair := rapid.SampledFrom([][2]string{{"4096", "4096.0"}, {"0e0", "0"}, {"1e3", "1000"}, {"-2", "-2.0"}}).Draw(t, "numbers")
		ref, cand := newSide("ref").answers(wrap(pair[0])), newSide("cand").answers(wrap(pair[1]))
		if got := compared(ref, cand, nil); len(got.Differences) != 1 || got.Differences[0].Kind != diff.ValueDiffers {
			t.Fatalf("differences %v, want one of a value", saidOf(got))
		}
		if got := compared(ref, cand, numbersAs("", jsondiff.Double)); len(got.Differences) > 0 {
			t.Fatalf("by value: differences %v", saidOf(got))
		}
	})
}

func TestARuleAboutTheNumbersOfAnObjectIsRefused(t *testing.T) {
	got := compared(newSide("ref").answers(`{"a":{"b":1}}`), newSide("cand").answers(`{"a":{"b":1.0}}`), numbersAs("$.a", jsondiff.Double))
	if len(got.Refused) != 1 || got.Refused[0].Kind != jsondiff.Structural {
		t.Errorf("refused: %v", got.Refused)
	}
}
