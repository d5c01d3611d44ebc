//go:build unix

package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstep-dev/lockstep/harness/engine"
)

func TestMistakesInACommandLineHaveAFix(t *testing.T) {
	const flags = "\n\tfix: lockstep run --help lists the flags"
	for _, tc := range []struct {
		args   []string
		stderr string
	}{
		{[]string{"rnu"}, "unknown command \"rnu\"\n\tfix: did you mean \"run\"?"},
		{[]string{"scenarios/a.yaml"}, "unknown command \"scenarios/a.yaml\"\n\tfix: use one of: " + strings.Join(commands(), ", ")},
		{[]string{"help", "lintt"}, "unknown command \"lintt\"\n\tfix: did you mean \"lint\"?"},
		{[]string{"--jobs", "2"}, "unknown flag: --jobs\n\tfix: lockstep does not have this flag; these commands do: noise, run, watch"},
		{[]string{"version", "1"}, "version takes no arguments: \"1\"\n\tfix: leave it out"},
		{[]string{"baseline", "update", "items"}, "update takes no arguments: \"items\"\n\tfix: leave it out; --config names another project"},
		{[]string{"lint", "--jobs", "2"}, "unknown flag: --jobs\n\tfix: lockstep lint does not have this flag; these commands do: noise, run, watch"},
		{[]string{"lint", "--zzz"}, "unknown flag: --zzz\n\tfix: lockstep lint --help lists the flags"},
		{[]string{"completion"}, "completion needs the name of one shell\n\tfix: use one of: bash, fish, powershell, zsh"},
		{[]string{"completion", "zhs"}, "there is no completion for \"zhs\"\n\tfix: did you mean \"zsh\"?"},
		{[]string{"completion", "tcl"}, "there is no completion for \"tcl\"\n\tfix: use one of: bash, fish, powershell, zsh"},
		{[]string{"baseline", "updaet"}, "unknown command \"updaet\" of lockstep baseline\n\tfix: did you mean \"update\"?"},
		{[]string{"run", "--taget", "go"}, "unknown flag: --taget\n\tfix: did you mean --target?"},
		{[]string{"run", "--sample", "3"}, "unknown flag: --sample\n\tfix: lockstep run does not have this flag; these commands do: mutate"},
		{[]string{"run", "-x"}, "unknown shorthand flag: 'x' in -x" + flags},
		{[]string{"run", "--target"}, "flag needs an argument: --target" + flags},
		{[]string{"run", "--jobs", "many"}, "invalid argument \"many\" for \"-j, --jobs\" flag: invalid syntax" + flags},
		{[]string{"run", "--jobs", "9999999999999999999"}, "invalid argument \"9999999999999999999\" for \"-j, --jobs\" flag: value out of range" + flags},
		{[]string{"run", "--seed", "-1"}, "invalid argument \"-1\" for \"--seed\" flag: invalid syntax" + flags},
		{[]string{"run", "--step-timeout", "5"}, "invalid argument \"5\" for \"--step-timeout\" flag: time: missing unit in duration \"5\"" + flags},
		{[]string{"run", "--verbose=maybe"}, "invalid argument \"maybe\" for \"-v, --verbose\" flag: invalid syntax" + flags},
		{[]string{"run", "--format", "pdf"}, `--format is "pdf": write text, json, junit, html, markdown or github`},
		{[]string{"run", "--format", "jnuit"}, "--format is \"jnuit\": write text, json, junit, html, markdown or github\n\tfix: did you mean \"junit\"?"},
		{[]string{"list", "--format", "junit"}, `--format is "junit": write text or json`},
		{[]string{"waive", "--class", "intnded"}, "--class is \"intnded\": write candidate-bug, reference-bug, contract-silent or intended\n\tfix: did you mean \"intended\"?"},
		{[]string{"run", "--color", "red"}, `--color is "red": write auto, always or never`},
		{[]string{"run", "--jobs", "-1"}, `--jobs is -1: write how many scenarios may run at a time`},
		{[]string{"run", "-j", "0"}, `--jobs is 0: write how many scenarios may run at a time`},
		{[]string{"run", "--step-timeout", "-1s"}, `--step-timeout and --scenario-timeout must be above 0`},
		{[]string{"run", "--scenario-timeout", "-1s"}, `--step-timeout and --scenario-timeout must be above 0`},
		{[]string{"run", "-o", ""}, "--reports is empty\n\tfix: leave it out, or give it a value: the folder for the reports, relative to lockstep.yaml; - for none"},
		{[]string{"run", "--record="}, "--record is empty\n\tfix: leave it out, or give it a value: record what the reference did in this folder, as recording.jsonl"},
		{[]string{"run", "--name", "event", "--name", ""}, "--name is empty\n\tfix: leave it out, or give it a value: only scenarios with this text in their id or why"},
		{[]string{"lint", "--config", ""}, "--config is empty\n\tfix: leave it out, or give it a value: the project's file"},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			want := outcome{exitUsage, "", "lockstep: " + tc.stderr + "\n"}
			if diff := cmp.Diff(want, lockstep(t, tc.args...), cmp.AllowUnexported(outcome{})); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

// commands returns the names of the commands, sorted.
func commands() []string {
	var names []string
	for _, cmd := range rootCommand(&environment{}).Commands() {
		if !cmd.Hidden {
			names = append(names, cmd.Name())
		}
	}
	slices.Sort(names)
	return names
}

func TestVersion(t *testing.T) {
	for _, arg := range []string{"version", "--version"} {
		want := outcome{exitMatch, "lockstep " + engine.Version + "\n", ""}
		if got := lockstep(t, arg); got != want {
			t.Errorf("lockstep %s: %+v, want %+v", arg, got, want)
		}
	}
}

func TestHelpTeaches(t *testing.T) {
	for _, tc := range []struct {
		args [][]string // all mean the same
		says []string
	}{
		{[][]string{{"--help"}, {"-h"}, {"help"}}, []string{
			"An OpenAPI document is the contract, scenarios are the script, and lockstep.yaml says which servers run.",
			"Examples:\n  lockstep init ", "\n  judge ", "\n  lint ", "\n  run ", "\n  version ",
		}},
		{[][]string{{"run", "--help"}, {"run", "-h"}, {"help", "run"}}, []string{
			"runs the scenarios on all of them side by side", "Exit codes: 0 everything matches or is waived · 1 something differs, a waiver is stale, or the contract coverage is\nbelow what lockstep.yaml demands · 2 flags or files are wrong, nothing was started · 3 something could not be judged.",
			"Usage:\n  lockstep run [scenario or folder ...] [flags]\n", "Examples:\n  lockstep run\n", "one server alone, against the contract",
		}},
		{[][]string{{"lint", "--help"}, {"help", "lint"}}, []string{"Reports every mistake", "Starts nothing. Exits with 2", "Examples:\n  lockstep lint\n"}},
		{[][]string{{"waive", "--help"}, {"help", "waive"}}, []string{"Prints a waiver for each finding of the last run", "Reason and owner are left empty", "Examples:\n  lockstep waive client-tools/odd-ids\n"}},
		{[][]string{{"diff", "--help"}, {"help", "diff"}}, []string{"Compares two runs", "2 the runs cannot be compared", "Examples:\n  lockstep diff main/run.jsonl reports/run.jsonl\n"}},
		{[][]string{{"noise", "--help"}, {"help", "noise"}}, []string{"Runs the reference against itself several times", "It changes no file and no rule", "Examples:\n  lockstep noise\n"}},
		{[][]string{{"version", "--help"}, {"help", "version"}}, []string{"Prints the version"}},
	} {
		first := lockstep(t, tc.args[0]...)
		if first.code != exitMatch || first.stderr != "" {
			t.Errorf("lockstep %q: exit code %d, stderr %q", tc.args[0], first.code, first.stderr)
		}
		for _, want := range tc.says {
			if !strings.Contains(first.stdout, want) {
				t.Errorf("lockstep %q does not say %q:\n%s", tc.args[0], want, first.stdout)
			}
		}
		for _, args := range tc.args[1:] {
			if got := lockstep(t, args...); got != first {
				t.Errorf("lockstep %q: %+v, want what %q says", args, got, tc.args[0])
			}
		}
	}
}

// TestHelpOfEveryCommandBeginsWithAnExample also checks that help has no line twice.
func TestHelpOfEveryCommandBeginsWithAnExample(t *testing.T) {
	root := rootCommand(&environment{})
	all := root.Commands()
	for _, cmd := range root.Commands() {
		all = append(all, cmd.Commands()...)
	}
	for _, cmd := range append(all, root) {
		o := lockstep(t, append(strings.Fields(cmd.CommandPath())[1:], "--help")...)
		if !strings.HasPrefix(o.stdout, "Examples:\n  lockstep") || strings.Count(o.stdout, "Examples:") != 1 || o.code != exitMatch {
			t.Errorf("%s --help begins otherwise:\n%s", cmd.CommandPath(), o.stdout)
		}
	}
}

// TestExamplesInHelpAreCommandLines checks that the program accepts the examples of its help.
func TestExamplesInHelpAreCommandLines(t *testing.T) {
	root := rootCommand(&environment{})
	examples := 0
	for _, cmd := range append(root.Commands(), root) {
		for line := range strings.Lines(cmd.Example) {
			examples++
			args := words(t, line)
			found, rest, err := rootCommand(&environment{}).Find(args[1:])
			if err != nil || args[0] != "lockstep" || !found.HasParent() {
				t.Errorf("%q: %v, %v", line, args, err)
				continue
			}
			if err := found.ParseFlags(rest); err != nil {
				t.Errorf("%q: %v", line, err)
			}
			if err := found.ValidateArgs(found.Flags().Args()); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
	}
	if examples < 10 {
		t.Errorf("there are %d examples", examples)
	}
}

// words splits a shell command into words. It stops at a pipe, a redirection, or the blanks before an explanation.
func words(t *testing.T, line string) []string {
	t.Helper()
	line, _, _ = strings.Cut(strings.TrimSpace(line), "  ")
	line, _, _ = strings.Cut(line, " | ")
	line, _, _ = strings.Cut(line, " > ")
	words := regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1)
	for i, w := range words {
		words[i] = strings.Trim(w, "'")
	}
	return words
}

func TestEveryFlagIsExplained(t *testing.T) {
	root := rootCommand(&environment{})
	for _, cmd := range root.Commands() {
		if cmd.Hidden || cmd.Short == "" {
			continue
		}
		for line := range strings.Lines(cmd.LocalFlags().FlagUsages()) {
			if fields := strings.SplitN(strings.TrimSpace(line), "   ", 2); len(fields) < 2 || len(strings.TrimSpace(fields[1])) < 10 {
				t.Errorf("%s: a flag without a word about it: %s", cmd.Name(), line)
			}
		}
	}
}

// TestCompletionExists checks that a shell that asks for completions does not get an error.
func TestCompletionExists(t *testing.T) {
	if o := lockstep(t, "completion", "bash"); o.code != exitMatch || o.stderr != "" || !strings.Contains(o.stdout, "lockstep") {
		t.Errorf("%+v", o)
	}
	o := lockstep(t, cobra.ShellCompRequestCmd, "ru")
	if o.code != exitMatch || !strings.HasPrefix(o.stdout, "run\t") {
		t.Errorf("%+v", o)
	}
}

func TestNoCommandIsNotGreen(t *testing.T) {
	help, got := lockstep(t, "--help"), lockstep(t)
	if got.code != exitUsage || got.stdout != "" || !strings.HasPrefix(got.stderr, help.stdout) || !strings.Contains(got.stderr, "lockstep: missing command\n\tfix: `lockstep run` compares servers") {
		t.Errorf("exit code %d, stdout %q, stderr:\n%s", got.code, got.stdout, got.stderr)
	}
}

// TestNoFlagTakesAnEmptyValue checks that every flag rejects an empty value before the command does anything.
func TestNoFlagTakesAnEmptyValue(t *testing.T) {
	arguments := map[string][]string{"diff": {"a", "b"}, "merge": {"a"}, "site": {"a"}} // they check arguments before flags
	var visit func(path []string, cmd *cobra.Command)
	visit = func(path []string, cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			args := slices.Concat(path, arguments[path[0]], []string{"--" + f.Name + "="})
			o := lockstep(t, args...)
			if o.code != exitUsage || !strings.Contains(o.stderr, "--"+f.Name) || !strings.Contains(o.stderr, "fix:") {
				t.Errorf("%s: %+v", strings.Join(args, " "), o)
			}
		})
		for _, c := range cmd.Commands() {
			visit(append(slices.Clone(path), c.Name()), c)
		}
	}
	for _, c := range rootCommand(&environment{}).Commands() {
		visit([]string{c.Name()}, c)
	}
}

