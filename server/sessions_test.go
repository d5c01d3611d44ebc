package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/settings"
	"github.com/lockstep-dev/lockstep/server/store"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// get sends a request without a body to the goose-server family, with the secret.
func (r *rig) get(request string) answer {
	r.t.Helper()
	return r.do(request, secret)
}

// post sends a JSON body to the goose-server family, with the secret.
func (r *rig) post(request, body string) answer {
	r.t.Helper()
	return r.json(request, body, secret)
}

// newSession creates a session and returns its ID.
func (r *rig) newSession(workingDir string) string {
	r.t.Helper()
	a := r.post("POST /agent/start", `{"working_dir":`+string(quoted(r.t, workingDir))+`}`)
	if a.status != 200 {
		r.t.Fatalf("start: %d %s", a.status, a.body)
	}
	return field(r.t, a.body, "id")
}

// field returns a string member of a JSON object.
func field(t testing.TB, body, name string) string {
	t.Helper()
	var object map[string]json.RawMessage
	var value string
	if err := json.Unmarshal([]byte(body), &object); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	if err := json.Unmarshal(object[name], &value); err != nil {
		t.Fatalf("%s: %v in %s", name, err, body)
	}
	return value
}

// say adds messages to a session directly in the database, one for each second.
func say(t testing.TB, d settings.Directories, id string, created ...int64) {
	t.Helper()
	s, err := store.Open(t.Context(), d.Sessions())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, at := range created {
		m := message.Message{Role: message.User, Created: at, Content: []message.Content{message.Text{Text: fmt.Sprint(at)}}, Metadata: message.Visible}
		if err := s.AddMessages(t.Context(), id, m); err != nil {
			t.Fatal(err)
		}
	}
}

// fresh is a new session, like the first one of 2000-01-01.
const fresh = `{"id":"20000101_1","working_dir":"/w","name":"New session 1","user_set_name":false,"session_type":"user",` +
	`"created_at":"2000-01-01T00:00:00Z","updated_at":"2000-01-01T00:00:00Z","extension_data":{},` +
	`"total_tokens":null,"input_tokens":null,"output_tokens":null,` +
	`"accumulated_total_tokens":null,"accumulated_input_tokens":null,"accumulated_output_tokens":null,` +
	`"schedule_id":null,"recipe":null,"user_recipe_values":null,"conversation":null,"message_count":0,` +
	`"provider_name":null,"model_config":null}`

func with(body string, changes ...string) string {
	return strings.NewReplacer(changes...).Replace(body)
}

func conversation(id string, created ...int64) string {
	messages := make([]string, len(created))
	for i, at := range created {
		messages[i] = fmt.Sprintf(`{"id":"msg_%s_%d","role":"user","created":%d,"content":[{"type":"text","text":"%d"}],"metadata":{"userVisible":true,"agentVisible":true}}`, id, i, at, at)
	}
	return "[" + strings.Join(messages, ",") + "]"
}

func TestASessionsLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := settings.Below(t.TempDir())
		r := start(t, server.Config{Directories: d})
		a := r.post("POST /agent/start", `{"working_dir":"/w","recipe":null,"recipe_id":null,"recipe_deeplink":null,"other":1}`)
		a.is(t, "start", 200, fresh)
		if got := a.header.Get("Content-Type"); got != "application/json" {
			t.Errorf("content type %q", got)
		}
		r.get("GET /sessions").is(t, "list without messages", 200, `{"sessions":[]}`)
		r.get("GET /sessions/20000101_1").is(t, "get", 200, with(fresh, `"conversation":null`, `"conversation":[]`))
		r.get("GET /sessions/insights").is(t, "insights", 200, `{"totalSessions":1,"totalTokens":0}`)

		time.Sleep(time.Second)
		say(t, d, "20000101_1", 5, 7)
		spoken := with(fresh, `"updated_at":"2000-01-01T00:00:00Z"`, `"updated_at":"2000-01-01T00:00:01Z"`, `"message_count":0`, `"message_count":2`)
		loaded := with(spoken, `"conversation":null`, `"conversation":`+conversation("20000101_1", 5, 7))
		r.get("GET /sessions").is(t, "list", 200, `{"sessions":[`+spoken+`]}`)
		r.get("GET /sessions/20000101_1").is(t, "get", 200, loaded)
		r.post("POST /agent/resume", `{"session_id":"20000101_1","load_model_and_extensions":false}`).is(t, "resume", 200, loaded)

		export := r.get("GET /sessions/20000101_1/export")
		var text string
		if err := json.Unmarshal([]byte(export.body), &text); err != nil || export.status != 200 || export.header.Get("Content-Type") != "application/json" {
			t.Errorf("export: %d %s", export.status, export.body)
		}
		if !strings.HasPrefix(text, "{\n  \"id\": \"20000101_1\",\n  \"working_dir\": \"/w\",\n") || !strings.Contains(text, "\n  \"extension_data\": {},\n") {
			t.Errorf("export:\n%s", text)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte(text)); err != nil || compact.String() != loaded {
			t.Errorf("export means\n%s, want\n%s", &compact, loaded)
		}

		r.json("PUT /sessions/20000101_1/name", `{"name":"\t <näme> \n"}`, secret).is(t, "name", 200, "")
		renamed := with(loaded, `"name":"New session 1","user_set_name":false`, `"name":"<näme>","user_set_name":true`)
		r.get("GET /sessions/20000101_1").is(t, "get", 200, renamed)

		time.Sleep(time.Second)
		imported := r.post("POST /sessions/import", `{"json":`+string(quoted(t, renamed))+`}`)
		imported.is(t, "import", 200, with(renamed, "20000101_1", "20000101_2", "00:00:00Z", "00:00:02Z", "00:00:01Z", "00:00:02Z"))

		r.post("POST /sessions/20000101_1/edit_message", `{"timestamp":7}`).is(t, "fork", 200, `{"sessionId":"20000101_3"}`)
		r.get("GET /sessions/20000101_3").is(t, "fork", 200, with(fresh, "20000101_1", "20000101_3", "00:00:00Z", "00:00:02Z", "New session 1", "(edited)",
			`"message_count":0`, `"message_count":1`, `"conversation":null`, `"conversation":`+conversation("20000101_3", 5)))
		r.post("POST /sessions/20000101_1/edit_message", `{"timestamp":6,"editType":"edit"}`).is(t, "edit", 200, `{"sessionId":"20000101_1"}`)
		r.get("GET /sessions/20000101_1").is(t, "edited", 200, with(renamed, conversation("20000101_1", 5, 7), conversation("20000101_1", 5), `"message_count":2`, `"message_count":1`))

		deleted := r.get("DELETE /sessions/20000101_1")
		deleted.is(t, "delete", 200, "")
		if deleted.header.Get("Content-Length") != "0" || deleted.header.Get("Content-Type") != "" {
			t.Errorf("an empty answer has %v", deleted.header)
		}
		r.get("DELETE /sessions/20000101_1").is(t, "delete again", 404, "")
		r.get("GET /sessions/insights").is(t, "insights", 200, `{"totalSessions":2,"totalTokens":0}`)
	})
}

func TestSessionsSurviveARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := settings.Below(t.TempDir())
		r := start(t, server.Config{Directories: d})
		id := r.newSession("/w")
		before := r.get("GET /sessions/" + id)
		r.stop()
		r = start(t, server.Config{Directories: d})
		r.get("GET /sessions/"+id).is(t, "after a restart", 200, before.body)
		r.post("POST /agent/start", `{"working_dir":"/w"}`).is(t, "the next", 200, with(fresh, "20000101_1", "20000101_2")) // the count in its name starts at 1 again
	})
}

