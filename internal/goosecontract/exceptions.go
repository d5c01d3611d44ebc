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

// exceptions say where the contract deviates from the published document, each with its reason.
type exceptions struct {
	file    string
	later   []*later
	changes []*exception
}

// A later is a path that the contract does not have yet, with all paths below it.
type later struct {
	path  string
	line  int
	paths int    // how many paths of the published document it covers
	built string // a path that it covers and the contract already has
}

// An exception accepts one kind of change. It may be limited to one operation and to one place.
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

// postpone removes the later paths from the published document.
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

// cover reports whether an exception accepts a change.
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

// names reports whether the text of a change names a place. oasdiff writes places in backquotes, as paths from the
// body on. The end of a path is enough, and a star matches anything within one segment.
func names(text, place string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(place), `\*`, "[^/`]*")
	return regexp.MustCompile("[`/]" + pattern + "`").MatchString(text)
}

// stale lists the exceptions that are no longer needed.
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
