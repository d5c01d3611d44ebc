package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// The test binary is also the driver.
func TestMain(m *testing.M) {
	if os.Getenv("DRIVER") != "" {
		main()
		return
	}
	os.Exit(leak.RunPrograms(m))
}

func TestDriverDoesWhatTheScenarioSays(t *testing.T) {
	calls, results, streams := make(chan string), make(chan string, 1), make(chan string, 1)
	status := make(chan int, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.Method + " " + r.URL.Path {
		case "GET /client-tools/pending/c1":
			streams <- "opened"
			for {
				select {
				case call := <-calls:
					fmt.Fprintf(w, "event: tool-request\ndata: %s\n\n", call)
					_ = http.NewResponseController(w).Flush()
				case <-r.Context().Done():
					streams <- "closed"
					return
				}
			}
		case "POST /client-tools/result", "POST /client-tools/progress":
			results <- string(body)
			fmt.Fprint(w, `{"success":true}`)
		case "POST /client-tools/call":
			results <- string(body)
			fmt.Fprint(w, `{"status":"success","content":[{"type":"text","text":"<a>"}]}`)
		default:
			select {
			case s := <-status:
				w.WriteHeader(s)
			default:
			}
			fmt.Fprint(w, `{}`)
		}
	}))
	defer server.Close()
	driver := exec.CommandContext(t.Context(), testfile.Program(t))
	driver.Env = append(os.Environ(), "DRIVER=1")
	in, err := driver.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := driver.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := driver.Start(); err != nil {
		t.Fatal(err)
	}
	outcomes, id := json.NewDecoder(out), 0
	do := func(action, with, want string) {
		t.Helper()
		id++
		fmt.Fprintf(in, `{"id":%d,"do":%q,"with":%s}`+"\n", id, action, with)
		var got json.RawMessage
		if err := outcomes.Decode(&got); err != nil {
			t.Fatal(err)
		}
		var gotValue, wantValue any
		if err := json.Unmarshal([]byte(strings.Replace(want, "{", fmt.Sprintf(`{"id":%d,`, id), 1)), &wantValue); err != nil {
			t.Fatal(err)
		}
		_ = json.Unmarshal(got, &gotValue) // it was decoded
		if diff := cmp.Diff(wantValue, gotValue); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", action, with, diff)
		}
	}
	const ok = `{"ok":{}}`
	do("new", `{"url":"`+server.URL+`","clientID":"c1","transport":"sse","timeout":50}`, ok)
	for tool, handler := range map[string]string{
		"full": `{"title":"t","output":"o","metadata":{"a":1},"attachments":[{"mime":"m","url":"u"}]}`, "failing": `{"error":""}`,
		"wait": `{"wait":true}`, "echo": `{"echo":true}`, "progress": `{"progress":[1,2.5]}`, "call": `{"call":{"tool":"s","input":{"x":1}}}`,
	} {
		do("register", `{"id":"`+tool+`","description":"d","parameters":{},"handler":`+handler+`}`, ok)
	}
	do("connect", `{}`, ok)
	if got := <-streams; got != "opened" {
		t.Error(got)
	}
	for tool, want := range map[string][]string{
		"full":     {`{"requestID":"r","result":{"status":"success","title":"t","output":"o","metadata":{"a":1},"attachments":[{"mime":"m","url":"u"}]}}`},
		"failing":  {`{"requestID":"r","result":{"status":"error","error":""}}`},
		"wait":     {`{"requestID":"r","result":{"status":"error","error":"aborted"}}`},
		"echo":     {`{"requestID":"r","result":{"status":"success","title":"echo","output":"{\"b\":[1,2]}"}}`},
		"progress": {`{"requestID":"r","progress":1}`, `{"requestID":"r","progress":2.5}`, `{"requestID":"r","result":{"status":"success","title":"done","output":""}}`},
		"call":     {`{"requestID":"r","tool":"s","input":{"x":1}}`, `{"requestID":"r","result":{"status":"success","title":"call","output":"[{\"type\":\"text\",\"text\":\"<a>\"}]"}}`},
	} {
		calls <- `{"requestID":"r","tool":"client_c1_` + tool + `","input":{"b":[1,2]}}`
		for _, w := range want {
			if got := <-results; got != w {
				t.Errorf("%s: %s, want %s", tool, got, w)
			}
		}
	}
	calls <- `{}`
	calls <- `{"requestID":"r","tool":"client_c1_failing"}` // after it, the error is recorded
	<-results
	status <- 400
	do("unregister", `{"id":"full"}`, `{"error":"400: Bad Request"}`)
	do("disconnect", `{}`, ok)
	if got := <-streams; got != "closed" {
		t.Error(got)
	}
	do("seen", `{}`, `{"ok":{"errors":["Invalid tool request"],"reconnects":[]}}`)
	do("other", `{}`, `{"error":"there is no action \"other\""}`)
	in.Close()
	if err := driver.Wait(); err != nil {
		t.Error(err)
	}
}
