package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/syncbuffer"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// rulesFile writes the rules of a stub to a file.
func rulesFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rules.yaml")
	testfile.Write(t, file, text)
	return file
}

func TestAStubThatIsStartedByHandAnswersByItsRules(t *testing.T) {
	for _, tc := range []struct {
		kind, rules, request string
		want                 []string // the status and body for each request
	}{
		{"openai", "- {answer: {text: One, id: a}}\n- {when: {last: hi}, answer: {text: Two, id: b}, times: any}\n",
			`POST /v1/chat/completions {"model":"m","messages":[{"role":"user","content":"hi"}]}`, []string{"200 One", "200 Two", "200 Two"}},
		{"anthropic", "- {answer: {status: 429, error: Slow down}}\n", `POST /v1/messages {"messages":[]}`, []string{"429 Slow down", "501 no rule"}},
		{"http", "- {when: {http: GET /x}, answer: {body: \"for ${{ unique }}\"}}\n", "GET /x ", []string{"200 for u", "501 no rule"}},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			url := startStub(t, tc.kind, "--script", rulesFile(t, tc.rules))
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			parts := strings.SplitN(tc.request, " ", 3)
			for i, want := range tc.want {
				req, _ := http.NewRequestWithContext(t.Context(), parts[0], url+parts[1], strings.NewReader(parts[2]))
				resp, err := client.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				status, text, _ := strings.Cut(want, " ")
				if !strings.HasPrefix(resp.Status, status) || !strings.Contains(string(body), text) {
					t.Errorf("request %d: %s %s, want %s", i+1, resp.Status, body, want)
				}
			}
		})
	}
}

// startStub starts a stub until the end of the test, and returns its address.
func startStub(t *testing.T, args ...string) (url string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	said, stdout := io.Pipe()
	var stderr syncbuffer.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, append([]string{"stub"}, args...), &environment{stdout: stdout, stderr: &stderr})
		stdout.Close()
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != exitMatch || stderr.String() != "" {
			t.Errorf("code %d, stderr %q", code, stderr.String())
		}
	})
	line, _ := bufio.NewReader(said).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatalf("said %q; stderr: %s", line, stderr.String())
	}
	return url
}

// TestABrowserIsSentBackToTheClient plays the client of an authorization server, whose user is a stub of a browser.
func TestABrowserIsSentBackToTheClient(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"by itself": {nil, "state=s&kept=1"},
		"by a rule": {[]string{"--script", rulesFile(t, "- {when: {http: GET /authorize}, answer: {callback: {error: access_denied, state: null}}}\n")}, "error=access_denied&kept=1"},
	} {
		t.Run(name, func(t *testing.T) {
			arrived := make(chan url.Values, 1)
			client := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { arrived <- r.URL.Query() }))
			defer client.Close()
			server := startStub(t, append([]string{"oauth"}, tc.args...)...)
			page := server + "/authorize?" + url.Values{
				"response_type": {"code"}, "client_id": {"c"}, "state": {"s"}, "code_challenge": {"x"}, "code_challenge_method": {"S256"},
				"redirect_uri": {client.URL + "/done?kept=1"},
			}.Encode()
			if o := lockstep(t, "stub", "browser", page); o != (outcome{code: exitMatch}) {
				t.Fatalf("the browser: %v", o)
			}
			got := <-arrived
			got.Del("code")
			if want, _ := url.ParseQuery(tc.want); !cmp.Equal(want, got) {
				t.Errorf("the client gets %v, want %v", got, want)
			}
		})
	}
	if o := lockstep(t, "stub", "browser", "http://127.0.0.1:1/"); o.code == exitMatch || !strings.Contains(o.stderr, "open the page: ") {
		t.Errorf("without a server: %v", o)
	}
}

func TestMistakesInTheRulesOfAStubAreReported(t *testing.T) {
	for _, tc := range []struct{ kind, rules, want string }{
		{"openai", "- {answr: {text: One}}\n", `:1:4: unknown key "answr"`},
		{"openai", "answer: {text: One}\n", ":1:1: "},
		{"openai", "- {answer: {text: \"${{ session }}\"}}\n", ":1:19: "},
		{"openai", "- {name: a, answer: {text: x}}\n- {name: a, answer: {text: y}}\n", `:2:10: the name "a" is already used`},
		{"http", "- {when: {last: x}, answer: {text: y}}\n", `:1:3: rule 1 of the stub "http" (kind http) matches a conversation, which this kind does not have`},
		{"http", "- {answer: {callback: {}}}\n", `:1:3: rule 1 of the stub "http" (kind http) redirects to a client, which this kind does not do`},
		{"oauth", "- {answer: {callback: {}, body: x}}\n", ":1:"},
		{"openai", "- {answer: [\n", ":"},
	} {
		file := rulesFile(t, tc.rules)
		o := lockstep(t, "stub", tc.kind, "--script", file)
		if o.code != exitUsage || o.stdout != "" || !strings.HasPrefix(o.stderr, file+tc.want) {
			t.Errorf("%q: %s", tc.rules, cmp.Diff(outcome{exitUsage, "", file + tc.want}, o, cmp.AllowUnexported(outcome{})))
		}
	}
}
