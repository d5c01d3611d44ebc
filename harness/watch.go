package harness

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// patterns reads the patterns of files that a target is made of.
func (l *loader) patterns(n *yamldoc.Node) []string {
	var out []string
	for _, item := range n.Elements() {
		if _, err := path.Match(strings.ReplaceAll(item.Text, "**", "*"), "x"); err != nil {
			l.problem(item, fmt.Sprintf("%q is no pattern: %v", item.Text, err), "write a path in which * stands for any name and ** for any folders, such as src/**/*.go")
		}
		out = append(out, path.Clean(filepath.ToSlash(item.Text)))
	}
	return out
}

// Files are what a project is made of.
type Files struct {
	Scenarios []string // those in the folder of the scenarios
	Project   []string // lockstep.yaml, what it puts into directories, the contract, the waivers, the baseline, whether they are there or not
	Targets   []string // those that targets watch
	Unwatched []string // names of targets that are started, and of which no file is known
}

// Files looks for the files that the project is made of, as they are now.
func (p *Project) Files() Files {
	f := Files{Project: []string{p.File, p.ContractFile, p.WaiversFile}}
	if p.BaselineFile != "" {
		f.Project = append(f.Project, p.BaselineFile)
	}
	f.Project = append(f.Project, p.files...)
	walk(p.scenarios, func(file string) {
		if filepath.Ext(file) == ".yaml" && file != p.WaiversFile {
			f.Scenarios = append(f.Scenarios, file)
		}
	})
	dir := filepath.Dir(p.File)
	for i := range p.Targets {
		t := &p.Targets[i]
		if t.Watch == nil && t.Spec.URL == "" {
			named := t.named()
			f.Targets = append(f.Targets, named...)
			if len(named) == 0 {
				f.Unwatched = append(f.Unwatched, t.Spec.Name)
			}
		}
		for _, pattern := range t.Watch {
			base := fixed(pattern)
			walk(within(dir, base), func(file string) {
				if rel, err := filepath.Rel(dir, file); err == nil && matches(strings.Split(pattern, "/"), strings.Split(filepath.ToSlash(rel), "/")) {
					f.Targets = append(f.Targets, file)
				}
			})
		}
	}
	slices.Sort(f.Targets)
	f.Targets = slices.Compact(f.Targets)
	return f
}

// named returns the files that a command names: the script that it interprets, the program in the project. They are what
// the target is made of where nobody says it. A program that is looked for in PATH is none of them, nor is a folder, in
// which the server may write.
func (t *Target) named() (out []string) {
	for i, word := range t.Spec.Command {
		if i == 0 && filepath.Base(word) == word {
			continue
		}
		file := word
		if !filepath.IsAbs(file) {
			file = filepath.Join(t.Spec.Dir, file)
		}
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			out = append(out, file)
		}
	}
	return out
}

func within(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }

// fixed returns the folders of a pattern, or the file, in which nothing stands for anything else.
func fixed(pattern string) string {
	parts := strings.Split(pattern, "/")
	if i := slices.IndexFunc(parts, func(s string) bool { return strings.ContainsAny(s, `*?[\`) }); i >= 0 {
		return path.Join(parts[:i]...)
	}
	return pattern
}

// matches reports whether a path fits a pattern: ** stands for any number of folders, and within a name * and ? and […] are
// as in path.Match.
func matches(pattern, name []string) bool {
	for len(pattern) > 0 && pattern[0] != "**" {
		if len(name) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], name[0]); err != nil || !ok {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	if len(pattern) == 0 {
		return len(name) == 0
	}
	for i := range len(name) + 1 {
		if matches(pattern[1:], name[i:]) {
			return true
		}
	}
	return false
}

// walk calls f with each file at a path or below, but for those of version control and of package managers. What cannot be
// read is not there.
func walk(root string, f func(file string)) {
	_ = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case entry.IsDir() && file != root && (entry.Name() == ".git" || entry.Name() == "node_modules"):
			return fs.SkipDir
		case !entry.IsDir():
			f(file)
		}
		return nil
	})
}
