package report_test

import (
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/contract/specgap"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// The examples in the guide are exactly what lockstep writes.
func TestTheGuideIsTrue(t *testing.T) {
	guide := testfile.Text(t, "../../docs/reports.md")
	for name, example := range map[string]string{
		"a green run":               shown(t, guideGreen(), text.Options{}),
		"what differs":              firstBlock(shown(t, guideRed(), text.Options{})),
		"what is unknown":           firstBlock(shown(t, guideUnknown(), text.Options{})),
		"the beginning of the JSON": strings.SplitAfter(string(written(t, guideRed())), "\"verdict\": \"differ\",\n")[0],
		"a finding as JSON":         firstFinding(string(written(t, guideRed()))),
	} {
		if !strings.Contains(guide, example) {
			t.Errorf("docs/reports.md does not show %s as it is:\n%s", name, example)
		}
	}
}

// firstBlock returns the first block of a text report.
func firstBlock(text string) string {
	_, text, _ = strings.Cut(text, "\n\n")
	text, _, _ = strings.Cut(text, "\n\n")
	return text + "\n"
}

// firstFinding returns the first finding of a report.
func firstFinding(text string) string {
	_, text, _ = strings.Cut(text, `"findings": [`)
	text, _, _ = strings.Cut(text, "\n        },")
	return text
}

func guideGreen() *report.Document {
	d := document(scenario("a"))
	d.Totals = verdict.Totals{
		Match:    72,
		Targets:  []verdict.Target{{Name: "typescript", Exchanges: 412, Tally: transcript.Tally{Events: 84}, Success: 363}, {Name: "go", Exchanges: 412, Tally: transcript.Tally{Events: 84}, Success: 363}},
		Compared: verdict.Compared{Exchanges: 412, Tally: transcript.Tally{Events: 84}, NotCompared: map[string]int{"heartbeats, which are checked for their cadence": 12}},
	}
	d.Coverage = fullCoverage()
	d.Coverage.Operations[0].Statuses[2].Reached = 0
	return d
}

func guideRed() *report.Document {
	blank := difference("value", "body /0/description", "the values differ", `"Adds two numbers"`, "\"Adds two\u00a0numbers\"")
	blank.Fingerprint = "b1a6c02e"
	blank.SpecGap = &specgap.Gap{
		Schema: "#/components/schemas/ClientToolDefinition/properties/description", Line: 501, Admits: "type: string", Pin: "an enum, a pattern or a format",
	}
	tools := "GET /client-tools/tools/c-1"
	registered := difference("value", "body /registered/0", "the values differ", `"client_c-1_add"`, `"c-1_add"`, verdict.Remark{
		Target: "go", Place: "body/registered/0", Text: `"c-1_add" does not match the pattern ^client_`,
		Schema: "#/components/schemas/ToolID", Line: 587,
	})
	registered.Fingerprint, registered.At = "8d1f0c2a", "POST /client-tools/register: body /registered/0"
	d := document(
		scenario("client-tools/register",
			step(9, "1", "POST /client-tools/register", registered),
			step(33, "5", tools, blank), step(41, "7", tools, blank), step(48, "9", tools, blank),
		),
		scenario("client-tools/list", step(3, "1", tools, blank)),
		scenario("client-tools/odd-ids[slash]", step(3, "1", tools, blank)),
	)
	d.Evidence = map[string]*report.Evidence{"client-tools/register": {Findings: []report.FindingEvidence{
		{Source: &report.Source{9, 5, "  - http: POST /client-tools/register"}}, {Source: &report.Source{33, 5, "  - http: " + tools}},
	}}}
	return d
}

func guideUnknown() *report.Document {
	var scenarios []verdict.Scenario
	for _, id := range []string{"client-tools/execute", "client-tools/list", "client-tools/register", "events/resume"} {
		s := scenario(id)
		s.Verdict, s.Why = verdict.Unknown, "A client calls a tool of another."
		s.Reasons = []verdict.Reason{{
			Target: "go", Text: `start target "go": wait for /status: the process ended: exit status 1`,
			Log: []string{"stderr: listen tcp 127.0.0.1:3000: bind: address already in use"},
		}}
		scenarios = append(scenarios, s)
	}
	return document(scenarios...)
}
