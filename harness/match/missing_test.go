package match

import (
	"fmt"
	"strings"
	"testing"
)

func TestMissingReportsWhatIsThereInstead(t *testing.T) {
	var many []string
	for i := range 23 {
		many = append(many, fmt.Sprintf(`"m%02d":0`, i))
	}
	for _, tc := range []struct{ doc, path, want string }{
		{`{"id":"7","customer":null}`, "$.ident", `there is no such value; $ is an object with "customer", "id"`},
		{`{"a":{"b\n":1}}`, "$.a.b.c", `there is no such value; $["a"] is an object with "b\n"`},
		{`{"a":{}}`, "$.a.b", `there is no such value; $["a"] is an object without members`},
		{`{"a":[1,2]}`, "$.a[2].b", `there is no such value; $["a"] is an array of length 2`},
		{`{"a":"text"}`, "$.a.b", `there is no such value; $["a"] is "text"`},
		{`{"a":[{"x":1},{"x":2}]}`, "$.a[*].y", `there is no such value; $["a"] is an array of length 2`},
		{`{"a":[{"x":1},{"x":2}]}`, "$.a[*].x", `there are 2 such values`},
		{`[]`, "$[0]", `there is no such value; $ is an array of length 0`},
		{`"x"`, "$.a", `there is no such value; $ is "x"`},
		{`{"a":`, "$.a", `there is no such value; the content is not JSON: {"a":`},
		{``, "$.a", `there is no such value; there is no content`},
		{`{}`, "no path", `there is no such value`},
		{"{" + strings.Join(many, ",") + "}", "$.x", `there is no such value; $ is an object with "m00", "m01", "m02", "m03", "m04", "m05", "m06", "m07", "m08", "m09", "m10", "m11", "m12", "m13", "m14", "m15", "m16", "m17", "m18", "m19", 3 more`},
	} {
		if got := Missing([]byte(tc.doc), tc.path); got != tc.want {
			t.Errorf("Missing(%s, %s)\n     = %s\nwant %s", tc.doc, tc.path, got, tc.want)
		}
	}
}
