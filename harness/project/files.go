package project

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Files are the files of a project.
type Files struct {
	Scenarios []string // the files in the folder of the scenarios
	Project   []string // lockstep.yaml and what it names: files for directories, contract, waivers, baseline; some may not exist
	Targets   []string // the files that targets watch
	Unwatched []string // names of started targets whose files are unknown
}

// Files searches for the current files of the project.
func (p *Project) Files() Files {
	f := Files{Project: []string{p.File}}
	for _, file := range []string{p.ContractFile, p.WaiversFile, p.BaselineFile} {
		if file != "" {
			f.Project = append(f.Project, file)
		}
	}
	f.Project = append(f.Project, p.addedFiles...)
	f.Scenarios = p.scenarioFiles()
	dir := filepath.Dir(p.File)
	for i := range p.Targets {
		t := &p.Targets[i]
		if t.Watch == nil && t.Spec.URL == "" {
			named := t.filesOfCommand()
			f.Targets = append(f.Targets, named...)
			if len(named) == 0 {
				f.Unwatched = append(f.Unwatched, t.Spec.Name)
			}
		}
		for _, pattern := range t.Watch {
			base := fixedPrefix(pattern)
			walkFiles(joinSlash(dir, base), func(file string) {
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

// scenarioFiles returns the files of scenarios and fragments.
func (p *Project) scenarioFiles() (out []string) {
	walkFiles(p.scenarioDir, func(file string) {
		if filepath.Ext(file) == ".yaml" && file != p.WaiversFile {
			out = append(out, file)
		}
	})
	return out
}

// filesOfCommand returns the files that a command names, such as a script or a program of the project. They are watched
// by default. Programs from PATH are not, nor are folders, because the server may write there.
func (t *Target) filesOfCommand() (out []string) {
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

func joinSlash(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }

// fixedPrefix returns the leading folders of a pattern without wildcards, or the whole pattern if it has no wildcards.
func fixedPrefix(pattern string) string {
	parts := strings.Split(pattern, "/")
	if i := slices.IndexFunc(parts, func(s string) bool { return strings.ContainsAny(s, `*?[\`) }); i >= 0 {
		return path.Join(parts[:i]...)
	}
	return pattern
}

// matches reports whether a path matches a pattern. ** matches any number of folders; within a name, path.Match
// applies.
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

// walkFiles calls f with each file at a path or below it, except those of version control and of package managers. It
// skips what cannot be read.
func walkFiles(root string, f func(file string)) {
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
