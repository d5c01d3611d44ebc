package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestFieldsThatCanBeWrittenInSeveralWays(t *testing.T) {
	const differs = "header-value header "
	for _, tc := range []struct {
		name, field string
		ref, cand   []string
		same        bool
	}{
		{"no blank", "Content-Type", []string{"application/json; charset=utf-8"}, []string{"application/json;charset=utf-8"}, true},
		{"capitals", "Content-Type", []string{"application/json; charset=utf-8"}, []string{"Application/JSON; Charset=UTF-8"}, true},
		{"quotes", "Content-Type", []string{"text/html; charset=utf-8"}, []string{`text/html; charset="utf-8"`}, true},
		{"parameters in another order", "Content-Type", []string{"text/plain; charset=utf-8; format=flowed"}, []string{"text/plain; format=flowed; charset=utf-8"}, true},
		{"another type", "Content-Type", []string{"text/html; charset=utf-8"}, []string{"text/plain; charset=utf-8"}, false},
		{"another charset", "Content-Type", []string{"text/html; charset=utf-8"}, []string{"text/html; charset=latin1"}, false},
		{"no charset", "Content-Type", []string{"text/html; charset=utf-8"}, []string{"text/html"}, false},
		{"a parameter more", "Content-Type", []string{"text/html"}, []string{"text/html; charset=utf-8"}, false},
		{"a parameter that has a case", "Content-Type", []string{"text/x; boundary=a"}, []string{"text/x; boundary=A"}, false},
		{"what is no media type", "Content-Type", []string{"text/html; x"}, []string{"text/HTML; x"}, false},
		{"nothing", "Content-Type", []string{"text/html"}, []string{""}, false},
		{"twice", "Content-Type", []string{"text/html"}, []string{"text/html", "text/html"}, false},

		{"attributes in another order", "Set-Cookie", []string{"a=1; Path=/; HttpOnly"}, []string{"a=1; HttpOnly; Path=/"}, true},
		{"attributes in capitals", "Set-Cookie", []string{"a=1; Path=/; HttpOnly; SameSite=Lax"}, []string{"a=1;path=/;httponly;samesite=lax"}, true},
		{"an id, with attributes in another order", "Set-Cookie", []string{"a=" + uuidA + "; Path=/; HttpOnly"}, []string{"a=" + uuidX + "; HttpOnly; Path=/"}, true},
		{"cookies in another order", "Set-Cookie", []string{"a=1; Path=/", "b=2"}, []string{"b=2", "a=1; Path=/"}, true},
		{"an attribute less", "Set-Cookie", []string{"a=1; Path=/; HttpOnly"}, []string{"a=1; Path=/"}, false},
		{"none", "Set-Cookie", []string{"a=1; HttpOnly"}, []string{"a=1"}, false},
		{"another path", "Set-Cookie", []string{"a=1; Path=/x"}, []string{"a=1; Path=/X"}, false},
		{"another age", "Set-Cookie", []string{"a=1; Max-Age=60; Path=/"}, []string{"a=1; Path=/; Max-Age=61"}, false},
		{"another value", "Set-Cookie", []string{"a=1; Path=/; HttpOnly"}, []string{"a=2; HttpOnly; Path=/"}, false},
		{"a name in capitals", "Set-Cookie", []string{"a=1; Path=/"}, []string{"A=1; path=/"}, false},
		{"values that are swapped", "Set-Cookie", []string{"a=1", "b=2"}, []string{"b=1", "a=2"}, false},
		{"one name twice, the other way round", "Set-Cookie", []string{"a=1", "a=2"}, []string{"a=2", "a=1"}, false},

		{"another field in capitals", "X-Kind", []string{"text/html; charset=utf-8"}, []string{"text/html;charset=utf-8"}, false},
	} {
		t.Run(tc.field+"/"+tc.name, func(t *testing.T) {
			answer := func(target string, values []string) side {
				var h transcript.Header
				for _, v := range values {
					h = append(h, transcript.Field{Name: tc.field, Value: v})
				}
				return newSide(target).exchange(200, h, "")
			}
			var want []string
			if !tc.same {
				want = []string{differs + tc.field}
			}
			for _, sides := range [][2][]string{{tc.ref, tc.cand}, {tc.cand, tc.ref}} {
				got := kinds(compared(answer("ref", sides[0]), answer("cand", sides[1]), &Rules{Headers: []string{tc.field}}))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%q (-want +got):\n%s", sides, diff)
				}
			}
		})
	}
}
