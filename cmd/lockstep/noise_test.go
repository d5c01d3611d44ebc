//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/faux"
)

// TestNoisePrintsRulesThatHelp pastes the printed rules into lockstep.yaml and checks that no noise is left.
func TestNoisePrintsRulesThatHelp(t *testing.T) {
	p := newProject(t, at("right", faux.Serve(t, &faux.Server{})), at("wrong", faux.Serve(t, &faux.Server{})))
	const rule = "compare:\n  headers: [Cache-Control, Content-Type, Location, X-Shelf]\n  volatile:\n    - {at: $..serial, kind: id, because: each server counts for itself}\n"
	text := p.read("lockstep.yaml")
	if !strings.Contains(text, rule) {
		t.Fatalf("lockstep.yaml is not what this test knows:\n%s", text)
	}
	p.write(t, "lockstep.yaml", strings.Replace(text, rule, "", 1))
	args := []string{"--runs", "2", "--target", "right", "--target", "wrong", "items"}
	o := p.do(t, "noise", args...)
	if o.code != exitDiffer || o.stderr != "run 1 of 2\nrun 2 of 2\n" {
		t.Fatalf("%+v", o)
	}
	for _, want := range []string{
		`^# right against itself: 2 runs, 4 results of scenarios\n\ncompare:\n  volatile:\n    # \d+ of \d+ values differ, such as \d{5} and \d{5}\n`,
		`    # in items/every-step step 1, .*, and \d+ more\n`,
		`    - at: \$\.\.serial\n      kind: id\n      because: two equal servers differ in it\n\n# what holds for times in all runs, and a rule can demand\n`,
		`#   - \{at: \$\.\.createdAt, kind: time, stable: true.*, because: it held in all runs\}\n#     \d+ values, \d+ of things that had appeared before\n$`,
	} {
		if !regexp.MustCompile(want).MatchString(o.stdout) {
			t.Errorf("%s is not in\n%s", want, o.stdout)
		}
	}
	p.write(t, "lockstep.yaml", strings.Replace(text, rule, o.stdout, 1))
	const silence = "# right against itself: 2 runs, 4 results of scenarios\n# there is no noise\n"
	if o := p.do(t, "noise", args...); o.code != exitMatch || !strings.HasPrefix(o.stdout, silence) || o.stderr != "run 1 of 2\nrun 2 of 2\n" {
		t.Errorf("%+v, want %q", o, silence)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "reports")); err == nil {
		t.Error("it has written reports")
	}
}

func TestNoiseThatCannotBeMeasuredIsAnError(t *testing.T) {
	address := faux.Serve(t, &faux.Server{})
	p := newProject(t, at("right", address), exits)
	for _, tc := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--runs", "0"}, exitUsage, "--runs is 0: write a number above 0"},
		{[]string{"items"}, exitUsage, `targets "right" and "right-2" are the same server`},
		{[]string{"--target", "right"}, exitUsage, "noise needs two equal targets"},
		{[]string{"--target", "right", "--target", "wrong", "--runs", "1", "items/story"}, exitUnknown, "1 result could not be judged"},
		{[]string{"--target", "right", "--target", "two=" + faux.Serve(t, &faux.Server{}), "--runs", "1", "process/stop"}, exitUnknown, "nothing was judged"},
	} {
		if o := p.do(t, "noise", tc.args...); o.code != tc.code || !strings.Contains(o.stdout+o.stderr, tc.says) {
			t.Errorf("%q: %+v, want %d and %q", tc.args, o, tc.code, tc.says)
		}
	}
}
