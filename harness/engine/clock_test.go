package engine_test

import (
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/html"
	"github.com/lockstep-dev/lockstep/harness/report/jsonreport"
	"github.com/lockstep-dev/lockstep/harness/report/junit"
	"github.com/lockstep-dev/lockstep/harness/report/markdown"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// heartbeats is the report's reason for not comparing heartbeats.
const heartbeats = "heartbeats, which are checked for their cadence"

// excusedBeats is the report's reason for accepting heartbeats on a busy machine.
const excusedBeats = "heartbeats that were out of time by no more than the machine was busy"

// ofTheClock lists the report fields that depend on the clock, as docs/ci.md does, and how to clear each of them.
var ofTheClock = []struct {
	field string
	clear func(*report.Document)
}{
	{"started", func(d *report.Document) { d.Started = time.Time{} }},
	{"ms", func(d *report.Document) { d.Millis = 0 }},
	{"scenarios[].ms", func(d *report.Document) {
		for i := range d.Scenarios {
			d.Scenarios[i].Millis = 0
		}
	}},
	{"latency", func(d *report.Document) { d.Latency = nil }},
	{`scenarios[].compared.not_compared["` + heartbeats + `"]`, func(d *report.Document) {
		for i := range d.Scenarios {
			noBeats(&d.Scenarios[i].Compared, heartbeats)
		}
	}},
	{`totals.compared.not_compared["` + heartbeats + `"]`, func(d *report.Document) { noBeats(&d.Totals.Compared, heartbeats) }},
	{`scenarios[].compared.not_compared["` + excusedBeats + `"]`, func(d *report.Document) {
		for i := range d.Scenarios {
			noBeats(&d.Scenarios[i].Compared, excusedBeats)
		}
	}},
	{`totals.compared.not_compared["` + excusedBeats + `"]`, func(d *report.Document) { noBeats(&d.Totals.Compared, excusedBeats) }},
	{"coverage.operations[].statuses[].media[].stream.events[].reached", func(d *report.Document) {
		for _, op := range d.Coverage.Operations {
			for _, s := range op.Statuses {
				for _, m := range s.Media {
					for i := 0; m.Stream != nil && i < len(m.Stream.Events); i++ {
						if e := &m.Stream.Events[i]; e.Name == "ping" { // only heartbeats depend on the clock
							e.Reached = 0
						}
					}
				}
			}
		}
	}},
}

func noBeats(c *verdict.Compared, reason string) {
	delete(c.NotCompared, reason)
	if len(c.NotCompared) == 0 {
		c.NotCompared = nil
	}
}

// formats are the reports that a run writes in addition to its run file.
var formats = map[string]func(io.Writer, *report.Document) error{
	"report.json": jsonreport.Write, "report.html": html.Write, "junit.xml": junit.Write,
	"summary.md": func(w io.Writer, d *report.Document) error { return markdown.Write(w, d, 256<<10) },
}

// timeless returns the reports of a run without what depends on the clock. They also lack generated ids and times, and
// the evidence, which consists of such values.
func timeless(t *testing.T, p *project.Project, result *engine.Result) map[string]string {
	t.Helper()
	d, err := jsonreport.Read(strings.NewReader(document(t, p, result))) // a copy, which has no evidence
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range ofTheClock {
		c.clear(d)
	}
	out := map[string]string{}
	for name, write := range formats {
		var text strings.Builder
		if err := write(&text, d); err != nil {
			t.Fatal(err)
		}
		out[name] = text.String()
		for what, made := range renewed {
			out[name] = made.ReplaceAllString(out[name], what)
		}
	}
	return out
}

// renewed are the values that servers generate again in each run.
var renewed = map[string]*regexp.Regexp{
	"‹id›": regexp.MustCompile(`itm_[0-9a-f]{20}`), "‹time›": regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z`),
}

func TestTheGuideListsWhatTheClockDecides(t *testing.T) {
	text := testfile.Text(t, "../../docs/ci.md")
	_, section, _ := strings.Cut(text, "\n### What the clock decides\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var want, got []string
	for _, c := range ofTheClock {
		want = append(want, c.field)
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(section, -1) {
		got = append(got, row[1])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/ci.md lists other fields (-clock +docs):\n%s", diff)
	}
}