func TestConcurrentStartsNeverGiveEqualIDs(t *testing.T) {
	r := startTCP(t, server.Config{})
	var (
		mu    sync.Mutex
		ids   = map[string]bool{}
		names = map[string]bool{}
		wg    sync.WaitGroup
	)
	for range 20 {
		wg.Go(func() {
			a, err := r.try(withJSON("POST /agent/start", `{"working_dir":"/"}`, secret))
			if err != nil || a.status != 200 {
				t.Errorf("start: %v, %d %s", err, a.status, a.body)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			ids[field(t, a.body, "id")], names[field(t, a.body, "name")] = true, true
		})
	}
	wg.Wait()
	if len(ids) != 20 || len(names) != 20 {
		t.Errorf("20 starts gave %d ids and %d names", len(ids), len(names))
	}
}

// importing returns the body of an import, with more fields in the session than necessary.
func importing(more string) string {
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	w.Name("json").String(`{"id":"x","working_dir":"/w","name":"N","created_at":"2025-12-10T16:59:31Z","updated_at":"2025-12-10T16:59:31Z","extension_data":{},"message_count":0` + more + "}")
	w.Close('}')
	return string(w.Text())
}

// TestRefusals has the rows of the status table (GA 3.1) and of the rejections (GA 2.5, 2.6) that sessions can cause.
func TestRefusals(t *testing.T) {
	const plain = "text/plain; charset=utf-8"
	const shape = "Failed to deserialize the JSON body into the target type: "
	message := func(text string) string { return `{"message":"` + text + `"}` }
	long := strings.Repeat("é", 100)
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		for _, tc := range []struct {
			request, body string
			status        int
			contentType   string
			answer        string
		}{
			{"GET /sessions/nope", "", 404, "", ""},
			{"GET /sessions/%2e%2E", "", 404, "", ""},
			{"GET /sessions/%00", "", 404, "", ""},
			{"GET /sessions/'%20OR%201=1--", "", 404, "", ""},
			{"GET /sessions/a%2Fb", "", 404, "", ""},
			{"GET /sessions/%FF", "", 404, "", ""},
			{"GET /sessions/" + strings.Repeat("x", 5000), "", 404, "", ""},
			{"DELETE /sessions/nope", "", 404, "", ""},
			{"GET /sessions/nope/export", "", 404, "", ""},
			{"GET /diagnostics/nope", "", 500, "", ""},
			{"GET /diagnostics/%00", "", 500, "", ""},
			{"POST /sessions/import", `{"json":"{}"}`, 400, "", ""},
			{"POST /sessions/import", `{"json":"nope"}`, 400, "", ""},
			{"POST /sessions/import", importing(`,"output_tokens":2147483648`), 400, "", ""},
			{"POST /sessions/import", importing(`,"accumulated_total_tokens":-2147483649`), 400, "", ""},
			{"POST /sessions/import", importing(`,"recipe":{"title":"t","description":"d","retry":{"max_retries":2147483648,"checks":[]}}`), 400, "", ""},
			{"POST /sessions/import", importing(`,"model_config":{"model_name":"m","toolshim":false,"max_tokens":2147483648}`), 400, "", ""},
			{"POST /sessions/import", `{"json":{}}`, 422, plain, shape + "json: invalid type: object, expected a string at line 1 column 10"},
			{"PUT /sessions/nope/name", `{"name":"x"}`, 200, "", ""},
			{"PUT /sessions/nope/name", `{"name":" \t\u00a0"}`, 400, "", ""},
			{"PUT /sessions/nope/name", `{"name":"` + long + `"}`, 200, "", ""},
			{"PUT /sessions/nope/name", `{"name":"` + long + `x"}`, 400, "", ""},
			{"PUT /sessions/nope/name", `{"name":null}`, 422, plain, shape + "name: invalid type: null, expected a string at line 1 column 12"},
			{"POST /sessions/nope/edit_message", `{"timestamp":1}`, 500, "", ""},
			{"POST /sessions/nope/edit_message", `{"timestamp":1,"editType":"fork"}`, 500, "", ""},
			{"POST /sessions/nope/edit_message", `{"timestamp":1,"editType":"edit"}`, 200, "application/json", `{"sessionId":"nope"}`},
			{"POST /sessions/%3C%22%C3%BC/edit_message", `{"timestamp":1,"editType":"edit"}`, 200, "application/json", `{"sessionId":"<\"ü"}`},
			{"POST /sessions/nope/edit_message", `{"timestamp":1,"editType":"cut"}`, 422, plain, shape + "editType: unknown variant `cut`, expected one of `fork`, `edit` at line 1 column 31"},
			{"POST /sessions/nope/edit_message", `{"timestamp":"1"}`, 422, plain, shape + "timestamp: invalid type: string, expected an integer at line 1 column 16"},
			{"POST /sessions/nope/edit_message", `{}`, 422, plain, shape + "missing field `timestamp` at line 1 column 2"},
			{"POST /agent/start", `{}`, 422, plain, shape + "missing field `working_dir` at line 1 column 2"},
			{"POST /agent/start", `{"working_dir":"/","working_dir":"/"}`, 422, plain, shape + "duplicate field `working_dir` at line 1 column 36"},
			{"POST /agent/start", `{"working_dir":"/","recipe":{"title":"t"}}`, 422, plain, shape + "recipe: missing field `description` at line 1 column 41"},
			{"POST /agent/start", ``, 400, plain, "Failed to parse the request body as JSON: invalid JSON"},
			{"POST /agent/start", `{"working_dir":"/"`, 400, plain, "Failed to parse the request body as JSON: invalid JSON"},
			{"POST /agent/start", `{"working_dir":"/"} x`, 400, plain, "Failed to parse the request body as JSON: invalid JSON"},
			{"POST /agent/resume", `{"session_id":"nope","load_model_and_extensions":true}`, 404, "application/json", message("Failed to resume session: Session not found")},
			{"POST /agent/resume", `{"session_id":"nope"}`, 422, plain, shape + "missing field `load_model_and_extensions` at line 1 column 21"},
			{"POST /agent/stop", `{"session_id":"<x>"}`, 404, "application/json", message("Failed to stop agent for session <x>: Session <x> not found")},
			{"GET /agent/tools", "", 400, plain, "Failed to deserialize query string: missing field `session_id`"},
			{"GET /agent/tools?Session_id=x", "", 400, plain, "Failed to deserialize query string: missing field `session_id`"},
			{"GET /agent/tools?session_id=x&session%5Fid=y", "", 400, plain, "Failed to deserialize query string: duplicate field `session_id`"},
			{"GET /sessions/import", "", 405, "", ""},
			{"PATCH /sessions", "", 405, "", ""},
		} {
			var a answer
			if strings.HasPrefix(tc.request, "GET") || strings.HasPrefix(tc.request, "DELETE") || strings.HasPrefix(tc.request, "PATCH") {
				a = r.get(tc.request)
			} else {
				a = r.post(tc.request, tc.body)
			}
			what := fmt.Sprintf("%.80s %.80s", tc.request, tc.body)
			a.is(t, what, tc.status, tc.answer)
			if got := a.header.Get("Content-Type"); got != tc.contentType {
				t.Errorf("%s: content type %q, want %q", what, got, tc.contentType)
			}
			if a.header.Get("Access-Control-Allow-Origin") != "*" || a.header.Get("Content-Length") != fmt.Sprint(len(tc.answer)) {
				t.Errorf("%s: %v", what, a.header)
			}
		}
	})
}

