package project_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
)

// needing writes a project whose targets have these capabilities, and one more scenario.
func needing(t *testing.T, right, wrong, needs string) (file string) {
	t.Helper()
	file = fauxproject.Write(t, strings.NewReplacer("RIGHT", right, "WRONG", wrong).Replace(`  right: {url: "http://127.0.0.1:1", ready: {get: /health}RIGHT}
  wrong: {url: "http://127.0.0.1:2", ready: {get: /health}WRONG}
`))
	fauxproject.Add(t, file, "scenarios/items/capable.yaml", "scenario: items/capable\nwhy: x\nsource: x\n"+needs+"steps: [{http: GET /items, query: {shelf: a}}]\n")
	return file
}

func TestANeedThatNoTargetCanHaveIsAMistake(t *testing.T) {
	const at = "scenarios/items/capable.yaml:4:9: "
	for _, tc := range []struct {
		name, right, wrong, needs string
		want                      []string
	}{
		{"one that both have", ", capabilities: [resume]", ", capabilities: [resume]", "needs: [resume]\n", nil},
		{"one that one lacks", ", capabilities: [resume]", "", "needs: [resume]\n", nil},
		{"one that nobody has yet", ", capabilities: [resume]", "", "needs: [websockets]\n", nil},
		{"one that nobody has yet, with an empty list", "", ", capabilities: []", "needs: [websockets]\n", nil},
		{"one without any list", "", "", "needs: [resume]\n", []string{
			at + "no target declares the capability resume → add capabilities: [resume] to the targets in lockstep.yaml that have it, or leave it out",
		}},
		{"a misspelt one", ", capabilities: [websockets]", "", "needs: [webscokets]\n", []string{at + `no target declares the capability webscokets → did you mean "websockets"?`}},
		{"one twice", ", capabilities: [resume]", "", "needs: [resume, resume]\n", []string{"scenarios/items/capable.yaml:4:17: needs has resume twice → keep one"}},
		{"none", ", capabilities: [resume]", "", "needs: []\n", []string{"scenarios/items/capable.yaml:4:8: \"needs\" is too short → write a list of names: [websockets], or leave it out"}},
		{"one in capitals", ", capabilities: [resume]", "", "needs: [RESUME]\n", []string{at + `item 1 of "needs" is "RESUME" → use lower-case words joined by hyphens`}},
		{"capabilities in capitals", ", capabilities: [RESUME]", "", "", []string{`lockstep.yaml:5:76: item 1 of "capabilities" is "RESUME" → use lower-case words joined by hyphens`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := needing(t, tc.right, tc.wrong, tc.needs)
			if tc.want == nil {
				fauxproject.Load(t, file)
				return
			}
			if diff := cmp.Diff(tc.want, problems(t, file)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatTargetsLackIsNamed(t *testing.T) {
	p := fauxproject.Load(t, needing(t, ", capabilities: [resume, push]", ", capabilities: [push]", "needs: [push, resume, sockets]\n"))
	s, err := p.Select(project.Selection{Paths: []string{"items/capable"}})
	if err != nil {
		t.Fatal(err)
	}
	const sockets = "sockets, which right and wrong do not declare under capabilities"
	for request, want := range map[string]string{
		"right,wrong":                                    "it needs resume, which wrong does not declare; and " + sockets,
		"right":                                          "it needs sockets, which right does not declare under capabilities",
		"right,wrong=http://127.0.0.1:9":                 "it needs resume, which wrong does not declare; and " + sockets,
		"new=http://127.0.0.1:9":                         "it needs push, which new does not declare; and resume, which new does not declare; and sockets, which new does not declare under capabilities",
		"right,right=http://127.0.0.1:9,wrong":           "it needs resume, which wrong does not declare; and sockets, which right, right-2 and wrong do not declare under capabilities",
		"right=http://127.0.0.1:8,right=http://[::1]:90": "it needs sockets, which right and right-2 do not declare under capabilities",
	} {
		targets, _, err := p.ChooseTargets(strings.Split(request, ","), "")
		if err != nil {
			t.Fatal(err)
		}
		if got := project.Lacking(s[0], targets); got != want {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
	recorded, err := p.ChooseCandidates([]string{"wrong"}, "", "right")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := project.Lacking(s[0], recorded), "it needs resume, which wrong does not declare; and "+sockets; got != want {
		t.Errorf("against a recording: %s, want %s", got, want)
	}
}
