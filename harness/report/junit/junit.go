// Package junit writes a judged run as the XML that CI servers read.
package junit

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Write writes a run as the XML that CI servers read: a suite for each folder, a case for each scenario.
//
//   - differ is a failure: its type is the kind of the first finding, its text what the terminal shows, without colour;
//   - unknown is an error, with the targets' last lines as system-out;
//   - waived is skipped, with the waivers' ids as its message and the accepted findings as system-out;
//   - not-applicable is skipped;
//   - a suite whose cases differ has a property "blame", which counts how often each target breaks the contract, or neither;
//   - stale waivers are a failure of the case "waivers" in the suite "lockstep";
//   - less coverage than demanded is a failure of the case "coverage" there;
//   - a run that is incomplete, or judged nothing, has a suite "lockstep" with one case "run", which is an error:
//     what was not judged is never green.
//
// It uses only what the schema of Jenkins' xUnit plugin (junit-10.xsd) contains and GitLab reads. Names are those of
// folders and scenarios. There is no hostname, because it does not matter where a run happened.
func Write(w io.Writer, doc *report.Document) error {
	out := newSuites(doc)
	for i := range doc.Scenarios {
		s := &doc.Scenarios[i]
		out.suite(folder(s.ID)).add(newCase(doc, s))
	}
	out.blame(doc.Blame)
	own := func(c testcase) {
		c.Class, c.Time = "lockstep", xmlSeconds(0)
		out.suite("lockstep").add(c)
	}
	if message := unjudged(doc); message != "" {
		own(testcase{Name: "run", Error: &outcome{"incomplete", message, message}})
	}
	if message := report.StaleWaivers(doc); message != "" {
		own(testcase{Name: "waivers", Failure: &outcome{"stale", message, message}})
	}
	if message := report.MissedCoverage(doc); message != "" {
		own(testcase{Name: "coverage", Failure: &outcome{"coverage", message, text.Gate(doc)}})
	}
	return out.write(w)
}

// suites is the root element.
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

// A suite is a folder.
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

// A testcase is a scenario.
type testcase struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	Time    string   `xml:"time,attr"`
	Failure *outcome `xml:"failure"`
	Error   *outcome `xml:"error"`
	Skipped *outcome `xml:"skipped"`
	Log     *cdata   `xml:"system-out"`

	millis int64
}

// An outcome says why a case did not pass.
type outcome struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Text    string `xml:",cdata"`
}

type cdata struct {
	Text string `xml:",cdata"`
}

func newSuites(doc *report.Document) *suites {
	return &suites{
		Name: "lockstep", Time: xmlSeconds(doc.Millis), byName: map[string]*suite{},
		timestamp: doc.Started.UTC().Format("2006-01-02T15:04:05"), properties: properties(doc),
	}
}

// properties say how to repeat the run.
func properties(doc *report.Document) []property {
	out := []property{
		{"lockstep", textfit.Visible(doc.Version)},
		{"seed", strconv.FormatUint(doc.Seed, 10)},
		{"jobs", strconv.Itoa(doc.Jobs)},
		{"project", textfit.Visible(doc.Project)},
		{"contract", cmp.Or(textfit.Visible(doc.Contract), report.NoContract)},
	}
	for i, name := range report.TargetNames(doc) {
		role := report.Role(doc, i)
		if i > 1 {
			role += "-" + strconv.Itoa(i) // names of properties are unique
		}
		out = append(out, property{role, name})
	}
	if text := report.Repeated(doc.Scenarios); text != "" {
		out = append(out, property{"repeated", text})
	}
	if text := report.NotRun(doc.Scenarios); text != "" {
		out = append(out, property{"not-run", text})
	}
	if owners := report.OwnersUnchecked(doc); len(owners) > 0 {
		out = append(out, property{"port-owner", strings.Join(owners, "; ")})
	}
	return out
}