func TestTheOrderOfTheChecksOfABody(t *testing.T) {
	raw := func(request, contentType string, length int, body string) string {
		if contentType != "" {
			contentType = "Content-Type: " + contentType + "\r\n"
		}
		return fmt.Sprintf("%s HTTP/1.1\r\nHost: test\r\n%s\r\n%sContent-Length: %d\r\n\r\n%s", request, secret, contentType, length, body)
	}
	padded := func(n int) string { return `{"working_dir":"/"}` + strings.Repeat(" ", n-19) }
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		for _, tc := range []struct {
			name, contentType, body string
			length                  int // announced; 0 means that of the body
			status                  int
			answer                  string
		}{
			{"no type", "", "{", 0, 415, "Expected request with `Content-Type: application/json`"},
			{"another type", "text/plain", padded(3 << 20), 0, 415, "Expected request with `Content-Type: application/json`"},
			{"no type and too large", "", "", 3 << 20, 415, "Expected request with `Content-Type: application/json`"},
			{"a type that is none", "application/json;", "{", 0, 400, "Failed to parse the request body as JSON: invalid JSON"},
			{"a broken parameter", "application/json; charset", "{", 0, 415, "Expected request with `Content-Type: application/json`"},
			{"almost", "application/jsonl", "{}", 0, 415, "Expected request with `Content-Type: application/json`"},
			{"in capitals", "APPLICATION/JSON ; Charset=\"utf-8\"", padded(19), 0, 200, ""},
			{"with a suffix", "application/problem+json", padded(19), 0, 200, ""},
			{"announced too large", "application/json", "", 2<<20 + 1, 413, "Failed to buffer the request body: length limit exceeded"},
			{"too large, and no JSON", "application/json", strings.Repeat("x", 2<<20+1), 0, 413, "Failed to buffer the request body: length limit exceeded"},
			{"as large as can be", "application/json", padded(2 << 20), 0, 200, ""},
		} {
			length := tc.length
			if length == 0 {
				length = len(tc.body)
			}
			a := r.send(raw("POST /agent/start", tc.contentType, length, tc.body))
			if a.status != tc.status || tc.answer != "" && a.body != tc.answer {
				t.Errorf("%s: %d %.100s; want %d %s", tc.name, a.status, a.body, tc.status, tc.answer)
			}
		}
		chunked := "POST /agent/start HTTP/1.1\r\nHost: test\r\n" + secret + "\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
		for range 3 {
			chunked += "100000\r\n" + strings.Repeat(" ", 1<<20) + "\r\n"
		}
		r.send(chunked+"0\r\n\r\n").is(t, "chunks that are too large together", 413, "Failed to buffer the request body: length limit exceeded")
		// An operation that reads no body accepts one.
		r.send(raw("GET /sessions", "text/plain", 5, "hello")).is(t, "a body that nobody reads", 200, `{"sessions":[]}`)
	})
}

