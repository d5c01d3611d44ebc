//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// completed returns the words that a shell would offer for the last argument, without their descriptions.
func (p testProject) completed(t *testing.T, command string, args ...string) []string {
	t.Helper()
	o := lockstep(t, append([]string{cobra.ShellCompNoDescRequestCmd, command, "--config", p.file}, args...)...)
	if o.code != exitMatch {
		t.Fatalf("%+v", o)
	}
	lines := strings.Split(strings.TrimSuffix(o.stdout, "\n"), "\n")
	return lines[:len(lines)-1] // the last line is for the shell's script
}

func TestShellsCompleteWhatTheProjectHas(t *testing.T) {
	p := newProject(t, at("right", "http://127.0.0.1:1"), at("wrong", "http://127.0.0.1:2"))
	for _, tc := range []struct {
		args []string
		want []string
	}{
		{[]string{"run", "it"}, []string{"items", "items/every-step", "items/story"}},
		{[]string{"run", "items", "it"}, []string{"items/every-step", "items/story"}},
		{[]string{"list", "items/s"}, []string{"items/story"}},
		{[]string{"waive", "proc"}, []string{"process", "process/stop"}},
		{[]string{"noise", "zzz"}, []string{}},
		{[]string{"run", "--tag", "e"}, []string{"events"}},
		{[]string{"list", "--skip-tag", "c"}, []string{"clock"}},
		{[]string{"run", "--target", ""}, []string{"right", "wrong"}},
		{[]string{"run", "--reference", "r"}, []string{"right"}},
		{[]string{"run", "--format", ""}, formats},
		{[]string{"list", "--format", ""}, plainFormats},
		{[]string{"judge", "--color", ""}, colors},
		{[]string{"waive", "--class", ""}, classes},
	} {
		if diff := cmp.Diff(tc.want, p.completed(t, tc.args[0], tc.args[1:]...)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tc.args, diff)
		}
	}
}

func TestAProjectWithAMistakeCompletesNothing(t *testing.T) {
	p := newProject(t, at("right", "http://127.0.0.1:1"))
	p.write(t, "lockstep.yaml", "targets: 1\n")
	if got := p.completed(t, "run", "it"); len(got) != 0 {
		t.Errorf("completed with %q", got)
	}
}

func TestThereIsAScriptForEachShell(t *testing.T) {
	for shell, sign := range map[string]string{
		"bash": "complete -o default", "zsh": "#compdef lockstep", "fish": "complete -c lockstep", "powershell": "Register-ArgumentCompleter",
	} {
		if o := lockstep(t, "completion", shell); o.code != exitMatch || o.stderr != "" || !strings.Contains(o.stdout, sign) {
			t.Errorf("completion %s: exit code %d, stderr %q, and no %q in %d bytes", shell, o.code, o.stderr, sign, len(o.stdout))
		}
	}
}
