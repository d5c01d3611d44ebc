package extensions

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

func parsed(t *testing.T, uri string) *url.URL {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
