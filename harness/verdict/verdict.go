// Package verdict turns what targets did into findings and an answer.
//
// A finding is a difference between reference and candidate, a violation of the contract by one of them, or a shortfall
// of one of them (something it had to do by itself). Each says where, what, and who is outside the contract. Of the
// findings of a scenario comes its verdict:
//
//	differ > unknown > waived > match
//
// and, apart from these, not-applicable, for a scenario that this run has no means for. Waived is a scenario whose findings
// are all accepted, by a waiver or by the baseline.
//
// A scenario that could not be judged is unknown, and unknown is never green: the reference died, a target was never
// there, the scenario asked for something impossible, nothing was compared.
//
// The package is pure: it reads transcripts, rules and a contract.
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

// A Verdict is the answer for a scenario or for a run.
type Verdict string

// The verdicts, worst first.
const (
	Differ  Verdict = "differ"
	Unknown Verdict = "unknown"
	Waived  Verdict = "waived"
	Match   Verdict = "match"
	// NotApplicable is counted apart and decides nothing.
	NotApplicable Verdict = "not-applicable"
)

var severity = map[Verdict]int{Differ: 4, Unknown: 3, Waived: 2, Match: 1, NotApplicable: 0}

// Worse returns the worse of two verdicts.
func Worse(a, b Verdict) Verdict {
	if severity[a] >= severity[b] {
		return a
	}
	return b
}

// A Scenario is the judgement of one scenario.
type Scenario struct {
	ID       string    `json:"id"`
	File     string    `json:"file"`
	Line     int       `json:"line"`
	Why      string    `json:"why"`
	Tags     []string  `json:"tags,omitempty"`
	Verdict  Verdict   `json:"verdict"`
	Reasons  []Reason  `json:"reasons,omitempty"` // why it is unknown
	Findings []Finding `json:"findings,omitempty"`
	// Repeated is set when the scenario was run more than once. All else is about the worst of its runs then.
	Repeated *Repeated `json:"repeated,omitempty"`
	Targets  []Target  `json:"targets"` // what each did, the reference first
	Compared Compared  `json:"compared"`
	// Names are what the ids are called that differences speak of.
	Names  []Name `json:"names,omitempty"`
	Millis int64  `json:"ms"` // how long it took on the slowest target
	// beside is what the check over the whole run looks at, see Constants.
	beside beside
	// Applied are the rules that selected something with any candidate, by what compare.Result calls them.
	Applied []string `json:"-"`
}

// A Name is what two ids are called that stand for each other.
type Name struct {
	Target    string `json:"target"` // the candidate
	Name      string `json:"name"`   // "‹session 2›"
	Reference string `json:"reference"`
	Candidate string `json:"candidate"`
}

// A Reason says why a scenario could not be judged.
type Reason struct {
	Target string   `json:"target,omitempty"`
	Step   string   `json:"step,omitempty"`
	Line   int      `json:"line,omitempty"`
	Text   string   `json:"text"`
	Kind   string   `json:"kind,omitempty"` // of a rule that is refused: a compare.RefusalKind
	Log    []string `json:"log,omitempty"`  // the target's last lines, when they may tell
}

// A Target is what one target did in a scenario.
type Target struct {
	Name      string `json:"name"`
	Exchanges int    `json:"exchanges"`          // answers that came
	Events    int    `json:"events"`             // heartbeats aside
	Success   int    `json:"success"`            // answers with a 2xx status
	Upstream  int    `json:"upstream,omitempty"` // requests that it has sent to stubs
	// Waited is for how many milliseconds of a scenario the machine kept it from going on, when that is worth a word. How long
	// it waited in a whole run is not told: scenarios wait at the same time.
	Waited int64 `json:"waited_ms,omitempty"`
}

// Compared counts pairs.
type Compared struct {
	Exchanges   int            `json:"exchanges"`
	Events      int            `json:"events"`
	NotCompared map[string]int `json:"not_compared,omitempty"` // by reason
	// Unnamed counts answers in which header fields differ that no rule names, by field.
	Unnamed map[string]int `json:"unnamed_headers,omitempty"`
}

