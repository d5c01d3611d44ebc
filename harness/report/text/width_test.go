package text

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
)

// What a value pair and a long line look like on terminals of different widths.
func TestTheWidthOfTheTerminal(t *testing.T) {
	sentence := "the contract is silent: openapi.yaml:501: ClientToolDefinition/properties/description allows both: type: string; an enum would decide"
	for _, tc := range []struct {
		width int
		want  string
	}{
		{0, `
      ref   "the item with the number 7 was not found in the store of the second client, which is closed"
      cand  "the item with the number 7 was not found in the shop of the second clients, which is closed"
                                                              ^                 ^^^^^^^
      ` + sentence + `
`},
		{80, `
      ref   [34 bytes cut] …t found in the store of the seco… [27 bytes cut]
      cand  [34 bytes cut] …t found in the shop of the secon… [27 bytes cut]
                                            ^          ^^^^^
      the contract is silent: openapi.yaml:501:
        ClientToolDefinition/properties/description allows both: type: string;
        an enum would decide
`},
		{140, `
      ref   "the item with the number 7 was not found in the store of the second client, which is closed"
      cand  "the item with the number 7 was not found in the shop of the second clients, which is closed"
                                                              ^                 ^^^^^^^
      ` + sentence + `
`},
	} {
		p := &page{opts: Options{Width: tc.width}}
		p.values([2]string{"ref", "cand"}, [2]string{
			`"the item with the number 7 was not found in the store of the second client, which is closed"`,
			`"the item with the number 7 was not found in the shop of the second clients, which is closed"`,
		}, true)
		p.line(6, sentence)
		if diff := cmp.Diff(tc.want, "\n"+p.String()); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", tc.width, diff)
		}
		for line := range strings.Lines(p.String()) {
			if n := textfit.Columns(strings.TrimSuffix(line, "\n")); tc.width > 0 && n > tc.width {
				t.Errorf("width %d: %d columns: %s", tc.width, n, line)
			}
		}
	}
}
