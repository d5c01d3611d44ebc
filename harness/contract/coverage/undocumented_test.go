package coverage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// during returns a transcript of a scenario.
func during(scenario string, t *transcript.Transcript) *transcript.Transcript {
	t.Scenario = scenario
	return t
}

// without replaces a word in texts.
func without(word string) Normalizer {
	return func(text string) string { return strings.ReplaceAll(text, word, "{…}") }
}

func TestWhatIsUndocumentedIsOneRowForEachShape(t *testing.T) {
	c := New(sample.Parse(t, sample.API(`
  /a/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get: {responses: {'200': {description: ok, content: {text/plain: {}}}}}
    put: {responses: {'200': {description: ok}}}
  /a/{name}/x:
    parameters: [{name: name, in: path, required: true, schema: {type: string}}]
    get: {responses: {'200': {description: ok}}}
`)))
	c.AddNormalized(during("c", sample.Response("GET", "/nope/c-one", 404, nil, "")), without("one"))
	c.AddNormalized(during("b", sample.Response("GET", "/nope/c-two?x=y", 405, nil, "")), without("two"))
	c.AddNormalized(during("b", sample.Response("GET", "/nope/c-two", 404, nil, "")), without("two"))
	c.AddNormalized(during("a", sample.Response("DELETE", "/a/one", 405, nil, "")), without("one"))
	c.AddNormalized(during("a", sample.Response("DELETE", "/a/two", 405, nil, "")), nil)
	c.AddNormalized(during("a", sample.Response("DELETE", "/a/two/x", 204, nil, "")), nil)
	c.AddNormalized(during("a", sample.Response("GET", "/a/two", 200, sample.Header("Content-Type", "image/png; of=two"), "")), without("two"))
	want := []Undocumented{
		{Kind: spec.UndocumentedMediaType, What: "GET /a/{id}: image/png; of={…}", Count: 1, Scenarios: []string{"a"}},
		{Kind: spec.UndocumentedOperation, What: "DELETE /a/{id}", Count: 2, Statuses: []StatusCount{{405, 2}}, Scenarios: []string{"a"}},
		{Kind: spec.UndocumentedOperation, What: "DELETE /a/{name}/x", Count: 1, Statuses: []StatusCount{{204, 1}}, Scenarios: []string{"a"}},
		{Kind: spec.UndocumentedOperation, What: "GET /nope/c-{…}", Count: 3, Statuses: []StatusCount{{404, 2}, {405, 1}}, Scenarios: []string{"b", "c"}},
	}
	if diff := cmp.Diff(want, c.Undocumented); diff != "" {
		t.Errorf("undocumented (-want +got):\n%s", diff)
	}
	var refused []bool
	for _, u := range c.Undocumented {
		refused = append(refused, u.Refused())
	}
	if diff := cmp.Diff([]bool{false, true, false, true}, refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
}

// Which rows do not fit into the list does not depend on the order of occurrences.
func TestTheListOfWhatIsUndocumentedHasNoOrderOfItsOwn(t *testing.T) {
	d := sample.Parse(t, coverageDoc)
	var seen []*transcript.Transcript
	for i := range 3 * maxUndocumented {
		seen = append(seen, during(fmt.Sprintf("s%d", i%13), sample.Response("GET", fmt.Sprintf("/%d", i%(maxUndocumented+500)), 400+i%5, nil, "")))
	}
	var first []Undocumented
	for range 5 {
		rand.Shuffle(len(seen), func(i, k int) { seen[i], seen[k] = seen[k], seen[i] })
		whole := New(d)
		for _, tr := range seen {
			whole.Add(tr)
		}
		if first == nil {
			first = whole.Undocumented
		}
		if diff := cmp.Diff(first, whole.Undocumented); diff != "" {
			t.Fatalf("another order gives another list (-first +this):\n%s", diff)
		}
	}
	if len(first) != maxUndocumented || first[0].Count != 2 || len(first[0].Scenarios) != 2 {
		t.Errorf("%d rows, want %d; the first is %+v", len(first), maxUndocumented, first[0])
	}
}
