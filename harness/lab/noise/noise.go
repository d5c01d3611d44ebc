// Package noise measures what differs between two servers of one kind, and finds the strictest rules that accept it.
package noise

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/internal/archive"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Options say how the noise of a target is measured. Nil means all defaults.
type Options struct {
	// Targets are two servers of one kind, as in engine.Options. When empty, it is the project's reference, twice.
	Targets []string
	Runs    int // 0 means 5
	Select  project.Selection
	Jobs    int
	Environ []string
	Log     *slog.Logger
	// Progress is called after each run.
	Progress func(run, of int)
}

// A Report says what differs between two servers of one kind.
type Report struct {
	Target    string
	Runs      int
	Scenarios int         // number of results in all runs
	Rules     []Rule      // each accepts the differences at its place in all runs
	Rest      []Remainder // findings that no rule for a place accepts
	Times     []TimeRule  // stricter rules about times, which held in all runs
	Beats     []Heartbeat // heartbeats that a rule could demand when their streams open
	Unknown   int         // number of results that could not be judged
	Broken    int         // violations of the contract that both servers have in every run: they are no noise
	// Incomplete says why there are fewer runs than requested; "" when there are enough.
	Incomplete string
}

// Silent reports whether nothing was found.
func (n *Report) Silent() bool { return len(n.Rules)+len(n.Rest) == 0 }

// A Rule is a volatile rule with its evidence.
type Rule struct {
	scenario.Volatile
	Differ, Of int       // Differ of Of values differ
	Example    [2]string // as JSON
	Places     []string  // "items/story step 3", without repetition
}

// A Remainder is a finding that no rule accepts, and how often it occurred.
type Remainder struct {
	Times  int
	Text   string
	Places []string
}

// Measure runs a target against itself several times, and reports which rules would accept the differences. It changes
// no rules.
//
// For each place that differs, the shortest values first, it tries the rules that suit the values, from the strictest
// to the loosest: a time in one of the units, an id, a number, a text. It takes the first rule that accepts all
// differences at the place in all runs.
func Measure(ctx context.Context, p *project.Project, options *Options) (*Report, error) {
	var o Options
	if options != nil {
		o = *options
	}
	o.Runs = cmp.Or(o.Runs, 5)
	if len(o.Targets) == 0 {
		o.Targets = []string{p.Reference, p.Reference}
	}
	if len(o.Targets) != 2 {
		return nil, &project.UsageError{What: "noise needs two equal targets", Fix: "name two, or none to run the reference twice"}
	}
	name, _, _ := strings.Cut(o.Targets[0], "=")
	s := &measurement{project: p, out: &Report{Target: name}, reordered: map[string]bool{}}
	for n := range o.Runs {
		var file bytes.Buffer
		r, err := engine.Run(ctx, p, &engine.Options{
			Targets: o.Targets, Reference: name, Select: o.Select, Jobs: o.Jobs, Environ: o.Environ, Log: o.Log, RunFile: &file,
		})
		switch {
		case err != nil:
			return nil, err
		case r.Incomplete != "":
			s.out.Incomplete = fmt.Sprintf("run %d of %d: %s", n+1, o.Runs, r.Incomplete)
		default:
			if err := s.addRun(&file); err != nil {
				return nil, err
			}
			s.out.Runs++
		}
		if o.Progress != nil {
			o.Progress(n+1, o.Runs)
		}
		if s.out.Incomplete != "" {
			break
		}
	}
	s.conclude()
	return s.out, nil
}

// A measurement judges the observations again and again.
type measurement struct {
	project   *project.Project
	out       *Report
	cases     []*runfile.Case
	differing []*runfile.Case // cases with findings
	rules     []scenario.Volatile
	runs      []int // the run of each case
	// reordered are the lists that have another order each time: "$.data[*]".
	reordered map[string]bool
}

func (s *measurement) addRun(file *bytes.Buffer) error {
	record, err := runfile.Read(s.project, file)
	if err != nil {
		return err
	}
	for _, c := range record.Cases {
		if c.NotApplicable != "" {
			continue
		}
		s.out.Scenarios++
		s.cases = append(s.cases, c)
		s.runs = append(s.runs, s.out.Runs)
		if v := s.judge(c, nil); v.Verdict != verdict.Match {
			s.differing = append(s.differing, c)
			s.findReordered(c)
		}
	}
	return nil
}

// judge judges a case by the project's rules and by more rules.
func (s *measurement) judge(c *runfile.Case, more []scenario.Volatile) verdict.Scenario {
	p := *s.project
	p.Rules.Volatile = slices.Concat(p.Rules.Volatile, s.rules, more)
	return engine.JudgeRun(&p, c, false, nil)
}

