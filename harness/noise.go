package harness

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/archive"
)

// NoiseOptions say how the noise of a target is measured. Nil is all defaults.
type NoiseOptions struct {
	// Targets are two servers that are of one kind, as Options names them; the project's reference, twice, when empty.
	Targets []string
	Runs    int // 5 when 0
	Select  Selection
	Jobs    int
	Environ []string
	Log     *slog.Logger
	// Progress is called when a run is over.
	Progress func(run, of int)
}

// Noise is what differs between two servers that are the same.
type Noise struct {
	Target    string
	Runs      int
	Scenarios int         // results, of all runs
	Rules     []NoiseRule // that the evidence supports; each was tried, and leaves nothing to say of its place
	Rest      []NoiseRest // what no rule for a place can help against
	Times     []NoiseTime // rules about times that hold as well, and demand more
	Beats     []NoiseBeat // heartbeats that a rule could demand when their streams open
	Unknown   int         // results that could not be judged
	// Incomplete says why there are fewer runs than were asked for; "" when there are not.
	Incomplete string
}

// Silent reports whether nothing was found.
func (n *Noise) Silent() bool { return len(n.Rules)+len(n.Rest) == 0 }

// A NoiseRule is a volatile rule, and what speaks for it.
type NoiseRule struct {
	scenario.Volatile
	Differ, Of int       // so many of so many values
	Example    [2]string // as JSON
	Places     []string  // "items/story step 3", each once
}

// A NoiseRest is a finding that occurs so often.
type NoiseRest struct {
	Times  int
	Text   string
	Places []string
}

