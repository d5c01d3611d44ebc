package verdict

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/verdict/baseline"
	"github.com/lockstep-dev/lockstep/harness/verdict/waiver"
)

// WaiverLifetime is how long a waiver is valid by default.
const WaiverLifetime = 90 * 24 * time.Hour

// WaiverSkeleton returns the text of waivers for findings, without repetition. Their ids continue those of the existing
// waivers. Reason and owner are left empty, and so is the class if it is not given, because a person must fill them in.
func WaiverSkeleton(findings []Finding, there []waiver.Waiver, class string, expires time.Time) string {
	var out strings.Builder
	seen := map[baseline.Entry]bool{}
	there = slices.Clone(there)
	for i := range findings {
		f := &findings[i]
		if known := BaselineEntryOf(f).WithoutTarget(); !seen[known] {
			seen[known] = true
			id := waiver.Next(there)
			there = append(there, waiver.Waiver{ID: id})
			skeleton(&out, id, f, class, expires)
		}
	}
	return out.String()
}

func skeleton(out *strings.Builder, id string, f *Finding, class string, expires time.Time) {
	fmt.Fprintf(out, "- id: %s # %s\n", id, remark(f))
	fmt.Fprintf(out, "  scenario: %s\n", quoted(f.Scenario))
	fmt.Fprintf(out, "  at: %s\n", quoted(f.At))
	fmt.Fprintf(out, "  difference: {kind: %s, fingerprint: %q}\n", f.Kind, f.Fingerprint)
	if class == "" {
		class = `"" # candidate-bug, reference-bug, contract-silent or intended`
	}
	fmt.Fprintf(out, "  class: %s\n", class)
	out.WriteString("  reason: \"\"\n  owner: \"\"\n")
	fmt.Fprintf(out, "  expires: %s\n", expires.UTC().Format(time.DateOnly))
}

// remark describes in one line what is waived. What servers sent is quoted, and short.
func remark(f *Finding) string {
	switch f.Class {
	case Difference:
		return fmt.Sprintf("reference %s, %s %s", short(f.Reference), f.Target, short(f.Candidate))
	case Violation:
		return fmt.Sprintf("%s breaks the contract: %s", f.Target, short(f.Text))
	default:
		return fmt.Sprintf("%s: want %s, got %s", f.Target, short(f.Want), short(f.Got))
	}
}

func short(s string) string {
	const most = 60
	r := []rune(s)
	if len(r) > most {
		s = string(r[:most]) + "…"
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) }) {
		return strconv.QuoteToASCII(s) // it may end the line or change the direction of text
	}
	return s
}

// quoted returns a text as a YAML string in double quotes, with the escapes of JSON.
func quoted(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case strconv.IsPrint(r):
			out.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&out, `\U%08x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	out.WriteByte('"')
	return out.String()
}
