package report

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// JUnit writes a run as the XML that CI servers read: a suite for each folder, a case for each scenario.
//
//   - differ is a failure: its type is the kind of the first finding, its text what the terminal shows, without colour;
//   - unknown is an error, with the targets' last lines as system-out;
//   - waived is skipped, with the waivers' ids as its message and the findings that are accepted as system-out;
//   - not-applicable is skipped;
//   - a suite has a property "blame" that counts who is outside the contract where its cases differ, and where not;
//   - waivers that are stale are a failure of the case "waivers" in the suite "lockstep";
//   - less coverage than is demanded is a failure of the case "coverage" there;
//   - a run that is incomplete, or judged nothing, has a suite "lockstep" with one case "run", which is an error:
//     what was not judged is never green.
//
// It uses nothing but what the schema of Jenkins' xUnit plugin (junit-10.xsd) has, and GitLab reads. Names are those of
// folders and scenarios. There is no hostname: where a run happened is not what it found.
func JUnit(w io.Writer, doc *Document) error {
	out := newSuites(doc)
	for i := range doc.Scenarios {
		s := &doc.Scenarios[i]
		out.suite(folder(s.ID)).add(newCase(doc, s))
	}
	out.blame(doc.Blame)
	if text := unjudged(doc); text != "" {
		out.suite("lockstep").add(testcase{
			Name: "run", Class: "lockstep", Time: xmlSeconds(0),
			Error: &outcome{Type: "incomplete", Message: text, Text: text},
		})
	}
	if text := outworn(doc); text != "" {
		out.suite("lockstep").add(testcase{
			Name: "waivers", Class: "lockstep", Time: xmlSeconds(0), Failure: &outcome{"stale", text, text},
		})
	}
	if text := shortfallOfCoverage(doc); text != "" {
		out.suite("lockstep").add(testcase{
			Name: "coverage", Class: "lockstep", Time: xmlSeconds(0), Failure: &outcome{"coverage", text, gateText(doc)},
		})
	}
	return out.write(w)
}

// gateText is what the terminal shows of coverage that is too small.
func gateText(doc *Document) string {
	p := &page{doc: doc}
	p.gap()
	p.gate()
	return p.String()
}

// suites is the root.
type suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Time     string   `xml:"time,attr"`
	Suites   []*suite `xml:"testsuite"`

	byName     map[string]*suite
	timestamp  string
	properties []property
}

// suite is a folder.
type suite struct {
	Name       string     `xml:"name,attr"`
	Tests      int        `xml:"tests,attr"`
	Failures   int        `xml:"failures,attr"`
	Errors     int        `xml:"errors,attr"`
	Skipped    int        `xml:"skipped,attr"`
	Time       string     `xml:"time,attr"`
	Timestamp  string     `xml:"timestamp,attr"`
	Properties []property `xml:"properties>property"`
	Cases      []testcase `xml:"testcase"`

	millis int64
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// testcase is a scenario.
type testcase struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	Time    string   `xml:"time,attr"`
	Failure *outcome `xml:"failure"`
	Error   *outcome `xml:"error"`
	Skipped *outcome `xml:"skipped"`
	Log     *text    `xml:"system-out"`

	millis int64
}

// outcome is why a case is not well.
type outcome struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Text    string `xml:",cdata"`
}

type text struct {
	Text string `xml:",cdata"`
}

func newSuites(doc *Document) *suites {
	return &suites{
		Name: "lockstep", Time: xmlSeconds(doc.Millis), byName: map[string]*suite{},
		timestamp: doc.Started.UTC().Format("2006-01-02T15:04:05"), properties: properties(doc),
	}
}

// properties say how to repeat the run.
func properties(doc *Document) []property {
	out := []property{
		{"lockstep", visible(doc.Version)},
		{"seed", strconv.FormatUint(doc.Seed, 10)},
		{"jobs", strconv.Itoa(doc.Jobs)},
		{"project", visible(doc.Project)},
		{"contract", visible(doc.Contract)},
	}
	for i, name := range targetNames(doc) {
		role := doc.role(i)
		if i > 1 {
			role += "-" + strconv.Itoa(i) // names of properties are unique
		}
		out = append(out, property{role, name})
	}
	if text := repeated(doc.Scenarios); text != "" {
		out = append(out, property{"repeated", text})
	}
	if owners := ownersUnchecked(doc); len(owners) > 0 {
		out = append(out, property{"port-owner", strings.Join(owners, "; ")})
	}
	return out
}

