package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/html"
	"github.com/lockstep-dev/lockstep/harness/report/jsonreport"
	"github.com/lockstep-dev/lockstep/harness/report/junit"
	"github.com/lockstep-dev/lockstep/harness/report/markdown"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/regular"
)

// outputFlags are the flags about the form of a report.
type outputFlags struct {
	format  string
	color   string
	verbose bool
	names   bool
	// page is the path of the page that is written as well, or "".
	page string
	// baseline is a file with known findings, in place of the project's.
	baseline string
}

func (f *outputFlags) register(cmd *cobra.Command, verbose string) {
	fl := cmd.Flags()
	fl.StringVarP(&f.format, "format", "f", "text", "the format of the output: text, json, junit, html, markdown, or github (text with annotations, and the job's summary)")
	fl.StringVar(&f.color, "color", "auto", "colour: auto, always, never")
	fl.StringVar(&f.baseline, "baseline", "", "the file with the known findings, relative to lockstep.yaml (default the project's)")
	fl.BoolVar(&f.names, "names", false, "replace ids in values with names such as ‹session 1›, and list which id each name stands for")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, verbose)
}

// formats are the formats of standard output.
var formats = []string{"text", "json", "junit", "html", "markdown", "github"}

// colors are the values of --color.
var colors = []string{"auto", "always", "never"}

// validate checks the flags before any file is read.
func (f *outputFlags) validate() error {
	if err := oneOf("format", f.format, formats); err != nil {
		return err
	}
	return oneOf("color", f.color, colors)
}

// load reads the project, with the baseline of --baseline.
func (f *outputFlags) load(config string) (*project.Project, error) {
	p, err := load(config)
	if err == nil && f.baseline != "" {
		err = p.UseBaseline(beside(config, f.baseline))
	}
	return p, err
}

// judging returns the options for judging a run file, and the console that shows the progress.
func (f *outputFlags) judging(w *environment) (*console, *engine.JudgeOptions) {
	monitor := &engine.Monitor{}
	console := newConsole(w, monitor.Status)
	options := &engine.JudgeOptions{
		Monitor: monitor, Note: func(text string) { fmt.Fprintf(console, "note: %s\n", text) },
		Today: w.today(), Environ: w.environ,
	}
	if f.format == "text" {
		options.Progress = f.progress(console, f.paint(w, w.errorTerminal))
	}
	return console, options
}

// progress returns a function that prints a line for each scenario that does not match. A server that crashes fails
// hundreds of scenarios, but the report has the crash once. So after a screenful, lines are printed only with
// --verbose.
func (f *outputFlags) progress(stderr io.Writer, paint text.Options) func(done, of int, s *verdict.Scenario) {
	const most = 20
	lines := 0
	return func(done, of int, s *verdict.Scenario) {
		bad := s.Verdict != verdict.Match && s.Verdict != verdict.Waived
		if bad {
			lines++
		}
		switch {
		case lines <= most || f.verbose:
			text.WriteProgress(stderr, paint, done, of, s)
		case lines == most+1 && bad:
			fmt.Fprintln(stderr, "more of them are in the report")
		}
	}
}

func (f *outputFlags) paint(w *environment, terminal bool) text.Options {
	out := text.Options{Color: f.colored(w, terminal), Verbose: f.verbose, Names: f.names, Page: f.page}
	if terminal && w.width != nil {
		out.Width = w.width()
	}
	if columns, err := strconv.Atoi(w.getenv("COLUMNS")); err == nil && terminal && columns > 0 {
		out.Width = columns
	}
	return out
}

// colored decides about colour: by the flag, then by NO_COLOR and TERM, then by CLICOLOR_FORCE, then by whether the
// output is a terminal.
func (f *outputFlags) colored(w *environment, terminal bool) bool {
	switch {
	case f.color != "auto":
		return f.color == "always"
	case w.getenv("NO_COLOR") != "" || w.getenv("TERM") == "dumb":
		return false
	case w.getenv("CLICOLOR_FORCE") != "" && w.getenv("CLICOLOR_FORCE") != "0":
		return true
	default:
		return terminal
	}
}

// print writes the report to standard output.
func (f *outputFlags) print(doc *report.Document, w *environment) error {
	switch f.format {
	case "json":
		return jsonreport.Write(w.verbatim, doc)
	case "junit":
		return junit.Write(w.verbatim, doc)
	case "html":
		return html.Write(w.verbatim, doc)
	case "markdown":
		return markdown.Write(w.stdout, doc, markdown.DefaultBudget)
	case "github":
		return f.github(doc, w)
	default:
		return text.Write(w.stdout, doc, f.paint(w, w.terminal))
	}
}

// github prints the text report and the causes as annotations, and appends the summary to that of the job.
func (f *outputFlags) github(doc *report.Document, w *environment) error {
	err := errors.Join(text.Write(w.stdout, doc, f.paint(w, w.terminal)), markdown.WriteAnnotations(w.verbatim, doc, w.getenv("LOCKSTEP_ROOT")))
	path := w.getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return err
	}
	fault := regular.CheckOutput(path)
	var file *os.File
	if fault == nil {
		file, fault = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	}
	if fault != nil {
		return errors.Join(err, fmt.Errorf("the job's summary: %w", fault))
	}
	return errors.Join(err, markdown.Write(file, doc, markdown.DefaultBudget), file.Close())
}

// exitFor returns the error that ends the program after a verdict. If a report could not be written, a green run
// counts as unknown.
func exitFor(v verdict.Verdict, err error) error {
	switch {
	case v == verdict.Differ:
		return &exitError{exitDiffer, err}
	case (v == verdict.Match || v == verdict.Waived) && err == nil:
		return nil
	default:
		return &exitError{exitUnknown, err}
	}
}

// An output is standard output. It remembers that a write failed, because most commands do not check.
type output struct {
	to   io.Writer
	mu   sync.Mutex
	lost error // of the first write that failed
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.lost = cmp.Or(o.lost, err)
	}
	return n, err
}

// exitFor returns the error that ends the program after a command. If output was lost, the code is exitUnknown,
// unless the command has an exit code of its own.
func (o *output) exitFor(err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := errors.AsType[*exitError](err); ok || o.lost == nil {
		return err
	}
	if err == nil {
		err = fmt.Errorf("standard output: %w", o.lost)
	}
	return &exitError{exitUnknown, err}
}
