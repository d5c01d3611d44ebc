package urlpath_test

import (
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/httpapi/urlpath"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

func TestUnescapeDecodesOnceAndKeepsWhatIsInvalid(t *testing.T) {
	for in, want := range map[string]string{
		"":                "",
		"plain":           "plain",
		"a+b":             "a+b",
		"a%2Fb":           "a/b",
		"%c5%bc%C5%BC":    "żż",
		"ż%20ü":           "ż ü",
		"%41":             "A",
		"%2541":           "%41",
		"%25":             "%",
		"%25ZZ":           "%ZZ",
		"%ZZ":             "%ZZ",
		"%":               "%",
		"%4":              "%4",
		"%%41":            "%A",
		"%FF":             "%FF",
		"a%2Fb%FF":        "a/b%FF",
		"%2F%ff":          "/%ff",
		"%ff%2F":          "%ff/",
		"%C3":             "%C3",
		"%C3%28":          "%C3(",
		"%C3%BC":          "ü",
		"%C3ü":            "%C3ü",
		"%F0%9F%98%80":    "😀",
		"%F0%9F%98":       "%F0%9F%98",
		"%F0%9F%98%41":    "%F0%9F%98A",
		"%ED%A0%80":       "%ED%A0%80", // a surrogate is not UTF-8
		"%C0%AF":          "%C0%AF",    // nor is an overlong slash
		"%00%0A":          "\x00\n",
		"%EF%BB%BFx":      "\uFEFFx",
		"\xff":            "\uFFFD",
		"\xe2\x82%41\xff": "\uFFFDA\uFFFD",
		"%E2%82%AC%E2%8":  "€%E2%8",
	} {
		if got := urlpath.Unescape(in); got != want {
			t.Errorf("Unescape(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	for target, want := range map[string]struct {
		path  urlpath.Path
		query string
	}{
		"/":                                 {urlpath.Path{""}, ""},
		"/a/b?x=/../&y":                     {urlpath.Path{"a", "b"}, "x=/../&y"},
		"/a/b/":                             {urlpath.Path{"a", "b", ""}, ""},
		"/a//b":                             {urlpath.Path{"a", "", "b"}, ""},
		"//a":                               {urlpath.Path{"", "a"}, ""},
		"/a%2Fb/c":                          {urlpath.Path{"a/b", "c"}, ""},
		`/a\b`:                              {urlpath.Path{"a", "b"}, ""},
		`\a`:                                {urlpath.Path{"a"}, ""},
		"/a%5Cb":                            {urlpath.Path{`a\b`}, ""},
		"/a/./b":                            {urlpath.Path{"a", "b"}, ""},
		"/a/../b":                           {urlpath.Path{"b"}, ""},
		"/../../b":                          {urlpath.Path{"b"}, ""},
		"/a/.":                              {urlpath.Path{"a", ""}, ""},
		"/a/b/..":                           {urlpath.Path{"a", ""}, ""},
		"/a/b/%2e%2E":                       {urlpath.Path{"a", ""}, ""},
		"/a/b/.%2E/c":                       {urlpath.Path{"a", "c"}, ""},
		"/a/%2E/c":                          {urlpath.Path{"a", "c"}, ""},
		`/a/b\..\c`:                         {urlpath.Path{"a", "c"}, ""},
		"/..":                               {urlpath.Path{""}, ""},
		"/a/...":                            {urlpath.Path{"a", "..."}, ""},
		"/a/%252E":                          {urlpath.Path{"a", "%2E"}, ""},
		"/a/..b":                            {urlpath.Path{"a", "..b"}, ""},
		"/a/%2E%2":                          {urlpath.Path{"a", ".%2"}, ""},
		"http://host:1/a?b":                 {urlpath.Path{"a"}, "b"},
		"HTTPS://user@host/a%2Fb":           {urlpath.Path{"a/b"}, ""},
		"http://host":                       {urlpath.Path{""}, ""},
		"http://host?q=http://other/p":      {urlpath.Path{""}, "q=http://other/p"},
		"/http://host/x":                    {urlpath.Path{"http:", "", "host", "x"}, ""},
		"*":                                 {nil, ""},
		"host:80":                           {nil, ""},
		"":                                  {nil, ""},
		"/CLIENT-TOOLS/tools":               {urlpath.Path{"CLIENT-TOOLS", "tools"}, ""},
		"/client%2dtools/pending/a%2Fb%FF#": {urlpath.Path{"client-tools", "pending", "a/b%FF#"}, ""},
	} {
		path, query := urlpath.Parse(target)
		if diff := cmp.Diff(want.path, path); diff != "" || query != want.query {
			t.Errorf("Parse(%q): query %q, want %q; path (-want +got):\n%s", target, query, want.query, diff)
		}
	}
}

func TestInComparesWholeSegments(t *testing.T) {
	parents := []urlpath.Path{{"client-tools"}, {"global", "event"}}
	for target, want := range map[string]bool{
		"/client-tools": true, "/client-tools/": true, "/client-tools/x/y": true, "/global/event": true, "/global/event/x": true,
		"/client-toolsx": false, "/global": false, "/global%2Fevent": false, "/status": false, "/": false, "*": false,
	} {
		path, _ := urlpath.Parse(target)
		if got := path.In(parents...); got != want {
			t.Errorf("%q lies in %v: %t, want %t", target, parents, got, want)
		}
	}
}

// FuzzCanonicalForm checks that net/url decodes a path's canonical form to exactly the segments of the path, whatever
// the target was. The router and the generated code rely on it.
func FuzzCanonicalForm(f *testing.F) {
	for _, seed := range []string{
		"/client-tools/tools/%41", "/x/a%2Fb", "/x/ü", "/x/a%ZZ", "/x/a+b", "/x/%2541", "/x/a%2Fb%FF", `/a\..\b`, "/a/%2e%2E/b//", "http://h/a?b",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, target string) {
		path, _ := urlpath.Parse(target)
		canonical := path.String()
		var back urlpath.Path
		for i, segment := range strings.Split(canonical, "/") {
			if i == 0 {
				continue // before the first slash
			}
			s, err := url.PathUnescape(segment)
			if err != nil {
				t.Fatalf("net/url refuses %q of %q: %v", segment, canonical, err)
			}
			back = append(back, s)
		}
		if diff := cmp.Diff(path, back); diff != "" {
			t.Fatalf("net/url reads %q otherwise (-want +got):\n%s", canonical, diff)
		}
		for _, segment := range path {
			if !utf8.ValidString(segment) {
				t.Errorf("segment %q of %q is not UTF-8", segment, target)
			}
		}
		if again, _ := urlpath.Parse(canonical); !slices.Equal(again, path) {
			t.Errorf("canonical form %q of %q is read as %q, want %q", canonical, target, again, path)
		}
	})
}
