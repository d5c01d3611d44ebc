//go:build unix

package main

import (
	"strings"
	"testing"
)

func TestWhatDecidesAboutColour(t *testing.T) {
	type variables = map[string]string
	for _, tc := range []struct {
		name      string
		flag      string
		variables variables
		terminal  bool
		want      bool
	}{
		{"a terminal", "auto", nil, true, true},
		{"no terminal", "auto", nil, false, false},
		{"NO_COLOR on a terminal", "auto", variables{"NO_COLOR": "1"}, true, false},
		{"NO_COLOR that is empty", "auto", variables{"NO_COLOR": ""}, true, true},
		{"a dumb terminal", "auto", variables{"TERM": "dumb"}, true, false},
		{"CLICOLOR_FORCE without a terminal", "auto", variables{"CLICOLOR_FORCE": "1"}, false, true},
		{"CLICOLOR_FORCE that is 0", "auto", variables{"CLICOLOR_FORCE": "0"}, false, false},
		{"NO_COLOR before CLICOLOR_FORCE", "auto", variables{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, true, false},
		{"the flag before everything", "always", variables{"NO_COLOR": "1", "TERM": "dumb"}, false, true},
		{"the flag before the terminal", "never", variables{"CLICOLOR_FORCE": "1"}, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := outputFlags{color: tc.flag}
			w := &environment{getenv: func(name string) string { return tc.variables[name] }}
			if got := f.colored(w, tc.terminal); got != tc.want {
				t.Errorf("colour: %t, want %t", got, tc.want)
			}
		})
	}
}

// TestEachOutputHasItsOwnColour checks that colour is decided for each output: a log file has no escape sequences
// even if the report goes to a terminal.
func TestEachOutputHasItsOwnColour(t *testing.T) {
	p := two(t, "other-value")
	for _, tc := range []struct {
		name           string
		shell          shell
		args           []string
		stdout, stderr bool
	}{
		{"no terminal", shell{}, nil, false, false},
		{"both are terminals", shell{terminal: true, errorTerminal: true}, nil, true, true},
		{"stderr is a file", shell{terminal: true}, nil, true, false},
		{"stdout is a file", shell{errorTerminal: true}, nil, false, true},
		{"always", shell{}, []string{"--color", "always"}, true, true},
		{"never", shell{terminal: true, errorTerminal: true}, []string{"--color=never"}, false, false},
		{"NO_COLOR", shell{variables: map[string]string{"NO_COLOR": "1"}, terminal: true, errorTerminal: true}, nil, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := p.as(t, tc.shell, "run", append(tc.args, "items/story", "--reports", "-")...)
			if got := strings.Contains(o.stdout, "\x1b[31mdiffer:\x1b[0m"); got != tc.stdout || strings.Contains(o.stdout, "\x1b") != got {
				t.Errorf("colour on stdout: %t, want %t: %q", got, tc.stdout, o.stdout)
			}
			if got := strings.Contains(o.stderr, "\x1b[31mDIFFER\x1b[0m"); got != tc.stderr || strings.Contains(o.stderr, "\x1b") != got {
				t.Errorf("colour on stderr: %t, want %t: %q", got, tc.stderr, o.stderr)
			}
		})
	}
}

func TestVerbosePrintsMoreToStandardErrorOnly(t *testing.T) {
	p := two(t, "")
	plain, verbose := p.do(t, "run", "items/story"), p.do(t, "run", "items/story", "--verbose")
	if plain.stderr != "" {
		t.Errorf("without --verbose stderr has %q", plain.stderr)
	}
	for _, want := range []string{`level=DEBUG msg="target reached" target=right`, `level=DEBUG msg="target reached" target=wrong`, "MATCH items/story (1/1)\n"} {
		if !strings.Contains(verbose.stderr, want) {
			t.Errorf("stderr does not have %q:\n%s", want, verbose.stderr)
		}
	}
	if len(verbose.stdout) <= len(plain.stdout) || lastLine(verbose.stdout) != lastLine(plain.stdout) {
		t.Errorf("stdout:\n%s\nwithout --verbose:\n%s", verbose.stdout, plain.stdout)
	}
	o := p.do(t, "run", "items/story", "-v", "--format", "json")
	if !strings.HasPrefix(o.stdout, "{") || !strings.HasSuffix(o.stdout, "}\n") || !strings.Contains(o.stderr, "target reached") {
		t.Errorf("stdout:\n%s\nstderr:\n%s", o.stdout, o.stderr)
	}
}
