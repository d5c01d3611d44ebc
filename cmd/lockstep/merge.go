package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/regular"
)

func mergeCommand(w *environment) *cobra.Command {
	var f runFlags // merge has the flags about reports and recordings only
	cmd := &cobra.Command{
		Use:   "merge run.jsonl ...",
		Short: "Merges the shards of a run, and judges the whole run",
		Long: `Merges the run files of all shards of a run and judges the whole run, without any server. The reports folder gets
what a single run would have written. lockstep merge fails if a shard is missing, duplicate or cut off, or if the
shards differ in their contract, scenarios, rules, targets, flags or seed.

Exit codes: 0 everything matches or is waived · 1 something differs, a waiver is stale, or the contract coverage is
below what lockstep.yaml demands · 2 flags or files are wrong, nothing was judged · 3 something could not be judged.`,
		Example: `  lockstep merge shards/*/run.jsonl
  lockstep merge shard-1/run.jsonl shard-2/run.jsonl --reports reports
  lockstep merge shards/*/run.jsonl --reports - --format markdown
  lockstep merge shards/*/run.jsonl --record recordings`,
		Args: someRunFiles,
		RunE: func(cmd *cobra.Command, args []string) error { return f.merge(cmd.Context(), args, w) },
	}
	configFlag(cmd, &f.config)
	reportsFlag(cmd, &f.reports)
	f.recording.declareRecord(cmd.Flags())
	f.output.register(cmd, "print every scenario and all findings")
	return cmd
}

func someRunFiles(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return nil
	}
	return &project.UsageError{What: "merge needs the run files of the shards", Fix: "write lockstep merge shards/*/run.jsonl"}
}

func (f *runFlags) merge(ctx context.Context, paths []string, w *environment) error {
	if err := f.validate(); err != nil {
		return err
	}
	p, err := f.output.load(f.config)
	if err != nil {
		return err
	}
	w = w.masked(p)
	record, err := f.shards(p, paths)
	if err != nil {
		return err
	}
	if err := f.keep(record); err != nil {
		return err
	}
	out, err := f.openReports()
	if err != nil {
		return err
	}
	err = record.Write(out.run)
	console, options := f.output.judging(w)
	stop := console.watch(ctx)
	result, fault := engine.JudgeFile(ctx, p, record, options)
	stop()
	if fault != nil {
		return errors.Join(err, fault, out.close())
	}
	err = errors.Join(err, f.write(result.Document(p), out, w))
	return exitFor(result.Verdict, errors.Join(err, out.close()))
}

// keep writes the reference's recording if --record is set.
func (f *runFlags) keep(record *runfile.File) error {
	if f.recording.record == "" {
		return nil
	}
	if err := record.Recordable(); err != nil {
		return err
	}
	tape, err := f.recording.open()
	if err != nil {
		return err
	}
	err = record.WriteRecording(tape.file)
	return errors.Join(err, tape.end(err == nil))
}

// shards reads the run files and merges them. It refuses a run file that merge itself would overwrite.
func (f *runFlags) shards(p *project.Project, paths []string) (*runfile.File, error) {
	whole, there := os.FileInfo(nil), false
	if f.reports != "-" {
		info, err := os.Stat(filepath.Join(beside(f.config, f.reports), "run.jsonl"))
		whole, there = info, err == nil
	}
	var parts []runfile.Part
	for _, path := range paths {
		file, err := regular.Open(path)
		if err != nil {
			return nil, &project.UsageError{What: err.Error(), Fix: "`lockstep run --shard` writes it"}
		}
		defer file.Close()
		if info, err := file.Stat(); err == nil && there && os.SameFile(info, whole) {
			return nil, &project.UsageError{What: path + " is the file that the merged run would overwrite", Fix: "name another folder with --reports"}
		}
		parts = append(parts, runfile.Part{Name: path, File: bufio.NewReaderSize(file, 1<<20)})
	}
	record, err := runfile.Merge(p, parts)
	if err != nil {
		return nil, incompleteShard(err)
	}
	return record, nil
}

// incompleteShard adds a fix to the error about a shard that was cut off.
func incompleteShard(err error) error {
	if errors.Is(err, transcript.ErrIncomplete) {
		return &project.UsageError{What: err.Error(), Fix: "run that shard again: a shard that was interrupted or is still running cannot be merged"}
	}
	return err
}
