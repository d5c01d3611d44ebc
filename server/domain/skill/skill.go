// Package skill finds skills: directories with a file SKILL.md, whose first lines say what the skill is for, and whose text
// says what to know for one kind of work (decision X30). It reads them anew each time.
package skill

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/server/files"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
	"github.com/lockstep-dev/lockstep/server/wire/yamljson"
)

// A Skill is one of them.
type Skill struct {
	Name, Description string // neither is blank
	Text              string
	Directory         string
}

const (
	fileName       = "SKILL.md"
	maxFile        = 1 << 20
	maxDirectories = 1000 // of one place
	maxFiles       = 1000 // of one skill that are listed
)

// Find returns the skills right in some directories, in the order of the bytes of their names. Of those with one name the
// last is taken. What is no skill is left out.
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

// directories returns the directories in a place, links to directories included, in the order of the bytes of their names.
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
	if err != nil || about.Kind() != "object" {
		return s, false
	}
	texts := about.Pick("name", "description")
	for _, text := range texts {
		if text.Kind() != "string" || blank(text) {
			return s, false
		}
	}
	return Skill{Name: texts[0].Str(), Description: texts[1].Str(), Text: strings.TrimSpace(string(text)), Directory: directory}, true
}

func blank(text jsonwire.Text) bool { return strings.TrimSpace(text.Str()) == "" }

// split cuts a file into what stands between two lines of three hyphens, of which one is the first, and what follows.
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

// Files returns the paths of the files in the directory, and of those right in its directories, in the order of their bytes,
// but for SKILL.md. Links are what they lead to. If there are too many, the last ones are left out.
func (s Skill) Files() (paths []string) {
	for _, name := range names(s.Directory) {
		switch kind(filepath.Join(s.Directory, name)) {
		case aFile:
			if name != fileName {
				paths = append(paths, name)
			}
		case aDirectory:
			for _, below := range names(filepath.Join(s.Directory, name)) {
				if path := filepath.Join(name, below); kind(filepath.Join(s.Directory, path)) == aFile {
					paths = append(paths, path)
				}
			}
		}
	}
	slices.Sort(paths)
	return paths[:min(len(paths), maxFiles)]
}

// names returns the first entries of a directory, so that a large one is bounded.
func names(directory string) (names []string) {
	entries, _ := os.ReadDir(directory)
	for _, entry := range entries[:min(len(entries), 2*maxFiles)] {
		names = append(names, entry.Name())
	}
	return names
}

const (
	aFile = iota + 1
	aDirectory
)

func kind(path string) int {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return 0
	case info.IsDir():
		return aDirectory
	case info.Mode().IsRegular():
		return aFile
	}
	return 0
}
