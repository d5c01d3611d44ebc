package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// examplesFirst moves the examples to the start of the help. The rest stays as cobra has it.
func examplesFirst(root *cobra.Command) {
	const examples = "{{if .HasExample}}\n\nExamples:\n{{.Example}}{{end}}"
	root.SetHelpTemplate("{{if .HasExample}}Examples:\n{{.Example}}\n\n{{end}}" + root.HelpTemplate())
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), examples, "", 1))
}

// knownCommand rejects a first argument that is not a command.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Root().Commands() {
		if c.Name() == args[0] {
			return nil
		}
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return &project.UsageError{What: fmt.Sprintf("unknown command %q", args[0]), Fix: problem.OneOf(args[0], names)}
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	e := &project.UsageError{What: fmt.Sprintf("%s takes no arguments: %q", cmd.Name(), args[0]), Fix: "leave it out"}
	if cmd.Flag("config") != nil {
		e.Fix += "; --config names another project"
	}
	return e
}

// flagError adds a fix to an error of the flag parser, and removes the name of the Go function that failed.
func flagError(cmd *cobra.Command, err error) error {
	e := &project.UsageError{What: err.Error(), Fix: fmt.Sprintf("%s --help lists the flags", cmd.CommandPath())}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		e.Fix = cmp.Or(meantFlag(cmd, unknown.GetSpecifiedName()), e.Fix)
	}
	if n, ok := errors.AsType[*strconv.NumError](err); ok {
		e.What = strings.Replace(e.What, n.Error(), n.Err.Error(), 1)
	}
	return e
}

// noEmptyFlags rejects flags with an empty value, which usually come from a shell variable that is not set. Taken
// literally, an empty value would mean something else: the project's own folder, or every scenario.
func noEmptyFlags(cmd *cobra.Command, _ []string) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		empty := f.Value.Type() == "string" && f.Value.String() == ""
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values := list.GetSlice()
			empty = len(values) == 0 || slices.Contains(values, "")
		}
		if empty && err == nil {
			err = &project.UsageError{What: "--" + f.Name + " is empty", Fix: "leave it out, or give it a value: " + f.Usage}
		}
	})
	return err
}

// meantFlag suggests the flag that was likely meant: the same one of another command, or else a similar one of this
// command.
func meantFlag(cmd *cobra.Command, name string) string {
	var others []string
	for _, other := range cmd.Root().Commands() {
		if other.Flags().Lookup(name) != nil && !other.Hidden {
			others = append(others, other.Name())
		}
	}
	if len(others) > 0 {
		return fmt.Sprintf("%s does not have this flag; these commands do: %s", cmd.CommandPath(), strings.Join(others, ", "))
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if near, ok := problem.Nearest(name, names); ok {
		return fmt.Sprintf("did you mean --%s?", near)
	}
	return ""
}

// knownSubcommand rejects an argument that is not a subcommand.
func knownSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	fix := cmp.Or(problem.DidYouMean(args[0], names), "use: "+strings.Join(names, ", "))
	return &project.UsageError{What: fmt.Sprintf("unknown command %q of %s", args[0], cmd.CommandPath()), Fix: fix}
}

// atMostOne accepts at most one argument; what names it in the error.
func atMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= 1 {
			return nil
		}
		return &project.UsageError{What: fmt.Sprintf("%s takes at most one %s: %q is a second one", cmd.Name(), what, args[1]), Fix: "leave it out"}
	}
}

// exactly accepts exactly n arguments; what and fix are for the error.
func exactly(n int, what, fix string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		return &project.UsageError{What: fmt.Sprintf("%s takes %s, but got %d", cmd.Name(), what, len(args)), Fix: fix}
	}
}
