package contract

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// The findings about responses do not depend on what else reads the documents, and requests are left out.
func TestCheckResponsesIsCheckWithoutRequests(t *testing.T) {
	doc := sample.API(`
  /x:
    post:
      parameters: [{name: n, in: query, required: true, schema: {type: integer}}]
      requestBody: {content: {application/json: {schema: {type: object, required: [a]}}}}
      responses:
        '200': {description: ok, content: {application/json: {schema: {type: object, required: [a, b]}}}}`)
	tr := sample.Response("POST", "/x?n=one", 200, sample.Header("Content-Type", "application/json"), `{"a":1}`)
	tr.Steps[0].Exchanges[0].Request.Header = sample.Header("Content-Type", "application/json")
	tr.Steps[0].Exchanges[0].Request.Body = sample.Body(`{}`)
	all := parse(t, doc).Check(tr)
	var want []Violation
	for _, v := range all {
		if v.Side != Request {
			want = append(want, v)
		}
	}
	if len(all) < 3 || len(want) != 1 {
		t.Fatalf("Check finds %s", long(all))
	}
	d, docs := parse(t, doc), jsontree.NewDocuments(0)
	for range 2 { // the second time, the verdict is cached
		if diff := cmp.Diff(want, d.CheckResponses(docs, tr)); diff != "" {
			t.Errorf("CheckResponses (-want +got):\n%s", diff)
		}
	}
	if !docs.Has([]byte(`{"a":1}`)) || docs.Has([]byte(`{}`)) {
		t.Error("the answer is to be read, and the request is not")
	}
}
