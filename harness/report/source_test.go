package report

import (
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

const told = `scenario: told
why: Each demand has a key
source: x
steps:
  - json: {a: "größe"}
    http: POST /notes
    capture: {id: $.id, other: $.other}
    expect:
      status: 200
      headers: {Location: /x, ETag: null}
      json: {$.a: b, $.b: c}
      matches: {$.c: ^x}
      absent: [$.d, $.e]
  - {start: call, http: POST /notes}
  - open: feed
    sse: GET /feed
    ready: {event: hello}
  - await: feed
    match: {event: added}
  - parallel:
      a: [{http: GET /a, expect: {one_of: [{status: 200}]}}]
      b:
        - poll: GET /b
          until: {status: 200}
  - {http: GET /a, headers: {X-Something: "a long value", X-Other: "another"}, expect: {count: {200: 3}, body: "` + "\u00e4" + `"}}
`

func TestAFindingPointsAtTheKeyThatIsMeant(t *testing.T) {
	unmet := func(kind, place string) verdict.Finding {
		return verdict.Finding{Class: verdict.Unmet, Kind: kind, Place: place}
	}
	for name, tc := range map[string]struct {
		line int
		f    verdict.Finding
		want string
	}{
		"a difference":       {5, verdict.Finding{Class: verdict.Difference, Kind: "status", Place: "status"}, "6:http"},
		"a violation":        {15, verdict.Finding{Class: verdict.Violation, Kind: "type", Stream: "feed"}, "15:open"},
		"a started request":  {14, verdict.Finding{Class: verdict.Difference}, "14:start"},
		"a status":           {5, unmet("expectation", "status"), "9:status"},
		"a header field":     {5, unmet("expectation", "header etag"), "10:ETag"},
		"a value":            {5, unmet("expectation", "body $.b"), "11:$.b"},
		"a text":             {5, unmet("expectation", "body $.c"), "12:$.c"},
		"what is to be gone": {5, unmet("expectation", "body $.e"), "13:$.e"},
		"the whole":          {5, unmet("expectation", "body"), "11:json"},
		"a capture":          {5, verdict.Finding{Class: verdict.Unmet, Kind: "capture-missing", Want: "other from $.other"}, "7:other"},
		"a broken exchange":  {5, unmet("exchange-failed", "head"), "6:http"},
		"an event":           {18, unmet("event-awaited", "event"), "19:match"},
		"a ready stream":     {15, unmet("event-awaited", "ready"), "17:ready"},
		"within a branch":    {21, unmet("expectation", "status"), "21:one_of"},
		"a poll":             {23, unmet("poll", "poll"), "24:until"},
		"a count":            {25, unmet("expectation", "count of 200"), "25:200"},
		"no step":            {2, unmet("expectation", "status"), ""},
		"no line":            {99, unmet("expectation", "status"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			tc.f.Line = tc.line
			ev := GatherEvidence(&EvidenceSource{Scenario: &verdict.Scenario{Findings: []verdict.Finding{tc.f}}, Text: []byte(told), Mask: func(s string) string { return s }})
			got := ""
			if at := ev.Findings[0].Source; at != nil {
				rest := []rune(strings.Split(told, "\n")[at.Line-1])[at.Column-1:]
				key, _, _ := strings.Cut(string(rest), ":")
				key, _, _ = strings.Cut(key, "]")
				got = strconv.Itoa(at.Line) + ":" + key
			}
			if got != tc.want {
				t.Errorf("points at %q, want %q", got, tc.want)
			}
		})
	}
}

// The schema of the language lists the keys with which a step can begin.
func TestActionsAreThoseOfTheLanguage(t *testing.T) {
	schema := testfile.Read(t, "../scenario/scenario.schema.json")
	_, list, ok := strings.Cut(string(schema), `"begin the step with one of: `)
	list, _, _ = strings.Cut(list, `"`)
	words := strings.Split(list, ", ")
	if !ok || len(words) != len(stepActions) {
		t.Errorf("the schema has %q, and there are %d actions", words, len(stepActions))
	}
	for _, word := range words {
		if !stepActions[word] {
			t.Errorf("%q is no action here", word)
		}
	}
}
