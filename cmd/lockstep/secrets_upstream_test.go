//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// relay returns a server that sends its secrets to its upstream: once as the scenario expects, and once to a path
// that no rule answers.
func relay(t *testing.T, greeting string) string {
	t.Helper()
	transport := &http.Transport{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for _, who := range []string{r.URL.Query().Get("who"), "nobody"} {
			if r.URL.Path == "/health" {
				break
			}
			body := fmt.Sprintf(`{"apiKey": %q, "greeting": "%s %s", "basic": %q}`, canaries["key"], greeting, canaries["key"], base64.StdEncoding.EncodeToString([]byte(canaries["env"])))
			up, err := http.NewRequestWithContext(r.Context(), http.MethodPost, r.URL.Query().Get("upstream")+"/"+who+"?key="+url.QueryEscape(canaries["env"]), bytes.NewReader([]byte(body)))
			if err != nil {
				t.Error(err)
				return
			}
			up.Header = http.Header{
				"Content-Type": {"application/json"}, "Authorization": {"Bearer " + canaries["env"]}, "X-Own": {canaries["own"] + greeting},
				"Cookie": {"sid=" + canaries["cookie"]},
			}
			resp, err := transport.RoundTrip(up)
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
		}
		fmt.Fprint(w, `{}`)
	}))
	t.Cleanup(func() {
		s.Close()
		transport.CloseIdleConnections()
	})
	return s.URL
}

// TestSecretsOfUpstreamsAreInNoOutput checks that secrets are masked in the requests that a target sends to an
// upstream: in the URL, the header fields and the body, also of unexpected requests.
func TestSecretsOfUpstreamsAreInNoOutput(t *testing.T) {
	t.Setenv("CANARY", canaries["env"])
	target := func(name, greeting string) string {
		return fmt.Sprintf("  %s: {url: %q, ready: {get: /health}}\n", name, relay(t, greeting))
	}
	p := newVault(t, target("right", "hello")+target("wrong", "hallo"))
	p.write(t, "openapi.yaml", strings.Replace(vault, "schema: {type: string}}]", "schema: {type: string}}, {name: who, in: query, schema: {type: string}}, {name: upstream, in: query, schema: {type: string}}]", 1))
	config := strings.Replace(p.read("lockstep.yaml"), "compare: {headers: [Set-Cookie, X-Own]}", "stubs: {up: {kind: http}}\ncompare: {stubs: {up: {headers: [X-Own, Authorization]}}}", 1)
	p.write(t, "lockstep.yaml", config)
	p.write(t, "scenarios/login.yaml", "scenario: login\nwhy: The upstream is told\nsource: the guide\nstubs: {up: [{name: told, answer: {json: {ok: true}}}]}\n"+
		"steps:\n  - {http: GET /login, query: {who: \"${{ unique }}\", upstream: \"${{ stub.up }}\"}}\n")
	outcomes := append(p.differsInFormats(t, "--verbose"), p.do(t, "judge", "--verbose"))
	leaks(t, p, outcomes...)
	report := p.read("reports/report.json")
	for _, told := range []string{"hello", "hallo", "upstream-unexpected", `"upstream": "up"`, "request header X-Own", "request body /greeting"} {
		if !strings.Contains(report, told) {
			t.Errorf("the report does not tell of %s:\n%s", told, report)
		}
	}
}
