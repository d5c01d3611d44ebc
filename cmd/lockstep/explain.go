package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/lab/explain"
)

// explainFlags are the flags of lockstep explain.
type explainFlags struct {
	plainFlags
	targets   []string
	reference string
}

func explainCommand(w *environment) *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain [scenario or folder ...]",
		Short: "Prints scenarios as they will run, with all defaults filled in",
		Long: `Prints scenarios as they will run: one for each row of a table, with variables replaced, and with every default, limit
and request line. It adds the targets, the rules that apply (and where each is written) and the waivers for these
scenarios. Captures and unique stay expressions, because only a run knows their values. Starts nothing.

The text is YAML for people. For programs, --format json prints the same as a list.`,
		Example: `  lockstep explain client-tools/register
  lockstep explain 'client-tools/odd-ids[slash]' --target go
  lockstep explain --tag sse --format json | jq '.[].rules[].rule'`,
		RunE: func(_ *cobra.Command, args []string) error {
			f.selection.Paths = args
			return f.explain(w)
		},
	}
	f.register(cmd)
	targetFlags(cmd, &f.targets, &f.reference)
	return cmd
}

func (f *explainFlags) explain(w *environment) error {
	p, w, err := f.open(w)
	if err != nil {
		return err
	}
	explained, err := explain.Scenarios(p, f.selection, f.targets, f.reference, w.today())
	if err != nil {
		return err
	}
	if f.format == "json" {
		return printJSON(w.verbatim, explained)
	}
	for i, s := range explained {
		if i > 0 {
			fmt.Fprintln(w.stdout, "---")
		}
		if _, err := io.WriteString(w.stdout, s.YAML()); err != nil {
			return err
		}
	}
	return nil
}
