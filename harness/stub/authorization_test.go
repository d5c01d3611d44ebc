package stub_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/stub"
)

const (
	authorizationServer = "http://memory"
	verifier            = "a-verifier-of-the-client-with-43-characters"
	redirect            = "http://localhost:1234/done?kept=1"
)

// authorize returns the query of a request for a code. changes replace parameters; an empty one is left out.
func authorize(changes map[string]string) string {
	proof := sha256.Sum256([]byte(verifier))
	q := url.Values{
		"response_type": {"code"}, "client_id": {stub.ClientID}, "state": {"s 1"}, "redirect_uri": {redirect},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(proof[:])}, "code_challenge_method": {"S256"},
	}
	for name, value := range changes {
		if q.Set(name, value); value == "" {
			q.Del(name)
		}
	}
	return authorizationServer + "/authorize?" + q.Encode()
}

// visit opens a page, and returns where it redirects to, or the body.
func visit(t *testing.T, c *http.Client, page string) (*url.URL, string) {
	t.Helper()
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := c.Get(page)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	to, err := resp.Location()
	if (resp.StatusCode == http.StatusFound) != (err == nil) {
		t.Fatalf("status %d, %v", resp.StatusCode, err)
	}
	return to, string(text)
}

// asked sends a form, and returns the status and the members of the answer that matter.
func asked(t *testing.T, c *http.Client, form url.Values, user string) string {
	t.Helper()
	req, _ := http.NewRequestWithContext(t.Context(), "POST", authorizationServer+"/token", strings.NewReader(form.Encode()))
	if user != "" {
		req.SetBasicAuth(user, "secret")
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
		Error   string `json:"error"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(resp.Status[:3]+" "+answer.Access+" "+answer.Refresh+" "+answer.Error), " ")
}

func TestAnAuthorizationServerIssuesTokens(t *testing.T) {
	stage(t, stub.OAuth, stub.Options{}, func(t *testing.T, _ *stub.Server, c *http.Client) {
		to, _ := visit(t, c, authorize(nil))
		if q := to.Query(); to.Host != "localhost:1234" || q.Get("state") != "s 1" || q.Get("kept") != "1" {
			t.Fatalf("redirects to %s", to)
		}
		form := func(changes ...string) url.Values {
			f := url.Values{
				"grant_type": {"authorization_code"}, "code": {to.Query().Get("code")}, "code_verifier": {verifier},
				"redirect_uri": {redirect}, "client_id": {stub.ClientID},
			}
			for i := 0; i < len(changes); i += 2 {
				f.Set(changes[i], changes[i+1])
			}
			return f
		}
		for name, tc := range map[string]struct {
			form url.Values
			user string
			want string
		}{
			"a code":                   {form(), "", "200 lockstep-access-1 lockstep-refresh-1"},
			"a client with a secret":   {form("client_id", ""), stub.ClientID, "200 lockstep-access-1 lockstep-refresh-1"},
			"another verifier":         {form("code_verifier", verifier+"x"), "", "400 invalid_grant"},
			"another client":           {form("client_id", "x"), "", "400 invalid_grant"},
			"another redirection":      {form("redirect_uri", "http://localhost:1/"), "", "400 invalid_grant"},
			"another code":             {form("code", "x"), "", "400 invalid_grant"},
			"a refresh":                {url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"lockstep-refresh-1"}}, "", "200 lockstep-access-2 lockstep-refresh-2"},
			"a refresh of nothing":     {url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"lockstep-refresh-0"}}, "", "400 invalid_grant"},
			"a refresh with an access": {url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"lockstep-access-1"}}, "", "400 invalid_grant"},
			"another grant":            {url.Values{"grant_type": {"password"}}, "", "400 unsupported_grant_type"},
		} {
			if got := asked(t, c, tc.form, tc.user); got != tc.want {
				t.Errorf("%s: %s, want %s", name, got, tc.want)
			}
		}
	})
}

func TestAnAuthorizationServerRefusesBrokenRequests(t *testing.T) {
	stage(t, stub.OAuth, stub.Options{}, func(t *testing.T, _ *stub.Server, c *http.Client) {
		for name, want := range map[string]string{
			"response_type": "unsupported_response_type", "client_id": "invalid_request",
			"code_challenge": "invalid_request", "code_challenge_method": "invalid_request",
		} {
			to, _ := visit(t, c, authorize(map[string]string{name: ""}))
			if q := to.Query(); q.Get("error") != want || q.Get("state") != "s 1" || q.Has("code") {
				t.Errorf("without %s: redirects to %s", name, to)
			}
		}
		for _, to := range []string{"", "/done", "javascript:alert(1)"} {
			if to, text := visit(t, c, authorize(map[string]string{"redirect_uri": to})); to != nil || !strings.Contains(text, "redirect_uri is not an absolute URL") {
				t.Errorf("redirects to %v, says %s", to, text)
			}
		}
		for body, want := range map[string]string{
			`{"redirect_uris":["` + redirect + `"],"client_name":"x"}`: `{"client_id":"lockstep-client","client_name":"x","redirect_uris":["` + redirect + `"]}`,
			`[]`:                      `{"error":"invalid_client_metadata","error_description":"the body is not a JSON object"}`,
			`{"redirect_uris":[1]}`:   `{"error":"invalid_redirect_uri","error_description":"not an absolute URL"}`,
			`{"redirect_uris":"x"}`:   `{"error":"invalid_redirect_uri","error_description":"redirect_uris is missing"}`,
			`{"redirect_uris":["/"]}`: `{"error":"invalid_redirect_uri","error_description":"not an absolute URL"}`,
		} {
			status, got, err := ask(t, c, authorizationServer+"/register", body)
			if err != nil || got != want || (status == 201) != strings.HasPrefix(want, `{"client_id"`) {
				t.Errorf("register %s: %d %s %v", body, status, got, err)
			}
		}
	})
}

func TestAnAuthorizationServerDescribesItself(t *testing.T) {
	stage(t, stub.OAuth, stub.Options{}, func(t *testing.T, s *stub.Server, c *http.Client) {
		for page, want := range map[string]string{
			"/.well-known/oauth-authorization-server":     "issuer",
			"/.well-known/oauth-authorization-server/mcp": "issuer",
			"/mcp/.well-known/oauth-authorization-server": "issuer",
			"/.well-known/oauth-protected-resource/mcp":   "resource",
		} {
			_, text := visit(t, c, authorizationServer+page)
			var document map[string]any
			if err := json.Unmarshal([]byte(text), &document); err != nil || document[want] != s.URL() {
				t.Errorf("%s: %s", page, text)
			}
		}
		if status, text, _ := ask(t, c, authorizationServer+"/elsewhere", ""); status != 501 || !strings.Contains(text, `"error":"server_error"`) {
			t.Errorf("elsewhere: %d %s", status, text)
		}
	})
}

func TestACallbackHasOtherParameters(t *testing.T) {
	for name, tc := range map[string]struct {
		callback stub.Callback
		want     url.Values
	}{
		"of an error":  {stub.Callback{"error": text("access_denied")}, url.Values{"state": {"s 1"}, "kept": {"1"}, "error": {"access_denied"}}},
		"that are new": {stub.Callback{"state": text("other"), "code": text("c")}, url.Values{"state": {"other"}, "kept": {"1"}, "code": {"c"}}},
		"left out":     {stub.Callback{"state": nil, "code": nil}, url.Values{"kept": {"1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			stage(t, stub.OAuth, stub.Options{}, func(t *testing.T, s *stub.Server, c *http.Client) {
				defer s.Attach(&play{answer: &stub.Answer{Callback: &tc.callback, After: time.Second}}, "", true, time.Now())()
				to, _ := visit(t, c, authorize(nil))
				if diff := cmp.Diff(tc.want, to.Query()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}
