// Package scenario reads scenarios: what a client does, written as YAML.
//
// One file is one scenario. A table in the file makes one scenario of each row. Each checks everything that can be
// checked without a target: the shape against the published schema, the names that are used against those that are
// defined, and the syntax of every path, pattern and time. What depends on a target (unique values, captures) stays an
// expression, which a Value resolves when it is needed. A scenario's script is decoded again when it is needed (see
// Script), so that thousands of scenarios take little more memory than their texts.
package scenario

import (
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// Problems are mistakes in files that users wrote.
type (
	Problem  = problem.Problem
	Problems = problem.Problems
)

type Scenario struct {
	ID     string // the file's path in its folder, without .yaml, and the row: "client-tools/odd-ids[slash]"
	Why    string
	Source string
	Tags   []string
	Needs  []Need
	// Fresh scenarios get their own, newly started targets.
	Fresh bool
	Limit time.Duration // 0 means the run's default
	Row   map[string]Value
	Setup Setup // of the fresh targets; empty for other scenarios
	// Directory means that it uses the directory of the target: ${{ directory }}.
	Directory bool
	// Lockstep means that it uses the lockstep program: ${{ lockstep }}.
	Lockstep  bool
	Compare   Rules
	StepRules []StepRules // of the steps that have rules, in the order of the script

	File   string // the path as Each found it
	Line   int    // line of the scenario, or of its row
	Column int
	Text   []byte // the whole file, for excerpts
	// Fragments are the files of the fragments that it uses.
	Fragments []File
	// Generated means that the row was generated from a row with the key wrong.
	Generated bool

	source *source
}

// A Need is a capability that every target must have.
type Need struct {
	Name         string
	Line, Column int
}

// A File is another file that a scenario uses.
type File struct {
	Name string // the path as Each found it
	Text []byte
}

// IsMadeOf reports whether one of the files is the scenario's file, or that of a fragment that it uses.
func (s *Scenario) IsMadeOf(files []string) bool {
	return slices.Contains(files, s.File) || slices.ContainsFunc(s.Fragments, func(f File) bool { return slices.Contains(files, f.Name) })
}

// Whole returns the texts of all files of the scenario.
func (s *Scenario) Whole() []byte {
	whole := slices.Clone(s.Text)
	for _, f := range s.Fragments {
		whole = append(whole, f.Text...)
	}
	return whole
}

func (s *Scenario) Base() string {
	if s.Row == nil {
		return s.ID
	}
	return s.ID[:len(s.ID)-len("[]")-len(s.Row["name"].text())]
}

type Step struct {
	ID   string // "3", "4.left.1", "teardown.1"
	Line int
	Text string // as the file has it: "POST /client-tools/register", "await pending"
	Do   Action
}

// Kind returns the key with which the step begins.
func (s *Step) Kind() string { return s.Do.kind() }

// Rules returns the rules of this step alone.
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

// Captures returns the names that the step gives to values of a response.
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

// Request returns the request that the step sends, or nil.
func (s *Step) Request() *Request {
	var r *Request
	switch do := s.Do.(type) {
	case *HTTP:
		r = &do.Request
	case *Start:
		r = &do.Request
	case *Open:
		r = &do.Request
	case *Poll:
		r = &do.Request
	}
	if r == nil || r.Method == "" || r.Method == transcript.Do {
		return nil // a program gets no request, nor does a driver
	}
	return r
}
