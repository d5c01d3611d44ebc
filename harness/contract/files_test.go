package contract_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A document in two files judges like the same document in one.
func TestADocumentInSeveralFilesJudgesLikeOne(t *testing.T) {
	const item = "{type: object, required: [id], properties: {id: {type: integer}}}"
	one := "openapi: 3.0.3\ninfo: {title: t, version: \"1\"}\npaths:\n  /items:\n    get:\n      responses:\n        \"200\": {description: ok, content: {application/json: {schema: {$ref: \"#/components/schemas/Item\"}}}}\ncomponents: {schemas: {Item: " + item + "}}\n"
	several := "openapi: 3.0.3\ninfo: {title: t, version: \"1\"}\npaths: {$ref: paths.yaml}\n"
	open := func(file string) ([]byte, error) {
		text, ok := map[string]string{
			"paths.yaml":   "/items:\n  get:\n    responses:\n      \"200\": {description: ok, content: {application/json: {schema: {$ref: \"schemas.yaml#/Item\"}}}}\n",
			"schemas.yaml": "Item: " + item + "\n",
		}[file]
		if !ok {
			return nil, errors.New("no such file")
		}
		return []byte(text), nil
	}
	exchange := &transcript.Exchange{
		Request:  transcript.Request{Method: "GET", Target: "/items"},
		Response: &transcript.Response{Proto: "HTTP/1.1", Status: 200, Header: transcript.Header{{Name: "Content-Type", Value: "application/json"}}, Body: transcript.Body{Bytes: []byte(`{"id":"x"}`), Size: 10}},
	}
	var found [2][]contract.Violation
	for i, text := range []string{one, several} {
		doc, err := contract.Parse([]byte(text), &contract.Options{File: "openapi.yaml", Open: open})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range doc.Check(&transcript.Transcript{Steps: []transcript.Step{{ID: "1", Exchanges: []*transcript.Exchange{exchange}}}}) {
			if i == 1 && v.Line != 3 {
				t.Errorf("the line is %d, want that of the reference in openapi.yaml", v.Line)
			}
			v.Line = 0
			found[i] = append(found[i], v)
		}
	}
	if diff := cmp.Diff(found[0], found[1]); diff != "" || len(found[0]) == 0 {
		t.Errorf("violations (-one file +several):\n%s", diff)
	}
	if _, err := contract.Parse([]byte(several), &contract.Options{File: "openapi.yaml"}); err == nil {
		t.Error("without a way to open files, references to them are accepted")
	}
	_, err := contract.Parse([]byte(several), &contract.Options{File: "openapi.yaml", Open: func(file string) ([]byte, error) {
		return []byte("/items:\n  get:\n    responses:\n      \"200\": {description: ok, content: {application/json: {schema: {type: nothing}}}}\n"), nil
	}})
	if problems := (contract.Problems)(nil); !errors.As(err, &problems) || problems[0].File != "paths.yaml" || problems[0].Line != 4 {
		t.Errorf("a mistake in another file: %v", err)
	}
}
