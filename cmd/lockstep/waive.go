package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/harness/verdict/waiver"
)

// waiveFlags are the flags of lockstep waive.
type waiveFlags struct {
	config string
	from   string
	class  string
	add    bool
}

func waiveCommand(w *environment) *cobra.Command {
	var f waiveFlags
	cmd := &cobra.Command{
		Use:   "waive [scenario or folder ...]",
		Short: "Writes waivers to fill in, for the findings of the last run",
		Long: `Prints a waiver for each finding of the last run that nothing accepts yet, or appends it to waivers.yaml.
Reason and owner are left empty. Until you fill them in, lockstep run and lockstep lint reject the file.
A waiver accepts one finding, for 90 days unless you write another date.`,
		Example: `  lockstep waive client-tools/odd-ids
  lockstep waive --class intended --append 'client-tools/odd-ids[slash]'
  lockstep waive --from reports/run.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.waive(cmd.Context(), w, args) },
	}
	configFlag(cmd, &f.config)
	fl := cmd.Flags()
	fl.StringVar(&f.from, "from", "", "the report.json or run.jsonl of a run (default reports/report.json beside lockstep.yaml)")
	fl.StringVar(&f.class, "class", "", "the class: candidate-bug, reference-bug, contract-silent or intended (default empty)")
	fl.BoolVar(&f.add, "append", false, "append to waivers.yaml instead of printing")
	return cmd
}

var classes = []string{"candidate-bug", "reference-bug", "contract-silent", "intended"}

func (f *waiveFlags) waive(ctx context.Context, w *environment, paths []string) error {
	if f.class != "" {
		if err := oneOf("class", f.class, classes); err != nil {
			return err
		}
	}
	p, err := load(f.config)
	if err != nil {
		return err
	}
	ids, err := p.IDs(project.Selection{Paths: paths})
	if err != nil {
		return err
	}
	run, err := lastRun(ctx, w, p, f.config, f.from)
	if err != nil {
		return err
	}
	findings := f.findings(w, p, run, ids)
	if len(findings) == 0 {
		fmt.Fprintln(w.stderr, "there is nothing to waive")
		return nil
	}
	text := verdict.WaiverSkeleton(findings, p.Waivers, f.class, w.today().Add(verdict.WaiverLifetime))
	if !f.add {
		fmt.Fprint(w.stdout, text)
		return nil
	}
	if err := waiver.Append(p.WaiversFile, text); err != nil {
		return &project.UsageError{What: err.Error(), Fix: "leave out --append, and paste the output into the file"}
	}
	empty := "reason and owner"
	if f.class == "" {
		empty = "class, reason and owner"
	}
	fmt.Fprintf(w.stderr, "%s: fill in %s\n", p.WaiversFile, empty)
	return nil
}

// findings returns the findings that no waiver accepts. It prints expired waivers, because they must be renewed in
// their file.
func (f *waiveFlags) findings(w *environment, p *project.Project, run *verdict.Run, ids []string) []verdict.Finding {
	var out []verdict.Finding
	told := map[string]bool{}
	for i := range run.Scenarios {
		s := &run.Scenarios[i]
		if !slices.Contains(ids, s.ID) {
			continue
		}
		for _, finding := range s.Findings {
			there := slices.IndexFunc(p.Waivers, func(w waiver.Waiver) bool { return w.Matches(verdict.BaselineEntryOf(&finding)) })
			switch {
			case finding.Accepted():
			case there < 0:
				out = append(out, finding)
			case !told[p.Waivers[there].ID]:
				of := &p.Waivers[there]
				told[of.ID] = true
				fmt.Fprintf(w.stderr, "%s:%d: %s already covers this finding; it expires on %s\n", of.File, of.Line, of.ID, of.Expires.Format(time.DateOnly))
			}
		}
	}
	return out
}