func (out *suites) suite(name string) *suite {
	s := out.byName[name]
	if s == nil {
		s = &suite{Name: textfit.Visible(name), Timestamp: out.timestamp, Properties: out.properties}
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

// blame states for each suite which targets break the contract in its cases.
func (out *suites) blame(cells verdict.BlameMatrix) {
	for _, s := range out.Suites {
		text := cells.Filter(func(scenario string) bool { return textfit.Visible(folder(scenario)) == s.Name }).String()
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

// folder returns the folder of a scenario. The name of a table row may contain slashes, too.
func folder(id string) string {
	base, _, _ := strings.Cut(id, "[")
	if i := strings.LastIndexByte(base, '/'); i > 0 {
		return base[:i]
	}
	return "scenarios"
}

func newCase(doc *report.Document, s *verdict.Scenario) testcase {
	c := testcase{Name: textfit.Visible(s.ID), Class: textfit.Visible(folder(s.ID)), Time: xmlSeconds(s.Millis), millis: s.Millis}
	switch s.Verdict {
	case verdict.Match:
	case verdict.Waived:
		c.Skipped, c.Log = &outcome{Message: acceptedBy(s)}, acceptedLog(s)
	case verdict.Differ:
		c.Failure = &outcome{failureType(s), message(s), text.Scenario(doc, s)}
	case verdict.NotApplicable:
		c.Skipped = &outcome{Message: report.WhyNotMatch(s)}
	default:
		c.Error = &outcome{"unknown", message(s), text.Scenario(doc, s)}
		c.Log = logs(s)
	}
	return c
}

// message says why a scenario is red, and whether it always was when it ran several times.
func message(s *verdict.Scenario) string {
	if again := report.Steadiness(s); again != "" {
		return again + ": " + report.WhyNotMatch(s)
	}
	return report.WhyNotMatch(s)
}

func failureType(s *verdict.Scenario) string {
	findings := report.Unaccepted(s)
	if len(findings) == 0 {
		return "differ"
	}
	return textfit.Clip(findings[0].Kind, 60)
}

// logs returns the last lines of the targets that a reason is about.
func logs(s *verdict.Scenario) *cdata {
	var b strings.Builder
	for _, r := range s.Reasons {
		for _, line := range r.Log {
			b.WriteString("\n" + textfit.Clip(r.Target, 60) + ": " + textfit.Clip(strings.ReplaceAll(line, "\t", "    "), 1000))
		}
	}
	if b.Len() == 0 {
		return nil
	}
	return &cdata{b.String() + "\n"}
}

// acceptedBy names what accepts the findings of a scenario: "waived: W-0001, W-0002", "known: in the baseline".
func acceptedBy(s *verdict.Scenario) string {
	var ids []string
	known := false
	for i := range s.Findings {
		f := &s.Findings[i]
		if id := textfit.Clip(f.Waiver, 60); f.Waiver != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		known = known || f.Known
	}
	switch {
	case len(ids) == 0:
		return "known: in the baseline"
	case known:
		return "waived: " + textfit.List(ids, ", ") + ", and known: in the baseline"
	default:
		return "waived: " + textfit.List(ids, ", ")
	}
}

// acceptedLog lists the accepted findings, and what accepts each.
func acceptedLog(s *verdict.Scenario) *cdata {
	var b strings.Builder
	for i := range s.Findings {
		by := "known"
		if f := &s.Findings[i]; f.Waiver != "" {
			by = "waiver " + textfit.Clip(f.Waiver, 20)
		}
		b.WriteString("\n" + by + ": " + report.OneLine(&s.Findings[i]))
	}
	return &cdata{b.String() + "\n"}
}

// unjudged says what no case can say: that the run is incomplete, or judged nothing.
func unjudged(doc *report.Document) string {
	switch {
	case doc.Incomplete != "":
		return textfit.Clip(doc.Incomplete, 600)
	case doc.Verdict == verdict.Unknown && doc.Totals.Unknown == 0:
		return "nothing was judged"
	default:
		return ""
	}
}

func xmlSeconds(millis int64) string { return fmt.Sprintf("%d.%03d", millis/1000, millis%1000) }