// A differingMember is a member of JSON objects whose values differ, with all of its paths.
type differingMember struct {
	key      string // the member's name, or a whole path
	paths    []string
	findings []*verdict.Finding
	cases    []*runfile.Case // the case of each finding
	numbers  bool            // all values are numbers
	repeated bool            // one value occurs in several places
}

func (s *measurement) conclude() {
	suspects := s.differingMembers(nil)
	order := slices.SortedFunc(maps.Values(suspects), func(a, b *differingMember) int {
		return cmp.Or(cmp.Compare(len(a.findings[0].Reference), len(b.findings[0].Reference)), cmp.Compare(a.key, b.key))
	})
	for _, first := range order { // an id comes before the texts that contain it, because it explains them
		if now := s.differingMembers(nil)[first.key]; now != nil {
			s.findRule(now)
		}
	}
	s.dropRedundantRules()
	s.collectRest()
	s.times()
	s.firstBeats()
}

// differingMembers returns what still differs with more rules.
func (s *measurement) differingMembers(more []scenario.Volatile) map[string]*differingMember {
	out := map[string]*differingMember{}
	for _, c := range s.differing {
		seen := map[string]bool{}
		v := s.judge(c, more)
		for i := range v.Findings {
			f := &v.Findings[i]
			key, path, ok := placeOf(f)
			if !ok || s.reorderedListAt(f) != "" || diff.IsInside(f.Place) { // no path leads into an encoded value
				continue
			}
			it := out[key]
			if it == nil {
				it = &differingMember{key: key, numbers: true}
				out[key] = it
			}
			if !slices.Contains(it.paths, path) {
				it.paths = append(it.paths, path)
			}
			it.findings, it.cases = append(it.findings, f), append(it.cases, c)
			it.numbers = it.numbers && isNumber(f.Reference) && isNumber(f.Candidate)
			it.repeated = it.repeated || seen[key+" "+f.Reference]
			seen[key+" "+f.Reference] = true
		}
	}
	return out
}

// findRule finds the strictest rule that accepts the differences of a member.
func (s *measurement) findRule(it *differingMember) {
	at := it.paths[0]
	if len(it.paths) > 1 {
		at = "$.." + strings.TrimPrefix(it.key, ".")
	}
	for _, rule := range s.candidateRules(it, at) {
		trial := []scenario.Volatile{rule}
		if s.differingMembers(trial)[it.key] != nil {
			continue
		}
		s.rules = append(s.rules, rule)
		s.out.Rules = append(s.out.Rules, Rule{
			Volatile: rule, Differ: len(it.findings), Of: s.countValues(at),
			Example: [2]string{it.findings[0].Reference, it.findings[0].Candidate}, Places: placesOf(it.findings),
		})
		return
	}
}

// dropRedundantRules removes the rules that later rules have made unnecessary.
func (s *measurement) dropRedundantRules() {
	for i := len(s.rules) - 1; i >= 0; i-- {
		all, differing := s.rules, len(s.differingMembers(nil))
		s.rules = slices.Delete(slices.Clone(all), i, i+1)
		if len(s.differingMembers(nil)) > differing {
			s.rules = all
			continue
		}
		s.out.Rules = slices.Delete(s.out.Rules, i, i+1)
	}
}

// candidateRules returns the rules that are tried for a member, the strictest first.
func (s *measurement) candidateRules(it *differingMember, at string) []scenario.Volatile {
	const because = "two equal servers differ in it"
	var out []scenario.Volatile
	for _, near := range it.timeWindows() {
		for _, unit := range []ident.Unit{ident.RFC3339, ident.Seconds, ident.Milliseconds, ident.Microseconds, ident.Nanoseconds} {
			out = append(out, scenario.Volatile{At: at, Kind: scenario.VolatileTime, Unit: string(unit), Near: near, Because: because})
		}
	}
	id := scenario.Volatile{At: at, Kind: scenario.VolatileID, Because: because}
	switch {
	case !it.numbers && !it.looksLikeIDs():
		return out // for a sentence or a word, ignoring the whole text would hide too much
	case !it.numbers:
		return append(out, id, scenario.Volatile{At: at, Kind: scenario.VolatileText, Because: because})
	}
	number := scenario.Volatile{At: at, Kind: scenario.VolatileNumber, Tolerance: scenario.Tolerance{Amount: it.tolerance()}, Because: because}
	if s.isNumericID(it) {
		return append(out, id, number)
	}
	return append(out, number) // a number that occurs only once is not an id, even if it could be bound
}

