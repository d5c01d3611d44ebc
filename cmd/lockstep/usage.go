package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// knownCommand refuses what the first argument names when it is no command.
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
	return &harness.UsageError{What: fmt.Sprintf("unknown command %q", args[0]), Fix: problem.OneOf(args[0], names)}
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	e := &harness.UsageError{What: fmt.Sprintf("%s takes no argument, and %q is one", cmd.Name(), args[0]), Fix: "leave it out"}
	if cmd.Flag("config") != nil {
		e.Fix += "; --config names another project"
	}
	return e
}

// flagError adds a cure to what the parser of flags says, and leaves out which function of Go's library said it.
func flagError(cmd *cobra.Command, err error) error {
	e := &harness.UsageError{What: err.Error(), Fix: fmt.Sprintf("%s --help lists the flags", cmd.CommandPath())}
	if n, ok := errors.AsType[*strconv.NumError](err); ok {
		e.What = strings.Replace(e.What, n.Error(), n.Err.Error(), 1)
	}
	return e
}
