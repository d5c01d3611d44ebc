package client

import (
	"net/url"
	"testing"
)

func TestOriginsNameNoSecret(t *testing.T) {
	for uri, want := range map[string]string{
		"HTTPS://me:s3cret@Example.COM:443/s3cret?k=s3cret#s3cret": "https://example.com",
		"http://example.com:80":   "http://example.com",
		"http://example.com:443/": "http://example.com:443",
		"http://[::1]:8080/a":     "http://[::1]:8080",
	} {
		if got := origin(parsed(t, uri)); got != want {
			t.Errorf("%s: %s, want %s", uri, got, want)
		}
	}
}

// TestOriginsAreCompared checks that an endpoint is on the server's origin, however that is written (decision X38).
func TestOriginsAreCompared(t *testing.T) {
	for _, tc := range []struct {
		one, other string
		same       bool
	}{
		{"http://Example.com/sse", "HTTP://example.COM:80/messages", true},
		{"https://[::1]:443/sse", "https://[::1]/messages", true},
		{"http://example.com:443/", "https://example.com/", false},
		{"http://example.com/", "http://example.com.evil.test/", false},
		{"http://example.com:8080/", "http://example.com:80/", false},
	} {
		if got := origin(parsed(t, tc.one)) == origin(parsed(t, tc.other)); got != tc.same {
			t.Errorf("%s and %s: same origin %v", tc.one, tc.other, got)
		}
	}
}

func parsed(t *testing.T, uri string) *url.URL {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
