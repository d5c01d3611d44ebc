package compare

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestLinesOfJSONAreComparedAsAList(t *testing.T) {
	const ref = `{"id":"` + uuidA + `","n":1}` + "\n" + `{"of":"` + uuidA + `"}` + "\n"
	right := strings.ReplaceAll(ref, uuidA, uuidX)
	for _, tc := range []struct {
		name, cand string
		want       []string
	}{
		{"ids of their own", right, nil},
		{"other white space", strings.ReplaceAll(right, ",", ", "), nil},
		{"members in another order", strings.Replace(right, `"id":"`+uuidX+`","n":1`, `"n":1,"id":"`+uuidX+`"`, 1), nil},
		{"an id of nobody", strings.Replace(right, `"of":"`+uuidX, `"of":"`+uuidY, 1), []string{"identity body /1/of"}},
		{"another number", strings.Replace(right, `1}`, `1.0}`, 1), []string{"value body /0/n"}},
		{"a line less", right[:strings.IndexByte(right, '\n')+1], []string{"element-missing body /1"}},
		{"no line feed at the end", strings.TrimSuffix(right, "\n"), []string{"body body"}},
		{"a line that is not JSON", right + "bye\n", []string{"body body"}},
		{"nothing", "", []string{"body body"}},
	} {
		for _, kind := range []string{"application/x-ndjson", "application/jsonl", "application/ndjson; charset=utf-8", "application/json-seq"} {
			written := func(body string) string {
				if body == "" || !strings.HasSuffix(kind, "-seq") {
					return body
				}
				return "\x1e" + strings.ReplaceAll(strings.TrimSuffix(body, "\n"), "\n", "\n\x1e") + strings.Repeat("\n", strings.Count(body[len(body)-1:], "\n"))
			}
			h := transcript.Header{{Name: "Content-Type", Value: kind}}
			got := kinds(compared(newSide("ref").exchange(200, h, written(ref)), newSide("cand").exchange(200, h, written(tc.cand)), nil))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s of %s (-want +got):\n%s", tc.name, kind, diff)
			}
		}
	}
}

// Lines of JSON and a list are different formats for a reader, even with equal values.
func TestLinesOfJSONAreNoList(t *testing.T) {
	answer := func(target, kind, body string) side {
		return newSide(target).exchange(200, transcript.Header{{Name: "Content-Type", Value: kind}}, body)
	}
	for _, mirrored := range []bool{false, true} {
		ref, cand := answer("ref", "application/json", `[{"n":1}]`), answer("cand", "application/x-ndjson", `{"n":1}`)
		if mirrored {
			ref, cand = cand, ref
		}
		if got := compared(ref, cand, nil); len(got.Differences) != 1 || got.Differences[0].At.String() != "body" {
			t.Errorf("mirrored %t: %v, want a difference at the body", mirrored, kinds(got))
		}
	}
}
