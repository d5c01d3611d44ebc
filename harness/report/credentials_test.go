package report_test

import (
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

func TestRejectedCredentialsAreMentioned(t *testing.T) {
	for _, tc := range []struct {
		name      string
		rejected  int
		selection bool
		want      string
	}{
		{"half", 4, false, "typescript rejects 4 of 8 requests with 401: give the targets their headers in lockstep.yaml, such as headers: {Authorization: \"Bearer ${{ env.TOKEN }}\"}"},
		{"less than half", 3, false, ""},
		{"a selection about them", 8, true, ""},
	} {
		doc := document()
		doc.Selection = tc.selection
		doc.Totals.Targets = []verdict.Target{{Name: "typescript", Exchanges: 8, Unauthorized: tc.rejected}, {Name: "go", Exchanges: 8}}
		if got := report.Credentials(doc); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
		if says := strings.Contains(shown(t, doc, text.Options{}), "\ncredentials   typescript rejects 4 of 8 "); says != (tc.want != "") {
			t.Errorf("%s: the terminal says so: %t", tc.name, says)
		}
	}
}
