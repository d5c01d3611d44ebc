package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/internal/legible"
)

// listFlags are the flags of lockstep list.
type listFlags struct {
	plainFlags
	tags bool
}

func listCommand(w *environment) *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "list [scenario or folder ...]",
		Short: "Lists the selected scenarios with their tags",
		Long: `Lists the scenarios that lockstep run would run with the same arguments, one per line, with their tags. Each row of
a table is a scenario. With --tags, counts the tags instead. Starts nothing.`,
		Example: `  lockstep list
  lockstep list client-tools --tag sse --skip-tag slow
  lockstep list --tags                                 how many scenarios each tag has
  lockstep list --format json | jq -r '.[].id'`,
		RunE: func(_ *cobra.Command, args []string) error {
			f.selection.Paths = args
			return f.list(w)
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&f.tags, "tags", false, "count the tags of the selected scenarios instead, the most frequent first")
	return cmd
}

func (f *listFlags) list(w *environment) error {
	p, w, err := f.open(w)
	if err != nil {
		return err
	}
	scenarios, err := p.Select(f.selection)
	switch {
	case err != nil:
		return err
	case f.tags && f.format == "json":
		return printJSON(w.verbatim, tagCounts(scenarios))
	case f.tags:
		return printTags(w.stdout, tagCounts(scenarios))
	case f.format == "json":
		return printJSON(w.verbatim, listed(scenarios))
	default:
		return printList(w.stdout, scenarios)
	}
}

// A listing describes one scenario.
type listing struct {
	ID     string   `json:"id"`
	File   string   `json:"file"`
	Line   int      `json:"line"`
	Why    string   `json:"why"`
	Source string   `json:"source"`
	Tags   []string `json:"tags"`
	Fresh  bool     `json:"fresh"` // runs on newly started targets
}

func listed(scenarios []*scenario.Scenario) []listing {
	out := make([]listing, len(scenarios))
	for i, s := range scenarios {
		out[i] = listing{s.ID, s.File, s.Line, s.Why, s.Source, append([]string{}, s.Tags...), s.Fresh}
	}
	return out
}

// printList prints one line for each scenario: its id and its tags.
func printList(out io.Writer, scenarios []*scenario.Scenario) error {
	const widest = 60 // width of the id column; longer ids push their tags to the right
	width := 0
	for _, s := range scenarios {
		width = max(width, min(len(s.ID), widest))
	}
	for _, s := range scenarios {
		line := legible.Text(fmt.Sprintf("%-*s  %s", width, s.ID, strings.Join(s.Tags, ", ")))
		if _, err := fmt.Fprintln(out, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

// A tagCount says how many scenarios have a tag.
type tagCount struct {
	Tag       string `json:"tag"`
	Scenarios int    `json:"scenarios"`
}

// tagCounts counts the tags, the most frequent first.
func tagCounts(scenarios []*scenario.Scenario) []tagCount {
	counts := map[string]int{}
	for _, s := range scenarios {
		for _, tag := range s.Tags {
			counts[tag]++
		}
	}
	out := make([]tagCount, 0, len(counts))
	for _, tag := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, tagCount{tag, counts[tag]})
	}
	slices.SortStableFunc(out, func(a, b tagCount) int { return cmp.Compare(b.Scenarios, a.Scenarios) })
	return out
}

func printTags(out io.Writer, tags []tagCount) error {
	for _, t := range tags {
		if _, err := fmt.Fprintf(out, "%5d  %s\n", t.Scenarios, t.Tag); err != nil {
			return err
		}
	}
	return nil
}

// printJSON writes indented JSON, and does not escape the characters that are special in HTML.
func printJSON(out io.Writer, value any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(value)
}
