package main

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

func completionCommand(w *environment) *cobra.Command {
	scripts := map[string]func(*cobra.Command) error{
		"bash":       func(root *cobra.Command) error { return root.GenBashCompletionV2(w.verbatim, true) },
		"zsh":        func(root *cobra.Command) error { return root.GenZshCompletion(w.verbatim) },
		"fish":       func(root *cobra.Command) error { return root.GenFishCompletion(w.verbatim, true) },
		"powershell": func(root *cobra.Command) error { return root.GenPowerShellCompletionWithDesc(w.verbatim) },
	}
	shells := slices.Sorted(maps.Keys(scripts))
	return &cobra.Command{
		Use:   "completion bash|fish|powershell|zsh",
		Short: "Prints a script for command-line completion in a shell",
		Long: `Prints a script with which a shell completes lockstep's commands and flags, and the scenarios, folders, tags and
targets of the project.`,
		Example: `  lockstep completion bash > ~/.local/share/bash-completion/completions/lockstep
  lockstep completion zsh > ~/.zfunc/_lockstep          with that folder in $fpath
  lockstep completion fish > ~/.config/fish/completions/lockstep.fish`,
		ValidArgs: shells,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return &project.UsageError{What: "completion needs the name of one shell", Fix: "use one of: " + strings.Join(shells, ", ")}
			case scripts[args[0]] == nil:
				return &project.UsageError{What: fmt.Sprintf("there is no completion for %q", args[0]), Fix: problem.OneOf(args[0], shells)}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return scripts[args[0]](cmd.Root()) },
	}
}

// completions registers shell completions for what the project contains (scenario ids, folders, tags, targets), and
// for flags with a fixed set of values. A project with mistakes has no completions; `lockstep lint` reports them.
func completions(root *cobra.Command) {
	words := map[string]cobra.CompletionFunc{
		"tag":       fromProject(tagsOf),
		"skip-tag":  fromProject(tagsOf),
		"target":    fromProject(targetsOf),
		"reference": fromProject(targetsOf),
		"color":     cobra.FixedCompletions(colors, cobra.ShellCompDirectiveNoFileComp),
		"class":     cobra.FixedCompletions(classes, cobra.ShellCompDirectiveNoFileComp),
		"format":    cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp),
	}
	for _, cmd := range root.Commands() {
		if strings.Contains(cmd.Use, "[scenario") {
			cmd.ValidArgsFunction = fromProject(pathsOf)
		}
		for name, complete := range words {
			if cmd.Flags().Lookup(name) == nil {
				continue
			}
			if f := cmd.Flags().Lookup(name); name == "format" && strings.HasSuffix(f.Usage, "text or json") {
				complete = cobra.FixedCompletions(plainFormats, cobra.ShellCompDirectiveNoFileComp)
			}
			if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
				panic("lockstep: a flag is completed twice: " + err.Error())
			}
		}
	}
}

// fromProject returns a completion with words of the project that the command line names. It leaves out words that
// are arguments already.
func fromProject(words func(*project.Project) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		p, err := load(cmd.Flag("config").Value.String())
		if err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		var out []string
		for _, word := range words(p) {
			id, _, _ := strings.Cut(word, "\t")
			if strings.HasPrefix(id, typed) && !slices.Contains(args, id) {
				out = append(out, word)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// pathsOf returns the ids of the scenarios, each with its reason, and the ids of folders and tables.
func pathsOf(p *project.Project) []string {
	groups := map[string]bool{}
	var out []string
	for _, s := range p.Scenarios {
		out = append(out, s.ID+"\t"+s.Why)
		if s.Base() != s.ID {
			groups[s.Base()] = true
		}
		for dir := path.Dir(s.Base()); dir != "."; dir = path.Dir(dir) {
			groups[dir] = true
		}
	}
	return append(slices.Sorted(maps.Keys(groups)), out...)
}

func tagsOf(p *project.Project) []string {
	var out []string
	for _, t := range tagCounts(p.Scenarios) {
		out = append(out, t.Tag+"\t"+count(t.Scenarios, "scenario"))
	}
	return out
}

func targetsOf(p *project.Project) []string {
	out := make([]string, len(p.Targets))
	for i, t := range p.Targets {
		out[i] = t.Spec.Name
	}
	return out
}
