package signin

import (
	"strings"
	"testing"
)

// TestURLsAreCompared checks decision X38.
func TestURLsAreCompared(t *testing.T) {
	for _, tc := range []struct {
		one, other string
		same       bool
	}{
		{"http://Example.com", "HTTP://example.COM:80/", true},
		{"https://a/%7euser/b%2fc?q=%6a%c3", "https://a:443/~user/b%2Fc?q=j%C3", true},
		{"http://a/b/./c/../d", "http://a/b/d", true},
		{"http://a/b/..", "http://a/", true},
		{"http://a/../../b", "http://a/b", true},
		{"http://a/b#c", "http://me:pw@a/b", true},
		{"http://a/b/", "http://a/b", false},
		{"http://a//b", "http://a/b", false},
		{"http://a/B", "http://a/b", false},
		{"http://a/b?c", "http://a/b", false},
		{"http://a:443/", "https://a/", false},
		{"http://a/b%2Fc", "http://a/b/c", false},
		{"http://a/b?c=%2F", "http://a/b?c=/", false},
	} {
		if got := canonical(parsed(t, tc.one)) == canonical(parsed(t, tc.other)); got != tc.same {
			t.Errorf("%s and %s: same %v; %s, %s", tc.one, tc.other, got, canonical(parsed(t, tc.one)), canonical(parsed(t, tc.other)))
		}
	}
}

// TestUsableURLs checks decision X51.
func TestUsableURLs(t *testing.T) {
	for text, want := range map[string]string{
		"https://a/b?c": "http https", "http://a:8080": "http", "HTTPS://a": "http https", "https://[::1]/": "http https",
		"": "", "/a": "", "//a/b": "", "a": "", "https:a": "", "https:///a": "", "https://:1/": "", "ftp://a/": "", "javascript:alert(1)": "", "file:///etc/passwd": "",
		"https://me@a/": "", "https://a/#": "", "https://a/#b": "", "https://a/b c": "", "https://a/\u0085": "", "https://a/\n": "", "https://a:x/": "",
	} {
		var got []string
		for _, scheme := range []string{"http", "https"} {
			if _, ok := usable(text, parsed(t, scheme+"://x/")); ok {
				got = append(got, scheme)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q is usable for %q, want %q", text, got, want)
		}
	}
}

func TestForms(t *testing.T) {
	for uri, want := range map[string]string{
		"http://a": "http://a/.well-known/d", "http://a//?q": "http://a/.well-known/d",
		"https://me@a:1//b%2fc/d/?q#f": "https://a:1/.well-known/d/b%2fc/d https://a:1/b%2fc/d/.well-known/d https://a:1/.well-known/d",
	} {
		if got := strings.Join(forms(parsed(t, uri), "d"), " "); got != want {
			t.Errorf("%s: %s, want %s", uri, got, want)
		}
	}
	if got := form(map[string]string{"b": "x y*~é", "a": "-._&="}); got != "a=-._%26%3D&b=x+y*%7E%C3%A9" {
		t.Error(got)
	}
	for address, want := range map[string]string{"https://a": "https://a?x=1", "https://a/?": "https://a/?x=1", "https://a/?b=%20": "https://a/?b=%20&x=1"} {
		if got := withQuery(address, "x=1"); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestParametersOfACallback(t *testing.T) {
	for query, want := range map[string]string{
		"code=a&code=b": "a", "x=1&co%64e=a+b%2B": "a b+", "code": "", "code=&code=b": "", "code=%zz": "%zz", "": "", "code=a;b": "a;b", "Code=a": "", "%zz=1&code=a": "a",
	} {
		if got := parameter(query, "code"); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}
