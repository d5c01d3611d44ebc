// Package skill finds skills: directories with a file SKILL.md. Its first lines say what the skill is for, and its
// text has instructions for one kind of work (decision X30). Skills are read again each time.
package skill

import (
	"bytes"
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/server/files"
	"github.com/lockstep-dev/lockstep/server/wire/yamljson"
)

// A Skill is one skill.
type Skill struct {
	Name, Description string // neither is blank
	Text              string
	Directory         string
}

const (
	fileName       = "SKILL.md"
	maxFile        = 1 << 20
	maxDirectories = 1000 // in one place
	maxFiles       = 1000 // that are listed for one skill
)

// Find returns the skills directly in the given places, sorted by name in byte order. Of skills with the same name,
// the last one wins. Directories without a valid skill are ignored.
func Find(places ...string) []Skill {
	byName := map[string]Skill{}
	for _, place := range places {
		for _, directory := range directories(place) {
			if s, ok := read(directory); ok {
				byName[s.Name] = s
			}
		}
	}
	var all []Skill
	for _, s := range byName {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Skill) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// directories returns the directories in a place, including links to directories, sorted by name in byte order.
func directories(place string) (paths []string) {
	entries, _ := os.ReadDir(place) // what can be read is sorted
	for _, entry := range entries {
		path := filepath.Join(place, entry.Name())
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			paths = append(paths, path)
		}
		if len(paths) == maxDirectories {
			break
		}
	}
	return paths
}

func read(directory string) (s Skill, ok bool) {
	content, err := files.ReadText(filepath.Join(directory, fileName), maxFile)
	if err != nil {
		return s, false
	}
	head, text, ok := split([]byte(content))
	if !ok {
		return s, false
	}
	about, err := yamljson.Parse(head)
	if err != nil {
		return s, false
	}
	name, description := about.Get("name").Str(), about.Get("description").Str()
	if strings.TrimSpace(name) == "" || strings.TrimSpace(description) == "" {
		return s, false
	}
	return Skill{Name: name, Description: description, Text: strings.TrimSpace(string(text)), Directory: directory}, true
}

// split splits a file into the text between two lines of three hyphens, the first of which must be line 1, and the
// text after them.
func split(content []byte) (head, text []byte, ok bool) {
	first, rest, _ := bytes.Cut(content, []byte("\n"))
	if !isFence(first) {
		return nil, nil, false
	}
	for at := 0; at < len(rest); {
		line, _, more := bytes.Cut(rest[at:], []byte("\n"))
		next := at + len(line)
		if more {
			next++
		}
		if isFence(line) {
			return rest[:at], rest[next:], true
		}
		at = next
	}
	return nil, nil, false
}

func isFence(line []byte) bool { return string(bytes.TrimSuffix(line, []byte("\r"))) == "---" }

// Files returns the paths of the files in the directory and in its subdirectories, one level deep, without SKILL.md,
// in byte order. It follows links. If there are too many, it leaves out the last ones.
func (s Skill) Files() (paths []string) {
	for _, name := range names(s.Directory) {
		path := filepath.Join(s.Directory, name)
		switch mode := modeOf(path); {
		case mode.IsDir():
			for _, below := range names(path) {
				if modeOf(filepath.Join(path, below)).IsRegular() {
					paths = append(paths, filepath.Join(name, below))
				}
			}
		case mode.IsRegular() && name != fileName:
			paths = append(paths, name)
		}
	}
	slices.Sort(paths)
	return paths[:min(len(paths), maxFiles)]
}

// names returns the first entries of a directory. The number is limited.
func names(directory string) (names []string) {
	entries, _ := os.ReadDir(directory)
	for _, entry := range entries[:min(len(entries), 2*maxFiles)] {
		names = append(names, entry.Name())
	}
	return names
}

// modeOf returns the mode of a file. A missing file is neither regular nor a directory.
func modeOf(path string) fs.FileMode {
	info, err := os.Stat(path)
	if err != nil {
		return fs.ModeIrregular
	}
	return info.Mode()
}