// Case is what is judged: a scenario, what the targets did in it, and by which rules.
type Case struct {
	ID, File string
	Line     int
	Why      string
	Tags     []string
	// NotApplicable says why this run has no means for the scenario; "" when it has.
	NotApplicable string
	// Transcripts of the targets: the reference first when Alone is false.
	Transcripts []*transcript.Transcript
	// Alone says that there is no reference: each target is judged by the contract and by the scenario alone.
	Alone    bool
	Rules    *compare.Rules
	Contract *contract.Document
	Accept   *Acceptance // what is accepted; nil: nothing
}

// Judge returns the judgement of a case.
func Judge(c *Case) Scenario {
	j := &judge{
		Case: c, docs: jsontree.NewDocuments(documents(c.Transcripts)),
		out: Scenario{ID: c.ID, File: c.File, Line: c.Line, Why: c.Why, Tags: c.Tags},
	}
	if c.NotApplicable != "" {
		j.out.Verdict, j.out.Reasons = NotApplicable, []Reason{{Text: c.NotApplicable}}
		return j.out
	}
	j.steps, j.veil = stepsOf(c.Transcripts), compare.NewVeil(c.Rules, c.Transcripts...)
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

// judge is a case under judgement.
type judge struct {
	*Case
	docs          *jsontree.Documents // each body is read once, by whomever
	out           Scenario
	steps         map[string]*transcript.Step
	veil          *compare.Veil // over tokens, which nobody is to read
	referenceLost bool
	silences      *contract.Silences
	silent        int // how many differences the contract has been searched for
	placesOf      message
	places        func(place string) bool // of it, that rules speak of
}

// documents returns how many bodies there are, and what is expected of them.
func documents(ts []*transcript.Transcript) int {
	n := 0
	for _, t := range ts {
		for s := range t.AllSteps() {
			n += 2 * len(s.Exchanges)
		}
	}
	return n
}

// stepsOf returns the steps by id, as the first target that has them tells them.
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

// longWait is what is worth a word: few bounds of servers and of scenarios are shorter.
const longWait = time.Second

// count counts what came. Heartbeats do not count: how many come is a matter of the clock, and two runs of the same servers
// would have other numbers.
func count(t *transcript.Transcript, rules *compare.Rules) Target {
	out := Target{Name: t.Target}
	if waited := t.Excuse(0, t.Took, t.Took); waited >= longWait {
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
			if !rules.Beats(s.Name, s.Operation, &s.Events[i]) {
				out.Events++
			}
		}
	}
	return out
}

// reasons collects what keeps a transcript from being judged.
func (j *judge) reasons(t *transcript.Transcript, reference bool) {
	add := func(r Reason) {
		r.Target = t.Target
		r.Text = j.veil.Over(r.Text)
		r.Log = slices.Clone(r.Log)
		for i := range r.Log {
			r.Log[i] = j.veil.Over(r.Log[i])
		}
		j.out.Reasons = append(j.out.Reasons, r)
	}
	switch {
	case t.Unusable != "":
		add(Reason{Text: t.Unusable, Log: t.Log})
		j.referenceLost = j.referenceLost || reference
	case t.Exit != nil && reference:
		add(Reason{Text: "the reference's process ended: " + t.Exit.How(), Log: t.Exit.Log})
		j.referenceLost = true
	case t.Exit != nil: // which is a finding too; but only a reason has the log
		add(Reason{Text: "the process ended: " + t.Exit.Status, Log: t.Exit.Log})
	case t.Aborted != "":
		add(Reason{Text: "cut short: " + t.Aborted})
	}
	for s := range t.AllSteps() {
		if s.Fault != "" {
			add(Reason{Step: s.ID, Line: s.Line, Text: s.Fault})
		}
	}
	for _, u := range compare.Unreadable(t) {
		add(Reason{Step: u.Step, Line: j.steps[u.Step].Line, Text: u.Text})
	}
}

