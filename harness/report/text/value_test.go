package text

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/cause"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

func TestValuesAreShownAroundTheirFirstDifference(t *testing.T) {
	digits := strings.Repeat("0123456789", 30)
	for _, tc := range []struct{ name, a, b, want string }{
		{"short", "200", "404", `
      ref   200
      cand  404
`},
		{"absent", digits, "—", `
      ref   ` + digits[:140] + `… [160 bytes cut]
      cand  —
`},
		{"empty", "", "a", `
      ref   (empty)
      cand  a
`},
		{"a long way in", digits + "a", digits + "b" + digits, `
      ref   [260 bytes cut] …` + digits[:40] + `a
      cand  [260 bytes cut] …` + digits[:40] + `b` + digits[:99] + `… [201 bytes cut]
` + strings.Repeat(" ", 29+40) + `^
`},
		{"hard to see", `"client_c-1_add_1700000000000"`, `"client_c-1_add_1700000000001"`, `
      ref   "client_c-1_add_1700000000000"
      cand  "client_c-1_add_1700000000001"
                                        ^
`},
		{"one goes on", "abc", "abc ", `
      ref   abc
      cand  abc ` + `
               ^ reference: the end, candidate: U+0020
`},
		{"wide characters", "経済 ", "経済\t", `
      ref   経済 ` + `
      cand  経済\t
                ^ reference: U+0020, candidate: U+0009
`},
		{"letters that look alike", "paypal", "p\u0430ypal", `
      ref   paypal
      cand  p` + "\u0430" + `ypal
             ^ reference: a, candidate: ` + "\u0430" + ` (U+0430)
`},
		{"an accent apart from its letter", "caf\u00e9", "cafe\u0301", `
      ref   caf` + "\u00e9" + `
      cand  cafe` + "\u0301" + `
               ^ reference: ` + "\u00e9" + ` (U+00E9), candidate: e
`},
		{"two accents", "e\u0301", "e\u0302", `
      ref   ` + "e\u0301" + `
      cand  ` + "e\u0302" + `
             ^ reference: U+0301, candidate: U+0302
`},
		{"in the middle of a character", "\u00e9", "\u00e8", `
      ref   ` + "\u00e9" + `
      cand  ` + "\u00e8" + `
            ^ reference: ` + "\u00e9" + ` (U+00E9), candidate: ` + "\u00e8" + ` (U+00E8)
`},
		{"an escape and how it is written", `\x1b`, "\x1b", `
      ref   \x1b
      cand  \x1b
            ^ reference: \, candidate: U+001B
`},
		{"bytes that are no characters", "\xff", "\xfe", `
      ref   \xff
      cand  \xfe
            ^ reference: the byte 0xFF, candidate: the byte 0xFE
`},
		{"a line end at the end", "one\n", "one", `
      ref   one\n
      cand  one
               ^ reference: U+000A, candidate: the end
`},
		{"equal", "same", "same", `
      ref   same
      cand  same
`},
		{"cut at both ends", "[1000 bytes cut] …" + digits + "a" + digits + "… [7 bytes cut]", "[1000 bytes cut] …" + digits + "b", `
      ref   [1260 bytes cut] …` + digits[:40] + `a` + digits[:99] + `… [208 bytes cut]
      cand  [1260 bytes cut] …` + digits[:40] + `b
                                                                      ^
`},
		{"cut behind", "1… [7 bytes cut]", "2", `
      ref   1… [7 bytes cut]
      cand  2
`},
		{"texts that look cut", "[3 bytes cut] …x", "[4 bytes cut] …x", `
      ref   [3 bytes cut] …x
      cand  [4 bytes cut] …x
`},
		{"lines, cut", "[10 bytes cut] …1\n2\n3\n", "[10 bytes cut] …1\n2\n4\n", `
      ref  some lines of 16 bytes
        | 1
        | 2
        > 3
      cand  some lines of 16 bytes
        | 1
        | 2
        > 4
`},
		{"lines", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n", `
      ref  lines 3–8 of 9
        | 3
        | 4
        > 5
        | 6
        | 7
        | 8
      cand  lines 3–6 of 6
        | 3
        | 4
        > five
        | 6
`},
		{"the first line", "a\nb\n", "c\nb\n", `
      ref  lines 1–2 of 2
        > a
        | b
      cand  lines 1–2 of 2
        > c
        | b
`},
		{"a line more", "a\nb\n", "a\nb\nc\n", `
      ref  lines 1–2 of 2
        | a
        | b
      cand  lines 1–3 of 3
        | a
        | b
        > c
`},
		{"line ends", "a\r\nb\n", "a\nb\n", `
      ref  lines 1–2 of 2
        > a\r
        | b
      cand  lines 1–2 of 2
        > a
        | b
      the first characters that differ: reference: U+000D, candidate: U+000A
`},
		{"lines on one side", "a\nb\n", "—", `
      ref  lines 1–2 of 2
        | a
        | b
      cand  —
`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := &page{}
			p.values([2]string{"ref", "cand"}, [2]string{tc.a, tc.b}, true)
			if diff := cmp.Diff(tc.want, "\n"+p.String()); diff != "" {
				t.Errorf("values(%q, %q) (-want +got):\n%s", tc.a, tc.b, diff)
			}
		})
	}
}

func TestNoCaretPointsIntoTimesOfTwoNotations(t *testing.T) {
	for text, want := range map[string]int{
		"the times are written differently: the candidate sends seconds, the reference milliseconds": 0,
		"the texts differ": 1,
	} {
		p := &blockPage{&runPage{doc: &report.Document{}}, &verdict.Scenario{}, map[verdict.RemarkKey]bool{}}
		p.cause(&cause.Cause{Finding: verdict.Finding{
			Class: verdict.Difference, Text: text, Reference: `"2026-11-20T19:16:17.944Z"`, Candidate: `"2026-11-20T19:16:17.953522"`,
		}, Targets: []string{"new"}, Findings: make([]*verdict.Finding, 1)})
		if got := strings.Count(p.run.String(), "^"); got != want {
			t.Errorf("%s: %d carets, want %d:\n%s", text, got, want, p.run.String())
		}
	}
}
