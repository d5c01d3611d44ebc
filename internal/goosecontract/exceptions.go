package main

import (
	_ "embed"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

//go:embed exceptions.schema.json
var exceptionsSchema []byte

// exceptions are what the published document has and the contract has not, each with its reason.
type exceptions struct {
	file    string
	later   []*later
	changes []*exception
}

// A later is a path, with all below it, that the contract does not have yet.
type later struct {
	path  string
	line  int
	paths int    // of the published document that it covers
	built string // a path of the contract that it covers, and should not
}

// An exception covers the changes of one kind, in one operation or in all, at one place or at all.
type exception struct {
	change, operation, at string
	line                  int
	covers                int
}

func loadExceptions(file string) (*exceptions, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the exceptions: %w", err)
	}
	root, problems := yamldoc.Parse(file, data)
	if len(problems) == 0 {
		problems = yamldoc.MustSchema(exceptionsSchema).Check(file, root)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	out := &exceptions{file: file}
	for _, n := range root.Get("later").Elements() {
		out.later = append(out.later, &later{path: n.Get("path").Str(), line: n.Line})
	}
	for _, n := range root.Get("except").Elements() {
		out.changes = append(out.changes, &exception{
			change: n.Get("change").Str(), operation: n.Get("operation").Str(), at: n.Get("at").Str(), line: n.Line,
		})
	}
	return out, nil
}

// postpone takes what is for later out of the published document.
func (e *exceptions) postpone(published, contract *document) {
	var paths []string
	for path := range published.plain.Paths.Map() {
		if l := e.find(path); l != nil {
			l.paths++
			paths = append(paths, path)
		}
	}
	for path := range contract.plain.Paths.Map() {
		if l := e.find(path); l != nil {
			l.built = path
		}
	}
	published.drop(paths)
}

func (e *exceptions) find(path string) *later {
	i := slices.IndexFunc(e.later, func(l *later) bool { return path == l.path || strings.HasPrefix(path, l.path+"/") })
	if i < 0 {
		return nil
	}
	return e.later[i]
}

// cover says whether a change has a reason.
func (e *exceptions) cover(c change) bool {
	covered := false
	for _, x := range e.changes {
		if x.change == c.id && (x.operation == "" || x.operation == c.operation) && (x.at == "" || names(c.text, x.at)) {
			x.covers++
			covered = true
		}
	}
	return covered
}

// names says whether a text names a place. oasdiff puts a place in backquotes, from the body on; its end is enough, and a
// star stands for anything within one segment.
func names(text, place string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(place), `\*`, "[^/`]*")
	return regexp.MustCompile("[`/]" + pattern + "`").MatchString(text)
}

// stale lists the exceptions that are not needed any more.
func (e *exceptions) stale() (out []string) {
	for _, l := range e.later {
		if l.built != "" {
			out = append(out, fmt.Sprintf("%s:%d: %s is for later, and the contract has %s", e.file, l.line, l.path, l.built))
		} else if l.paths == 0 {
			out = append(out, fmt.Sprintf("%s:%d: %s is for later, and the published document does not have it", e.file, l.line, l.path))
		}
	}
	for _, x := range e.changes {
		if x.covers == 0 {
			out = append(out, fmt.Sprintf("%s:%d: the exception for %s is not needed: there is no such difference", e.file, x.line, x.change))
		}
	}
	return out
}
