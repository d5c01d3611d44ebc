package clienttools_test

import (
	"encoding/json"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/handlers/clienttools"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// checked checks a body as an operation does. It returns what the handler gets, or the refusal.
func checked(t *testing.T, operation, body string) (bound string, refused *httptest.ResponseRecorder) {
	t.Helper()
	text, err := jsonwire.Parse([]byte(body))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	rules := clienttools.Bodies(clienttools.Bounds{})[operation]
	var answer response.Writer
	if rules.First != nil {
		answer = rules.First([]byte(body))
	}
	if answer == nil {
		text, answer = rules.Check(text)
	}
	if answer == nil {
		return string(text), nil
	}
	rec := httptest.NewRecorder()
	if err := answer.Write(rec); err != nil {
		t.Fatal(err)
	}
	return "", rec
}

// issue returns one issue of a wrong type, as in CT 3.5.
func issue(expected, received, path string) string {
	return `{"expected":"` + expected + `","code":"invalid_type","path":[` + path + `],"message":"Invalid input: expected ` + expected + `, received ` + received + `"}`
}

const noResult = `{"code":"invalid_type","expected":"object","path":["result"],"message":"Invalid input: expected object, received `
const noMember = `{"code":"invalid_union","errors":[],"note":"No matching discriminator","discriminator":"status","path":["result","status"],"message":"Invalid input"}`

func TestIssuesAreExactlyThoseOfTheContract(t *testing.T) {
	for _, tc := range []struct {
		operation, body string
		issues          []string
	}{
		{"registerClientTools", `{}`, []string{issue("string", "undefined", `"clientID"`), issue("array", "undefined", `"tools"`)}},
		{"registerClientTools", `{"clientID":5,"tools":[]}`, []string{issue("string", "number", `"clientID"`)}},
		{"registerClientTools", `{"clientID":null,"tools":null}`, []string{issue("string", "null", `"clientID"`), issue("array", "null", `"tools"`)}},
		{"registerClientTools", `{"tools":{},"clientID":[]}`, []string{issue("string", "array", `"clientID"`), issue("array", "object", `"tools"`)}},
		{"registerClientTools", `{"clientID":"v","tools":[{"id":"a","description":"d"}]}`, []string{issue("record", "undefined", `"tools",0,"parameters"`)}},
		{"registerClientTools", `{"clientID":"v","tools":[{"parameters":[],"description":true}]}`, []string{
			issue("string", "undefined", `"tools",0,"id"`), issue("string", "boolean", `"tools",0,"description"`), issue("record", "array", `"tools",0,"parameters"`)}},
		{"registerClientTools", `{"clientID":"v","tools":["x",1,null]}`, []string{
			issue("object", "string", `"tools",0`), issue("object", "number", `"tools",1`), issue("object", "null", `"tools",2`)}},
		{"registerClientTools", `{"clientID":"v","tools":[{"id":"a","description":"d","parameters":{}},{"id":"b","description":"d","parameters":null}]}`, []string{issue("record", "null", `"tools",1,"parameters"`)}},
		{"registerClientTools", `{"ClientID":"v","Tools":[],"x":{"y":1.0}}`, []string{issue("string", "undefined", `"clientID"`), issue("array", "undefined", `"tools"`)}},
		{"registerClientTools", `[]`, []string{issue("object", "array", "")}},
		{"registerClientTools", `null`, []string{issue("object", "null", "")}},
		{"registerClientTools", `"<&>\u2028"`, []string{issue("object", "string", "")}},
		{"registerClientTools", `1e400`, []string{issue("object", "number", "")}},
		{"registerClientTools", `false`, []string{issue("object", "boolean", "")}},

		{"unregisterClientTools", `{}`, []string{issue("string", "undefined", `"clientID"`)}},
		{"unregisterClientTools", `{"clientID":"c2","toolIDs":["a",1]}`, []string{issue("string", "number", `"toolIDs",1`)}},
		{"unregisterClientTools", `{"clientID":"c2","toolIDs":null}`, []string{issue("array", "null", `"toolIDs"`)}},
		{"unregisterClientTools", `{"clientID":{},"toolIDs":"a"}`, []string{issue("string", "object", `"clientID"`), issue("array", "string", `"toolIDs"`)}},

		{"submitClientToolResult", `{}`, []string{issue("string", "undefined", `"requestID"`), noResult + `undefined"}`}},
		{"submitClientToolResult", `{"requestID":"r","result":null}`, []string{noResult + `null"}`}},
		{"submitClientToolResult", `{"requestID":"r","result":[]}`, []string{noResult + `array"}`}},
		{"submitClientToolResult", `{"requestID":"r","result":"success"}`, []string{noResult + `string"}`}},
		{"submitClientToolResult", `{"requestID":"r","status":"success","title":"t","output":"o"}`, []string{noResult + `undefined"}`}},
		{"submitClientToolResult", `{"requestID":1,"result":{}}`, []string{issue("string", "number", `"requestID"`), noMember}},
		{"submitClientToolResult", `{"requestID":"r","result":{"status":"ok","title":"t","output":"o"}}`, []string{noMember}},
		{"submitClientToolResult", `{"requestID":"r","result":{"status":["success"]}}`, []string{noMember}},
		{"submitClientToolResult", `{"requestID":"r","result":{"status":"Success"}}`, []string{noMember}},
		{"submitClientToolResult", `{"requestID":"r","result":{"status":"success"}}`, []string{issue("string", "undefined", `"result","title"`), issue("string", "undefined", `"result","output"`)}},
		{"submitClientToolResult", `{"requestID":"r","result":{"metadata":null,"output":"o","title":1,"status":"success"}}`, []string{issue("string", "number", `"result","title"`), issue("record", "null", `"result","metadata"`)}},
		{"submitClientToolResult", `{"requestID":"r","result":{"status":"success","title":"t","output":"o","metadata":[]}}`, []string{issue("record", "array", `"result","metadata"`)}},
		{"submitClientToolResult", `{"requestID":"r","result":{"status":"error"}}`, []string{issue("string", "undefined", `"result","error"`)}},
		{"submitClientToolResult", `{"requestID":"r","result":{"status":"error","error":{}}}`, []string{issue("string", "object", `"result","error"`)}},
	} {
		t.Run(tc.operation+" "+tc.body, func(t *testing.T) {
			_, refused := checked(t, tc.operation, tc.body)
			if refused == nil {
				t.Fatal("accepted")
			}
			data, err := jsonwire.Parse([]byte(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			same(t, "body", `{"data":`+string(data)+`,"error":[`+strings.Join(tc.issues, ",")+`],"success":false}`, refused.Body.String())
			same(t, "status", 400, refused.Code)
			same(t, "content type", "application/json", refused.Header().Get("Content-Type"))
			same(t, "content length", strconv.Itoa(refused.Body.Len()), refused.Header().Get("Content-Length"))
		})
	}
}

func TestValidBodiesReachTheHandlerWithoutWhatIsIgnored(t *testing.T) {
	for _, tc := range []struct{ operation, body, bound string }{
		{"registerClientTools", `{"tools":[],"clientID":"","sessionID":5}`, `{"clientID":"","tools":[]}`},
		{"registerClientTools", `{"clientID":"v","tools":[{"id":"","description":"","parameters":{"b":1.0,"a":{}},"x":1}]}`,
			`{"clientID":"v","tools":[{"id":"","description":"","parameters":{"b":1.0,"a":{}},"x":1}]}`},
		{"registerClientTools", `{"clientID":1,"clientID":"v","tools":[]}`, `{"clientID":"v","tools":[]}`},
		{"unregisterClientTools", `{"clientID":"v"}`, `{"clientID":"v"}`},
		{"unregisterClientTools", `{"clientID":"v","toolIDs":[],"sessionID":null}`, `{"clientID":"v","toolIDs":[]}`},
		{"submitClientToolResult", `{"requestID":"","result":{"status":"error","error":"","title":5}}`, `{"requestID":"","result":{"status":"error","error":"","title":5}}`},
		{"submitClientToolResult", `{"requestID":"r","result":{"status":"success","title":"","output":"","attachments":null,"error":1}}`,
			`{"requestID":"r","result":{"status":"success","title":"","output":"","attachments":null,"error":1}}`},
		{"executeClientTool", `null`, `{}`},
		{"executeClientTool", `{"ToolID":"x","extra":1}`, `{}`},
		{"executeClientTool", `{"timeout":1e3,"input":{"z":1,"a":2},"toolID":"t","callID":"c","messageID":"m","sessionID":"s","requestID":""}`,
			`{"toolID":"t","requestID":"","sessionID":"s","messageID":"m","callID":"c","input":{"z":1,"a":2},"timeout":1000}`},
		{"executeClientTool", `{"timeout":0}`, `{"timeout":0}`},
		{"executeClientTool", `{"timeout":-1.0}`, `{"timeout":0}`},
		{"executeClientTool", `{"timeout":2147483648}`, `{"timeout":2147483647}`},
		{"executeClientTool", `{"timeout":1e300}`, `{"timeout":2147483647}`},
		{"executeClientTool", `{"timeout":-1e300}`, `{"timeout":0}`},
		{"executeClientTool", `{"timeout":1e-999999999}`, `{"timeout":0}`},
		{"executeClientTool", `{"timeout":12345.00000000000000000000001}`, `{"timeout":12345}`},
	} {
		bound, refused := checked(t, tc.operation, tc.body)
		if refused != nil {
			t.Errorf("%s %s is refused: %s", tc.operation, tc.body, refused.Body)
			continue
		}
		same(t, tc.operation+" "+tc.body, tc.bound, bound)
	}
}

func TestWhatExecuteCallsMalformed(t *testing.T) {
	for _, body := range []string{
		`[]`, `"x"`, `5`, `true`,
		`{"toolID":null}`, `{"toolID":5}`, `{"requestID":null}`, `{"sessionID":{}}`, `{"messageID":1}`, `{"callID":[]}`,
		`{"input":null}`, `{"input":[]}`, `{"input":"x"}`,
		`{"timeout":null}`, `{"timeout":1.5}`, `{"timeout":"1000"}`, `{"timeout":1e-1}`, `{"timeout":1e999}`, `{"timeout":-1e999999999}`, `{"timeout":true}`,
	} {
		_, refused := checked(t, "executeClientTool", body)
		if refused == nil {
			t.Errorf("%s is accepted", body)
			continue
		}
		same(t, body, `{"error":{"code":"INVALID_REQUEST","message":"Invalid JSON body"}}`, refused.Body.String())
		same(t, body, 400, refused.Code)
	}
}

// FuzzBodies passes any text to all checks. An accepted body must fit the contract's type. A refusal must be an
// answer of the contract about that body.
func FuzzBodies(f *testing.F) {
	for _, seed := range []string{
		`{"clientID":"c","tools":[{"id":"a","description":"d","parameters":{"x":[1.0,"\ud800"]}},{}]}`,
		`{"clientID":"c","toolIDs":["a",1,"client_"]}`,
		`{"requestID":"r","result":{"status":"success","title":"t","output":"o","metadata":{},"attachments":[]}}`,
		`{"requestID":"r","result":{"status":"error"}}`,
		`{"toolID":"t","input":{},"timeout":1.50e2}`,
		`null`, `[1,2]`,
	} {
		f.Add([]byte(seed))
	}
	targets := map[string]func() any{
		"registerClientTools":    func() any { return new(api.RegisterRequest) },
		"unregisterClientTools":  func() any { return new(api.UnregisterRequest) },
		"submitClientToolResult": func() any { return new(api.SubmitResultRequest) },
		"executeClientTool":      func() any { return new(api.ExecuteRequest) },
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		text, err := jsonwire.Parse(body)
		if err != nil {
			return
		}
		for operation, target := range targets {
			bound, refused := clienttools.Bodies(clienttools.Bounds{})[operation].Check(text)
			if refused == nil {
				if err := jsonwire.Unmarshal(bound, target()); err != nil {
					t.Errorf("%s lets %s through, which does not fit: %v", operation, text, err)
				}
				continue
			}
			rec := httptest.NewRecorder()
			if err := refused.Write(rec); err != nil {
				t.Fatal(err)
			}
			if got, want := rec.Header().Get("Content-Length"), strconv.Itoa(rec.Body.Len()); got != want {
				t.Errorf("%s: Content-Length %s for %s bytes", operation, got, want)
			}
			if operation == "executeClientTool" {
				continue // its refusals do not depend on the body
			}
			var envelope struct {
				Data  json.RawMessage
				Error []json.RawMessage
			}
			if err := json.Unmarshal(rec.Body.Bytes(), &envelope); err != nil {
				t.Fatalf("%s answers %s: %v", operation, rec.Body, err)
			}
			if string(envelope.Data) != string(text) || len(envelope.Error) == 0 {
				t.Errorf("%s of %s answers %s", operation, text, rec.Body)
			}
		}
	})
}
