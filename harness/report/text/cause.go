package text

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/contract/specgap"
	"github.com/lockstep-dev/lockstep/harness/report/internal/cause"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// cause writes one cause, in at most 25 lines: what is wrong, both values, what the contract says, and where else it
// occurs.
func (p *blockPage) cause(c *cause.Cause) {
	p.sentence(c)
	switch c.Class {
	case verdict.Difference: // two notations of a time differ in every digit, so a caret below the first one would mislead
		p.run.values([2]string{"reference (" + p.reference() + ")", "candidate (" + targetList(c) + ")"}, [2]string{p.withNames(c, 0, c.Reference), p.withNames(c, 1, c.Candidate)}, !diff.IsTimeNotation(c.Text))
		p.contract(c)
	case verdict.Violation:
		p.violation(c)
	default:
		p.run.values([2]string{"want", "got (" + targetList(c) + ")"}, [2]string{c.Want, c.Got}, false)
	}
	p.acceptance(c)
	p.otherPlaces(c)
}

// sentence writes where and what, and how often.
func (p *blockPage) sentence(c *cause.Cause) {
	times := ""
	if n := len(c.Findings) / len(c.Targets); n > 1 {
		times = ", " + strconv.Itoa(n) + " times"
	}
	p.run.line(4, what(c), p.run.dim(" ["+code(c)+times+"]"))
}

// what says where something is wrong, and what: "body /id: the values differ".
func what(c *cause.Cause) string {
	place := textfit.Clip(c.Place, 160)
	if c.Stream != "" {
		place = "stream " + textfit.Clip(c.Stream, 60) + ", " + place
	}
	return place + ": " + textfit.Clip(c.Says(), 300)
}

// code is the kind of a cause and its fingerprint, if any: "value 8d1f0c2a".
func code(c *cause.Cause) string {
	return strings.TrimSpace(textfit.Clip(c.Kind, 60) + " " + textfit.Clip(c.Fingerprint, 20))
}

// targetList names the targets of a cause.
func targetList(c *cause.Cause) string { return strings.Join(textfit.ClipAll(c.Targets, 120), ", ") }

func (p *blockPage) reference() string {
	if len(p.s.Targets) == 0 {
		return "the first target"
	}
	return textfit.Clip(p.s.Targets[0].Name, 60)
}

// violation writes which targets break the contract, and where the contract says so.
func (p *blockPage) violation(c *cause.Cause) {
	p.run.line(6, breaksContract(c.Targets), p.schema(c.Contract))
}

func breaksContract(targets []string) string {
	if len(targets) == 1 {
		return textfit.Clip(targets[0], 60) + " breaks the contract"
	}
	return textfit.JoinAnd(textfit.ClipAll(targets, 120)) + " break the contract"
}

func (p *blockPage) schema(words []verdict.Remark) string {
	if len(words) == 0 {
		return ""
	}
	w := words[0]
	out := ""
	if w.Line > 0 {
		out = " at " + textfit.FileLine(p.run.doc.Contract, w.Line)
	}
	if w.Schema != "" {
		out += p.run.dim(" (" + textfit.Clip(w.Schema, 160) + ")")
	}
	return out
}

// contract writes what the contract says about both sides of a difference.
func (p *blockPage) contract(c *cause.Cause) {
	if c.Upstream != "" || c.Blame == verdict.BlameOutside {
		return // no contract says anything about it
	}
	if c.Blame == verdict.BlameNobody {
		p.specGap(c.SpecGap)
		return
	}
	var fresh []verdict.Remark
	for _, w := range c.Contract {
		if r := (verdict.RemarkKey{Step: c.Step, Stream: c.Stream, Remark: w}); !p.written[r] {
			p.written[r] = true
			fresh = append(fresh, w)
		}
	}
	switch {
	case len(fresh) > 0:
		p.remarks(fresh, c.Place)
	case len(c.Contract) > 0:
		p.run.line(6, p.run.dim(breaksContract(targetsWithRemarks(c))+" (see above)"))
	default:
		p.run.line(6, "outside the contract: ", textfit.Clip(string(c.Blame), 60))
	}
}

// specGap writes which place of the contract allows both sides, and what would make it stricter.
func (p *blockPage) specGap(s *specgap.Gap) {
	if s == nil {
		p.run.line(6, p.run.dim("the contract is silent: neither side breaks it"))
		return
	}
	pin := ""
	if s.Pin != "" {
		pin = "; " + textfit.Clip(s.Pin, 120) + " would decide"
	}
	p.run.line(6, p.run.dim("the contract is silent: "), textfit.FileLine(p.run.doc.Contract, s.Line), ": ", textfit.Clip(coverage.SchemaName(s.Schema), 120), " allows both: ", textfit.Clip(s.Admits, 240), pin)
}

