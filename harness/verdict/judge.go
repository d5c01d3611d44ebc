package verdict

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A Case is what is judged: a scenario, what the targets did in it, and the rules.
type Case struct {
	ID, File string
	Line     int
	Why      string
	Tags     []string
	// NotApplicable says why this run cannot run the scenario, or is "".
	NotApplicable string
	// Transcripts of the targets: the reference first when Alone is false.
	Transcripts []*transcript.Transcript
	// Alone means that there is no reference. Each target is judged only by the contract and by the scenario.
	Alone    bool
	Rules    *compare.Rules
	Contract *contract.Document
	Accept   *Acceptance // what is accepted; nil means nothing
}

func Judge(c *Case) Scenario {
	j := &judge{
		Case: c, docs: jsontree.NewDocuments(documents(c.Transcripts)),
		out: Scenario{ID: c.ID, File: c.File, Line: c.Line, Why: c.Why, Tags: c.Tags},
	}
	if c.NotApplicable != "" {
		j.out.Verdict, j.out.Reasons = NotApplicable, []Reason{{Text: c.NotApplicable}}
		return j.out
	}
	j.script = script{c.ID, c.Transcripts, c.Rules, c.Contract, stepsOf(c.Transcripts)}
	j.masker = compare.NewMasker(c.Rules, c.Transcripts...)
	j.gaps = gapFinder{contract: c.Contract, masker: j.masker}
	j.declared = declaredPlaces{rules: c.Rules}
	for i, t := range c.Transcripts {
		j.out.Targets = append(j.out.Targets, count(t, c.Rules))
		j.out.Millis = max(j.out.Millis, t.Took.Milliseconds())
		j.reasons(t, i == 0 && !c.Alone)
	}
	if !j.referenceLost {
		j.findings()
	}
	j.conclude()
	return j.out
}

// A judge is a case that is being judged.
type judge struct {
	*Case
	docs          *jsontree.Documents // parses each body once
	out           Scenario
	script        script
	masker        *compare.Masker // hides tokens
	referenceLost bool
	gaps          gapFinder
	declared      declaredPlaces
}

// documents estimates the number of bodies, and of expected documents.
func documents(ts []*transcript.Transcript) int {
	n := 0
	for _, t := range ts {
		for s := range t.AllSteps() {
			n += 2 * len(s.Exchanges)
		}
	}
	return n
}

// stepsOf returns the steps by id, each from the first target that has it.
func stepsOf(ts []*transcript.Transcript) map[string]*transcript.Step {
	steps := map[string]*transcript.Step{}
	for _, t := range ts {
		for s := range t.AllSteps() {
			if steps[s.ID] == nil {
				steps[s.ID] = s
			}
		}
	}
	return steps
}

// minReportedWait is the shortest wait that is reported. Few limits of servers and of scenarios are shorter.
const minReportedWait = time.Second

// count counts what a target received and sent. Heartbeats do not count, because their number depends on the clock: two
// runs of the same servers would have different numbers.
func count(t *transcript.Transcript, rules *compare.Rules) Target {
	out := Target{Name: t.Target}
	if waited := t.MachineDelay(0, t.Took, t.Took); waited >= minReportedWait {
		out.Waited = waited.Milliseconds()
	}
	for i := range t.Steps {
		for _, x := range t.Steps[i].Exchanges {
			if x.Response == nil {
				continue
			}
			out.Exchanges++
			if x.Response.Status/100 == 2 {
				out.Success++
			}
		}
	}
	for i := range t.Upstream {
		out.Upstream += len(t.Upstream[i].Exchanges)
	}
	for _, s := range t.Streams {
		for i := range s.Events {
			if !rules.Outside(s.Name, s.Operation, &s.Events[i]) {
				out.Events++
			}
		}
	}
	return out
}

// findings collects the findings of the case.
func (j *judge) findings() {
	violations := make([][]contract.Violation, len(j.Transcripts))
	for i, t := range j.Transcripts {
		if t.Unusable != "" {
			continue
		}
		violations[i] = j.Contract.CheckResponses(j.docs, t)
	}
	if !j.Alone {
		for i := 1; i < len(j.Transcripts); i++ {
			j.compare(i, violations[0], violations[i])
		}
	}
	for i, t := range j.Transcripts {
		if t.Unusable != "" {
			continue
		}
		labels := map[string][]string{} // labels of events, by stream
		for _, s := range t.Streams {
			labels[s.Name] = j.Rules.Labels(s)
		}
		for _, v := range violations[i] {
			j.add(j.violation(i, v, labels[v.Stream]))
		}
		for _, s := range compare.AllUnmet(j.docs, t, j.Rules) {
			j.add(j.unmet(i, s))
		}
	}
	orderAfterFailures(j.Transcripts, j.out.Findings)
	orderAfterWrongIDs(j.Transcripts, j.out.Findings)
	slices.SortStableFunc(j.out.Findings, func(a, b Finding) int { return a.order(b) })
	if n := len(j.out.Findings); n > maxFindings {
		j.out.Findings = slices.Clip(j.out.Findings[:maxFindings])
		j.out.Reasons = append(j.out.Reasons, Reason{Text: fmt.Sprintf("%d findings; only the first %d are listed", n, maxFindings)})
	}
	for i := range j.out.Findings {
		f := &j.out.Findings[i]
		f.At = j.script.findingAt(f)
		j.mask(f)
		j.Accept.accept(f)
	}
}