// Noise runs a target against itself several times, and says which rules would silence what differs. It silences nothing.
//
// For each place that differs, in the order of their length, rules are tried from the strictest to the loosest: a time in one
// of the units, an id, a number, a text, as far as the values speak for it. The first holds that leaves nothing to say of the place in all runs.
func (p *Project) Noise(ctx context.Context, options *NoiseOptions) (*Noise, error) {
	var o NoiseOptions
	if options != nil {
		o = *options
	}
	o.Runs = cmp.Or(o.Runs, 5)
	if len(o.Targets) == 0 {
		o.Targets = []string{p.Reference, p.Reference}
	}
	if len(o.Targets) != 2 {
		return nil, &UsageError{"noise takes two targets that are the same", "name none, for the reference, or two"}
	}
	name, _, _ := strings.Cut(o.Targets[0], "=")
	s := &survey{project: p, out: &Noise{Target: name}, shuffled: map[string]bool{}}
	for n := range o.Runs {
		var file bytes.Buffer
		r, err := p.Run(ctx, &Options{
			Targets: o.Targets, Reference: name, Select: o.Select, Jobs: o.Jobs, Environ: o.Environ, Log: o.Log, RunFile: &file,
		})
		switch {
		case err != nil:
			return nil, err
		case r.Incomplete != "":
			s.out.Incomplete = fmt.Sprintf("run %d of %d: %s", n+1, o.Runs, r.Incomplete)
		default:
			if err := s.take(&file); err != nil {
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

// A survey goes through what was observed, again and again.
type survey struct {
	project *Project
	out     *Noise
	cases   []*Case
	loud    []*Case // those that there is something to say of
	rules   []scenario.Volatile
	runs    []int // of each case
	// shuffled are the lists that come in another order each time: "$.data[*]".
	shuffled map[string]bool
}

func (s *survey) take(file *bytes.Buffer) error {
	record, err := s.project.ReadRun(file)
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
			s.loud = append(s.loud, c)
			s.shuffle(c)
		}
	}
	return nil
}

// judge judges a case by the project's rules and by more.
func (s *survey) judge(c *Case, more []scenario.Volatile) verdict.Scenario {
	p := *s.project
	p.Rules.Volatile = slices.Concat(p.Rules.Volatile, s.rules, more)
	return p.judgeRun(c, false, nil)
}

// A suspect is a member whose values differ, wherever it stands.
type suspect struct {
	key      string // the member's name, or a whole path
	paths    []string
	findings []*verdict.Finding
	cases    []*Case // of each finding
	numbers  bool    // all values are
	recurs   bool    // one value stands in several places
}

func (s *survey) conclude() {
	suspects := s.suspects(nil)
	order := slices.SortedFunc(maps.Values(suspects), func(a, b *suspect) int {
		return cmp.Or(cmp.Compare(len(a.findings[0].Reference), len(b.findings[0].Reference)), cmp.Compare(a.key, b.key))
	})
	for _, first := range order { // an id comes before the texts that have it in them, and explains them
		if now := s.suspects(nil)[first.key]; now != nil {
			s.settle(now)
		}
	}
	s.prune()
	s.rest()
	s.times()
	s.beats()
}

// suspects returns what differs when more rules hold.
func (s *survey) suspects(more []scenario.Volatile) map[string]*suspect {
	out := map[string]*suspect{}
	for _, c := range s.loud {
		seen := map[string]bool{}
		v := s.judge(c, more)
		for i := range v.Findings {
			f := &v.Findings[i]
			key, path, ok := placeOf(f)
			if !ok || s.shuffledAt(f) != "" || strings.Contains(f.Place, "⟨") { // no path goes into what is encoded
				continue
			}
			it := out[key]
			if it == nil {
				it = &suspect{key: key, numbers: true}
				out[key] = it
			}
			if !slices.Contains(it.paths, path) {
				it.paths = append(it.paths, path)
			}
			it.findings, it.cases = append(it.findings, f), append(it.cases, c)
			it.numbers = it.numbers && isNumber(f.Reference) && isNumber(f.Candidate)
			it.recurs = it.recurs || seen[key+" "+f.Reference]
			seen[key+" "+f.Reference] = true
		}
	}
	return out
}

// settle finds the strictest rule that leaves nothing to say of a suspect.
func (s *survey) settle(it *suspect) {
	at := it.paths[0]
	if len(it.paths) > 1 {
		at = "$.." + strings.TrimPrefix(it.key, ".")
	}
	for _, rule := range s.candidates(it, at) {
		trial := []scenario.Volatile{rule}
		if s.suspects(trial)[it.key] != nil {
			continue
		}
		s.rules = append(s.rules, rule)
		s.out.Rules = append(s.out.Rules, NoiseRule{
			Volatile: rule, Differ: len(it.findings), Of: s.values(at),
			Example: [2]string{it.findings[0].Reference, it.findings[0].Candidate}, Places: placesOf(it.findings),
		})
		return
	}
}

// prune takes back what later rules have made needless.
func (s *survey) prune() {
	for i := len(s.rules) - 1; i >= 0; i-- {
		all := s.rules
		s.rules = slices.Delete(slices.Clone(all), i, i+1)
		if len(s.suspects(nil)) > s.left(all) {
			s.rules = all
			continue
		}
		s.out.Rules = slices.Delete(s.out.Rules, i, i+1)
	}
}

// left counts what differs when these rules hold, and no others.
func (s *survey) left(rules []scenario.Volatile) int {
	before := s.rules
	defer func() { s.rules = before }()
	s.rules = rules
	return len(s.suspects(nil))
}

// candidates are the rules that are tried for a suspect, the strictest first.
func (s *survey) candidates(it *suspect, at string) []scenario.Volatile {
	const because = "two servers of one kind differ in it"
	var out []scenario.Volatile
	for _, near := range it.nears() {
		for _, unit := range []compare.Unit{compare.RFC3339, compare.Seconds, compare.Milliseconds, compare.Microseconds, compare.Nanoseconds} {
			out = append(out, scenario.Volatile{At: at, Kind: scenario.VolatileTime, Unit: string(unit), Near: near, Because: because})
		}
	}
	id := scenario.Volatile{At: at, Kind: scenario.VolatileID, Because: because}
	switch {
	case !it.numbers && !it.wordy():
		return out // a sentence, or a word that is somebody's: what differs in it is not all that it says
	case !it.numbers:
		return append(out, id, scenario.Volatile{At: at, Kind: scenario.VolatileText, Because: because})
	}
	number := scenario.Volatile{At: at, Kind: scenario.VolatileNumber, Tolerance: scenario.Tolerance{Amount: it.tolerance()}, Because: because}
	if s.identifies(it) {
		return append(out, id, number)
	}
	return append(out, number) // a number that never comes again is no id, however well it could be bound
}

// nears are how far a time may lie from the moment it was seen, the strictest first. What has the shape of a time may lie
// far off, and be right.
func (it *suspect) nears() []time.Duration {
	const day = 24 * time.Hour
	for _, f := range it.findings {
		for _, text := range [2]string{f.Reference, f.Candidate} {
			if _, _, ok := compare.ReadTime(strings.Trim(text, `"`)); !ok {
				return []time.Duration{time.Minute}
			}
		}
	}
	return []time.Duration{time.Minute, day, 31 * day, 366 * day}
}

// tolerance is twice the distance that was seen, in a number that is short.
func (it *suspect) tolerance() string {
	most := 0.0
	for _, f := range it.findings {
		a, _ := strconv.ParseFloat(f.Reference, 64)
		b, _ := strconv.ParseFloat(f.Candidate, 64)
		most = max(most, math.Abs(a-b))
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(2*most, 'e', 0, 64), 64)
	return strconv.FormatFloat(short, 'f', -1, 64)
}

// values counts what stands at a path on the reference's side.
func (s *survey) values(at string) int {
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
				count([]byte(stream.Events[i].Data))
			}
		}
	}
	return n
}

