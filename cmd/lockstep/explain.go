package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// explainFlags are the flags of lockstep explain.
type explainFlags struct {
	config    string
	selection harness.Selection
	targets   []string
	reference string
	format    string
}

func explainCommand(w *world) *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain [scenario or folder ...]",
		Short: "Prints scenarios as they will run, with everything that is taken for granted",
		Long: `Prints scenarios as they will run: each row of a table by itself, variables put in, every default, limit and request
line said, and with the targets, the rules in force (and where each is written) and the waivers that speak of them. What
only a run knows, captures and unique, stays an expression. Starts nothing.

The text is YAML, to be read; what a program reads is --format json, a list of the same.`,
		Example: `  lockstep explain client-tools/register
  lockstep explain 'client-tools/odd-ids[slash]' --target go
  lockstep explain --tag sse --format json | jq '.[].rules[].rule'`,
		RunE: func(_ *cobra.Command, args []string) error {
			f.selection.Paths = args
			return f.explain(w)
		},
	}
	configFlag(cmd, &f.config)
	selectionFlags(cmd, &f.selection)
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.targets, "target", "t", nil, "a target of the project, or name=URL of a server that runs; again for more (default all)")
	fl.StringVar(&f.reference, "reference", "", "the target that is taken as right (default the project's)")
	plainFormatFlag(cmd, &f.format)
	return cmd
}

func (f *explainFlags) explain(w *world) error {
	if err := oneOf("format", f.format, plainFormats); err != nil {
		return err
	}
	project, err := load(f.config)
	if err != nil {
		return err
	}
	w = w.covered(project)
	explained, err := project.Explain(f.selection, f.targets, f.reference, w.today())
	if err != nil {
		return err
	}
	if f.format == "json" {
		return printJSON(w.verbatim, values(explained))
	}
	return printExplained(w.stdout, explained)
}

// An ordered value writes itself as JSON in the order in which it was put together.
type ordered struct{ *jsontree.Node }

func (o ordered) MarshalJSON() ([]byte, error) { return []byte(o.String()), nil }

func values(nodes []*jsontree.Node) []ordered {
	out := make([]ordered, len(nodes))
	for i, n := range nodes {
		out[i] = ordered{n}
	}
	return out
}

// printExplained writes a document of YAML for each scenario.
func printExplained(out io.Writer, explained []*jsontree.Node) error {
	const columns = 110
	for i, n := range explained {
		if i > 0 {
			fmt.Fprintln(out, "---")
		}
		if _, err := io.WriteString(out, yamldoc.Block(n, 0, columns)); err != nil {
			return err
		}
	}
	return nil
}