func TestMethodsOfTheGooseServerFamily(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		for request, allow := range map[string]string{
			"GET /agent/start":           "POST",
			"DELETE /sessions":           "GET,HEAD",
			"PUT /sessions/x":            "GET,HEAD,DELETE",
			"GET /sessions/import":       "POST",
			"HEAD /sessions/import":      "POST",
			"DELETE /sessions/im%70ort":  "POST",
			"DELETE /sessions/insights":  "GET,HEAD",
			"POST /sessions/insights":    "GET,HEAD",
			"POST /sessions/x/name":      "PUT",
			"GET /sessions/import/name":  "PUT",
			"POST /sessions/x/export":    "GET,HEAD",
			"POST /diagnostics/insights": "GET,HEAD",
		} {
			a := r.get(request)
			if a.status != 405 || a.header.Get("Allow") != allow || a.body != "" {
				t.Errorf("%s: %d, Allow %q; want 405, %q", request, a.status, a.header.Get("Allow"), allow)
			}
		}
		for _, request := range []string{
			"GET /sessions/", "GET /sessions//", "GET /sessions//export", "POST /sessions//name", "PUT /sessions//name", "GET /sessions/x/", "GET /sessions/x/y", "GET /sessions/x/export/", "GET /Sessions", "GET /diagnostics", "GET /diagnostics/",
			"GET /diagnostics/x/y", "POST /agent", "GET /agent/call_tool", "POST /agent/call_tool", "POST /agent/read_resource", "POST /sessions/import/",
		} {
			if a := r.get(request); a.status != 404 || a.body != "" {
				t.Errorf("%s: %d %q, want 404", request, a.status, a.body)
			}
		}
		id := r.newSession("/w")
		for _, path := range []string{"/sessions", "/sessions/" + id, "/sessions/insights", "/sessions/nope", "/agent/tools?session_id=x"} {
			head, get := r.get("HEAD "+path), r.get("GET "+path)
			head.is(t, "HEAD "+path, get.status, "")
			same(t, "header of "+path, get.header, head.header)
		}
	})
}

