package osv_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/server/mcp/osv"
)

func TestPackagesOfCommands(t *testing.T) {
	for _, tc := range []struct{ command, want string }{
		{"npx a", "a@<any> (npm)"},
		{"/usr/bin/npx -y --p=q a b", "a@<any> (npm)"},
		{"npx a@1.0", "a@1.0 (npm)"},
		{"npx a@latest", "a@<any> (npm)"},
		{"npx a@", "a@<any> (npm)"},
		{"npx @s/a", "@s/a@<any> (npm)"},
		{"npx @s/a@b@2", "@s/a@b@2 (npm)"},
		{"uvx a[b]==1", "a[b]@1 (PyPI)"},
		{"uvx a@1", "a@1@<any> (PyPI)"},
		{"uvx a==latest", "a@latest (PyPI)"},
		{"npx -y", ""},
		{"npx", ""},
		{"uvx ==1", ""},
		{"node a", ""},
		{"NPX a", ""},
	} {
		words := strings.Fields(tc.command)
		got := ""
		if p, ok := osv.Of(words[0], words[1:]); ok {
			got = p.String()
		}
		if got != tc.want {
			t.Errorf("%s runs %q, want %q", tc.command, got, tc.want)
		}
	}
}

// pages is a database whose answers depend on their number.
type pages func(n int, body string) string

func (p pages) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	var n int
	_, _ = fmt.Sscanf(string(body[strings.LastIndexByte(string(body), ':')+1:]), `"%d"`, &n)
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(p(n, string(body)))), Request: r}, nil
}

func TestALookupIsBounded(t *testing.T) {
	asked := 0
	db := osv.New("http://osv.test/", pages(func(n int, _ string) string {
		asked++
		return fmt.Sprintf(`{"vulns":[{"id":"MAL-%d"}],"next_page_token":"%d"}`, n, n+1)
	}))
	got, err := db.Harm(t.Context(), osv.Package{Ecosystem: "npm", Name: "a"})
	if asked != 10 || !strings.HasPrefix(got, "MAL-0; MAL-1; ") || err != nil {
		t.Errorf("asked %d times, %s, %v", asked, got, err)
	}
	db = osv.New("http://osv.test/", pages(func(int, string) string {
		return `{"vulns":[{"id":"MAL-1","summary":"` + strings.Repeat("x", 4<<20) + `"}]}`
	}))
	if got, err := db.Harm(t.Context(), osv.Package{Ecosystem: "npm", Name: "a"}); got != "" || err == nil {
		t.Errorf("a page that is too large: %.100s, %v", got, err)
	}
}

func TestAnInvalidAddressIsReplacedByTheDefault(t *testing.T) {
	for address, want := range map[string]string{"": "api.osv.dev", "nonsense": "api.osv.dev", "ftp://x/": "api.osv.dev", "http://x/y": "x"} {
		got := ""
		_, _ = osv.New(address, host{&got}).Harm(t.Context(), osv.Package{Ecosystem: "npm", Name: "a"})
		if got != want {
			t.Errorf("%q: %s is asked, want %s", address, got, want)
		}
	}
}

type host struct{ asked *string }

func (h host) RoundTrip(r *http.Request) (*http.Response, error) {
	*h.asked = r.URL.Host
	return nil, io.EOF
}
