package developer

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// These bounds limit a diff (GA 28.2).
const (
	maxDiff      = 1 << 20
	maxDiffFiles = 100
)

// A patch is the part of a diff about one file.
type patch struct {
	name  string
	fresh bool // the patch creates the file
	hunks []hunk
}

// A hunk is a run of changed lines.
type hunk struct {
	at       int // the first old line according to the diff, counted from 0
	old, new []string
	added    int
	removed  int
}

// patch changes files according to a diff (decision X41): all of them, or as far as possible none.
func (e *editor) patch(w edit) ([]mcp.Content, error) {
	if len(*w.diff) > maxDiff {
		return nil, invalid("Diff is too large (%d bytes). Maximum size is %d bytes (1MB).", len(*w.diff), maxDiff)
	}
	patches, ok := patchesOf(strings.Split(strings.ReplaceAll(*w.diff, "\r\n", "\n"), "\n"))
	if !ok {
		return nil, invalid("The 'diff' parameter must be in unified diff format, with lines --- and +++ and hunks")
	}
	if len(patches) > maxDiffFiles {
		return nil, invalid("Diff names too many files (%d). Maximum is %d.", len(patches), maxDiffFiles)
	}
	base := w.path
	if info, err := os.Stat(base); err != nil || !info.IsDir() {
		base = filepath.Dir(base)
	}
	var targets []target
	for _, p := range patches {
		var err error
		if targets, err = e.target(targets, base, p); err != nil {
			return nil, err
		}
	}
	added, removed := 0, 0
	for _, t := range targets {
		if err := e.change(t.file, t.old, t.content); err != nil {
			return nil, err
		}
		added, removed = added+t.added, removed+t.removed
	}
	said := fmt.Sprintf("Successfully applied diff to %s:\n• Lines added: %d\n• Lines removed: %d", w.given, added, removed)
	return says(said, said, forUser), nil
}

// A target is a file that a diff changes.
type target struct {
	file
	old            *string // nil if the file does not exist yet
	content        string
	added, removed int
}

// target applies a patch to its file, and adds the result. Another patch of the same file starts from that result.
func (e *editor) target(all []target, base string, p patch) ([]target, error) {
	if !allowed(base, p.name) {
		return nil, invalid("Diff names a path that is not allowed: %s", p.name)
	}
	f, err := e.file(filepath.Join(base, p.name))
	f.given = p.name
	if err != nil {
		return nil, failed("Access to '%s' is restricted by .gooseignore", p.name)
	}
	i := slices.IndexFunc(all, func(t target) bool { return t.path == f.path })
	if i < 0 {
		t := target{file: f}
		if _, err := os.Lstat(f.path); !p.fresh || err == nil {
			content, err := f.content(maxFile)
			if err != nil {
				return nil, err
			}
			t.old, t.content = &content, content
		}
		i, all = len(all), append(all, t)
	}
	t := &all[i]
	content, ok := p.applied(t.content)
	if !ok || p.fresh && t.old != nil {
		return nil, failed("Diff does not fit the file: %s", p.name)
	}
	t.content = content
	for _, h := range p.hunks {
		t.added, t.removed = t.added+h.added, t.removed+h.removed
	}
	return all, nil
}

// allowed reports whether a path stays below a directory, and no part of it is a link.
func allowed(base, name string) bool {
	if !filepath.IsLocal(name) || slices.Contains(strings.Split(name, "/"), "..") {
		return false
	}
	path := base
	for part := range strings.SplitSeq(name, "/") {
		path = filepath.Join(path, part)
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return false
		}
	}
	return true
}

var hunkHead = regexp.MustCompile(`^@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@`)

// patchesOf parses a diff. It ignores lines between patches.
func patchesOf(lines []string) (all []patch, ok bool) {
	for len(lines) > 0 {
		from, isHead := strings.CutPrefix(lines[0], "--- ")
		if !isHead {
			if strings.HasPrefix(lines[0], "@@") {
				return nil, false
			}
			lines = lines[1:]
			continue
		}
		if len(lines) < 2 || !strings.HasPrefix(lines[1], "+++ ") {
			return nil, false
		}
		p := patch{name: fileName(lines[1][4:], "b/"), fresh: fileName(from, "a/") == os.DevNull}
		if lines, ok = p.read(lines[2:]); !ok {
			return nil, false
		}
		all = append(all, p)
	}
	return all, len(all) > 0
}

// fileName returns the file name in a head, without the time after it.
func fileName(head, prefix string) string {
	name, _, _ := strings.Cut(head, "\t")
	return strings.TrimPrefix(strings.TrimSpace(name), prefix)
}

// read parses the hunks at the start of the lines. There must be at least one.
func (p *patch) read(lines []string) (rest []string, ok bool) {
	for len(lines) > 0 {
		head := hunkHead.FindStringSubmatch(lines[0])
		if head == nil {
			break
		}
		h := hunk{at: max(count(head[1])-1, 0)}
		if lines, ok = h.read(lines[1:], count(head[2]), count(head[3])); !ok {
			return nil, false
		}
		if len(h.old) == 0 && head[1] != "0" {
			h.at++ // it is after that line
		}
		p.hunks = append(p.hunks, h)
	}
	return lines, len(p.hunks) > 0
}

// count returns a number in a head; a missing one is 1.
func count(digits string) int {
	if digits == "" {
		return 1
	}
	n, _ := strconv.Atoi(digits)
	return n
}

// read parses the given numbers of old and new lines.
func (h *hunk) read(lines []string, old, fresh int) (rest []string, ok bool) {
	for old > 0 || fresh > 0 || len(lines) > 0 && strings.HasPrefix(lines[0], `\`) {
		if len(lines) == 0 {
			return nil, false
		}
		line := lines[0]
		lines = lines[1:]
		switch {
		case strings.HasPrefix(line, `\`):
			continue
		case line == "":
			line = " " // an empty line that lost its blank
		}
		switch line[0] {
		case ' ':
			h.old, h.new = append(h.old, line[1:]), append(h.new, line[1:])
			old, fresh = old-1, fresh-1
		case '-':
			h.old, old, h.removed = append(h.old, line[1:]), old-1, h.removed+1
		case '+':
			h.new, fresh, h.added = append(h.new, line[1:]), fresh-1, h.added+1
		default:
			return nil, false
		}
		if old < 0 || fresh < 0 {
			return nil, false
		}
	}
	return lines, true
}

// applied returns the content with all hunks applied, and false if one fits nowhere.
func (p patch) applied(content string) (string, bool) {
	end, ended := lineEnd(content), content == "" || strings.HasSuffix(content, "\n")
	lines := linesOf(content)
	moved, from := 0, 0
	for _, h := range p.hunks {
		at, ok := h.place(lines, h.at+moved, from)
		if !ok {
			return "", false
		}
		lines = slices.Replace(lines, at, at+len(h.old), h.new...)
		moved = at - h.at + len(h.new) - len(h.old)
		from = at + len(h.new)
	}
	content = strings.Join(lines, end)
	if ended && len(lines) > 0 {
		content += end
	}
	return content, true
}

// place returns where the old lines are: the place nearest to the stated one, and not before the previous hunk.
func (h hunk) place(lines []string, said, from int) (at int, ok bool) {
	fits := func(at int) bool {
		return at >= from && at+len(h.old) <= len(lines) && slices.Equal(lines[at:at+len(h.old)], h.old)
	}
	said = min(max(said, 0), len(lines))
	for far := 0; far <= len(lines); far++ {
		if fits(said - far) {
			return said - far, true
		}
		if fits(said + far) {
			return said + far, true
		}
	}
	return 0, false
}