// TestHostileNamesAreReturnedUnchanged stores strings that are hard to keep, and reads them back in every way.
func TestHostileNamesAreReturnedUnchanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		for _, text := range []string{"", "/a b", "\x00", "'; DROP TABLE sessions; --", "</script>&\u2028x", "\U0001F600\uFFFD", `\"`, "..", "/" + strings.Repeat("long/", 2000), "e\u0301"} {
			id := r.newSession(text)
			if got := field(t, r.get("GET /sessions/"+id).body, "working_dir"); got != text {
				t.Errorf("working directory %q, want %q", got, text)
			}
			if strings.TrimSpace(text) == "" || len(text) > 200 {
				continue
			}
			r.json("PUT /sessions/"+id+"/name", `{"name":`+string(quoted(t, text))+`}`, secret).is(t, "name", 200, "")
			if got := field(t, r.get("GET /sessions/"+id).body, "name"); got != text {
				t.Errorf("name %q, want %q", got, text)
			}
		}
	})
}

func TestAnUnreadableMessageMakesASessionUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := settings.Below(t.TempDir())
		r := start(t, server.Config{Directories: d})
		id := r.newSession("/w")
		say(t, d, id, 1)
		execute(t, d.Sessions(), `UPDATE messages SET content_json = '[{"type":"nope"}]'`)
		r.get("GET /sessions/"+id).is(t, "get", 404, "")
		r.get("GET /sessions/"+id+"/export").is(t, "export", 404, "")
		r.get("GET /diagnostics/"+id).is(t, "diagnostics", 500, "")
		r.post("POST /sessions/"+id+"/edit_message", `{"timestamp":1}`).is(t, "fork", 500, "")
		r.post("POST /agent/resume", `{"session_id":"`+id+`","load_model_and_extensions":false}`).is(t, "resume", 404, `{"message":"Failed to resume session: Session cannot be read"}`)
		r.post("POST /sessions/"+id+"/edit_message", `{"timestamp":1,"editType":"edit"}`).is(t, "edit", 200, `{"sessionId":"`+id+`"}`)
		if a := r.get("GET /sessions/" + id); a.status != 200 {
			t.Errorf("without the message: %d", a.status)
		}
	})
}

func TestTheListIsInTheOrderOfChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := settings.Below(t.TempDir())
		r := start(t, server.Config{Directories: d})
		var ids []string
		for range 3 {
			ids = append(ids, r.newSession("/w"))
			say(t, d, ids[len(ids)-1], 1)
			time.Sleep(time.Second)
		}
		r.json("PUT /sessions/"+ids[1]+"/name", `{"name":"x"}`, secret).is(t, "name", 200, "")
		var list struct{ Sessions []session.Session }
		if err := json.Unmarshal([]byte(r.get("GET /sessions").body), &list); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range list.Sessions {
			got = append(got, s.ID)
		}
		same(t, "order", []string{ids[1], ids[2], ids[0]}, got)
	})
}

// BenchmarkGetSession reads a session of 100 messages over HTTP.
func BenchmarkGetSession(b *testing.B) {
	d := settings.Below(b.TempDir())
	url := "http://" + startServerIn(b, d)
	request := func(method, path, body string) string {
		r, err := http.NewRequestWithContext(b.Context(), method, url+path, strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("X-Secret-Key", "test")
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			b.Fatalf("%s %s: %s, %v", method, path, resp.Status, err)
		}
		return string(answer)
	}
	defer http.DefaultClient.CloseIdleConnections()
	id := field(b, request("POST", "/agent/start", `{"working_dir":"/"}`), "id")
	created := make([]int64, 100)
	say(b, d, id, created...)
	for b.Loop() {
		request("GET", "/sessions/"+id, "")
	}
}