// TestHelpGroupsTheCommands compares the whole help, in which every command is in a group.
func TestHelpGroupsTheCommands(t *testing.T) {
	const want = `Examples:
  lockstep init openapi.yaml              a first project, with a scenario for each operation
  lockstep run                            all scenarios against all targets of lockstep.yaml
  lockstep run client-tools --jobs 2      the scenarios below scenarios/client-tools, two at a time
  lockstep run --target go                one target alone, against the contract
  lockstep judge                          the last run again, without any server
  lockstep lint                           every mistake in lockstep.yaml, the contract and the scenarios

lockstep runs one script against two servers and shows exactly where they differ.

An OpenAPI document is the contract, scenarios are the script, and lockstep.yaml says which servers run.
lockstep compares their responses: statuses, headers, JSON, event streams. For each difference it shows
both values, and what the contract says about each side.

Usage:
  lockstep [flags]
  lockstep [command]

Every day:
  explain     Prints scenarios as they will run, with all defaults filled in
  init        Creates a first lockstep.yaml, and a scenario for each operation of an OpenAPI document
  judge       Judges a recorded run again, without any server
  lint        Reports every mistake in lockstep.yaml, the contract and the scenarios
  list        Lists the selected scenarios with their tags
  run         Runs scenarios against all targets and compares what they do
  view        Serves the last report to a browser on this machine
  watch       Runs scenarios again whenever a file that they depend on changes

In CI:
  baseline    Manages the list of known findings
  coverage    Prints how much of the contract a run covered, and what it never reached
  diff        Compares two runs: which findings are new, changed, fixed and unchanged
  merge       Merges the shards of a run, and judges the whole run
  site        Writes the history of a project as a static site
  waive       Writes waivers to fill in, for the findings of the last run

Laboratory:
  mutate      Shows which bugs of a candidate the scenarios would not find
  noise       Runs the reference against itself, and prints rules for what differs

Additional Commands:
  completion  Prints a script for command-line completion in a shell
  help        Help about any command
  version     Prints the version

Flags:
  -h, --help      help for lockstep
  -v, --version   version for lockstep

Use "lockstep [command] --help" for more information about a command.
`
	if diff := cmp.Diff(want, lockstep(t, "--help").stdout); diff != "" {
		t.Errorf("help (-want +got):\n%s", diff)
	}
	for _, cmd := range rootCommand(&environment{}).Commands() {
		ungrouped := cmd.Hidden || slices.Contains([]string{"help", "version", "completion"}, cmd.Name())
		if (cmd.GroupID == "") != ungrouped {
			t.Errorf("lockstep %s is in the group %q", cmd.Name(), cmd.GroupID)
		}
	}
}
