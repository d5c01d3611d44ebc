package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/project"
)

// pollInterval is how often the files are checked.
const pollInterval = 300 * time.Millisecond

func watchCommand(w *environment) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "watch [scenario or folder ...]",
		Short: "Runs scenarios again whenever a file that they depend on changes",
		Long: `Runs the selected scenarios, and runs them again when a file changes. A change of a scenario's file runs its scenarios.
A change of lockstep.yaml, the contract, the waivers or a file of a target runs all of them. The files of a target are
those under watch: in lockstep.yaml, or else those that its command names. Scenarios that failed run first. Each round
starts the targets and stops them again. Ctrl-C ends lockstep watch.

The exit code is 0 after Ctrl-C, and 2 if flags are wrong.`,
		Example: `  lockstep watch
  lockstep watch client-tools --target go
  lockstep watch --tag sse --reports -            and keep the reports of the last run`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.selection.Paths = args
			if err := checkJobs(cmd, f.jobs); err != nil {
				return err
			}
			ticker := time.NewTicker(pollInterval)
			defer ticker.Stop()
			return newWatcher(&f, w, ticker.C).loop(cmd.Context())
		},
	}
	configFlag(cmd, &f.config)
	targetFlags(cmd, &f.targets, &f.reference)
	selectionFlags(cmd, &f.selection)
	jobsFlag(cmd, &f.jobs)
	reportsFlag(cmd, &f.reports)
	f.output.register(cmd, "log what happens to the targets, and print every scenario")
	return cmd
}

// A watcher runs the scenarios again and again.
type watcher struct {
	flags   *runFlags
	world   *environment
	ticks   <-chan time.Time
	paths   []string         // from the command line
	project *project.Project // as it was when it could last be read; nil if never
	files   snapshot         // as they were when the last round began
	failing map[string]bool  // ids of scenarios
	unread  bool             // the last round judged nothing, because of an error
	rounds  int
	looked  func() // called after each check of the files
}

func newWatcher(f *runFlags, w *environment, ticks <-chan time.Time) *watcher {
	return &watcher{flags: f, world: w, ticks: ticks, paths: f.selection.Paths, failing: map[string]bool{}, looked: func() {}}
}

// loop runs everything, then again whatever a change touches, until the context ends.
func (x *watcher) loop(ctx context.Context) error {
	if err := x.flags.validate(); err != nil {
		return err
	}
	changed := change{all: true}
	for ctx.Err() == nil {
		err := x.round(ctx, changed)
		if usage, ok := errors.AsType[*project.UsageError](err); ok && x.rounds <= 1 {
			return usage // it would not go away by itself
		}
		if x.unread = err != nil; x.unread {
			printError(x.world.stderr, err)
		}
		if x.rounds == 1 && x.project != nil {
			for _, name := range x.project.Files().Unwatched {
				x.say("no file of target %q is watched: list its files in lockstep.yaml, as in watch: [\"src/**/*\"]", name)
			}
		}
		if ctx.Err() == nil {
			x.say("%s; waiting for a change, Ctrl-C ends", x.state())
			changed = x.wait(ctx)
			changed.all = changed.all || x.unread // what has changed since the last round that judged is not known
		}
	}
	return nil
}

// say prints a line about the watcher itself.
func (x *watcher) say(format string, args ...any) {
	fmt.Fprintf(x.world.stderr, "watch: "+format+"\n", args...)
}

// state lists the scenarios that are red, in all rounds so far.
func (x *watcher) state() string {
	const most = 5
	ids := slices.Sorted(maps.Keys(x.failing))
	switch {
	case x.unread && len(ids) == 0:
		return "nothing was judged"
	case x.unread:
		return fmt.Sprintf("nothing was judged; %d red before", len(ids))
	case len(ids) == 0:
		return "all green"
	case len(ids) > most:
		return fmt.Sprintf("%d red: %s and %d more", len(ids), strings.Join(ids[:most], ", "), len(ids)-most)
	}
	return fmt.Sprintf("%d red: %s", len(ids), strings.Join(ids, ", "))
}

