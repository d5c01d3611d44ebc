package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestHeaderFieldsThatDifferAndThatNoRuleNamesAreCounted(t *testing.T) {
	fields := func(lines ...string) transcript.Header {
		var h transcript.Header
		for _, line := range lines {
			name, value, _ := strings.Cut(line, ": ")
			h = append(h, transcript.Field{Name: name, Value: value})
		}
		return h
	}
	for _, tc := range []struct {
		name      string
		ref, cand transcript.Header
		want      map[string]int
	}{
		{"equal", fields("Vary: Origin", "ETag: 1"), fields("etag: 1", "vary: Origin"), nil},
		{"another value", fields("Location: /a"), fields("location: /b"), map[string]int{"Location": 1}},
		{"on one side", fields("set-cookie: a=1", "Set-Cookie: b=2"), fields("Cache-Control: no-store"), map[string]int{"Set-Cookie": 1, "Cache-Control": 1}},
		{"another number of them", fields("Vary: a", "Vary: b"), fields("Vary: a"), map[string]int{"Vary": 1}},
		{"named", fields("Allow: GET"), fields("Allow: PUT"), nil},
		{"named by the step", fields("X-Step: 1"), nil, nil},
		{"nobody's intention", fields("Date: a", "server: x", "Connection: close", "Transfer-Encoding: chunked", "Keep-Alive: 5"), fields("Content-Length: 3"), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rules := &Rules{Headers: []string{"allow"}, Steps: map[string]Step{"1": {Headers: []string{"x-step"}}}}
			got := compared(newSide("ref").exchange(200, tc.ref, ""), newSide("cand").exchange(200, tc.cand, ""), rules)
			if diff := cmp.Diff(tc.want, got.Unnamed); diff != "" {
				t.Errorf("counted (-want +got):\n%s", diff)
			}
		})
	}
}

// A server can send any number of names, of any length.
func TestUnnamedHeaderFieldsAreBounded(t *testing.T) {
	cand := newSide("cand")
	ref := newSide("ref")
	for n := range 2 * maxUnnamed {
		ref.exchange(200, nil, "")
		cand.exchange(200, transcript.Header{{Name: fmt.Sprint("X-", n, strings.Repeat("x", 1000)), Value: "1"}, {Name: "X-0", Value: "1"}}, "")
	}
	got := compared(ref, cand, nil).Unnamed
	if len(got) != maxUnnamed || got["X-0"] != 2*maxUnnamed {
		t.Errorf("%d fields are counted, X-0 %d times", len(got), got["X-0"])
	}
	for name := range got {
		if len(name) > maxHeaderName {
			t.Errorf("a name of %d bytes is kept", len(name))
		}
	}
}