// maxFindings limits the findings of one scenario. A server that floods a stream with undeclared events must not fill
// the reports as well.
const maxFindings = 1000

func (j *judge) compare(i int, ref, cand []contract.Violation) {
	t := j.Transcripts[i]
	if t.Unusable != "" {
		return
	}
	result := compare.Transcripts(j.docs, j.Transcripts[0], t, j.Rules)
	j.out.Compared.add(&Compared{result.Exchanges, result.Events, result.NotCompared, result.Unnamed})
	j.rules(&result)
	j.recordAssumed(i, result.Assumed)
	for _, n := range result.Names {
		j.out.Names = append(j.out.Names, Name{t.Target, n.Name, n.Reference, n.Candidate})
	}
	for _, d := range result.Differences {
		j.add(j.difference(i, d, [2][]contract.Violation{relevantViolations(d, result.Differences, ref, cand, 0), relevantViolations(d, result.Differences, cand, ref, 1)}))
	}
}

// rules records which rules have applied, and why some are refused: what they cover was never compared.
func (j *judge) rules(result *compare.Result) {
	for _, rule := range slices.Sorted(maps.Keys(result.Applied)) {
		if !slices.Contains(j.out.Applied, rule) {
			j.out.Applied = append(j.out.Applied, rule)
		}
	}
	for _, r := range result.Refused {
		reason := Reason{Text: r.String(), Kind: string(r.Kind)}
		if !slices.ContainsFunc(j.out.Reasons, func(o Reason) bool { return o.Text == reason.Text }) {
			j.out.Reasons = append(j.out.Reasons, reason)
		}
	}
}

func (j *judge) add(f Finding) {
	j.script.locate(&f)
	j.out.Findings = append(j.out.Findings, f)
}

// mask hides tokens in all texts of a finding.
func (j *judge) mask(f *Finding) {
	if j.masker == nil {
		return
	}
	for _, text := range [...]*string{&f.Place, &f.Text, &f.Reference, &f.Candidate, &f.Want, &f.Got, &f.At} {
		*text = j.masker.Mask(*text)
	}
	f.Contract = slices.Clone(f.Contract)
	for i := range f.Contract {
		f.Contract[i].Place, f.Contract[i].Text = j.masker.Mask(f.Contract[i].Place), j.masker.Mask(f.Contract[i].Text)
	}
}

// conclude decides the verdict.
func (j *judge) conclude() {
	j.out.Reasons = append(j.out.Reasons, j.emptySelections()...)
	pairs := j.out.Compared.Exchanges + j.out.Compared.Events
	switch {
	case slices.ContainsFunc(j.out.Findings, func(f Finding) bool { return !f.Accepted() }):
		j.out.Verdict = Differ
	case len(j.out.Reasons) > 0:
		j.out.Verdict = Unknown
	case !j.Alone && pairs == 0:
		j.out.Verdict = Unknown
		j.out.Reasons = append(j.out.Reasons, Reason{Text: "nothing was compared"})
	case j.Alone && answers(j.out.Targets) == 0:
		j.out.Verdict = Unknown
		j.out.Reasons = append(j.out.Reasons, Reason{Text: "no target answered"})
	case j.Alone && j.Contract.IsAbsent() && !slices.ContainsFunc(j.Transcripts, demands):
		j.out.Verdict = Unknown
		j.out.Reasons = append(j.out.Reasons, Reason{Text: "nothing was judged: there is one target, no contract, and no expectation"})
	case len(j.out.Findings) > 0:
		j.out.Verdict = Waived
	default:
		j.out.Verdict = Match
	}
}

// demands reports whether a scenario demanded anything of a target: an expectation, an event, or that none comes.
func demands(t *transcript.Transcript) bool {
	for s := range t.AllSteps() {
		if s.Expect != nil || len(s.Events) > 0 {
			return true
		}
	}
	return len(t.Windows) > 0
}

func answers(targets []Target) int {
	n := 0
	for _, t := range targets {
		n += t.Exchanges + t.Events // a program has no exchanges
	}
	return n
}
