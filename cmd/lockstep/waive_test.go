//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/faux"
)

const (
	waivers = "scenarios/waivers.yaml"
	day     = "2026-11-20"
)

// on runs a command on a given day.
func (p testProject) on(t *testing.T, day, command string, args ...string) outcome {
	t.Helper()
	return p.as(t, shell{today: day}, command, args...)
}

// with changes both servers of the project.
func (p testProject) with(t *testing.T, right, wrong string) testProject {
	t.Helper()
	p.write(t, "lockstep.yaml", strings.Replace(shelves, "%s", at("right", right)+"\n"+at("wrong", wrong), 1))
	return p
}

// waived returns a project with one difference, which is waived until the given day.
func waived(t *testing.T, id, expires string) testProject {
	t.Helper()
	p := two(t, id)
	p.on(t, day, "run", "items/story")
	if o := p.on(t, day, "waive", "--append", "--class", "intended"); o.code != exitMatch {
		t.Fatalf("waive: %+v", o)
	}
	p.fillIn(t, expires)
	return p
}

// fillIn fills in the fields of a waiver that a person must write.
func (p testProject) fillIn(t *testing.T, expires string) {
	t.Helper()
	text := strings.NewReplacer(
		`reason: ""`, "reason: it was always so", `owner: ""`, "owner: ann", "2027-02-18", expires,
	).Replace(p.read(waivers))
	p.write(t, waivers, text)
}

func TestASkeletonIsRejectedUntilItIsFilledIn(t *testing.T) {
	p := two(t, "other-value")
	p.on(t, day, "run", "items/story")
	want := outcome{exitMatch, `- id: W-0001 # reference "lamp", wrong "LAMP"
  scenario: "items/story"
  at: "GET /items/${{ lamp }}: body /name"
  difference: {kind: value, fingerprint: "469ed423"}
  class: "" # candidate-bug, reference-bug, contract-silent or intended
  reason: ""
  owner: ""
  expires: 2027-02-18
`, ""}
	o := p.on(t, day, "waive")
	if diff := cmp.Diff(want.stdout, o.stdout); diff != "" || o.code != want.code || o.stderr != want.stderr {
		t.Errorf("waive: code %d, stderr %q (-want +got):\n%s", o.code, o.stderr, diff)
	}
	if again := p.on(t, day, "waive", "--from", p.dir+"/reports/run.jsonl", "items"); again != o {
		t.Errorf("from the run file: %+v", again)
	}
	if p.read(waivers) != "" {
		t.Error("waivers.yaml is written although nobody asked for it")
	}

	if o := p.on(t, day, "waive", "--append"); o != (outcome{exitMatch, "", waivers + ": fill in class, reason and owner\n"}) {
		t.Errorf("waive --append: %+v", o)
	}
	mistakes := waivers + `:5:10: "class" is ""
  5 |   class: "" # candidate-bug, reference-bug, contract-silent or inte…
    |          ^
	fix: use one of: candidate-bug, contract-silent, intended, reference-bug
` + waivers + `:6:11: "reason" is ""
  6 |   reason: ""
    |           ^
	fix: say why it may stay
` + waivers + `:7:10: "owner" is ""
  7 |   owner: ""
    |          ^
	fix: say who answers for it
lockstep: 3 mistakes
`
	for _, command := range []string{"lint", "run", "waive"} {
		if o := p.on(t, day, command); o != (outcome{exitUsage, "", mistakes}) {
			t.Errorf("%s: %+v", command, o)
		}
	}
}

