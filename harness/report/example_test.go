package report_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/jsonreport"
	"github.com/lockstep-dev/lockstep/harness/report/junit"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// judged returns a run as harness.Result.Document does.
func judged() *report.Document {
	doc := &report.Document{Version: "0.1.0", Contract: "openapi.yaml", Seed: 7, Jobs: 4}
	targets := []verdict.Target{{Name: "typescript", Exchanges: 2, Success: 2}, {Name: "go", Exchanges: 2, Success: 1}}
	compared := verdict.Compared{Exchanges: 2}
	doc.Add(verdict.Scenario{
		ID: "tools/add", File: "scenarios/tools/add.yaml", Line: 1, Why: "A tool is added.",
		Verdict: verdict.Differ, Targets: targets, Compared: compared,
		Findings: []verdict.Finding{{
			Class: verdict.Difference, Kind: "status", Scenario: "tools/add", Step: "2", Line: 9, StepText: "POST /tools",
			Target: "go", Place: "status", Text: "the statuses differ", Reference: "201", Candidate: "200", Blame: verdict.BlameCandidate,
			Contract: []verdict.Remark{{Target: "go", Place: "status", Text: "200 is not declared for POST /tools", Line: 44}},
		}},
	})
	doc.Conclude()
	return doc
}

func Example_text() {
	_ = text.Write(os.Stdout, judged(), text.Options{})
	// Output:
	// lockstep 0.1.0 · openapi.yaml · typescript (reference), go · seed 7
	//
	// DIFFER tools/add  scenarios/tools/add.yaml:1
	//   A tool is added.
	//   scenarios/tools/add.yaml:9  step 2: POST /tools
	//     status: the statuses differ [status]
	//       reference (typescript)  201
	//       candidate (go)          200
	//       go breaks the contract at openapi.yaml:44: status: 200 is not declared for POST /tools
	//
	// scenarios     0 match, 0 waived, 1 differ, 0 unknown, 0 not applicable · 0.0 s, 4 jobs
	// reference     typescript: 2 exchanges (100% 2xx), 0 events
	// candidate     go: 2 exchanges (50% 2xx), 0 events
	// compared      2 exchanges, 0 events
	// findings      1 difference, 0 violations, 0 shortfalls
	// blame         differ: candidate 1
	// rerun         lockstep run tools/add
	// differ: typescript and go differ in 1 of 1 scenario
}

func Example_progress() {
	for i, s := range judged().Scenarios {
		text.WriteProgress(os.Stdout, text.Options{}, i+1, 72, &s)
	}
	// Output: DIFFER tools/add (1/72)
}

func ExampleRead() {
	var file strings.Builder
	_ = jsonreport.Write(&file, judged())

	doc, err := jsonreport.Read(strings.NewReader(file.String()))
	fmt.Println(doc.Verdict, doc.Totals.Differences, err)
	// Output: differ 1 <nil>
}

func Example_junit() {
	doc := judged()
	doc.Scenarios[0].Verdict, doc.Scenarios[0].Findings = verdict.Match, nil
	doc.Verdict, doc.Blame = verdict.Match, verdict.BlameMatrix{}
	_ = junit.Write(os.Stdout, doc)
	// Output:
	// <?xml version="1.0" encoding="UTF-8"?>
	// <testsuites name="lockstep" tests="1" failures="0" errors="0" time="0.000">
	//   <testsuite name="tools" tests="1" failures="0" errors="0" skipped="0" time="0.000" timestamp="0001-01-01T00:00:00">
	//     <properties>
	//       <property name="lockstep" value="0.1.0"></property>
	//       <property name="seed" value="7"></property>
	//       <property name="jobs" value="4"></property>
	//       <property name="project" value=""></property>
	//       <property name="contract" value="openapi.yaml"></property>
	//       <property name="reference" value="typescript"></property>
	//       <property name="candidate" value="go"></property>
	//     </properties>
	//     <testcase name="tools/add" classname="tools" time="0.000"></testcase>
	//   </testsuite>
	// </testsuites>
}
