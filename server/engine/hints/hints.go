// Package hints reads hint files: what a user or a project tells every model. CONTEXT_FILE_NAMES names the files
// (GA 28.7, decisions M71, M72). They are read again each time.
package hints

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/server/files"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

const (
	maxFile  = 1 << 20
	maxAll   = 4 << 20
	maxDepth = 3    // of files that mention files
	maxFiles = 1000 // the maximum number to look for
)

var defaultNames = []string{".goosehints", "AGENTS.md"}

// Names returns the file names in a value of CONTEXT_FILE_NAMES, or the default names if it is not a list of strings.
func Names(setting []byte) (names []string) {
	list, err := jsonwire.Parse(setting)
	if err != nil || list.Kind() != "array" {
		return defaultNames
	}
	for _, element := range list.Elements() {
		if element.Kind() != "string" {
			return defaultNames
		}
		if name := element.Str(); name != "" && !strings.Contains(name, "/") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Read returns the hints of the user's settings, and of the project that contains a directory, or "" if there are
// none.
func Read(names []string, config, directory string) string {
	r := reader{names: names, left: maxAll}
	r.root = config
	global := r.block("### Global Hints", config)
	r.root = root(directory)
	var places []string
	for place := directory; ; place = filepath.Dir(place) {
		places = append([]string{place}, places...)
		if place == r.root || place == filepath.Dir(place) {
			break
		}
	}
	project := r.block("### Project Hints", places...)
	return strings.Join(slices.DeleteFunc([]string{global, project}, func(block string) bool { return block == "" }), "\n\n")
}

// root returns the nearest directory upwards that is a git repository, or the directory itself if there is none.
func root(directory string) string {
	for place := directory; ; place = filepath.Dir(place) {
		if _, err := os.Lstat(filepath.Join(place, ".git")); err == nil {
			return place
		}
		if place == filepath.Dir(place) {
			return directory
		}
	}
}

// A reader reads files below a root, up to a total size.
type reader struct {
	names []string
	root  string
	left  int64 // bytes that may still be read
	files int
}

// block returns the texts of the files in some places below a heading, or "" if there are none.
func (r *reader) block(heading string, places ...string) string {
	lines := []string{heading}
	for _, place := range places {
		for _, name := range r.names {
			if text := r.text(filepath.Join(place, name), nil); text != nil && *text != "" {
				lines = append(lines, *text)
			}
		}
	}
	if len(lines) == 1 {
		return ""
	}
	return strings.Join(lines, "\n")
}

var mention = regexp.MustCompile(`(^|\s)@([A-Za-z0-9_./-]+)`)

// text returns the text of a file, with the files that it mentions, or nil if it cannot be read. around has the real
// paths of the files that led to it by mentions.
func (r *reader) text(path string, around []string) *string {
	if r.files++; r.files > maxFiles {
		return nil
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil || !r.inside(path) || slices.Contains(around, path) || len(around) > maxDepth {
		return nil
	}
	content, ok := r.read(path)
	if !ok {
		return nil
	}
	around = append(slices.Clip(around), path)
	text := mention.ReplaceAllStringFunc(strings.TrimSpace(content), func(found string) string {
		before, name, _ := strings.Cut(found, "@")
		named, dot := strings.CutSuffix(name, ".")
		if named == "" || filepath.IsAbs(named) {
			return found
		}
		text := r.text(filepath.Join(filepath.Dir(path), named), around)
		if text == nil {
			return found
		}
		end := ""
		if dot {
			end = "."
		}
		return before + "--- Content from " + named + " ---\n" + *text + "\n--- End of " + named + " ---" + end
	})
	return &text
}

// inside reports whether a path without links is below the root.
func (r *reader) inside(path string) bool {
	real, err := filepath.EvalSymlinks(r.root)
	if err != nil {
		return false
	}
	below, err := filepath.Rel(real, path)
	return err == nil && filepath.IsLocal(below)
}

// read reads a file, and counts its size.
func (r *reader) read(path string) (content string, ok bool) {
	content, err := files.ReadText(path, min(maxFile, r.left))
	r.left -= int64(len(content))
	return content, err == nil
}
