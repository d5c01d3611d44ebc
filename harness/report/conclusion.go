package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Conclusion sums up a run in one line.
func Conclusion(d *Document) string {
	var text string
	switch d.Verdict {
	case verdict.Match, verdict.Waived:
		text = matchText(d)
	case verdict.Differ:
		text = differText(d)
	default:
		text = unknownText(&d.Totals)
	}
	if text == "" {
		return textfit.Clip(cmp.Or(d.Incomplete, nothingJudged(&d.Totals)+"; lockstep run --allow-empty accepts that"), 600)
	}
	if d.Incomplete != "" {
		text += "; " + textfit.Clip(d.Incomplete, 600)
	}
	return text
}

// nothingJudged says that a run judged nothing, and why if all its scenarios are not applicable.
func nothingJudged(t *verdict.Totals) string {
	switch n := t.NotApplicable; n {
	case 0:
		return "nothing was judged"
	case 1:
		return "nothing was judged, because the only scenario is not applicable"
	default:
		return fmt.Sprintf("nothing was judged, because all %d scenarios are not applicable", n)
	}
}

func matchText(d *Document) string {
	if d.Totals.Match+d.Totals.Waived == 0 {
		return nothingJudged(&d.Totals) + ", and --allow-empty accepts that"
	}
	n := textfit.Count(d.Totals.Match, "scenario")
	text := fmt.Sprintf("%s do the same in %s", textfit.JoinAnd(TargetNames(d)), n)
	switch {
	case d.Alone && d.Contract == "":
		text = fmt.Sprintf("%s meets all expectations in %s; there is no contract", textfit.JoinAnd(TargetNames(d)), n)
	case d.Alone:
		text = fmt.Sprintf("%s meets the contract and all expectations in %s", textfit.JoinAnd(TargetNames(d)), n)
	}
	if n := d.Totals.Waived; n > 0 {
		text += fmt.Sprintf("; in %d more, all findings are accepted", n)
	}
	switch n := d.Totals.NotApplicable; n {
	case 0:
		return text
	case 1:
		return text + ", and 1 does not apply"
	default:
		return fmt.Sprintf("%s, and %d do not apply", text, n)
	}
}

// differText counts the scenarios in which the targets differ, and the other red ones. Those have only violations, or
// shortfalls that all targets have: an expectation that none meets, or an exchange that fails on each.
func differText(d *Document) string {
	t := &d.Totals
	all := textfit.Count(t.Match+t.Waived+t.Differ+t.Unknown+t.NotApplicable, "scenario")
	parted := 0
	for i := range d.Scenarios {
		if !d.Alone && d.Scenarios[i].Verdict == verdict.Differ && targetsDiffer(&d.Scenarios[i]) {
			parted++
		}
	}
	wrong := t.Differ - parted
	who := textfit.JoinAnd(TargetNames(d))
	var text string
	switch {
	case t.Differ == 0: // a waiver is stale, or coverage is too low
		text = "no unaccepted findings in " + all
	case d.Alone:
		text = fmt.Sprintf("%s has violations or shortfalls in %d of %s", who, wrong, all)
	case parted == 0:
		text = fmt.Sprintf("%s do not differ, but have violations or shortfalls in %d of %s", who, wrong, all)
	default:
		text = fmt.Sprintf("%s differ in %d of %s", who, parted, all)
		if wrong > 0 {
			text += fmt.Sprintf("; in %d more, they do not differ, but have violations or shortfalls", wrong)
		}
	}
	if t.Unknown > 0 {
		text += fmt.Sprintf("; %d could not be judged", t.Unknown)
	}
	if old := StaleWaivers(d); old != "" {
		text += "; " + old
	}
	if short := MissedCoverage(d); short != "" {
		text += "; " + short
	}
	return text
}

// targetsDiffer reports whether the targets differ in a scenario. They also do when a demand is unmet by only some of
// them. A target that hangs differs from one that responds, although there is no response to compare.
func targetsDiffer(s *verdict.Scenario) bool {
	short := map[unmetKey]map[string]bool{} // the targets with this shortfall
	for i := range s.Findings {
		switch f := &s.Findings[i]; {
		case f.Accepted():
		case f.Class == verdict.Difference:
			return true
		case f.Class == verdict.Unmet:
			l := unmetKeyOf(f)
			if short[l] == nil {
				short[l] = map[string]bool{}
			}
			short[l][f.Target] = true
		}
	}
	for _, targets := range short {
		if len(targets) < len(s.Targets) {
			return true
		}
	}
	return false
}

// An unmetKey is what the shortfalls of two targets have in common.
type unmetKey struct{ kind, step, stream, place, got string }

// unmetKeyOf uses only the words of what came instead, because times and sizes vary between targets.
func unmetKeyOf(f *verdict.Finding) unmetKey {
	got := f.Got
	if i := strings.IndexAny(got, `0123456789"`); i >= 0 {
		got = got[:i]
	}
	return unmetKey{f.Kind, f.Step, f.Stream, f.Place, got}
}

// unknownText counts the scenarios that could not be judged. It returns "" when the run as a whole is unknown.
func unknownText(t *verdict.Totals) string {
	if t.Unknown == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s could not be judged", t.Unknown, textfit.Count(t.Match+t.Waived+t.Differ+t.Unknown+t.NotApplicable, "scenario"))
}

func TargetNames(d *Document) []string {
	out := make([]string, len(d.Totals.Targets))
	for i, t := range d.Totals.Targets {
		out[i] = textfit.Clip(t.Name, 60)
	}
	return out
}

// Role is the role of a target in the run.
func Role(d *Document, i int) string {
	switch {
	case d.Alone:
		return "target"
	case i == 0:
		return "reference"
	default:
		return "candidate"
	}
}

func TargetSummary(t verdict.Target) string {
	var parts []string
	if t.Exchanges > 0 || t.Calls+t.Sum() == 0 {
		parts = append(parts, textfit.Count(t.Exchanges, "exchange")+share(t.Success, t.Exchanges, "2xx"))
	}
	if t.Calls > 0 {
		parts = append(parts, textfit.Count(t.Calls, "call")+share(t.Done, t.Calls, "ok"))
	}
	parts = append(parts, streamCounts(t.Tally, t.Calls == 0 && len(parts) > 0)...)
	if t.Upstream > 0 {
		parts = append(parts, textfit.Count(t.Upstream, "upstream request"))
	}
	return strings.Join(parts, ", ")
}

// Compared says how much was compared: "412 exchanges, 84 events, 120 messages".
func Compared(c *verdict.Compared) string {
	var parts []string
	if c.Exchanges > 0 || c.Sum() == 0 {
		parts = []string{textfit.Count(c.Exchanges, "exchange")}
	}
	return strings.Join(append(parts, streamCounts(c.Tally, len(parts) > 0)...), ", ")
}

// streamCounts counts what came on streams. What is zero is left out, except for events beside exchanges when nothing
// came on other streams.
func streamCounts(t transcript.Tally, exchanges bool) (parts []string) {
	if t.Events > 0 || exchanges && t.Sum() == 0 {
		parts = append(parts, textfit.Count(t.Events, "event"))
	}
	if t.Messages > 0 {
		parts = append(parts, textfit.Count(t.Messages, "message"))
	}
	if t.Lines > 0 {
		parts = append(parts, textfit.Count(t.Lines, "line"))
	}
	return parts
}

// share is rounded down, so 100% means all of them.
func share(n, of int, what string) string {
	if of == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d%% %s)", n*100/of, what)
}
