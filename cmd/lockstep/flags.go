package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

func configFlag(cmd *cobra.Command, config *string) {
	cmd.Flags().StringVarP(config, "config", "c", "lockstep.yaml", "the project's file")
}

// targetFlags declares the flags that choose the targets.
func targetFlags(cmd *cobra.Command, targets *[]string, reference *string) {
	fl := cmd.Flags()
	fl.StringArrayVarP(targets, "target", "t", nil, "a target of the project, or name=URL of a running server; repeat for more (default all)")
	fl.StringVar(reference, "reference", "", "the target that is taken as correct (default the project's)")
}

// jobsFlag declares how many scenarios run at a time; 0 means the default.
func jobsFlag(cmd *cobra.Command, jobs *int) {
	cmd.Flags().IntVarP(jobs, "jobs", "j", 0, "how many scenarios run at a time (default twice the processors, at least 4)")
}

// checkJobs rejects an explicit number of jobs below 1.
func checkJobs(cmd *cobra.Command, jobs int) error {
	if cmd.Flags().Changed("jobs") && jobs < 1 {
		return fmt.Errorf("--jobs is %d: write how many scenarios may run at a time", jobs)
	}
	return nil
}

func reportsFlag(cmd *cobra.Command, folder *string) {
	cmd.Flags().StringVarP(folder, "reports", "o", "reports", "the folder for the reports, relative to lockstep.yaml; - for none")
}

// selectionFlags declares the flags that select scenarios, in addition to the arguments.
func selectionFlags(cmd *cobra.Command, selection *project.Selection) {
	fl := cmd.Flags()
	fl.StringSliceVar(&selection.Tags, "tag", nil, "only scenarios with this tag; repeat to require several tags")
	fl.StringSliceVar(&selection.Skip, "skip-tag", nil, "leave out scenarios with this tag; repeat for more")
	fl.StringArrayVarP(&selection.Names, "name", "n", nil, "only scenarios with this text in their id or why")
}

// plainFormats are the formats of commands that do not judge.
var plainFormats = []string{"text", "json"}

// plainFlags are the flags of commands that print scenarios.
type plainFlags struct {
	config    string
	selection project.Selection
	format    string
}

func (f *plainFlags) register(cmd *cobra.Command) {
	configFlag(cmd, &f.config)
	selectionFlags(cmd, &f.selection)
	cmd.Flags().StringVarP(&f.format, "format", "f", "text", "the format of the output: text or json")
}

// open loads the project, and returns an environment whose output masks the project's secrets.
func (f *plainFlags) open(w *environment) (*project.Project, *environment, error) {
	if err := oneOf("format", f.format, plainFormats); err != nil {
		return nil, nil, err
	}
	p, err := load(f.config)
	if err != nil {
		return nil, nil, err
	}
	return p, w.masked(p), nil
}

// oneOf rejects a flag value that is not one of the given words.
func oneOf(flag, value string, words []string) error {
	if slices.Contains(words, value) {
		return nil
	}
	last := len(words) - 1
	return &project.UsageError{What: fmt.Sprintf("--%s is %q: write %s or %s", flag, value, strings.Join(words[:last], ", "), words[last]), Fix: problem.DidYouMean(value, words)}

}

// beside resolves a path relative to the project file.
func beside(config, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(config), path)
}

// load reads the project.
func load(config string) (*project.Project, error) {
	defer collectRarely()()
	return project.Load(config)
}
