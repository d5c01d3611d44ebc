package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Text writes a run for a terminal: a line that says what ran, a block for each scenario that is not as it should be,
// the counts, and as its last line the verdict in words. Lines end in \n; no byte below 0x20 is written but this one
// and, with Paint.Color, those of colours.
//
// It is short when all is well. When not, a cause takes 25 lines at most, a scenario shows at most five of them, and
// what is left out is counted; Paint.Verbose leaves nothing out but the middle of long values.
func Text(w io.Writer, doc *Document, paint Paint) error {
	p := &page{doc: doc, paint: paint}
	p.headline()
	p.gap()
	p.body(newPlan(doc.Scenarios, paint.Verbose))
	p.waivers()
	p.gate()
	p.counts()
	p.coverage()
	p.conclusion()
	_, err := io.WriteString(w, p.String())
	return err
}

// Progress writes a line for a scenario that has been judged, as "DIFFER client-tools/register (3/72)". Those that
// match, or whose findings are accepted, are left out unless everything is asked for.
func Progress(w io.Writer, paint Paint, done, of int, s *verdict.Scenario) {
	if (s.Verdict == verdict.Match || s.Verdict == verdict.Waived) && !paint.Verbose {
		return
	}
	p := &page{paint: paint}
	p.line(0, p.verdict(s.Verdict, word(s.Verdict)), " ", clip(s.ID, 200), " ", p.dim(fmt.Sprintf("(%d/%d)", done, of)))
	_, _ = io.WriteString(w, p.String()) // it is told again in the report
}

// headline says what ran.
func (p *page) headline() {
	d := p.doc
	parts := []string{"lockstep " + clip(d.Version, 40), clip(d.Contract, 120)}
	var targets []string
	for i, t := range d.Totals.Targets {
		name := clip(t.Name, 60)
		if i == 0 && !d.Alone {
			name += " (reference)"
		}
		targets = append(targets, name)
	}
	if len(targets) > 0 {
		parts = append(parts, strings.Join(targets, ", "))
	}
	p.line(0, strings.Join(append(parts, "seed "+strconv.FormatUint(d.Seed, 10)), " · "))
}

// body writes the scenarios that are not as they should be.
func (p *page) body(plan *plan) {
	for _, b := range plan.blocks {
		p.block(b)
		p.gap()
	}
	for i, s := range plan.rest {
		if i == mostLines {
			p.line(0, "and ", count(len(plan.rest)-mostLines, "scenario"), " more in report.json")
			break
		}
		p.line(0, p.verdict(s.Verdict, word(s.Verdict)), " ", clip(s.ID, 120), "  ", p.dim(at(s.File, s.Line)), "  ", brief(s))
	}
	if len(plan.rest) > 0 {
		p.gap()
	}
}

// row writes a line of the summary.
func (p *page) row(label, text string) {
	p.line(0, p.dim(pad(label, len("not compared"))), "  ", text)
}

// did counts what a target has answered, told, and asked of others.
func did(t verdict.Target) string {
	text := count(t.Exchanges, "exchange") + success(t) + ", " + count(t.Events, "event")
	if t.Upstream > 0 {
		text += ", " + count(t.Upstream, "upstream request")
	}
	return text
}