// timeWindows returns how far a time may be from the moment at which it was seen, the strictest first. A value that has
// the form of a time may be far from it and still be right.
func (it *differingMember) timeWindows() []time.Duration {
	const day = 24 * time.Hour
	for _, f := range it.findings {
		for _, text := range [2]string{f.Reference, f.Candidate} {
			if _, _, ok := jsondiff.ReadTime(strings.Trim(text, `"`)); !ok {
				return []time.Duration{time.Minute}
			}
		}
	}
	return []time.Duration{time.Minute, day, 31 * day, 366 * day}
}

// tolerance returns twice the largest distance, rounded to a short number.
func (it *differingMember) tolerance() string {
	most := 0.0
	for _, f := range it.findings {
		a, _ := strconv.ParseFloat(f.Reference, 64)
		b, _ := strconv.ParseFloat(f.Candidate, 64)
		most = max(most, math.Abs(a-b))
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(2*most, 'e', 0, 64), 64)
	return strconv.FormatFloat(short, 'f', -1, 64)
}

// countValues counts the values at a path on the reference's side.
func (s *measurement) countValues(at string) int {
	path, err := jsonpath.Parse(at)
	if err != nil {
		return 0
	}
	n := 0
	count := func(text []byte) {
		var value any
		if json.Unmarshal(text, &value) == nil {
			n += len(path.Select(value))
		}
	}
	for _, c := range s.cases {
		t := c.Transcripts[0]
		for i := range t.Steps {
			for _, x := range t.Steps[i].Exchanges {
				if x.Response != nil {
					count(archive.Content(x.Response.Header.ContentType(), x.Response.Body.Bytes))
				}
			}
		}
		for i := range t.Upstream {
			for _, x := range t.Upstream[i].Exchanges {
				count(x.Request.Body.Bytes)
			}
		}
		for _, stream := range t.Streams {
			for i := range stream.Events {
				if !stream.Events[i].Sent {
					count([]byte(stream.Events[i].Data))
				}
			}
		}
	}
	return n
}

// A violation is what two equal findings about different targets, or of different runs, have in common.
type violation struct{ scenario, step, kind, stream, place string }

func violationOf(f *verdict.Finding) violation {
	return violation{f.Scenario, f.Step, f.Kind, f.Stream, f.Place}
}

// sharedViolations returns the violations that both targets have in all runs.
func sharedViolations(verdicts []verdict.Scenario, runs int) map[violation]bool {
	times := map[violation]int{}
	for _, v := range verdicts {
		targets := map[violation]string{}
		for i := range v.Findings {
			f := &v.Findings[i]
			if f.Class != verdict.Violation {
				continue
			}
			switch first, known := targets[violationOf(f)]; {
			case !known:
				targets[violationOf(f)] = f.Target
			case first != "" && first != f.Target:
				targets[violationOf(f)] = "" // counted
				times[violationOf(f)]++
			}
		}
	}
	out := map[violation]bool{}
	for of, n := range times {
		if n == runs {
			out[of] = true
		}
	}
	return out
}

// collectRest collects what still differs with all rules.
func (s *measurement) collectRest() {
	at := map[string]int{}
	var verdicts []verdict.Scenario
	for _, c := range s.differing {
		verdicts = append(verdicts, s.judge(c, nil))
	}
	broken := sharedViolations(verdicts, s.out.Runs)
	s.out.Broken = len(broken)
	for _, v := range verdicts {
		if v.Verdict == verdict.Unknown {
			s.out.Unknown++
		}
		for i := range v.Findings {
			f := &v.Findings[i]
			if f.Class == verdict.Violation && broken[violationOf(f)] {
				continue
			}
			key, text := string(f.Class)+f.Kind+f.At, f.String()
			if list := s.reorderedListAt(f); list != "" {
				key, text = list, reorderedText(list)
			} else if name, _, ok := placeOf(f); ok && !oneWord.MatchString(strings.Trim(f.Reference, `"`)) {
				key, text = name, text+": it differs in "+differingWords(f.Reference, f.Candidate)+", whose shape may be named in ids"
			}
			n, known := at[key]
			if !known {
				n = len(s.out.Rest)
				at[key] = n
				s.out.Rest = append(s.out.Rest, Remainder{Text: text})
			}
			it := &s.out.Rest[n]
			it.Times++
			if place := placeText(f); !slices.Contains(it.Places, place) {
				it.Places = append(it.Places, place)
			}
		}
	}
}