func TestAWaivedDifferenceIsGreenAndShown(t *testing.T) {
	p := waived(t, "other-value", "2027-02-18")
	o := p.on(t, day, "run", "items/story")
	want := `lockstep 0.1.0 · openapi.yaml · right (reference), wrong · seed ‹seed›

WAIVED W-0001  scenarios/waivers.yaml:1  items/story: GET /items/${{ lamp }}: body /name [value 469ed423]: intended, 1 finding, expires in 90 days

scenarios     0 match, 1 waived, 0 differ, 0 unknown, 0 not applicable · ‹time› s, ‹some› jobs
reference     right: 7 exchanges (85% 2xx), 0 events
candidate     wrong: 7 exchanges (85% 2xx), 0 events
compared      7 exchanges, 0 events
findings      1 difference, 0 violations, 0 shortfalls; of these 1 waived
blame         differ: contract silent 1
contract      operations 5/7 · statuses 6/13 · events 0/4
schema        15/21 properties · 1/3 enum values
not called    GET /health, GET /events
not answered  GET /items 400, POST /items 400, DELETE /items/{id} 404, GET /items/{id}/label 404
not seen      GET /health 200 application/json status (line 17), GET /events 200 text/event-stream x-events/events/hello shelf (line 109), and 6 more
waived: right and wrong do the same in 0 scenarios; in 1 more, all findings are accepted
`
	if diff := cmp.Diff(want, predictable(o.stdout)); diff != "" || o.code != exitMatch || o.stderr != "" {
		t.Errorf("code %d, stderr %q, stdout (-want +got):\n%s", o.code, o.stderr, diff)
	}
	if xml := p.read("reports/junit.xml"); strings.Contains(xml, "<failure") || !strings.Contains(xml, "waiver W-0001: step 3: body /name") {
		t.Errorf("junit.xml:\n%s", xml)
	}
	if o := p.on(t, day, "waive"); o != (outcome{exitMatch, "", "there is nothing to waive\n"}) {
		t.Errorf("waive, when all is: %+v", o)
	}
	if o := p.on(t, day, "run", "items/story", "--verbose"); !strings.Contains(o.stdout, "WAIVED items/story") || !strings.Contains(o.stdout, "      accepted by waiver W-0001\n") {
		t.Errorf("with --verbose:\n%s", o.stdout)
	}
}

func TestTheLifeOfAWaiver(t *testing.T) {
	right := faux.Serve(t, &faux.Server{})
	same, fixed := "other-value", ""
	for _, tc := range []struct {
		name  string
		fault string // of the candidate in the run
		day   string
		args  []string
		code  int
		says  []string
	}{
		{"it holds", same, day, nil, exitMatch, []string{"WAIVED W-0001", "expires in 10 days (soon)\n", "expiring      W-0001 in 10 days\n", "\nwaived: "}},
		{"it holds on its last day", same, "2026-11-29", nil, exitMatch, []string{"expires in 1 day (soon)\n"}},
		{"it is no warning 15 days before", same, "2026-11-15", nil, exitMatch, []string{"expires in 15 days\n"}},
		{"it has expired", same, "2026-11-30", nil, exitDiffer, []string{
			"EXPIRED W-0001", "expired on 2026-11-30, so 1 finding counts again\n", "      waiver W-0001 expired on 2026-11-30\n", "\ndiffer: right and wrong differ in 1 of 1 scenario\n",
		}},
		{"the fault is fixed", fixed, day, nil, exitDiffer, []string{
			"STALE W-0001", "it no longer occurs: remove the waiver\n", "\ndiffer: no unaccepted findings in 1 scenario; waiver W-0001 is stale: remove it\n",
		}},
		{"its scenario is not selected", fixed, day, []string{"events/story"}, exitMatch, []string{"\nmatch: "}},
		{"the candidate did not take part", fixed, day, []string{"items/story", "--target", "right"}, exitMatch, []string{"\nmatch: "}},
		{"another fault at the place", "null-for-value", day, nil, exitDiffer, []string{
			"      waiver W-0001 is for a different finding here: value 469ed423\n", "STALE W-0001", "\ndiffer: right and wrong differ in 1 of 1 scenario; waiver W-0001 is stale",
		}},
		{"another fault elsewhere", "other-number", day, nil, exitDiffer, []string{"body /size: the numbers differ", "STALE W-0001"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := waived(t, same, "2026-11-30").with(t, right, faux.Serve(t, &faux.Server{Fault: faux.Named(t, tc.fault)}))
			args := tc.args
			if args == nil {
				args = []string{"items/story"}
			}
			o := p.on(t, tc.day, "run", args...)
			if o.code != tc.code {
				t.Errorf("exit code %d, want %d", o.code, tc.code)
			}
			for _, want := range tc.says {
				if !strings.Contains(o.stdout, want) {
					t.Errorf("stdout does not say %q", want)
				}
			}
			if t.Failed() {
				t.Log(o.stdout, o.stderr)
			}
		})
	}
}