// counts writes what was done and found.
func (p *page) counts() {
	d, t := p.doc, &p.doc.Totals
	p.row("scenarios", fmt.Sprintf("%d match, %d waived, %d differ, %d unknown, %d not applicable", t.Match, t.Waived, t.Differ, t.Unknown, t.NotApplicable)+
		p.dim(fmt.Sprintf(" · %s, %s", seconds(d.Millis), count(d.Jobs, "job"))))
	if text := repeated(d.Scenarios); text != "" {
		p.row("repeated", text)
	}
	if s := d.Shard; s != nil {
		p.row("shard", fmt.Sprintf("%d of %d, of %s in all: lockstep merge judges the whole", s.Index, s.Of, count(s.Selected, "scenario")))
	}
	for i, target := range t.Targets {
		p.row(d.role(i), clip(target.Name, 60)+": "+did(target))
	}
	if d.Alone {
		p.row("compared", "nothing: there was one target")
	} else {
		p.row("compared", count(t.Compared.Exchanges, "exchange")+", "+count(t.Compared.Events, "event"))
	}
	if text := notCompared(&t.Compared, d.Coverage.Uncompared); text != "" {
		p.row("not compared", text)
	}
	if t.NotApplicable > 0 {
		p.row("not run", reasons(notApplicable(d.Scenarios)))
	}
	p.row("findings", count(t.Differences, "difference")+", "+count(t.Violations, "violation")+", "+count(t.Shortfalls, "shortfall")+share(t.Accepted))
	if text := d.Blame.String(); text != "" {
		p.row("blame", text)
	}
	p.accepted()
	p.unused()
	for _, text := range ownersUnchecked(d) {
		p.row("port owner", text)
	}
	if text := busy(d); text != "" {
		p.row("machine", p.yellow(text))
	}
}

// ownersUnchecked returns the targets for which the owner of the port could not be checked.
func ownersUnchecked(d *Document) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(d.OwnerUnchecked)) {
		out = append(out, fmt.Sprintf("not checked of %s: %s", clip(name, 60), clip(d.OwnerUnchecked[name], 120)))
	}
	return out
}

// unused names the rules that never applied.
func (p *page) unused() {
	var rules []string
	for _, r := range p.doc.Unused {
		rules = append(rules, fmt.Sprintf("%s (%s)", clip(r.Rule, 80), at(r.File, r.Line)))
	}
	if len(rules) > 0 {
		p.line(0, p.dim("rules that never applied:"), " ", list(rules, ", "))
	}
}

// role is what a target is in the run.
func (d *Document) role(i int) string {
	switch {
	case d.Alone:
		return "target"
	case i == 0:
		return "reference"
	default:
		return "candidate"
	}
}

// success is the share of answers with a 2xx status. It is rounded down: 100% are all.
func success(t verdict.Target) string {
	if t.Exchanges == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d%% 2xx)", t.Success*100/t.Exchanges)
}

// notApplicable counts the scenarios that do not apply, by reason.
func notApplicable(scenarios []verdict.Scenario) map[string]int {
	out := map[string]int{}
	for i := range scenarios {
		s := &scenarios[i]
		if s.Verdict != verdict.NotApplicable {
			continue
		}
		reason := "no reason given"
		if len(s.Reasons) > 0 {
			reason = s.Reasons[0].Text
		}
		out[reason]++
	}
	return out
}

// notCompared says what was there and was not compared. Header fields are the reader's to name.
func notCompared(c *verdict.Compared, declared []string) string {
	var parts []string
	if len(c.NotCompared) > 0 {
		parts = append(parts, reasons(c.NotCompared))
	}
	if len(c.Unnamed) > 0 {
		names := slices.Sorted(maps.Keys(c.Unnamed))
		for i, name := range names {
			names[i] = clip(name, 40)
		}
		parts = append(parts, "header fields that no rule names: "+list(names, ", ")+" (name them in compare.headers)")
	}
	if len(declared) > 0 {
		parts = append(parts, "declared, and never compared: "+list(visibly(declared), ", "))
	}
	return strings.Join(parts, "; ")
}

// reasons lists why things were not compared, the most frequent first.
func reasons(byReason map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(byReason), func(a, b string) int {
		return cmp.Or(cmp.Compare(byReason[b], byReason[a]), cmp.Compare(a, b))
	})
	for i, reason := range keys {
		keys[i] = fmt.Sprintf("%d (%s)", byReason[reason], clip(reason, 120))
	}
	return list(keys, ", ")
}

func seconds(millis int64) string {
	return strconv.FormatFloat(float64(millis)/1000, 'f', 1, 64) + " s"
}
