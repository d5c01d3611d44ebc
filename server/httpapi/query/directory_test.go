package query_test

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/httpapi/query"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

// directory returns the directory that a handler sees, or the answer if the handler does not run.
func directory(t *testing.T, raw string, headers ...string) string {
	t.Helper()
	e := echo.New()
	var seen string
	e.GET("/", func(c echo.Context) error {
		if got := c.QueryParams()["directory"]; len(got) != 1 || len(c.QueryParams()) != 1 {
			t.Errorf("%s: the handler sees the query %v, want one directory and nothing else", raw, c.QueryParams())
		} else {
			seen = got[0]
		}
		if got := c.Request().Header.Values("X-Opencode-Directory"); len(got) != 0 {
			t.Errorf("%s: the handler sees the header %q", raw, got)
		}
		return nil
	}, query.Directory("/default", query.RefuseSeveral))
	r := httptest.NewRequest("GET", "/", nil)
	r.URL.RawQuery = raw
	for _, value := range headers {
		r.Header.Add("x-opencode-directory", value)
	}
	rec := httptest.NewRecorder()
	e.ServeHTTP(rec, r)
	if rec.Code != 200 {
		return rec.Result().Status[:4] + rec.Body.String()
	}
	return seen
}

func TestTheDirectoryOfARequest(t *testing.T) {
	for _, tc := range []struct {
		query   string
		headers []string
		want    string
	}{
		{"", nil, "/default"},
		{"directory=/a", nil, "/a"},
		{"x=1&directory=/a&y", []string{"/h"}, "/a"},
		{"", []string{"/h"}, "/h"},
		{"directory=", nil, "/default"},
		{"directory", []string{"/h"}, "/h"},
		{"directory=", []string{""}, "/default"},
		{"", []string{"/a", "/b"}, "/a, /b"},
		{"", []string{"/b", ""}, "/b, "},
		{"", []string{"/\xed\xa0\x80ż\xff\xe2\x82"}, "/\ufffd\ufffd\ufffdż\ufffd\ufffd"}, // decision S24
		{"directory=/a/../b//c/", nil, "/a/../b//c/"},
		{"Directory=/a", nil, "/default"},
		{"%64irectory=%2Fa+b%2Bc", nil, "/a b+c"},
		{"directory=%C3%BC%ZZ%FF;x=%", nil, "ü%ZZ%FF;x=%"},
		{"directory=%2541", nil, "%41"},
		{"directory=a=b", nil, "a=b"},
	} {
		if got := directory(t, tc.query, tc.headers...); got != tc.want {
			t.Errorf("query %q, headers %q: %q, want %q", tc.query, tc.headers, got, tc.want)
		}
	}
}

func TestSeveralDirectoriesAreRejected(t *testing.T) {
	for query, given := range map[string]string{
		"directory=/a&directory=/b":                `"/a","/b"`,
		"directory=&x=1&directory":                 `"",""`,
		"directory=/a&%64irectory=/%22&directory=": `"/a","/\"",""`,
	} {
		want := `400 {"data":{"directory":[` + given + `]},"error":[{"expected":"string","code":"invalid_type",` +
			`"path":["directory"],"message":"Invalid input: expected string, received array"}],"success":false}`
		if got := directory(t, query, "/h"); got != want {
			t.Errorf("query %q:\n got %s\nwant %s", query, got, want)
		}
	}
	if got := directory(t, "directory=/a"+strings.Repeat("&directories=/b", 2)); got != "/a" {
		t.Errorf("other parameters: %q", got)
	}
}
