package verdict

import (
	"fmt"
	"strings"
	"testing"
)

func TestADifferenceWithoutAContractNamesItsSchema(t *testing.T) {
	got := judged(t,
		newSide("ref").answers(200, `{"n":1}`, 200, `{"n":1}`, 404).stream(`n {"n":1}`, `n {"n":2}`),
		newSide("cand").answers(200, `{"n":2}`, 200, `{"n":"1"}`, 200, `{}`).stream(`n {"n":3}`),
	)
	const schema = "#/paths/~1n/get/responses/200/content/application~1json/schema/properties/n"
	const event = "#/paths/~1events/get/responses/200/content/text~1event-stream/x-events/events/n"
	want := []string{
		"body /n: 12 " + schema + ": type: integer; an enum, or a minimum and a maximum",
		"body /n: none", // the candidate breaks the contract
		"status: 7 #/paths/~1n/get/responses: GET /n declares both 404 and 200; ",
		"body: none", // it follows from another status, which is reported
		"event 1 (n) data /n: 24 " + event + "/schema/properties/n: type: integer; an enum, or a minimum and a maximum",
		"event 2 (n): 24 " + event + `: the event "n" is optional; `,
	}
	var lines []string
	for _, f := range got.Findings {
		if f.Class != Difference {
			continue
		}
		line := f.Place + ": none"
		if s := f.SpecGap; s != nil {
			line = fmt.Sprintf("%s: %d %s: %s; %s", f.Place, s.Line, s.Schema, s.Admits, s.Pin)
		}
		lines = append(lines, line)
	}
	if a, b := strings.Join(lines, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
}

func TestTheContractIsSearchedForABoundedNumberOfDifferences(t *testing.T) {
	ref, cand := newSide("ref"), newSide("cand")
	for range maxSearches + 10 {
		ref, cand = ref.answers(200, `{"n":1}`), cand.answers(200, `{"n":2}`)
	}
	var with, without int
	for _, f := range judged(t, ref, cand).Findings {
		if f.SpecGap != nil {
			with++
		} else {
			without++
		}
	}
	if with != maxSearches || without != 10 {
		t.Errorf("%d differences have a silence and %d have none, want %d and 10", with, without, maxSearches)
	}
}
