package access_test

import (
	"net/http/httptest"
	"testing"

	"github.com/lockstep-dev/lockstep/server/httpapi/access"
)

// judge returns the message of the refusal, or "".
func judge(t *testing.T, rules access.Rules, host string, origins ...string) string {
	t.Helper()
	r := httptest.NewRequest("GET", "/", nil)
	r.Host = host
	r.Header["Origin"] = origins
	refused := rules.Check(r)
	if refused == nil {
		return ""
	}
	w := httptest.NewRecorder()
	if err := refused.Write(w); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Origin", "Host"} {
		if w.Code == 403 && w.Body.String() == `{"error":{"code":"PERMISSION_DENIED","message":"`+name+` not allowed"}}` {
			return name
		}
	}
	t.Fatalf("refused with %d %s", w.Code, w.Body)
	return ""
}

func TestOrigins(t *testing.T) {
	listed := access.Rules{Origins: []string{"https://app.example", "chrome-extension://abc"}}
	for origin, allowed := range map[string]bool{
		"http://localhost": true, "https://localhost:1": true, "http://127.0.0.1:65535": true, "http://127.200.3.4": true, "https://[::1]:8080": true,
		"https://app.example": true, "chrome-extension://abc": true,
		"null": false, "": false, "localhost": false, "http://": false, "http://localhost:": false, "http://localhost:0": false, "http://localhost:080": false,
		"http://localhost:65536": false, "http://localhost/": false, "http://LOCALHOST": false, "HTTP://localhost": false, "ftp://localhost": false,
		"http://localhost.": false, "http://x.localhost": false, "http://localhost.evil": false, "http://127.0.0.1.evil": false, "http://127.1": false,
		"http://128.0.0.1": false, "http://0.0.0.0": false, "http://[::2]": false, "http://[::1": false, "http://[::ffff:127.0.0.1]": false, "http://user@localhost": false,
		"https://app.example:443": false, "http://app.example": false, "https://APP.example": false, "https://app.example.": false,
	} {
		if got := judge(t, listed, "localhost", origin); (got == "") != allowed {
			t.Errorf("origin %q: refused %q, want allowed %t", origin, got, allowed)
		}
	}
	if got := judge(t, listed, "localhost", "http://localhost", "http://localhost"); got != "Origin" {
		t.Errorf("two origins: refused %q", got)
	}
	if got := judge(t, listed, "evil", "http://evil"); got != "Origin" {
		t.Errorf("a wrong origin and a wrong host: refused %q, want the origin first", got)
	}
	if got := judge(t, access.Rules{Origins: []string{"https://x", "*"}}, "evil", "null", "http://evil"); got != "" {
		t.Errorf("with *: refused %q", got)
	}
}

// TestPagesWithoutAnOrigin shows that browsers may not ask for a page of another site without CORS (decision S88).
func TestPagesWithoutAnOrigin(t *testing.T) {
	for _, tc := range []struct {
		sites   []string
		origins []string
		allowed bool
	}{
		{nil, nil, true},
		{[]string{"same-origin"}, nil, true},
		{[]string{"none"}, nil, true},
		{[]string{"none", "same-origin"}, nil, true},
		{[]string{"cross-site"}, nil, false},
		{[]string{"same-site"}, nil, false},
		{[]string{"None"}, nil, false},
		{[]string{""}, nil, false},
		{[]string{"same-origin", "cross-site"}, nil, false},
		{[]string{"cross-site"}, []string{"http://localhost"}, true},
		{[]string{"none"}, []string{"http://evil"}, false},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host, r.Header["Sec-Fetch-Site"], r.Header["Origin"] = "localhost", tc.sites, tc.origins
		if got := (access.Rules{}).Check(r) == nil; got != tc.allowed {
			t.Errorf("site %q, origin %q: allowed %t, want %t", tc.sites, tc.origins, got, tc.allowed)
		}
		if (access.Rules{Origins: []string{access.Any}}).Check(r) != nil {
			t.Errorf("site %q, origin %q: refused with *", tc.sites, tc.origins)
		}
	}
}

func TestHosts(t *testing.T) {
	named := access.Rules{HostName: "Box.lan"}
	for host, allowed := range map[string]bool{
		"localhost": true, "LocalHost:3000": true, "localhost.": true, "a.b.localhost:1": true, "127.0.0.1:80": true, "10.1.2.3": true, "[::1]": true, "[fe80::1]:80": true,
		"box.LAN": true, "box.lan.:80": true,
		"": false, "evil": false, "evil.example:3000": false, "localhost.evil": false, "notlocalhost": false, "box.lan.evil": false, "127.1": false, "[::1": false, "[x]": false,
		"::1": false, "127.0.0.1.evil": false, ".": false,
	} {
		if got := judge(t, named, host); (got == "") != allowed {
			t.Errorf("host %q: refused %q, want allowed %t", host, got, allowed)
		}
	}
}

func TestConfiguredNames(t *testing.T) {
	for text, valid := range map[string]bool{
		"https://app.example": true, "http://app.example:8080": true, "http://10.0.0.1": true, "https://[2001:db8::1]:8443": true, "chrome-extension://abcdef": true, "http://xn--bcher-kva.example": true,
		"": false, "null": false, "app.example": false, "https://": false, "https://app.example/": false, "https://app.example:443": false, "http://app.example:80": false,
		"http://a:0": false, "http://a:": false, "http://A": false, "HTTP://a": false, "http://a b": false, "http://bücher.example": false, "http://u@a": false, "http://[::01]": false, "http://*.example": false,
	} {
		if got := access.IsOrigin(text); got != valid {
			t.Errorf("IsOrigin(%q) = %t", text, got)
		}
	}
	for text, valid := range map[string]bool{"box": true, "Box.lan.": true, "": false, "a:1": false, "a b": false, ".a": false, "a..b": false, "*": false} {
		if got := access.IsHostName(text); got != valid {
			t.Errorf("IsHostName(%q) = %t", text, got)
		}
	}
}