// round runs what a change touches. Its error is an error of the run that is not a verdict.
func (x *watcher) round(ctx context.Context, c change) error {
	x.rounds++
	before, known := x.look(), x.project != nil
	p, err := x.flags.output.load(x.flags.config)
	if err == nil {
		x.project = p
	}
	x.files = x.look()
	for file, s := range before { // so that the next check sees a file that changed in the meantime
		if _, matters := x.files[file]; matters || known {
			x.files[file] = s
		}
	}
	if err != nil {
		return err
	}
	x.flags.selection.Paths = x.paths
	touched, err := x.touched(c)
	if err != nil {
		return err
	}
	if len(touched) == 0 {
		x.say("%s: no selected scenario depends on it", c.text())
		return nil
	}
	x.flags.first = nil
	for _, id := range touched {
		if x.failing[id] {
			x.flags.first = append(x.flags.first, id)
		}
	}
	if !c.all {
		x.flags.selection.Paths = touched
	}
	x.say("round %d at %s: %s, %s, %d of them red", x.rounds, x.world.today().Format(time.TimeOnly), c.text(), count(len(touched), "scenario"), len(x.flags.first))
	x.flags.judged = x.judged
	err = x.flags.run(ctx, x.world)
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.err // watch does not exit with its code
	}
	return err
}

// touched returns the ids of the scenarios that a change touches. It forgets failing scenarios that no longer exist.
func (x *watcher) touched(c change) ([]string, error) {
	all := map[string]bool{}
	for _, s := range x.project.Scenarios {
		all[s.ID] = true
	}
	maps.DeleteFunc(x.failing, func(id string, _ bool) bool { return !all[id] })
	scenarios, err := x.project.Select(x.flags.selection)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, s := range scenarios {
		if c.all || s.IsMadeOf(c.files) {
			ids = append(ids, s.ID)
		}
	}
	return ids, nil
}

// judged records which scenarios are red.
func (x *watcher) judged(r *engine.Result) {
	for _, s := range r.Scenarios {
		delete(x.failing, s.ID)
		if s.Verdict.Red() {
			x.failing[s.ID] = true
		}
	}
}

// wait waits for a change, and then until the files stop changing, because editors and compilers write in several
// steps. It returns no change if the context ends.
func (x *watcher) wait(ctx context.Context) change {
	last := x.files
	for {
		select {
		case <-ctx.Done():
			return change{}
		case <-x.ticks:
		}
		now := x.look()
		x.looked()
		if files := now.since(x.files); len(files) > 0 && len(now.since(last)) == 0 {
			return x.classify(files, now)
		}
		last = now
	}
}

// A change is a list of changed files, with what they touch.
type change struct {
	all   bool     // touches all scenarios
	files []string // empty for the first round
}

func (c change) text() string {
	switch {
	case len(c.files) == 0:
		return "first run"
	case len(c.files) > 3:
		return fmt.Sprintf("%s and %d more changed", strings.Join(c.files[:3], ", "), len(c.files)-3)
	}
	return strings.Join(c.files, ", ") + " changed"
}

// classify decides what a change touches: everything, if the project cannot be read.
func (x *watcher) classify(files []string, now snapshot) change {
	c := change{files: files, all: x.project == nil}
	for _, file := range files {
		was, is := x.files[file], now[file]
		if !was.scenario && !is.scenario {
			c.all = true
		}
	}
	return c
}

// A snapshot has the state of files: whether they exist, their size and their time.
type snapshot map[string]fileState

type fileState struct {
	there    bool
	size     int64
	changed  time.Time
	scenario bool // is in the scenarios folder
}

// since returns the files that differ from an earlier snapshot, sorted.
func (s snapshot) since(before snapshot) (out []string) {
	for file, is := range s {
		if was := before[file]; was.there != is.there || was.size != is.size || !was.changed.Equal(is.changed) {
			out = append(out, file)
		}
	}
	for file, was := range before {
		if _, ok := s[file]; !ok && was.there {
			out = append(out, file)
		}
	}
	slices.Sort(out)
	return out
}

// look takes a snapshot of all files that matter.
func (x *watcher) look() snapshot {
	out := snapshot{}
	add := func(files []string, scenario bool) {
		for _, file := range files {
			s := fileState{scenario: scenario}
			if info, err := os.Stat(file); err == nil {
				s.there, s.size, s.changed = true, info.Size(), info.ModTime()
			}
			out[file] = s
		}
	}
	if x.project == nil { // which files the project has is not known yet
		add(documentsBelow(filepath.Dir(x.flags.config)), false)
		add([]string{x.flags.config}, false)
		return out
	}
	files := x.project.Files()
	add(files.Targets, false)
	add(files.Scenarios, true)
	add(files.Project, false)
	return out
}

// documentsBelow returns the files in and below a folder that could be part of a project.
func documentsBelow(dir string) (out []string) {
	_ = filepath.WalkDir(dir, func(file string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case entry.IsDir() && file != dir && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".")):
			return filepath.SkipDir
		case slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)):
			out = append(out, file)
		}
		return nil
	})
	return out
}
