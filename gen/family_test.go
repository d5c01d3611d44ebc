package gen

import (
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// clientToolPaths are the paths of the client-tools family (decision S20).
var clientToolPaths = []string{"/client-tools", "/event", "/global/event", "/session"}

// keyless are the operations of the goose-server family that ignore X-Secret-Key (GA 2.2).
var keyless = []string{"/status", "/mcp-ui-proxy"}

// TestTheContractHasTheCommonResponsesOfTheGooseFamily checks answers that every operation of the family has, because
// one operation may easily lack them.
func TestTheContractHasTheCommonResponsesOfTheGooseFamily(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for path, item := range doc.Paths.Map() {
		if below(path, clientToolPaths) {
			continue
		}
		for method, operation := range item.Operations() {
			checked++
			for _, fault := range faults(operation, below(path, keyless)) {
				t.Errorf("%s %s: %s", method, path, fault)
			}
		}
	}
	if checked == 0 {
		t.Error("the contract has no operation of the family")
	}
}

func below(path string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool { return strings.HasPrefix(path+"/", root+"/") })
}

// faults lists what the contract lacks for an operation.
func faults(o *openapi3.Operation, keyless bool) (out []string) {
	if wants := o.Security != nil && len(*o.Security) == 1 && (*o.Security)[0]["SecretKey"] != nil; wants == keyless {
		out = append(out, "who asks for the key says so by security, and nobody else (GA 2.2)")
	}
	var statuses []string
	if !keyless {
		statuses = append(statuses, "401")
	}
	if o.RequestBody != nil {
		statuses = append(statuses, "400", "413", "415", "422") // GA 2.5
	}
	for _, p := range o.Parameters {
		if p.Value.In == "query" && p.Value.Required {
			statuses = append(statuses, "400") // GA 2.6
		}
	}
	for _, status := range statuses {
		if o.Responses.Value(status) == nil {
			out = append(out, "it does not declare "+status)
		}
	}
	for status, response := range o.Responses.Map() {
		for _, name := range []string{"Access-Control-Allow-Origin", "Vary"} { // GA 2.3
			if h := response.Value.Headers[name]; h == nil || !h.Value.Required {
				out = append(out, "its "+status+" does not require "+name)
			}
		}
	}
	return out
}

func TestAnOperationThatForgetsIsFound(t *testing.T) {
	description := ""
	bare := openapi3.NewOperation()
	bare.Responses = openapi3.NewResponses(openapi3.WithStatus(200, &openapi3.ResponseRef{Value: &openapi3.Response{Description: &description}}))
	bare.RequestBody = &openapi3.RequestBodyRef{Value: openapi3.NewRequestBody()}
	if got, want := len(faults(bare, false)), 1+5+2; got != want {
		t.Errorf("%q, want %d faults", faults(bare, false), want)
	}
}
