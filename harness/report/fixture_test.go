package report_test

import (
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/harness/contract/specgap"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/harness/verdict/baseline"
)

// runs are the runs that the golden files show.
var runs = []struct {
	name string
	doc  func() *report.Document
}{
	{"green", green},
	{"red", red},
	{"unknown", unjudgedRun},
	{"alone", alone},
	{"interrupted", interrupted},
	{"waived", waivedRun},
	{"hostile", hostile},
	{"gated", gated},
}

// document returns a run of these scenarios.
func document(scenarios ...verdict.Scenario) *report.Document {
	d := &report.Document{
		Version: "0.1.0", Started: time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC), Millis: 12345,
		Seed: 4503599627370497, Jobs: 8, Project: "lockstep.yaml", Contract: "openapi.yaml",
	}
	for _, s := range scenarios {
		d.Add(s)
	}
	d.Coverage = aCoverage()
	d.Conclude()
	return d
}

func scenario(id string, findings ...verdict.Finding) verdict.Scenario {
	s := verdict.Scenario{
		ID: id, File: "scenarios/" + id + ".yaml", Line: 2, Why: "A client registers its tools and finds them again.",
		Verdict: verdict.Match, Findings: findings, Millis: 321,
		Targets: []verdict.Target{
			{Name: "typescript", Exchanges: 8, Tally: transcript.Tally{Events: 3}, Success: 7},
			{Name: "go", Exchanges: 8, Tally: transcript.Tally{Events: 3}, Success: 7},
		},
		Compared: verdict.Compared{Exchanges: 8, Tally: transcript.Tally{Events: 2}, NotCompared: map[string]int{
			"heartbeats, which are checked for their cadence": 1,
		}},
	}
	if len(findings) > 0 {
		s.Verdict = verdict.Differ
	}
	for i := range s.Findings {
		s.Findings[i].Scenario = id
	}
	return s
}

// step sets the step of a finding.
func step(line int, id, text string, f verdict.Finding) verdict.Finding {
	f.Line, f.Step, f.StepText = line, id, text
	return f
}

func difference(kind, place, text, reference, candidate string, words ...verdict.Remark) verdict.Finding {
	f := verdict.Finding{
		Class: verdict.Difference, Kind: kind, Target: "go", Place: place, Text: text,
		Reference: reference, Candidate: candidate, Blame: verdict.BlameNobody, Contract: words,
	}
	for _, w := range words {
		switch side := map[bool]verdict.Blame{true: verdict.BlameCandidate, false: verdict.BlameReference}[w.Target == "go"]; f.Blame {
		case verdict.BlameNobody:
			f.Blame = side
		case side:
		default:
			f.Blame = verdict.BlameBoth
		}
	}
	return f
}

func violation(target, kind, place, text, schema string, line int) verdict.Finding {
	blame := verdict.BlameCandidate
	if target == "typescript" {
		blame = verdict.BlameReference
	}
	return verdict.Finding{
		Class: verdict.Violation, Kind: kind, Target: target, Place: place, Text: text, Blame: blame,
		Contract: []verdict.Remark{{Target: target, Place: place, Text: text, Schema: schema, Line: line}},
	}
}

func shortfall(target, kind, place, text, want, got string) verdict.Finding {
	return verdict.Finding{
		Class: verdict.Unmet, Kind: kind, Target: target, Place: place, Text: text, Want: want, Got: got,
		Blame: verdict.BlameCandidate,
	}
}

