package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/settings"
	"github.com/lockstep-dev/lockstep/server/store"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
)

// A contract checks answers against openapi.yaml.
type contract struct {
	t      *testing.T
	doc    *openapi3.T
	router routers.Router
}

func readContract(t *testing.T) contract {
	doc, err := openapi3.NewLoader().LoadFromFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doc.Components.Schemas["AnyValue"].Value.Nullable = true // kin-openapi refuses null without it, unlike OpenAPI 3.0.3
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	openapi3filter.RegisterBodyDecoder("application/zip", openapi3filter.FileBodyDecoder)
	return contract{t, doc, router}
}

// problem returns what the contract does not allow in an answer: its status, its content type, or its body.
func (c contract) problem(request string, a answer) error {
	method, target, _ := strings.Cut(request, " ")
	parsed, err := url.Parse(target)
	if err != nil {
		return err
	}
	r := &http.Request{Method: method, URL: parsed, Header: http.Header{}}
	route, params, err := c.router.FindRoute(r)
	if err != nil {
		return err
	}
	if a.body == "" { // kin-openapi would report it as missing
		if route.Operation.Responses.Status(a.status) == nil {
			return fmt.Errorf("the contract has no %d", a.status)
		}
		return nil
	}
	return openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, Route: route, PathParams: params},
		Status:                 a.status, Header: a.header, Body: io.NopCloser(strings.NewReader(a.body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
}

func (c contract) check(request string, a answer) {
	c.t.Helper()
	if err := c.problem(request, a); err != nil {
		c.t.Errorf("%s: %d %.300s\n%v", request, a.status, a.body, err)
	}
}

// everything is a message with every kind of item.
const everything = `{"id":"x","role":"assistant","created":5,"metadata":{"userVisible":true,"agentVisible":false},"content":[
{"type":"text","text":"hi","annotations":{"audience":["user"],"priority":0.5,"lastModified":"2025-12-10T16:59:31Z"},"_meta":{"a":1}},
{"type":"image","data":"AA==","mimeType":"image/png"},
{"type":"toolRequest","id":"1","toolCall":{"status":"success","value":{"name":"t","arguments":{"a":[1.50]}}},"thoughtSignature":"s"},
{"type":"toolRequest","id":"1","toolCall":{"status":"error","error":"e"}},
{"type":"toolResponse","id":"1","toolResult":{"status":"success","value":[{"type":"text","text":"x"},{"type":"image","data":"","mimeType":"m"},
 {"type":"resource","resource":{"uri":"u","text":"t"}},{"type":"resource","resource":{"uri":"u","mimeType":"m","blob":""}},{"type":"audio","data":"","mimeType":"m"},{"type":"resource_link","uri":"u","name":"n","size":1}]}},
{"type":"toolResponse","id":"1","toolResult":{"status":"error","error":"e"}},
{"type":"toolConfirmationRequest","id":"1","toolName":"t","arguments":{},"prompt":null},
{"type":"actionRequired","data":{"actionType":"toolConfirmation","id":"1","toolName":"t","arguments":{},"prompt":"p"}},
{"type":"actionRequired","data":{"actionType":"elicitation","id":"1","message":"m","requested_schema":{}}},
{"type":"actionRequired","data":{"actionType":"elicitationResponse","id":"1","user_data":{}}},
{"type":"frontendToolRequest","id":"1","toolCall":{"status":"success","value":{"name":"t","arguments":{}}}},
{"type":"thinking","thinking":"","signature":""},{"type":"redactedThinking","data":""},
{"type":"systemNotification","notificationType":"inlineMessage","msg":""}]}`

const manyExtensions = `[{"type":"sse","name":"a","uri":"u"},{"type":"stdio","name":"a","cmd":"c","args":[],"envs":{"A":"1"}},{"type":"builtin","name":"a","timeout":1,"bundled":true,"display_name":"A"},
{"type":"platform","name":"a"},{"type":"streamable_http","name":"a","uri":"u","headers":{"X":"y"}},{"type":"frontend","name":"a","tools":[{"name":"t","inputSchema":{"type":"object"}}],"instructions":"i"},{"type":"inline_python","name":"a","code":"pass"}]`

// TestAnswersObeyTheContract checks the answers of sessions and agents against openapi.yaml.
func TestAnswersObeyTheContract(t *testing.T) {
	c := readContract(t)
	synctest.Test(t, func(t *testing.T) {
		c.t = t
		d := settings.Below(t.TempDir())
		r := start(t, server.Config{Directories: d, Env: func(name string) (string, bool) {
			value, ok := map[string]string{"GOOSE_PROVIDER": "openai", "GOOSE_MODEL": "gpt-4o", "OPENAI_API_KEY": "sk-1", "GOOSE_TEMPERATURE": "0.5"}[name]
			return value, ok
		}})
		recipe := `{"title":"t","description":"d","instructions":"{{ a }}","prompt":"p","extensions":` + manyExtensions + `,"settings":{"goose_provider":"p","temperature":0.5},"activities":["a"],"author":{"contact":"c"},
"parameters":[{"key":"a","input_type":"select","requirement":"optional","description":"","default":"x","options":["x"]}],"response":{"json_schema":{"type":"object"}},
"sub_recipes":[{"name":"n","path":"/","values":{"a":1}}],"retry":{"max_retries":1,"checks":[{"type":"shell","command":"true"}],"timeout_seconds":5}}`
		id := field(t, r.post("POST /agent/start", `{"working_dir":"/w","recipe":`+recipe+`}`).body, "id")
		addMessage(t, d, id, everything)
		for _, request := range requestsOf(id, recipe) {
			line, body, hasBody := strings.Cut(request, " {")
			if hasBody {
				c.check(line, r.post(line, "{"+body))
			} else {
				c.check(line, r.get(line))
			}
		}
		session := r.get("GET /sessions/20000101_2") // checks that problem finds errors
		for _, wrong := range []answer{
			{200, session.header, strings.Replace(session.body, `"session_type":"user"`, `"session_type":"odd"`, 1)},
			{200, session.header, strings.Replace(session.body, `"message_count"`, `"messages"`, 1)},
			{201, session.header, session.body},
			{418, session.header, ""},
			{200, http.Header{"Content-Type": {"text/plain"}}, session.body},
		} {
			if c.problem("GET /sessions/x", wrong) == nil {
				t.Errorf("the contract has %d %v %.300s", wrong.status, wrong.header, wrong.body)
			}
		}
	})
}

// requestsOf are requests to the operations of a session, and to those on settings.
func requestsOf(id, recipe string) []string {
	return []string{
		"POST /agent/start " + `{"working_dir":"/w","recipe":` + recipe + `}`,
		"POST /agent/start {}",
		`POST /agent/start {"working_dir":"/","recipe_id":"x"}`,
		`POST /agent/start {"working_dir":"/","recipe_deeplink":"x"}`,
		`POST /agent/start {`,
		`POST /agent/resume {"session_id":"` + id + `","load_model_and_extensions":true}`,
		`POST /agent/resume {"session_id":"x","load_model_and_extensions":true}`,
		`POST /agent/update_from_session {"session_id":"` + id + `"}`,
		`POST /agent/update_from_session {"session_id":"x"}`,
		"GET /agent/tools?session_id=" + id,
		"GET /agent/tools",
		"GET /sessions",
		"GET /sessions/" + id,
		"GET /sessions/x",
		"GET /sessions/import",
		"DELETE /sessions/insights",
		"GET /sessions/" + id + "/export",
		"GET /sessions/insights",
		"GET /diagnostics/" + id,
		"GET /diagnostics/x",
		"PUT /sessions/" + id + `/name {"name":"n"}`,
		"PUT /sessions/" + id + `/name {"name":""}`,
		"PUT /sessions/" + id + `/user_recipe_values {"userRecipeValues":{"a":"b"}}`,
		`PUT /sessions/x/user_recipe_values {"userRecipeValues":{}}`,
		"POST /sessions/" + id + `/edit_message {"timestamp":1}`,
		`POST /sessions/x/edit_message {"timestamp":1}`,
		`POST /sessions/import {"json":"{}"}`,
		`POST /agent/stop {"session_id":"` + id + `"}`,
		`POST /agent/stop {"session_id":"x"}`,
		"DELETE /sessions/" + id,
		"DELETE /sessions/" + id,
		"GET /config",
		`POST /config/read {"key":"GOOSE_MODEL","is_secret":false}`,
		`POST /config/read {"key":"GOOSE_MODEL","is_secret":true}`,
		`POST /config/read {"key":"x","is_secret":true}`,
		`POST /config/read {"key":"model-limits","is_secret":false}`,
		`POST /config/read {}`,
		`POST /config/upsert {"key":"k","value":{"a":[1.50,null]},"is_secret":false}`,
		`POST /config/upsert {"key":"k","is_secret":false}`,
		`POST /config/remove {"key":"k","is_secret":false}`,
		"POST /config/init",
		"GET /config/validate",
		"POST /config/backup",
		"POST /config/recover",
		`POST /config/extensions {"name":"e","config":{"type":"stdio","name":"e","cmd":"c","args":[]},"enabled":true}`,
		`POST /config/extensions {"name":"e","config":{"type":"x"},"enabled":true}`,
		"GET /config/extensions",
		"DELETE /config/extensions/e",
		`POST /config/permissions {"tool_permissions":[{"tool_name":"t","permission":"ask_before"}]}`,
		`POST /config/permissions {"tool_permissions":[{"tool_name":"t","permission":"x"}]}`,
		"GET /config/slash_commands",
	}
}

// TestOperationsNeedTheKey sends a request to every operation for which the contract demands a key. Package gen tests that
// it demands one for all operations of the goose-server family.
func TestOperationsNeedTheKey(t *testing.T) {
	c := readContract(t)
	synctest.Test(t, func(t *testing.T) {
		c.t = t
		r := start(t, server.Config{Models: offline{}}) // some operations call models, or fetch their prices
		checked := 0
		for path, item := range c.doc.Paths.Map() {
			target := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "x")
			for method, operation := range item.Operations() {
				request := method + " " + target
				if operation.Security == nil || len(*operation.Security) == 0 {
					continue
				}
				checked++
				for _, headers := range [][]string{nil, {"X-Secret-Key: wrong"}, {"X-Secret-Key:"}, {"Authorization: Bearer test"}, {secret, secret}} {
					a := r.json(request, exampleBody(t, operation), headers...)
					a.is(t, fmt.Sprint(request, " with ", headers), 401, "")
					c.check(request, a)
				}
				if a := r.json(request, exampleBody(t, operation), secret); a.status == 401 {
					t.Errorf("%s with the key: 401", request)
				}
			}
		}
		if checked == 0 {
			t.Error("the contract demands no key")
		}
	})
}

// offline is a network without servers.
type offline struct{}

func (offline) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("there is no network")
}

// exampleBody returns the contract's example of a body, or an empty object. Some operations check the body before the
// key (decision S80).
func exampleBody(t *testing.T, o *openapi3.Operation) string {
	t.Helper()
	if o.RequestBody == nil || o.RequestBody.Value.Content["application/json"].Schema.Value.Example == nil {
		return "{}"
	}
	text, err := json.Marshal(o.RequestBody.Value.Content["application/json"].Schema.Value.Example)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// addMessage adds a message to a session directly in the database.
func addMessage(t *testing.T, d settings.Directories, id, text string) {
	t.Helper()
	s, err := store.Open(t.Context(), d.Sessions())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m, err := decode.Text([]byte(text), message.Decode)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.AddMessages(t.Context(), id, m); err != nil {
		t.Fatal(err)
	}
}
