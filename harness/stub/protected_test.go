package stub_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/stub"
)

func TestAnAuthorizationServerProtectsAnMCPServer(t *testing.T) {
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`
	const token, session = "Bearer lockstep-access-2", "lockstep-session"
	for name, tc := range map[string]struct {
		method, token, session, body string
		want                         string
	}{
		"without a token": {"POST", "", "", initialize, `401 Bearer resource_metadata="URL/.well-known/oauth-protected-resource/a/mcp"`},
		"another token":   {"POST", "Bearer lockstep-refresh-1", "", initialize, `401 Bearer resource_metadata="URL/.well-known/oauth-protected-resource/a/mcp"`},
		"a token of none": {"GET", "Bearer lockstep-access-0", session, "", `401 Bearer resource_metadata="URL/.well-known/oauth-protected-resource/a/mcp"`},
		"a first message": {"POST", token, "", initialize, `200 lockstep-session {"id":1,"jsonrpc":"2.0","result":{"capabilities":{"tools":{}},"protocolVersion":"2025-06-18","serverInfo":{"name":"lockstep","version":"1"}}}`},
		"a notification":  {"POST", token, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "202"},
		"an answer":       {"POST", token, session, `{"jsonrpc":"2.0","id":1,"result":{}}`, "202"},
		"a ping":          {"POST", token, session, `{"jsonrpc":"2.0","id":"a","method":"ping"}`, `200 {"id":"a","jsonrpc":"2.0","result":{}}`},
		"another session": {"POST", token, "x", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "404"},
		"no session":      {"DELETE", token, "", "", "404"},
		"a call":          {"POST", token, session, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"a":1.0}}}`, `200 {"id":2,"jsonrpc":"2.0","result":{"content":[{"text":"{\"a\":1.0}","type":"text"}]}}`},
		"without input":   {"POST", token, session, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}`, `200 {"id":2,"jsonrpc":"2.0","result":{"content":[{"text":"{}","type":"text"}]}}`},
		"the list":        {"POST", token, session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `200 {"id":2,"jsonrpc":"2.0","result":{"tools":[{"description":"Returns its arguments, as the text that came","inputSchema":{"type":"object"},"name":"echo"}]}}`},
		"another method":  {"POST", token, session, `{"jsonrpc":"2.0","id":2,"method":"prompts/list"}`, `200 {"error":{"code":-32601,"message":"it has no prompts/list"},"id":2,"jsonrpc":"2.0"}`},
		"no message":      {"POST", token, session, `{`, `400 {"error":{"code":-32700,"message":"unexpected end of JSON input"},"id":null,"jsonrpc":"2.0"}`},
		"a stream":        {"GET", token, session, "", "405"},
		"the end":         {"DELETE", token, session, "", "200"},
	} {
		t.Run(name, func(t *testing.T) {
			stage(t, stub.OAuth, stub.Options{}, func(t *testing.T, s *stub.Server, c *http.Client) {
				req, _ := http.NewRequestWithContext(t.Context(), tc.method, authorizationServer+"/a/mcp", strings.NewReader(tc.body))
				for name, value := range map[string]string{"Authorization": tc.token, "Mcp-Session-Id": tc.session} {
					if value != "" {
						req.Header.Set(name, value)
					}
				}
				resp, err := c.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				body, _ := io.ReadAll(resp.Body)
				why := strings.ReplaceAll(resp.Header.Get("WWW-Authenticate"), s.URL(), "URL")
				got := strings.Join(strings.Fields(resp.Status[:3]+" "+why+" "+resp.Header.Get("Mcp-Session-Id")+" "+string(body)), " ")
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}