func (out *suites) suite(name string) *suite {
	s := out.byName[name]
	if s == nil {
		s = &suite{Name: visible(name), Timestamp: out.timestamp, Properties: out.properties}
		out.byName[name] = s
		out.Suites = append(out.Suites, s)
	}
	return s
}

func (s *suite) add(c testcase) {
	s.Cases = append(s.Cases, c)
	s.millis += c.millis
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}

// blame says of each suite who is outside the contract in its cases.
func (out *suites) blame(cells verdict.Cells) {
	for _, s := range out.Suites {
		text := cells.Of(func(scenario string) bool { return visible(folder(scenario)) == s.Name }).String()
		if text != "" {
			s.Properties = append(slices.Clip(s.Properties), property{"blame", text})
		}
	}
}

func (out *suites) write(w io.Writer) error {
	for _, s := range out.Suites {
		s.Time = xmlSeconds(s.millis)
		out.Tests += s.Tests
		out.Failures += s.Failures
		out.Errors += s.Errors
	}
	b := bufio.NewWriterSize(w, 1<<16)
	b.WriteString(xml.Header)
	e := xml.NewEncoder(b)
	e.Indent("", "  ")
	if err := e.Encode(out); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	b.WriteByte('\n')
	return b.Flush()
}

// folder is where a scenario is; rows of a table have names of their own.
func folder(id string) string {
	base, _, _ := strings.Cut(id, "[")
	if i := strings.LastIndexByte(base, '/'); i > 0 {
		return base[:i]
	}
	return "scenarios"
}

func newCase(doc *Document, s *verdict.Scenario) testcase {
	c := testcase{Name: visible(s.ID), Class: visible(folder(s.ID)), Time: xmlSeconds(s.Millis), millis: s.Millis}
	switch s.Verdict {
	case verdict.Match:
	case verdict.Waived:
		c.Skipped, c.Log = &outcome{Message: acceptedBy(s)}, acceptances(s)
	case verdict.Differ:
		c.Failure = &outcome{failureType(s), byChance(s) + brief(s), blockText(doc, s)}
	case verdict.NotApplicable:
		c.Skipped = &outcome{Message: brief(s)}
	default:
		c.Error = &outcome{"unknown", byChance(s) + brief(s), blockText(doc, s)}
		c.Log = logs(s)
	}
	return c
}

func failureType(s *verdict.Scenario) string {
	findings := open(s)
	if len(findings) == 0 {
		return "differ"
	}
	return clip(findings[0].Kind, 60)
}

// blockText is what the terminal shows of a scenario when it is the only one.
func blockText(doc *Document, s *verdict.Scenario) string {
	p := &page{doc: doc}
	p.gap()
	for _, b := range newPlan([]verdict.Scenario{*s}, false).blocks {
		p.block(b)
	}
	return p.String()
}

// logs are the last lines of the targets that are in doubt.
func logs(s *verdict.Scenario) *text {
	p := &page{}
	for _, r := range s.Reasons {
		for _, line := range r.Log {
			p.line(0, clip(r.Target, 60), ": ", clip(strings.ReplaceAll(line, "\t", "    "), 1000))
		}
	}
	if p.Len() == 0 {
		return nil
	}
	return &text{"\n" + p.String()}
}

// acceptedBy names what accepts the findings of a scenario: "waived: W-0001, W-0002", "known: in the baseline".
func acceptedBy(s *verdict.Scenario) string {
	var ids []string
	known := false
	for i := range s.Findings {
		f := &s.Findings[i]
		if id := clip(f.Waiver, 60); f.Waiver != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		known = known || f.Known
	}
	switch {
	case len(ids) == 0:
		return "known: in the baseline"
	case known:
		return "waived: " + list(ids, ", ") + ", and known: in the baseline"
	default:
		return "waived: " + list(ids, ", ")
	}
}

// acceptances are the findings that are accepted, and by what.
func acceptances(s *verdict.Scenario) *text {
	p := &page{}
	for i := range s.Findings {
		by := "known"
		if f := &s.Findings[i]; f.Waiver != "" {
			by = "waiver " + clip(f.Waiver, 20)
		}
		p.line(0, by, ": ", oneLine(&s.Findings[i]))
	}
	return &text{"\n" + p.String()}
}

// unjudged says what no case says: that the run did not come to its end, or to anything.
func unjudged(doc *Document) string {
	switch {
	case doc.Incomplete != "":
		return clip(doc.Incomplete, 600)
	case doc.Verdict == verdict.Unknown && doc.Totals.Unknown == 0:
		return "nothing was judged"
	default:
		return ""
	}
}

func xmlSeconds(millis int64) string { return fmt.Sprintf("%d.%03d", millis/1000, millis%1000) }