// targetsWithRemarks names the targets that break the contract.
func targetsWithRemarks(c *cause.Cause) []string {
	var names []string
	for _, w := range c.Contract {
		if !slices.Contains(names, w.Target) {
			names = append(names, w.Target)
		}
	}
	return names
}

// remarks writes remarks about the contract, those about the place first. A remark on several targets is one line.
func (p *blockPage) remarks(words []verdict.Remark, place string) {
	const most = 2
	byText := map[verdict.Remark][]string{}
	var order []verdict.Remark
	for _, w := range words {
		target := w.Target
		w.Target = ""
		if byText[w] == nil {
			order = append(order, w)
		}
		byText[w] = append(byText[w], target)
	}
	slices.SortStableFunc(order, func(a, b verdict.Remark) int { return distance(a.Place, place) - distance(b.Place, place) })
	for i, w := range order {
		if i == most {
			p.run.line(6, "and ", strconv.Itoa(len(order)-most), " more contract violations in report.json")
			return
		}
		where := ""
		if w.Line > 0 {
			where = " at " + textfit.FileLine(p.run.doc.Contract, w.Line)
		}
		p.run.line(6, breaksContract(byText[w]), where, ": ", textfit.Clip(w.Place, 160), ": ", textfit.Clip(w.Text, 240))
	}
}

// distance is 0 when a remark is about the place of a difference. The two are written differently: "body/error/code"
// and "body /error/code" share only the JSON Pointer.
func distance(remark, difference string) int {
	if remark == difference || diff.PointerIn(remark) == diff.PointerIn(difference) && diff.PointerIn(remark) != "" {
		return 0
	}
	return 1
}

// otherPlaces writes where else a cause occurs: in other steps of the scenario, or in other scenarios.
func (p *blockPage) otherPlaces(c *cause.Cause) {
	var steps, scenarios []string
	for _, spot := range c.Also {
		switch {
		case spot.Scenario == p.s:
			steps = append(steps, strconv.Itoa(spot.Line)+" (step "+textfit.Clip(spot.Step, 40)+")")
		case spot.StepText == c.StepText:
			scenarios = append(scenarios, textfit.Clip(spot.Scenario.ID, 120))
		default:
			scenarios = append(scenarios, textfit.Clip(spot.Scenario.ID, 120)+" ("+textfit.Clip(spot.StepText, 80)+")")
		}
	}
	if len(c.Elements) > 0 {
		p.run.line(6, "also in ", textfit.Count(len(c.Elements), "element"), ": ", textfit.List(pointers(c.Elements), ", "))
	}
	if len(steps) > 0 {
		p.run.line(6, "also at ", textfit.Count(len(steps), "step"), ": line ", textfit.List(steps, ", "))
	}
	if len(scenarios) > 0 {
		p.run.line(6, "also in ", textfit.Count(len(scenarios), "scenario"), ": ", textfit.List(scenarios, ", "))
	}
}

func pointers(places []string) []string {
	var out []string
	for _, place := range places {
		out = append(out, textfit.Clip(diff.PointerIn(place), 80))
	}
	return out
}

// withNames replaces ids in a value by their names. The ids themselves are listed below the scenario.
func (p *blockPage) withNames(c *cause.Cause, side int, value string) string {
	const shortest = 6 // shorter ids would be found by chance
	if !p.run.opts.Names {
		return value
	}
	id := func(n verdict.Name) string { return [2]string{n.Reference, n.Candidate}[side] }
	names := slices.DeleteFunc(slices.Clone(p.s.Names), func(n verdict.Name) bool { return n.Target != c.Target || len(id(n)) < shortest })
	slices.SortStableFunc(names, func(a, b verdict.Name) int { return len(id(b)) - len(id(a)) }) // one may be another's prefix
	var pairs []string
	for _, n := range names {
		pairs = append(pairs, id(n), n.Name)
	}
	return strings.NewReplacer(pairs...).Replace(value)
}

// names lists the ids that the names of a scenario mean.
func (p *blockPage) names() {
	const most = 20
	if !p.run.opts.Names {
		return
	}
	for i, n := range p.s.Names {
		if i == most && !p.run.opts.Verbose {
			p.run.line(2, "and ", strconv.Itoa(len(p.s.Names)-most), " more names in report.json")
			return
		}
		p.run.line(2, textfit.Clip(n.Name, 60), "  ", p.reference(), " ", textfit.Clip(n.Reference, 80), p.run.dim(" · "), textfit.Clip(n.Target, 60), " ", textfit.Clip(n.Candidate, 80))
	}
}
