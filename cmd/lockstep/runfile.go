package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/jsonreport"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/regular"
)

// runFile returns the run file to read: the argument, or that of the project's last run.
func runFile(config string, args []string) string {
	if len(args) == 1 {
		return args[0]
	}
	return filepath.Join(filepath.Dir(config), "reports", "run.jsonl")
}

// openRun opens a run file and reads its project.
func openRun(config, path string, load func(config string) (*project.Project, error)) (*project.Project, *os.File, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, nil, &project.UsageError{What: err.Error(), Fix: "`lockstep run` writes it, or name another run file"}
	}
	p, err := load(config)
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return p, file, nil
}

// runFileError explains what is wrong with a run file.
func runFileError(path string, err error) error {
	if errors.Is(err, transcript.ErrIncomplete) {
		return &project.UsageError{What: fmt.Sprintf("%s: %s", path, err), Fix: "run again: a run that was interrupted or is still going on cannot be judged"}
	}
	return fmt.Errorf("%s: %w", path, err)
}

// lastRun reads the run that a command is about: by default the report of the project's last run.
func lastRun(ctx context.Context, w *environment, p *project.Project, config, from string) (*verdict.Run, error) {
	if from == "" {
		from = filepath.Join(filepath.Dir(config), "reports", "report.json")
	}
	doc, err := readRun(ctx, w, from, "run the scenarios first, or name a report.json or run.jsonl with --from",
		func() (*project.Project, error) { return p, nil })
	if err != nil {
		return nil, err
	}
	return &doc.Run, nil
}

// runFileStart is the beginning of every run file. No report begins like this.
const runFileStart = `{"lockstep":`

// readRun reads a report.json, or reads a project's run.jsonl and judges it again. missing says what to do if the
// file does not exist.
func readRun(ctx context.Context, w *environment, path, missing string, load func() (*project.Project, error)) (*report.Document, error) {
	file, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &project.UsageError{What: path + ": no such file", Fix: missing}
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 1<<20)
	if head, _ := in.Peek(len(runFileStart)); string(head) != runFileStart {
		doc, err := jsonreport.Read(in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return doc, nil
	}
	p, err := load()
	if err != nil {
		return nil, err
	}
	result, err := engine.Judge(ctx, p, in, &engine.JudgeOptions{Today: w.today(), Environ: w.environ})
	if err != nil {
		return nil, runFileError(path, err)
	}
	return result.Document(p), nil
}