// rest collects what is left when all rules hold.
func (s *survey) rest() {
	at := map[string]int{}
	for _, c := range s.loud {
		v := s.judge(c, nil)
		if v.Verdict == verdict.Unknown {
			s.out.Unknown++
		}
		for i := range v.Findings {
			f := &v.Findings[i]
			key, text := string(f.Class)+f.Kind+f.At, f.String()
			if list := s.shuffledAt(f); list != "" {
				key, text = list, orderOf(list)
			} else if name, _, ok := placeOf(f); ok && !oneWord.MatchString(strings.Trim(f.Reference, `"`)) {
				key, text = name, text+": it differs in "+parted(f.Reference, f.Candidate)+", whose shape may be named in ids"
			}
			n, known := at[key]
			if !known {
				n = len(s.out.Rest)
				at[key] = n
				s.out.Rest = append(s.out.Rest, NoiseRest{Text: text})
			}
			it := &s.out.Rest[n]
			it.Times++
			if place := placeText(f); !slices.Contains(it.Places, place) {
				it.Places = append(it.Places, place)
			}
		}
	}
}

func placesOf(all []*verdict.Finding) []string {
	var out []string
	for _, f := range all {
		if place := placeText(f); !slices.Contains(out, place) {
			out = append(out, place)
		}
	}
	return out
}

func placeText(f *verdict.Finding) string { return f.Scenario + " step " + f.Step }

// placeOf returns the member that a finding is about, and the path to it in its document; ok is false where no rule for
// values can help.
func placeOf(f *verdict.Finding) (key, path string, ok bool) {
	switch compare.Kind(f.Kind) {
	case compare.ValueDiffers, compare.IdentityBroken, compare.IDForm:
	default:
		return "", "", false
	}
	return pathOf(f)
}

// pathOf returns the member that a finding about a document stands at, and the path to it.
func pathOf(f *verdict.Finding) (key, path string, ok bool) {
	_, pointer, ok := strings.Cut(f.Place, " /")
	if f.Class != verdict.Difference || !ok || !strings.HasPrefix(f.Place, "body") && !strings.Contains(f.Place, " data /") && (f.Upstream == "" || !strings.Contains(f.Place, " body /")) {
		return "", "", false
	}
	if _, after, isEvent := strings.Cut(f.Place, " data /"); isEvent {
		pointer = after
	}
	path = "$"
	for token := range strings.SplitSeq(pointer, "/") {
		step := pathStep(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
		path += step
		key = step
	}
	if key == "[*]" {
		key = path // of an element, which has no name
	}
	return key, path, true
}

var (
	listIndex = regexp.MustCompile(`^(0|[1-9]\d*)$`)
	plain     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// pathStep is a step of a JSONPath: any element of a list, or a member.
func pathStep(token string) string {
	switch {
	case listIndex.MatchString(token):
		return "[*]"
	case plain.MatchString(token):
		return "." + token
	default:
		return "['" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(token) + "']"
	}
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}