func aCoverage() coverage.Coverage {
	return coverage.Coverage{
		Operations: []coverage.Operation{
			{ID: "register", Method: "POST", Path: "/client-tools/register", Reached: 12, Statuses: []coverage.Status{
				{Status: "200", Reached: 10, Media: []coverage.Media{{Type: "application/json", Reached: 10}}},
				{Status: "400", Reached: 2, Media: []coverage.Media{{Type: "application/json", Reached: 2}}},
				{Status: "413"},
			}, Line: 39, Requests: []coverage.Media{{Type: "application/json", Reached: 12}}},
			{ID: "event", Method: "GET", Path: "/event", Reached: 4, Statuses: []coverage.Status{
				{Status: "200", Reached: 4, Media: []coverage.Media{{Type: "text/event-stream", Reached: 4, Stream: &coverage.Stream{
					Described: true,
					Events:    []coverage.Event{{Name: "server.connected", Reached: 4}, {Name: "client-tool.failed"}},
				}}}},
			}},
			{ID: "unregister", Method: "DELETE", Path: "/client-tools/unregister", Statuses: []coverage.Status{{Status: "200"}}},
		},
		Schemas: []coverage.Schema{
			{Schema: "#/components/schemas/RegisterResult", Line: 560, In: coverage.Responses, Properties: []coverage.Point{{Name: "registered", Line: 564, Seen: true}}},
			{Schema: "#/components/schemas/ClientToolResult", Line: 833, In: coverage.Responses, Properties: []coverage.Point{{Name: "metadata", Line: 846}, {Name: "title", Line: 841, Seen: true}}},
			{Schema: "#/components/schemas/ClientToolResult/properties/status", Line: 838, In: coverage.Responses, Enum: []coverage.Point{{Name: `"success"`, Line: 838, Seen: true}}},
		},
	}
}

func fullCoverage() coverage.Coverage {
	c := aCoverage()
	c.Operations[0].Statuses[2].Reached = 1
	c.Operations[1].Statuses[0].Media[0].Stream.Events[1].Reached = 1
	c.Schemas[1].Properties[0].Seen = true
	c.Operations[2].Reached, c.Operations[2].Statuses[0].Reached = 3, 3
	return c
}

func green() *report.Document {
	d := document(
		scenario("client-tools/register"),
		scenario("client-tools/odd-ids[slash]"),
		scenario("events/resume"),
		verdict.Scenario{
			ID: "events/restart", File: "scenarios/events/restart.yaml", Line: 1, Why: "A restarted server tells so.",
			Verdict: verdict.NotApplicable,
			Reasons: []verdict.Reason{{Text: "it needs newly started targets, but go is a server that is already running"}},
		},
	)
	d.Coverage = fullCoverage()
	return d
}

// gated is a green run that misses the demanded coverage.
func gated() *report.Document {
	d := green()
	d.Coverage = aCoverage()
	missing := []coverage.Missing{{Name: "POST /client-tools/register 413", Line: 49}}
	for _, status := range []string{"401", "402", "403", "404", "405", "406"} {
		missing = append(missing, coverage.Missing{Name: "DELETE /client-tools/unregister " + status})
	}
	d.Gate = &coverage.Gate{
		State: coverage.GateMissed, File: "lockstep.yaml", Line: 20,
		Measures: []coverage.MeasureGate{
			{Measure: coverage.OperationsReached, Met: true, Least: "50%", Percent: "66.66%", Reached: 2, Declared: 3},
			{Measure: coverage.StatusesReached, Least: "95.5%", Percent: "36.36%", Reached: 4, Declared: 11, Missing: missing},
		},
		Except: []coverage.Excepted{
			{What: "event GET /event client-tool.failed", Because: "nothing fails", File: "lockstep.yaml", Line: 24},
			{What: "status GET /event 200", Because: "it was so", File: "lockstep.yaml", Line: 25, Stale: true},
		},
	}
	d.Conclude()
	return d
}

