package text

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
)

func TestALineOfTheScenarioFitsIntoEightyColumns(t *testing.T) {
	long := "  - {http: GET /a, headers: {X-Something: \"" + strings.Repeat("wide ", 20) + "\"}, expect: {status: 200}, within: 5s}   # and so on, and so on, and so on"
	for _, tc := range []struct {
		at   report.Source
		want string
	}{
		{report.Source{Line: 7, Column: 5, Text: "  - http: GET /a"}, `
    7 |   - http: GET /a
      |     ^
`},
		{report.Source{Line: 12, Column: 6, Text: "  - {\x1b[31m: \u202e}"}, `
    12 |   - {\x1b[31m: \u202e}
       |      ^
`},
		{report.Source{Line: 123, Column: strings.Index(long, "status") + 1, Text: long}, `
    123 | … wide wide wide wide wide "}, expect: {status: 200}, within: 5s}  …
        |                                         ^
`},
		{report.Source{Line: 3, Column: 900, Text: "short"}, `
    3 | short
      |      ^
`},
	} {
		p := &blockPage{run: &runPage{doc: &report.Document{}}}
		p.source(&tc.at)
		if diff := cmp.Diff(tc.want, "\n"+p.run.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for line := range strings.SplitSeq(p.run.String(), "\n") {
			if textfit.Columns(line) > 80 {
				t.Errorf("%d columns: %s", textfit.Columns(line), line)
			}
		}
	}
}
