//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestOnlyStandardErrorHasThePage checks decision X53: the page of a sign-in that no browser opens is printed once, as a line
// of its own, and is in no file.
func TestOnlyStandardErrorHasThePage(t *testing.T) {
	for _, browser := range []string{"none", "/nowhere/at/all", "false"} {
		t.Run(browser, func(t *testing.T) {
			host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					fmt.Fprintf(w, `{"authorization_endpoint":"http://%s/authorize","token_endpoint":"http://%s/token"}`, r.Host, r.Host)
					return
				}
				w.Header().Set("WWW-Authenticate", "Bearer")
				w.WriteHeader(http.StatusUnauthorized)
			}))
			defer host.Close()
			home := t.TempDir()
			s, _ := startServer(t, home, host.URL, "GOOSE_OAUTH_BROWSER="+browser, "GOOSE_DISABLE_KEYRING=1", "PATH=/usr/bin:/bin")
			api := s.api()
			defer api.close()
			added := make(chan error, 1)
			go func() {
				_, err := api.do("POST", "/agent/add_extension", object{
					"session_id": "a", "config": object{"type": "streamable_http", "name": "Far", "description": nil, "uri": host.URL + "/mcp"},
				})
				added <- err
			}()
			page := ""
			eventually(t, "the page is printed", func() bool {
				for line := range strings.Lines(s.stderr.String()) {
					if strings.HasPrefix(line, host.URL+"/authorize?") && strings.HasSuffix(line, "\n") {
						page = strings.TrimSpace(line)
					}
				}
				return page != ""
			})
			opened, err := url.Parse(page)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := (&http.Client{Transport: api.transport}).Get(opened.Query().Get("redirect_uri") + "?error=access_denied")
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if err := <-added; err == nil || !strings.Contains(err.Error(), "500") {
				t.Errorf("the extension: %v, want 500", err)
			}
			s.kill()
			if n := strings.Count(s.stderr.String(), "code_challenge="); n != 1 {
				t.Errorf("the page is printed %d times:\n%s", n, s.stderr)
			}
			files := fmt.Sprint(contents(t, home))
			if strings.Contains(files, "code_challenge") || strings.Contains(files, opened.Query().Get("state")) || !strings.Contains(files, "the authorization server refused it") {
				t.Errorf("the files have the page, or not the reason:\n%s", files)
			}
		})
	}
}
