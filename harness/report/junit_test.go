package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/junit"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

func TestEveryRunIsJUnitAsServersReadIt(t *testing.T) {
	for _, run := range append(runs, nothing) {
		t.Run(run.name, func(t *testing.T) {
			if err := dialect(readJUnit(t, run.doc())); err != nil {
				t.Error(err)
			}
		})
	}
}

// junitSuites has the parts of JUnit that the tests read.
type junitSuites struct {
	junitCounts
	Suites []struct {
		junitCounts
		Name       string `xml:"name,attr"`
		Properties []struct {
			Name  string `xml:"name,attr"`
			Value string `xml:"value,attr"`
		} `xml:"properties>property"`
		Cases []struct {
			Name    string        `xml:"name,attr"`
			Failure *junitOutcome `xml:"failure"`
			Error   *junitOutcome `xml:"error"`
			Skipped *junitOutcome `xml:"skipped"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

type junitCounts struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
}

type junitOutcome struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",cdata"`
}

func suitesOf(t *testing.T, doc *report.Document) (out junitSuites) {
	t.Helper()
	if err := xml.Unmarshal(readJUnit(t, doc), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func readJUnit(t *testing.T, doc *report.Document) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := junit.Write(&b, doc); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestJUnitIsRedWhenTheRunIsNotGreen(t *testing.T) {
	for _, run := range append(runs, nothing) {
		doc := run.doc()
		got := suitesOf(t, doc)
		if red, want := got.Failures+got.Errors > 0, doc.Verdict != verdict.Match; red != want {
			t.Errorf("%s: %d failures and %d errors for the verdict %s", run.name, got.Failures, got.Errors, doc.Verdict)
		}
	}
}

func TestTheTextOfAFailureSurvivesXML(t *testing.T) {
	const sent = "]]> <script> & '&amp;"
	doc := document(scenario("a/b", step(3, "1", "GET /", difference("value", "body", "the values differ", sent+"1", sent+"2"))))
	got := suitesOf(t, doc)
	if text := got.Suites[0].Cases[0].Failure.Text; !strings.Contains(text, sent+"1") || !strings.Contains(text, sent+"2") {
		t.Errorf("the failure's text does not have %q:\n%s", sent, text)
	}
}

func TestThePropertiesNameEveryTarget(t *testing.T) {
	doc := document()
	doc.Totals.Targets = []verdict.Target{{Name: "typescript"}, {Name: "go"}, {Name: "rust"}}
	got := map[string]string{}
	for _, p := range suitesOf(t, doc).Suites[0].Properties {
		got[p.Name] = p.Value
	}
	for name, want := range map[string]string{"reference": "typescript", "candidate": "go", "candidate-2": "rust", "seed": "4503599627370497", "lockstep": "0.1.0"} {
		if got[name] != want {
			t.Errorf("property %s: %q, want %q", name, got[name], want)
		}
	}
}

func TestAFailureIsDescribedInOneLine(t *testing.T) {
	missing := difference("event-missing", "event 3 (done)", "the candidate does not send done", "done", "—")
	missing.Stream = "bus"
	for want, f := range map[string]verdict.Finding{
		"step 2: status: the statuses differ: reference 200, go 404":                                 difference("status", "status", "the statuses differ", "200", "404"),
		"step 2, stream bus: event 3 (done): the candidate does not send done: reference done, go —": missing,
		"step 2: body: the number 7: go breaks the contract":                                         violation("go", "type", "body", "the number 7", "", 9),
		"step 2: event: it did not come: want done, go: got nothing":                                 shortfall("go", "event-awaited", "event", "it did not come", "done", "nothing"),
	} {
		f = step(9, "2", "GET /", f)
		if got := report.OneLine(&f); got != want {
			t.Errorf("oneLine: %q, want %q", got, want)
		}
	}
}

// dialect checks XML against junit-10.xsd of Jenkins' xUnit plugin, and against its own counts.
func dialect(doc []byte) error {
	d := xml.NewDecoder(bytes.NewReader(doc))
	var open []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return miscounted(doc)
		}
		if err != nil {
			return err
		}
		switch tok := token.(type) {
		case xml.StartElement:
			parent := ""
			if len(open) > 0 {
				parent = open[len(open)-1]
			}
			if err := element(parent, tok); err != nil {
				return err
			}
			open = append(open, tok.Name.Local)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if parent := strings.Join(open, "/"); len(bytes.TrimSpace(tok)) > 0 && !elements[open[len(open)-1]].text {
				return errors.New("text in " + parent)
			}
		}
	}
}

// elements are the allowed elements, with their parents and attributes.
var elements = map[string]struct {
	in, required, optional []string
	text                   bool
}{
	"testsuites": {in: []string{""}, optional: []string{"name", "time", "tests", "failures", "errors"}},
	"testsuite":  {in: []string{"testsuites"}, required: []string{"name", "tests", "failures", "errors"}, optional: []string{"time", "skipped", "timestamp"}},
	"properties": {in: []string{"testsuite"}},
	"property":   {in: []string{"properties"}, required: []string{"name", "value"}},
	"testcase":   {in: []string{"testsuite"}, required: []string{"name"}, optional: []string{"time", "classname"}},
	"failure":    {in: []string{"testcase"}, optional: []string{"type", "message"}, text: true},
	"error":      {in: []string{"testcase"}, optional: []string{"type", "message"}, text: true},
	"skipped":    {in: []string{"testcase"}, optional: []string{"type", "message"}, text: true},
	"system-out": {in: []string{"testcase"}, text: true},
}

// element checks that one element is allowed in its parent and has the right attributes.
func element(parent string, start xml.StartElement) error {
	name := start.Name.Local
	e, ok := elements[name]
	if !ok || !slices.Contains(e.in, parent) {
		return errors.New("<" + name + "> in <" + parent + ">")
	}
	has := map[string]bool{}
	for _, a := range start.Attr {
		has[a.Name.Local] = true
		if !slices.Contains(e.required, a.Name.Local) && !slices.Contains(e.optional, a.Name.Local) {
			return errors.New("<" + name + " " + a.Name.Local + ">")
		}
		if a.Name.Local == "time" && !junitTime.MatchString(a.Value) {
			return errors.New("time is " + a.Value)
		}
	}
	for _, a := range e.required {
		if !has[a] {
			return errors.New("<" + name + "> without " + a)
		}
	}
	return nil
}

// junitTime is stricter than the schema's SUREFIRE_TIME.
var junitTime = regexp.MustCompile(`^[0-9]+\.[0-9]{3}$`)

// miscounted checks whether a document counts its cases correctly.
func miscounted(doc []byte) error {
	var got junitSuites
	if err := xml.Unmarshal(doc, &got); err != nil {
		return err
	}
	tests, failures, errs := 0, 0, 0
	for _, s := range got.Suites {
		again := junitCounts{Tests: len(s.Cases)}
		for _, c := range s.Cases {
			switch {
			case c.Failure != nil:
				again.Failures++
			case c.Error != nil:
				again.Errors++
			case c.Skipped != nil:
				again.Skipped++
			}
		}
		if again != s.junitCounts {
			return errors.New("suite " + s.Name + " counts its cases wrong")
		}
		tests, failures, errs = tests+s.Tests, failures+s.Failures, errs+s.Errors
	}
	if tests != got.Tests || failures != got.Failures || errs != got.Errors {
		return errors.New("the suites are counted wrong")
	}
	return nil
}
