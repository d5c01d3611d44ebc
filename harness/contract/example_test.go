package contract_test

import (
	"fmt"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

const api = `openapi: 3.0.3
info: {title: Tools, version: '1'}
paths:
  /tools/{id}:
    get:
      operationId: getTool
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
      responses:
        '200':
          description: The tool.
          content:
            application/json:
              schema:
                type: object
                required: [id, runs]
                properties:
                  id: {type: string}
                  runs: {type: integer}
`

func ExampleDocument_Check() {
	doc, err := contract.Parse([]byte(api), &contract.Options{File: "openapi.yaml"})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer := `{"id": "search", "runs": 1.5, "owner": "me"}`
	for _, v := range doc.Check(&transcript.Transcript{Steps: []transcript.Step{{ID: "1", Exchanges: []*transcript.Exchange{{
		Request: transcript.Request{Method: "GET", Target: "/tools/search"},
		Response: &transcript.Response{
			Status: 200,
			Header: transcript.Header{{Name: "Content-Type", Value: "application/json"}},
			Body:   transcript.Body{Bytes: []byte(answer), Size: int64(len(answer))},
		},
	}}}}}) {
		fmt.Printf("%s: %s (line %d)\n", v.Place, v.Text, v.Line)
	}
	// Output:
	// body/runs: 1.5 stands here; an integer is wanted, which OpenAPI 3.0 writes without fraction and exponent (line 19)
	// body/owner: no schema names the field "owner" (line 14)
}

func ExampleDocument_CheckRequest() {
	doc, err := contract.Parse([]byte(api), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range doc.CheckRequest("DELETE", "/tools/search", nil, nil) {
		fmt.Println(v.Kind, v.Text)
	}
	// Output:
	// undocumented-operation the document has no operation for "DELETE" "/tools/search"
}

func ExampleParse() {
	_, err := contract.Parse([]byte(api+`components: {schemas: {Tool: {$ref: '#/components/schemas/Tolo'}}}`), &contract.Options{File: "openapi.yaml"})
	fmt.Println(err)
	// Output:
	// openapi.yaml:20:37: $ref points to "#/components/schemas/Tolo", which does not exist
	// 	fix: did you mean "#/components/schemas/Tool"?
}
