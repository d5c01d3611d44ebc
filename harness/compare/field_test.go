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

		{"UTF-8 of JSON", "Content-Type", []string{"application/json"}, []string{"application/json; charset=UTF-8"}, true},
		{"UTF-8 of a kind of JSON", "Content-Type", []string{"application/problem+json"}, []string{"application/problem+json;charset=utf-8"}, true},
		{"UTF-8 of an event stream", "Content-Type", []string{"text/event-stream"}, []string{"text/event-stream; charset=utf-8"}, true},
		{"another charset of JSON", "Content-Type", []string{"application/json"}, []string{"application/json; charset=latin1"}, false},
		{"another parameter of JSON", "Content-Type", []string{"application/json"}, []string{"application/json; charset=utf-8; profile=x"}, false},
		{"UTF-8 of a text", "Content-Type", []string{"text/plain"}, []string{"text/plain; charset=utf-8"}, false},

		{"no blank", "Vary", []string{"Origin, Accept"}, []string{"Origin,Accept"}, true},
		{"in another order", "Vary", []string{"Origin, Accept"}, []string{"accept, origin"}, true},
		{"in several lines", "Vary", []string{"Origin, Accept"}, []string{"Accept", "Origin"}, true},
		{"an empty element", "Vary", []string{"Origin, Accept"}, []string{"Origin, , Accept,"}, true},
		{"one less", "Vary", []string{"Origin, Accept"}, []string{"Origin"}, false},
		{"one twice", "Vary", []string{"Origin"}, []string{"Origin", "Origin"}, false},
		{"all", "Vary", []string{"Origin"}, []string{"*"}, false},
		{"in another order", "Allow", []string{"GET, HEAD"}, []string{"HEAD, GET"}, true},
		{"a method in small letters", "Allow", []string{"GET, HEAD"}, []string{"get, HEAD"}, false},
		{"one more", "Allow", []string{"GET"}, []string{"GET, HEAD"}, false},
		{"in another order", "Access-Control-Allow-Methods", []string{"GET, PUT"}, []string{"PUT,GET"}, true},
		{"small letters", "Access-Control-Allow-Methods", []string{"GET, PUT"}, []string{"get, put"}, false},
		{"small letters", "Access-Control-Allow-Headers", []string{"X-A, X-B"}, []string{"x-b, x-a"}, true},
		{"another one", "Access-Control-Expose-Headers", []string{"X-A, X-B"}, []string{"x-b, x-c"}, false},
		{"in another order", "Cache-Control", []string{"no-cache, max-age=0"}, []string{"Max-Age=0,no-cache"}, true},
		{"an argument in quotes", "Cache-Control", []string{"max-age=60"}, []string{`max-age="60"`}, true},
		{"another age", "Cache-Control", []string{"max-age=60, public"}, []string{"public, max-age=600"}, false},
		{"the case of an argument", "Cache-Control", []string{"x=a"}, []string{"x=A"}, false},
		{"a list in quotes", "Cache-Control", []string{`private="a, b", public`}, []string{`public, private="a, b"`}, true},
		{"another list in quotes", "Cache-Control", []string{`private="a, b"`}, []string{`private="b, a"`}, false},
		{"in another order", "Accept-Patch", []string{"application/json; charset=utf-8, text/x"}, []string{"text/x,application/json"}, true},
		{"in another order", "Transfer-Encoding", []string{"gzip, br"}, []string{"br, gzip"}, false},
		{"small letters", "Transfer-Encoding", []string{"gzip, br"}, []string{"GZIP,BR"}, true},
		{"in another order", "Accept-Language", []string{"de, en"}, []string{"en, de"}, false},

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