// red has a finding of each class, evidence for a difference, and causes that occur more than once.
func red() *report.Document {
	notDeclared := verdict.Remark{
		Target: "go", Place: "status", Text: "500 is not declared for POST /client-tools/execute",
		Schema: "#/paths/~1client-tools~1execute/post/responses", Line: 210,
	}
	pattern := verdict.Remark{
		Target: "go", Place: "body/registered/0", Text: `"c-1_add" does not match the pattern ^client_`,
		Schema: "#/components/schemas/ToolID", Line: 587,
	}
	vary := difference("header-missing", "header Vary", "the candidate lacks the header field", `"Origin"`, "—")
	manifest := `{"tools":[` + strings.Repeat(`{"id":"client_c-1_add","description":"Adds two numbers"},`, 12)
	spaces := difference("value", "body /0/description", "the values differ", `"Adds two numbers"`, "\"Adds two\u00a0numbers\"")
	spaces.SpecGap = &specgap.Gap{
		Schema: "#/components/schemas/ClientToolDefinition/properties/description", Line: 501, Admits: "type: string", Pin: "an enum, a pattern or a format",
	}
	page := "<!doctype html>\n<html>\n<head><title>agent</title></head>\n<body>\n<h1>%</h1>\n<p>no such page</p>\n</body>\n</html>\n"
	d := document(
		scenario("client-tools/execute",
			step(18, "2", "POST /client-tools/execute", difference("status", "status", "the statuses differ", "200", "500", notDeclared)),
			step(18, "2", "POST /client-tools/execute", difference("field-missing", "body /output", "the candidate lacks the field", `{"status":"success","title":"Sum","output":"5"}`, "—", notDeclared)),
			step(18, "2", "POST /client-tools/execute", violation("go", "undocumented-status", "status", notDeclared.Text, notDeclared.Schema, notDeclared.Line)),
			step(27, "4", "await pending", shortfall("go", "event-awaited", "event", `event "tool-request": not within 2s; 3 events came`, `event "tool-request"`, "not within 2s; 3 events came")),
			step(31, "5", "POST /client-tools/result", vary),
		),
		scenario("client-tools/register",
			step(9, "1", "POST /client-tools/register", vary),
			step(9, "1", "POST /client-tools/register", difference("value", "body /registered/0", "the values differ", `"client_c-1_add"`, `"c-1_add"`, pattern)),
			step(9, "1", "POST /client-tools/register", violation("go", "pattern", "body/registered/0", pattern.Text, pattern.Schema, pattern.Line)),
			step(14, "2", "POST /client-tools/register", vary),
			step(14, "2", "POST /client-tools/register", difference("body", "body", "the bodies differ", manifest+`{"id":"client_c-1_sub"}]}`, manifest+`{"id":"client_c-2_sub","description":"Subtracts"}]}`)),
			step(20, "3", "GET /missing", difference("body", "body", "the bodies differ", strings.Replace(page, "%", "Not found", 1), strings.Replace(page, "%", "404", 1))),
			step(26, "4", "POST /client-tools/register", violation("typescript", "undocumented-field", "body/extra", `no schema names the field "extra"`, "#/components/schemas/RegisterResult", 560)),
			step(26, "4", "POST /client-tools/register", violation("go", "undocumented-field", "body/extra", `no schema names the field "extra"`, "#/components/schemas/RegisterResult", 560)),
			step(33, "5", "GET /client-tools/tools/c-1", spaces),
			step(40, "6", "GET /client-tools/tools/c-2", difference("type", "body /0/parameters", "the types differ", `{}`, `null`)),
		),
		scenario("client-tools/list", step(12, "1", "GET /client-tools/tools/c-1", vary)),
		scenario("events/resume"),
		streamScenario(),
	)
	d.Coverage.Operations[0].Statuses[0].Headers = []coverage.Header{{Name: "ETag", Reached: 10}}
	d.Coverage.Operations[0].Statuses[1].Codes = []coverage.Point{{Name: "INVALID", Seen: true}, {Name: "TAKEN"}}
	d.Coverage.Uncompared = []string{"POST /client-tools/register 200: header ETag"}
	d.Coverage.Undocumented = []coverage.Undocumented{{Kind: spec.UndocumentedStatus, What: "POST /client-tools/execute: 500", Count: 3}}
	return d
}

