package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

func TestAFindingAboutSeveralElementsIsReportedOnce(t *testing.T) {
	at := func(place, text string) verdict.Finding {
		f := difference("value", place, text, "a of "+place, "b of "+place)
		f.Fingerprint = fmt.Sprintf("%08x", len(place)) + place
		return step(3, "1", "GET /", f)
	}
	for _, tc := range []struct {
		name     string
		findings []verdict.Finding
		told     int
		also     string
	}{
		{"of three elements", []verdict.Finding{at("body /0/a", "the texts differ"), at("body /1/a", "the texts differ"), at("body /12/a", "the texts differ")}, 1, "also in 2 elements: /1/a, /12/a\n"},
		{"deep down", []verdict.Finding{at("body /l/0/m/3/a/b", "the texts differ"), at("body /l/1/m/0/a/b", "the texts differ")}, 1, "also in 1 element: /l/1/m/0/a/b\n"},
		{"of two members", []verdict.Finding{at("body /0/a", "the texts differ"), at("body /1/b", "the texts differ")}, 2, ""},
		{"something else", []verdict.Finding{at("body /0/a", "the texts differ"), at("body /1/a", "the numbers differ")}, 2, ""},
		{"of members with figures", []verdict.Finding{at("body /a1", "the texts differ"), at("body /a2", "the texts differ")}, 2, ""},
		{"elements themselves", []verdict.Finding{at("body /0", "the texts differ"), at("body /1", "the texts differ")}, 2, ""},
		{"two lists", []verdict.Finding{at("body /x/0/a", "the texts differ"), at("body /y/0/a", "the texts differ")}, 2, ""},
		{"of two steps", []verdict.Finding{at("body /0/a", "the texts differ"), step(5, "2", "GET /", at("body /1/a", "the texts differ"))}, 2, ""},
		{"in two streams", []verdict.Finding{at("event 1 (e) data /0/a", "the texts differ"), at("event 2 (e) data /0/a", "the texts differ")}, 2, ""},
	} {
		text := shown(t, document(scenario("s", tc.findings...)), text.Options{})
		if got := strings.Count(text, "[value"); got != tc.told {
			t.Errorf("%s: told %d times, want %d:\n%s", tc.name, got, tc.told, text)
		}
		if !strings.Contains(text, tc.also) || tc.also == "" && strings.Contains(text, "element") {
			t.Errorf("%s: the text does not say %q:\n%s", tc.name, tc.also, text)
		}
		for _, f := range tc.findings[:1] {
			if !strings.Contains(text, "a of "+f.Place) {
				t.Errorf("%s: the values of the first are missing:\n%s", tc.name, text)
			}
		}
		if tc.told == 1 && !strings.Contains(text, fmt.Sprintf("%d times]", len(tc.findings))) {
			t.Errorf("%s: it is not counted how often:\n%s", tc.name, text)
		}
	}
}

func TestALongListLeavesRoomForOtherCauses(t *testing.T) {
	var findings []verdict.Finding
	for i := range 500 {
		findings = append(findings, step(3, "1", "GET /", difference("field-missing", fmt.Sprintf("body /%d/name", i), "the candidate lacks the field", "x", "—")))
	}
	findings = append(findings, step(3, "1", "GET /", difference("value", "body /499/count", "the numbers differ", "1", "2")))
	text := shown(t, document(scenario("s", findings...)), text.Options{})
	for _, want := range []string{"also in 499 elements: /1/name, /2/name, ", " more\n", "body /499/count: the numbers differ"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
}
