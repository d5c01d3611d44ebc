package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Repeated sums up the scenarios that ran several times; "" when none did.
func Repeated(scenarios []verdict.Scenario) string {
	runs, of, steady := 0, 0, 0
	var split []string
	for i := range scenarios {
		if r := scenarios[i].Repeated; r != nil {
			runs, of = max(runs, r.Of), of+1
			if r.Steady() {
				steady++
			}
			if !r.Consistent() {
				split = append(split, fmt.Sprintf("%s (%s)", textfit.Clip(scenarios[i].ID, 120), r))
			}
		}
	}
	switch {
	case of == 0:
		return ""
	case len(split) == 0:
		return fmt.Sprintf("%d runs of %s: each had the same result", runs, textfit.Count(of, "scenario"))
	}
	text := fmt.Sprintf("%d runs of %s", runs, textfit.Count(of, "scenario"))
	if steady > 0 {
		text += fmt.Sprintf("; %d red and steady", steady)
	}
	return text + "; flaky: " + textfit.List(split, ", ")
}

// Steadiness says whether a red scenario that ran several times was always red: "steady in 4 runs" or "flaky: 1 of 4
// differ". It is "" for others.
func Steadiness(s *verdict.Scenario) string {
	switch r := s.Repeated; {
	case r == nil || r.Differ+r.Unknown == 0:
		return ""
	case r.Steady():
		return fmt.Sprintf("steady in %d runs", r.Of)
	default:
		return "flaky: " + r.String()
	}
}

// MachineLoad says that the machine was too busy for the servers in red scenarios, which may be why they are red. It is
// empty if it was not. It changes no verdict.
func MachineLoad(d *Document) string {
	red, kept := 0, 0
	var longest verdict.Target
	var in *verdict.Scenario
	for i := range d.Scenarios {
		s := &d.Scenarios[i]
		if !s.Verdict.Red() {
			continue
		}
		red++
		waited := false
		for _, t := range s.Targets {
			waited = waited || t.Waited > 0
			if t.Waited > longest.Waited {
				longest, in = t, s
			}
		}
		if waited {
			kept++
		}
	}
	if in == nil {
		return ""
	}
	return fmt.Sprintf("too busy: servers had to wait in %d of %s that differ or are unknown, %s longest: for %s of %s in %s; "+
		"findings about times there may be due to this (use fewer --jobs, or run less at the same time)",
		kept, textfit.Count(red, "scenario"), textfit.Clip(longest.Name, 60), textfit.Seconds(longest.Waited), textfit.Seconds(in.Millis), textfit.Clip(in.ID, 120))
}

// NotCompared lists what was received but not compared. The reader can name header fields to compare.
func NotCompared(c *verdict.Compared, declared []string) string {
	var parts []string
	if len(c.NotCompared) > 0 {
		parts = append(parts, ReasonCounts(c.NotCompared))
	}
	if len(c.Unnamed) > 0 {
		names := slices.Sorted(maps.Keys(c.Unnamed))
		for i, name := range names {
			names[i] = textfit.Clip(name, 40)
		}
		parts = append(parts, "header fields that no rule names: "+textfit.List(names, ", ")+" (name them in compare.headers)")
	}
	if len(declared) > 0 {
		parts = append(parts, "declared but never compared: "+textfit.List(textfit.ClipAll(declared, 120), ", "))
	}
	return strings.Join(parts, "; ")
}

// NotRun counts the scenarios that are not applicable, by reason; "" when there are none.
func NotRun(scenarios []verdict.Scenario) string {
	byReason := map[string]int{}
	for i := range scenarios {
		if s := &scenarios[i]; s.Verdict == verdict.NotApplicable {
			byReason[whyNotRun(s)]++
		}
	}
	return ReasonCounts(byReason)
}

// whyNotRun says why a scenario is not applicable.
func whyNotRun(s *verdict.Scenario) string {
	if len(s.Reasons) == 0 {
		return "no reason given"
	}
	return s.Reasons[0].Text
}

// ReasonCounts lists the reasons for not comparing something, the most frequent first.
func ReasonCounts(byReason map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(byReason), func(a, b string) int {
		return cmp.Or(cmp.Compare(byReason[b], byReason[a]), cmp.Compare(a, b))
	})
	for i, reason := range keys {
		keys[i] = fmt.Sprintf("%d (%s)", byReason[reason], textfit.Clip(reason, 120))
	}
	return textfit.List(keys, ", ")
}

// OwnersUnchecked returns the targets for which the owner of the port could not be checked.
func OwnersUnchecked(d *Document) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(d.OwnerUnchecked)) {
		out = append(out, fmt.Sprintf("not checked for %s: %s", textfit.Clip(name, 60), textfit.Clip(d.OwnerUnchecked[name], 120)))
	}
	return out
}

// Credentials says which targets reject at least half of the requests for lack of credentials, and what to do. Such
// scenarios reach little, whatever the verdict is. It returns "" if there are none, and for a selection, which may be
// about just that.
func Credentials(d *Document) string {
	if d.Selection {
		return ""
	}
	var rejected []string
	for _, t := range d.Totals.Targets {
		if t.Unauthorized > 0 && t.Unauthorized*2 >= t.Exchanges {
			rejected = append(rejected, fmt.Sprintf("%s rejects %d of %s with 401", textfit.Clip(t.Name, 60), t.Unauthorized, textfit.Count(t.Exchanges, "request")))
		}
	}
	if rejected == nil {
		return ""
	}
	return strings.Join(rejected, ", ") + ": give the targets their headers in lockstep.yaml, such as headers: {Authorization: \"Bearer ${{ env.TOKEN }}\"}"
}