// waivedRun has a waiver in each state, a finding in the baseline, and one that nothing accepts.
func waivedRun() *report.Document {
	vary := difference("header-missing", "header Vary", "the candidate lacks the header field", `"Origin"`, "—")
	vary.Fingerprint, vary.At, vary.Waiver = "0b7c11d4", "POST /client-tools/register: header Vary", "W-0001"
	title := difference("value", "body /title", "the values differ", `"Sum"`, `"SUM"`)
	title.Fingerprint, title.At, title.Known = "a1a1a1a1", "GET /client-tools/tools/c-1: body /title", true
	old := difference("status", "status", "the statuses differ", "200", "201")
	old.Fingerprint, old.At, old.Note = "968cf8b3", "POST /client-tools/execute: status", "waiver W-0002 expired on 2026-11-20"
	other := difference("value", "body /output", "the values differ", `"5"`, `"6"`)
	other.Fingerprint, other.At, other.Note = "c0c0c0c0", "POST /client-tools/execute: body /output", "waiver W-0003 is for a different finding here: type d0d0d0d0"
	accepted := scenario("client-tools/list", step(12, "1", "GET /client-tools/tools/c-1", vary), step(12, "1", "GET /client-tools/tools/c-1", title))
	accepted.Verdict = verdict.Waived
	d := document(
		scenario("client-tools/register", step(9, "1", "POST /client-tools/register", vary), step(18, "2", "POST /client-tools/execute", old), step(18, "2", "POST /client-tools/execute", other)),
		accepted,
		scenario("events/resume"),
	)
	use := func(id string, line int, state verdict.WaiverState, findings, days int, at, kind, fingerprint string) verdict.WaiverUse {
		return verdict.WaiverUse{
			ID: id, File: "scenarios/waivers.yaml", Line: line, State: state, Findings: findings, Scenario: "client-tools/*", At: at,
			Kind: kind, Fingerprint: fingerprint, Class: "intended", Reason: "it was always so", Owner: "ann",
			Expires: d.Started.AddDate(0, 0, days).Format(time.DateOnly), Days: days,
		}
	}
	d.Waivers = []verdict.WaiverUse{
		use("W-0001", 1, verdict.Holding, 2, 14, vary.At, vary.Kind, vary.Fingerprint),
		use("W-0002", 9, verdict.Expired, 1, 0, old.At, old.Kind, old.Fingerprint),
		use("W-0003", 17, verdict.Stale, 0, 100, other.At, "type", "d0d0d0d0"),
		use("W-0004", 25, verdict.NotLooked, 0, 100, other.At, "type", "e0e0e0e0"),
	}
	d.Gate = &coverage.Gate{
		State: coverage.GateMet, File: "lockstep.yaml", Line: 20,
		Measures: []coverage.MeasureGate{
			{Measure: coverage.OperationsReached, Met: true, Least: "50%", Percent: "66.66%", Reached: 2, Declared: 3},
			{Measure: coverage.EventsReached, Met: true, Least: "100%", Percent: "100%", Reached: 1, Declared: 1},
		},
		Except: []coverage.Excepted{{What: "event GET /event client-tool.failed", Because: "nothing fails", File: "lockstep.yaml", Line: 24}},
	}
	d.Fixed = []baseline.Entry{{Scenario: "events/resume", At: "open bus: GET /event: end", Class: string(verdict.Difference), Kind: "stream-end", Fingerprint: "f0f0f0f0"}}
	d.Conclude()
	return d
}

func streamScenario() verdict.Scenario {
	missing := difference("event-missing", "event 3 (client-tool.completed)", "the candidate does not send client-tool.completed",
		`client-tool.completed {"requestID":"client_c-1_add_1700000000000","status":"success"}`, "—")
	missing.Stream = "bus"
	missing.SpecGap = &specgap.Gap{
		Schema: "#/paths/~1event/get/responses/200/content/text~1event-stream/x-events/events/client-tool.completed", Line: 372,
		Admits: `the event "client-tool.completed" is optional`,
	}
	late := shortfall("go", "heartbeat-late", "heartbeat 2", "a heartbeat came late", "2s after the opening, give or take 600ms", "3.104s")
	late.Stream = "pending"
	s := scenario("events/sequence", step(22, "3", "open bus", missing), step(24, "4", "open pending", late))
	s.Reasons = []verdict.Reason{{Target: "go", Text: "cut short: the scenario's limit of 20s"}}
	return s
}

