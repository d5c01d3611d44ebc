package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// cause writes one cause, in at most 25 lines: what is said, both values, the contract's word, where else. told has the
// remarks of the contract that have been written for this scenario, and gets those that are written here.
func (p *page) cause(s *verdict.Scenario, c *cause, told map[remark]bool) {
	p.sentence(c)
	switch c.Class {
	case verdict.Difference:
		p.values([2]string{"reference (" + referenceOf(s) + ")", "candidate (" + c.who() + ")"}, [2]string{p.named(s, c, 0, c.Reference), p.named(s, c, 1, c.Candidate)}, !notation(c.Text))
		p.contract(c, told)
	case verdict.Violation:
		p.breach(c)
	default:
		p.values([2]string{"want", "got (" + c.who() + ")"}, [2]string{c.Want, c.Got}, false)
	}
	p.acceptance(c)
	p.elsewhere(s, c)
}

// notation reports whether a sentence says in which notations two times are. They differ in every digit, and a caret below
// the first of these would point away from what is meant.
func notation(text string) bool { return strings.HasPrefix(text, "the times are written differently") }

// sentence writes where and what: "body /id: the values differ [value 8d1f0c2a]".
func (p *page) sentence(c *cause) {
	place := clip(c.Place, 160)
	if c.Stream != "" {
		place = "stream " + clip(c.Stream, 60) + ", " + place
	}
	times := ""
	if n := c.findings / len(c.targets); n > 1 {
		times = ", " + strconv.Itoa(n) + " times"
	}
	fingerprint := ""
	if c.Fingerprint != "" {
		fingerprint = " " + clip(c.Fingerprint, 20)
	}
	p.line(4, place, ": ", clip(c.Text, 300), p.dim(" ["+clip(c.Kind, 60)+fingerprint+times+"]"))
}

// who names the targets of a cause.
func (c *cause) who() string { return strings.Join(visibly(c.targets), ", ") }

func referenceOf(s *verdict.Scenario) string {
	if len(s.Targets) == 0 {
		return "the first target"
	}
	return clip(s.Targets[0].Name, 60)
}

// breach writes who breaks the contract, and where the contract says so.
func (p *page) breach(c *cause) {
	p.line(6, breaks(c.targets), p.schema(c.Contract))
}

func breaks(targets []string) string {
	if len(targets) == 1 {
		return clip(targets[0], 60) + " breaks the contract"
	}
	return both(visibly(targets)) + " break the contract"
}

func (p *page) schema(words []verdict.Word) string {
	if len(words) == 0 {
		return ""
	}
	w := words[0]
	out := ""
	if w.Line > 0 {
		out = " at " + at(p.doc.Contract, w.Line)
	}
	if w.Schema != "" {
		out += p.dim(" (" + clip(w.Schema, 160) + ")")
	}
	return out
}

// contract writes what the contract says of the two sides of a difference.
func (p *page) contract(c *cause, told map[remark]bool) {
	if c.Upstream != "" {
		return // the contract does not speak of upstreams
	}
	if c.Blame == verdict.BlameNobody {
		p.silence(c.Silence)
		return
	}
	var fresh []verdict.Word
	for _, w := range c.Contract {
		if r := (remark{c.Step, c.Stream, w}); !told[r] {
			told[r] = true
			fresh = append(fresh, w)
		}
	}
	switch {
	case len(fresh) > 0:
		p.words(fresh, c.Place)
	case len(c.Contract) > 0:
		p.line(6, p.dim(breaks(outside(c))+", as said above"))
	default:
		p.line(6, "outside the contract: ", clip(string(c.Blame), 60))
	}
}

// silence writes which place of the contract admits both sides, and what would decide between them.
func (p *page) silence(s *contract.Silence) {
	if s == nil {
		p.line(6, p.dim("the contract is silent: neither side breaks it"))
		return
	}
	pin := ""
	if s.Pin != "" {
		pin = "; " + clip(s.Pin, 120) + " would decide"
	}
	p.line(6, p.dim("the contract is silent: "), at(p.doc.Contract, s.Line), ": ", clip(contract.SchemaName(s.Schema), 120), " admits both: ", clip(s.Admits, 240), pin)
}