func TestAnExpiredWaiverIsRenewedInPlace(t *testing.T) {
	p := waived(t, "other-value", "2026-11-30")
	p.on(t, "2026-12-01", "run", "items/story")
	want := outcome{exitMatch, "", waivers + ":1: W-0001 already covers this finding; it expires on 2026-11-30\nthere is nothing to waive\n"}
	if o := p.on(t, "2026-12-01", "waive"); o != want {
		t.Errorf("%+v, want %+v", o, want)
	}
}

func TestMistakesOfWaive(t *testing.T) {
	p := two(t, "")
	for _, tc := range []struct {
		args []string
		want string
	}{
		{nil, "lockstep: reports/report.json: no such file\n\tfix: run the scenarios first, or name a report.json or run.jsonl with --from\n"},
		{[]string{"--class", "bug"}, "lockstep: --class is \"bug\": write candidate-bug, reference-bug, contract-silent or intended\n"},
		{[]string{"items/stroy"}, "lockstep: no scenario or folder is called \"items/stroy\"\n\tfix: did you mean \"items/story\"?\n"},
		{[]string{"--from", p.file}, "lockstep: lockstep.yaml: report: invalid character 'c' looking for beginning of value\n"},
	} {
		if o := p.on(t, day, "waive", tc.args...); o != (outcome{exitUsage, "", tc.want}) {
			t.Errorf("waive %q: %+v", tc.args, o)
		}
	}
}

func TestAFileThatListsOtherwiseIsLeftAlone(t *testing.T) {
	p := two(t, "other-value")
	p.on(t, day, "run", "items/story")
	p.write(t, waivers, "[]\n")
	o := p.on(t, day, "waive", "--append")
	if o.code != exitUsage || p.read(waivers) != "[]\n" || !strings.Contains(o.stderr, "fix: leave out --append") {
		t.Errorf("%+v, and the file is %q", o, p.read(waivers))
	}
}

// TestWaiversInAnotherFile checks that a project can name another waivers file. The file in the usual place is then a
// scenario.
func TestWaiversInAnotherFile(t *testing.T) {
	p := waived(t, "other-value", "2027-02-18")
	p.write(t, "accepted.yaml", p.read(waivers))
	p.write(t, waivers, "scenario: waivers\nwhy: It is a scenario\nsource: here\nsteps:\n  - http: GET /items\n    query: {shelf: none}\n")
	p.write(t, "lockstep.yaml", "waivers: accepted.yaml\n"+p.read("lockstep.yaml"))
	if o := p.on(t, day, "run", "items/story", "waivers"); o.code != exitMatch || !strings.Contains(o.stdout, "WAIVED W-0001  accepted.yaml:1") || !strings.Contains(o.stdout, "1 match, 1 waived") {
		t.Errorf("%+v", o)
	}
	p.write(t, "lockstep.yaml", strings.Replace(p.read("lockstep.yaml"), "accepted.yaml", "gone.yaml", 1))
	if o := p.on(t, day, "lint"); o.code != exitUsage || !strings.HasPrefix(o.stderr, "lockstep.yaml:1:10: open gone.yaml: no such file or directory\n  1 | waivers: gone.yaml\n    |          ^\n\tfix: name the file with the waivers") {
		t.Errorf("%+v", o)
	}
}
