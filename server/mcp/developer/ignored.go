package developer

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/lockstep-dev/lockstep/server/files"
)

// ignoredByDefault applies if there is no file .gooseignore (GA 28.2).
const ignoredByDefault = "**/.env\n**/.env.*\n**/secrets.*"

// rules are the rules of a .gooseignore file: gitignore(5), relative to a directory (decision X42).
type rules struct {
	root string
	all  []rule
}

// A rule is one pattern.
type rule struct {
	fits        *regexp.Regexp
	back        bool // matches are not ignored
	directories bool // matches only directories
}

func readIgnored(root string) rules {
	text := ignoredByDefault
	path := filepath.Join(root, ".gooseignore")
	if _, err := os.Lstat(path); err == nil {
		content, _ := files.ReadText(path, 1<<20)
		text = string(content)
	}
	r := rules{root: root}
	for pattern := range strings.SplitSeq(text, "\n") {
		if rule, ok := ruleOf(strings.TrimSuffix(pattern, "\r")); ok {
			r.all = append(r.all, rule)
		}
	}
	return r
}

var trailingBlanks = regexp.MustCompile(`(\\.)? +$`)

// ruleOf parses a line. Blank lines, comments and invalid patterns are not rules.
func ruleOf(line string) (r rule, ok bool) {
	line = trailingBlanks.ReplaceAllString(line, "$1")
	if line == "" || line[0] == '#' {
		return r, false
	}
	if line[0] == '!' {
		r.back, line = true, line[1:]
	}
	line, r.directories = strings.CutSuffix(line, "/")
	pattern := `^(?:.*/)?`
	if strings.Contains(line, "/") {
		pattern, line = "^", strings.TrimPrefix(line, "/")
	}
	var err error
	r.fits, err = regexp.Compile(`(?s)` + pattern + globbed(line) + "$")
	return r, err == nil && line != ""
}

var globs = regexp.MustCompile(`(?s)^\*\*/|/\*\*/|/\*\*$|\*+|\?|\[[!^]?\]?[^\]]*\]|\\.|[^*?\[\\/]+|.`)

// globbed converts a glob pattern to a regular expression.
func globbed(glob string) string {
	return globs.ReplaceAllStringFunc(glob, func(part string) string {
		switch {
		case part == "**/":
			return "(?:.*/)?"
		case part == "/**/":
			return "/(?:.*/)?"
		case part == "/**":
			return "/.+"
		case part[0] == '*':
			return "[^/]*"
		case part == "?":
			return "[^/]"
		case part[0] == '[' && len(part) > 2:
			inner := strings.ReplaceAll(part[1:len(part)-1], "[", `\[`)
			if inner[0] == '!' {
				inner = "^" + inner[1:]
			}
			return "[" + inner + "]"
		case part[0] == '\\' && len(part) > 1:
			part = part[1:]
		}
		return regexp.QuoteMeta(part)
	})
}

// ignored reports whether an absolute path, or the target of its links, is ignored.
func (r rules) ignored(path string) bool {
	return r.hit(path) || r.hit(resolved(path))
}

func (r rules) hit(path string) bool {
	name, err := filepath.Rel(r.root, path)
	if err != nil || name == ".." || strings.HasPrefix(name, "../") {
		name = strings.TrimPrefix(path, "/")
	}
	for i, c := range name {
		if c == '/' && r.decide(name[:i], true) {
			return true
		}
	}
	info, err := os.Stat(path)
	return r.decide(name, err == nil && info.IsDir())
}

// decide applies the last rule that matches.
func (r rules) decide(name string, directory bool) bool {
	for i := len(r.all) - 1; i >= 0; i-- {
		if rule := r.all[i]; (directory || !rule.directories) && rule.fits.MatchString(name) {
			return !rule.back
		}
	}
	return false
}

// resolved follows the links of a path, as far as it exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(resolved(parent), filepath.Base(path))
	}
	return path
}
