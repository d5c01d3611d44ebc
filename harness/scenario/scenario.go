// Package scenario reads the script: stories that a client lives through, written as YAML.
//
// One file is one scenario; a table in it makes one scenario of each row. What Load returns has been checked as far as
// a file can be checked by itself: its shape against the published schema, the names it uses against those it defines,
// every path, pattern and time for its syntax. What depends on a target (unique values, captures) stays an expression,
// which a Value resolves when it is needed. What a client does in a scenario is decoded again when it is wanted, see
// Script, so that thousands of scenarios take little more than their texts.
package scenario

import (
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/internal/problem"
)

// Problems are mistakes in files that somebody wrote.
type (
	Problem  = problem.Problem
	Problems = problem.Problems
)

// A Scenario is one story.
type Scenario struct {
	ID     string // the file's path under its root, without .yaml, and the row: "client-tools/odd-ids[slash]"
	Why    string
	Source string
	Tags   []string
	// Fresh scenarios get newly started targets of their own.
	Fresh bool
	Limit time.Duration // 0: the run's default
	Row   map[string]Value
	Setup Setup // of these; empty for the others
	// Directory says that it speaks of the directory of the target: ${{ directory }}.
	Directory bool
	// Lockstep says that it speaks of lockstep's own program: ${{ lockstep }}.
	Lockstep  bool
	Compare   Rules
	StepRules []StepRules // of the steps that have any, in the order of the script

	File   string // as it was given to Load
	Line   int    // of the scenario, or of its row
	Column int
	Text   []byte // the whole file, for excerpts
	// Fragments are the files of the fragments that it uses.
	Fragments []File
	// Generated says that the row is one of those that a row with the key wrong stands for.
	Generated bool

	source *source
}

// A File is one that a scenario is made of, beside its own.
type File struct {
	Name string // as Load came to it
	Text []byte
}

// IsMadeOf reports whether one of the files is the scenario's, or that of a fragment that it uses.
func (s *Scenario) IsMadeOf(files []string) bool {
	return slices.Contains(files, s.File) || slices.ContainsFunc(s.Fragments, func(f File) bool { return slices.Contains(files, f.Name) })
}

// Whole returns the texts of all files that the scenario is made of.
func (s *Scenario) Whole() []byte {
	whole := slices.Clone(s.Text)
	for _, f := range s.Fragments {
		whole = append(whole, f.Text...)
	}
	return whole
}

// Base returns the id without its row.
func (s *Scenario) Base() string {
	if s.Row == nil {
		return s.ID
	}
	return s.ID[:len(s.ID)-len("[]")-len(s.Row["name"].text())]
}

// A Step is one action of a scenario.
type Step struct {
	ID   string // "3", "4.left.1", "teardown.1"
	Line int
	Text string // how the file says it: "POST /client-tools/register", "await pending"
	Do   Action
}

// Kind returns the key the step begins with.
func (s *Step) Kind() string { return s.Do.kind() }

// Rules returns the rules of the step alone.
func (s *Step) Rules() Rules {
	switch do := s.Do.(type) {
	case *HTTP:
		return do.Compare
	case *Join:
		return do.Compare
	case *Open:
		return do.Compare
	}
	return Rules{}
}

// Captures returns the names that the step gives to values of an answer.
func (s *Step) Captures() []Capture {
	switch do := s.Do.(type) {
	case *HTTP:
		return do.Capture
	case *Join:
		return do.Capture
	case *Await:
		return do.Capture
	case *Poll:
		return do.Capture
	}
	return nil
}

// Request returns what the step sends, nil when it sends nothing.
func (s *Step) Request() *Request {
	switch do := s.Do.(type) {
	case *HTTP:
		return &do.Request
	case *Start:
		return &do.Request
	case *Open:
		return &do.Request
	case *Poll:
		return &do.Request
	}
	return nil
}