// outside names the targets that the contract has something against.
func outside(c *cause) []string {
	var names []string
	for _, w := range c.Contract {
		if !slices.Contains(names, w.Target) {
			names = append(names, w.Target)
		}
	}
	return names
}

// words writes remarks of the contract, those about the place first. One that holds for several targets is one line.
func (p *page) words(words []verdict.Word, place string) {
	const most = 2
	byText := map[verdict.Word][]string{}
	var order []verdict.Word
	for _, w := range words {
		target := w.Target
		w.Target = ""
		if byText[w] == nil {
			order = append(order, w)
		}
		byText[w] = append(byText[w], target)
	}
	slices.SortStableFunc(order, func(a, b verdict.Word) int { return distance(a.Place, place) - distance(b.Place, place) })
	for i, w := range order {
		if i == most {
			p.line(6, "and ", strconv.Itoa(len(order)-most), " more remarks of the contract in report.json")
			return
		}
		where := ""
		if w.Line > 0 {
			where = " at " + at(p.doc.Contract, w.Line)
		}
		p.line(6, breaks(byText[w]), where, ": ", clip(w.Place, 160), ": ", clip(w.Text, 240))
	}
}

// distance is 0 when a remark's place is that of a difference, which is written in other words: "body/error/code" and
// "body /error/code" have the JSON Pointer in common.
func distance(remark, difference string) int {
	if remark == difference || pointer(remark) == pointer(difference) && pointer(remark) != "" {
		return 0
	}
	return 1
}

func pointer(place string) string {
	if i := strings.IndexByte(place, '/'); i >= 0 {
		return place[i:]
	}
	return ""
}

// elsewhere writes where else a cause shows: other steps of the scenario, other scenarios.
func (p *page) elsewhere(s *verdict.Scenario, c *cause) {
	var steps, scenarios []string
	for _, spot := range c.also {
		switch {
		case spot.scenario == s:
			steps = append(steps, strconv.Itoa(spot.Line)+" (step "+clip(spot.Step, 40)+")")
		case spot.StepText == c.StepText:
			scenarios = append(scenarios, clip(spot.scenario.ID, 120))
		default:
			scenarios = append(scenarios, clip(spot.scenario.ID, 120)+" ("+clip(spot.StepText, 80)+")")
		}
	}
	if len(c.elements) > 0 {
		p.line(6, "also in ", count(len(c.elements), "element"), ": ", list(pointers(c.elements), ", "))
	}
	if len(steps) > 0 {
		p.line(6, "also at ", count(len(steps), "step"), ": line ", list(steps, ", "))
	}
	if len(scenarios) > 0 {
		p.line(6, "also in ", count(len(scenarios), "scenario"), ": ", list(scenarios, ", "))
	}
}

// pointers returns the JSON Pointers of places.
func pointers(places []string) []string {
	var out []string
	for _, place := range places {
		out = append(out, clip(pointer(place), 80))
	}
	return out
}

// oneLine says what a finding is.
func oneLine(f *verdict.Finding) string {
	where := "step " + clip(f.Step, 40)
	if f.Upstream != "" {
		where = clip(f.StepText, 80)
	}
	if f.Stream != "" {
		where += ", stream " + clip(f.Stream, 60)
	}
	target := clip(f.Target, 60)
	text := fmt.Sprintf("%s: %s: %s", where, clip(f.Place, 120), clip(f.Text, 200))
	switch f.Class {
	case verdict.Difference:
		return fmt.Sprintf("%s: reference %s, %s %s", text, clip(f.Reference, 80), target, clip(f.Candidate, 80))
	case verdict.Violation:
		return fmt.Sprintf("%s: %s breaks the contract", text, target)
	default:
		return fmt.Sprintf("%s: want %s, %s: got %s", text, clip(f.Want, 80), target, clip(f.Got, 80))
	}
}