// findings collects what the case shows.
func (j *judge) findings() {
	violations := make([][]contract.Violation, len(j.Transcripts))
	for i, t := range j.Transcripts {
		if t.Unusable != "" {
			continue
		}
		violations[i] = j.Contract.CheckAnswers(j.docs, t)
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
		labels := map[string][]string{} // of events, by stream
		for _, s := range t.Streams {
			labels[s.Name] = j.Rules.Labels(s)
		}
		for _, v := range violations[i] {
			j.add(j.violation(i, v, labels[v.Stream]))
		}
		for _, s := range compare.ShortfallsWith(j.docs, t, j.Rules) {
			j.add(j.shortfall(i, s))
		}
	}
	j.trace()
	j.traceIDs()
	slices.SortStableFunc(j.out.Findings, func(a, b Finding) int { return a.order(b) })
	if n := len(j.out.Findings); n > mostFindings {
		j.out.Findings = slices.Clip(j.out.Findings[:mostFindings])
		j.out.Reasons = append(j.out.Reasons, Reason{Text: fmt.Sprintf("%d findings; those beyond the first %d are left out", n, mostFindings)})
	}
	for i := range j.out.Findings {
		f := &j.out.Findings[i]
		f.At = j.at(f)
		j.conceal(f)
		j.Accept.accept(f)
	}
}

// mostFindings bounds what is said of one scenario: a server that floods a stream with what nobody declared must not
// fill the reports as well.
const mostFindings = 1000

func (j *judge) compare(i int, ref, cand []contract.Violation) {
	t := j.Transcripts[i]
	if t.Unusable != "" {
		return
	}
	result := compare.TranscriptsWith(j.docs, j.Transcripts[0], t, j.Rules)
	j.out.Compared.Exchanges += result.Exchanges
	j.out.Compared.Events += result.Events
	j.out.Compared.addUnnamed(result.Unnamed)
	for reason, n := range result.NotCompared {
		if j.out.Compared.NotCompared == nil {
			j.out.Compared.NotCompared = map[string]int{}
		}
		j.out.Compared.NotCompared[reason] += n
	}
	j.rules(&result)
	j.keepBeside(i, result.Beside)
	for _, n := range result.Names {
		j.out.Names = append(j.out.Names, Name{t.Target, n.Name, n.Reference, n.Candidate})
	}
	for _, d := range result.Differences {
		j.add(j.difference(i, d, [2][]contract.Violation{relevant(d, result.Differences, ref, cand, 0), relevant(d, result.Differences, cand, ref, 1)}))
	}
}

// rules notes which rules have applied, and why some are refused: what they silence was never looked at.
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
	j.locate(&f)
	j.out.Findings = append(j.out.Findings, f)
}

// locate says where in the script a finding is.
func (j *judge) locate(f *Finding) {
	f.Scenario = j.ID
	if s := j.steps[f.Step]; s != nil {
		f.Line, f.StepText, f.Operation = s.Line, s.Text, j.operation(f, s)
	}
	if f.Upstream = j.upstream(f.Step); f.Upstream != "" {
		f.Operation, f.while = "", j.during(f)
	}
}

// operation returns what the contract calls the request that a finding is about.
func (j *judge) operation(f *Finding, s *transcript.Step) string {
	for _, t := range j.Transcripts {
		for _, stream := range t.Streams {
			if f.Stream != "" && stream.Name == f.Stream {
				return stream.Operation
			}
		}
	}
	if len(s.Exchanges) == 0 {
		return ""
	}
	request := &s.Exchanges[0].Request
	if op, ok := j.Contract.Operation(request.Method, request.Target); ok {
		return op.String()
	}
	return ""
}

// conceal hides tokens wherever a finding has one.
func (j *judge) conceal(f *Finding) {
	if j.veil == nil {
		return
	}
	for _, text := range [...]*string{&f.Place, &f.Text, &f.Reference, &f.Candidate, &f.Want, &f.Got, &f.At} {
		*text = j.veil.Over(*text)
	}
	f.Contract = slices.Clone(f.Contract)
	for i := range f.Contract {
		f.Contract[i].Place, f.Contract[i].Text = j.veil.Over(f.Contract[i].Place), j.veil.Over(f.Contract[i].Text)
	}
}

// conclude draws the verdict.
func (j *judge) conclude() {
	j.out.Reasons = append(j.out.Reasons, j.blind()...)
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
	case len(j.out.Findings) > 0:
		j.out.Verdict = Waived
	default:
		j.out.Verdict = Match
	}
}

func answers(targets []Target) int {
	n := 0
	for _, t := range targets {
		n += t.Exchanges
	}
	return n
}

// String describes a reason in one line.
func (r Reason) String() string {
	s := r.Text
	if r.Step != "" {
		s = fmt.Sprintf("step %s: %s", r.Step, s)
	}
	if r.Target != "" {
		s = r.Target + ": " + s
	}
	return s
}