func unjudgedRun() *report.Document {
	down := verdict.Reason{
		Target: "go", Text: `start target "go": wait for /status: the process ended: exit status 1`,
		Log: []string{
			"stdout: listening", "stderr: panic: runtime error: index out of range [3] with length 3", "stderr: ",
			"stderr: goroutine 1 [running]:", "stderr: main.main()", "stderr: \t/src/main.go:12 +0x1d",
		},
	}
	doubtful := func(id string, reasons ...verdict.Reason) verdict.Scenario {
		s := scenario(id)
		s.Verdict, s.Reasons, s.Compared = verdict.Unknown, reasons, verdict.Compared{}
		for i := range s.Targets {
			s.Targets[i] = verdict.Target{Name: s.Targets[i].Name}
		}
		return s
	}
	return document(
		doubtful("client-tools/execute", down),
		doubtful("client-tools/register", down),
		doubtful("events/resume", verdict.Reason{Text: "nothing was compared"}, verdict.Reason{Target: "typescript", Step: "4", Line: 31, Text: "the value of ${{ request }} is not known"}),
		doubtful("events/sequence", down),
	)
}

func alone() *report.Document {
	single := func(s verdict.Scenario) verdict.Scenario {
		s.Targets, s.Compared = s.Targets[1:], verdict.Compared{}
		return s
	}
	d := document(
		single(scenario("client-tools/register")),
		single(scenario("client-tools/tools",
			step(11, "2", "GET /client-tools/tools/c-1", violation("go", "type", "body/0/id", "a string is wanted, and here is the number 7", "#/components/schemas/Tool/properties/id", 431)),
			step(15, "3", "GET /client-tools/tools/c-1", shortfall("go", "expectation", "status", "the scenario expects something else", "200", "404")),
		)),
	)
	d.Alone = true
	d.TargetFlags = []string{"--target", d.Totals.Targets[0].Name}
	return d
}

func interrupted() *report.Document {
	d := document(scenario("client-tools/register"), scenario("client-tools/list"))
	d.Incomplete = "interrupted after 2 of 72 scenarios: interrupt"
	d.Gate = (&coverage.Demand{File: "lockstep.yaml", Line: 20}).NotJudged("the run is not complete")
	d.Conclude()
	return d
}

// hostile has servers whose responses try to attack the reader of the report.
func hostile() *report.Document {
	const evil = "\x1b[2J\x1b]0;owned\x07 \x00\x08\r\u009b31m\x7f \u202egnp.exe\u2066 ]]> <script>alert(1)</script> \xff\xfe & \u2028 \ufeff"
	long := strings.Repeat("0123456789", 300)
	word := verdict.Remark{Target: "go", Place: "body/" + evil, Text: evil + " is not allowed", Schema: "#/" + evil, Line: 7}
	s := scenario("hostile/server",
		step(5, "1", "GET /"+evil, difference("value", "body /"+evil, "the values differ", evil+"a", evil+"b", word)),
		step(5, "1", "GET /"+evil, violation("go", "pattern", word.Place, word.Text, word.Schema, word.Line)),
		step(8, "2", "GET /lines", difference("body", "body", "the bodies differ", "one\n"+evil+"\nthree\n", "one\n"+evil+"!\r\nthree\n")),
		step(9, "3", "GET /long", difference("body", "body", "the bodies differ", long+"\u202ea"+long, long+"\u202eb"+long+long)),
		step(10, "4", "GET /alike", difference("value", "body", "the values differ", "caf\u00e9 \u7d4c\u6e08", "cafe\u0301 \u7d4c\u6e08")),
		step(11, "5", "GET /escape", difference("value", "body", "the values differ", `\x1b`, "\x1b")),
		step(12, "6", "await bus", shortfall("go", "event-awaited", "event", evil, evil, long)),
	)
	s.Findings[2].Stream = evil
	doubt := scenario("hostile/log")
	doubt.Verdict = verdict.Unknown
	doubt.Reasons = []verdict.Reason{{Target: "go", Text: "the answer was " + evil, Log: []string{"stdout: " + evil, "stderr: " + long}}}
	d := document(s, doubt)
	d.Coverage.Operations[0].Statuses[0].Headers = []coverage.Header{{Name: "ETag", Reached: 10}}
	d.Coverage.Operations[0].Statuses[1].Codes = []coverage.Point{{Name: "INVALID", Seen: true}, {Name: "TAKEN"}}
	d.Coverage.Uncompared = []string{"POST /client-tools/register 200: header ETag"}
	d.Coverage.Undocumented = []coverage.Undocumented{{Kind: spec.UndocumentedEvent, What: "GET /event: " + evil, Count: 1}}
	return d
}
