package developer

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// These bounds limit what is shown (GA 28.2).
const (
	maxViewed      = 400 << 10
	maxViewedLines = 2000
	maxEntries     = 50
)

// view shows a file with line numbers, or a directory.
func (e *editor) view(w edit) ([]mcp.Content, error) {
	info, err := os.Stat(w.path)
	switch {
	case err == nil && info.IsDir():
		return w.entries()
	case err == nil && info.Mode().IsRegular() && info.Size() > maxViewed:
		return nil, failed("File '%s' is too large (%.2fKB). Maximum size is 400KB to prevent memory issues.", w.given, float64(info.Size())/1024)
	}
	content, err := w.content(maxViewed)
	if err != nil {
		return nil, err
	}
	lines := linesOf(content)
	if len(lines) == 0 {
		lines = []string{""}
	}
	if len(lines) > maxViewedLines && w.shown == nil {
		return nil, failed("File '%s' is %d lines long, more than the %d that are shown at once. Use view_range, for example [1, %d].",
			w.given, len(lines), maxViewedLines, len(lines))
	}
	first, last, heading := 1, len(lines), ""
	if w.shown != nil {
		if first, last, err = bounds(*w.shown, len(lines)); err != nil {
			return nil, err
		}
		heading = fmt.Sprintf(" (lines %d-%d)", first, last)
	}
	var shown strings.Builder
	for n := first; n <= last; n++ {
		fmt.Fprintf(&shown, "%d: %s\n", n, lines[n-1])
	}
	return []mcp.Content{w.whole(content), text("### "+w.given+heading+"\n"+fenced(w.language(), shown.String()), behindOthers)}, nil
}

// pair returns an argument that must be two integers, or nil if it is missing.
func pair(c call, name string) *[2]int64 {
	value := c.Get(name, "array")
	if value == nil {
		return nil
	}
	var all []int64
	for _, element := range value.Elements() {
		number, ok := element.Integer()
		if !ok {
			c.Invalid(name)
			return nil
		}
		all = append(all, number)
	}
	if len(all) != 2 {
		c.Invalid(name)
		return nil
	}
	return (*[2]int64)(all)
}

// bounds returns the part of a range that exists in a file.
func bounds(wanted [2]int64, lines int) (first, last int, err error) {
	from, to := max(wanted[0], 1), wanted[1]
	switch {
	case from > int64(lines):
		return 0, 0, invalid("Start line %d is beyond the end of the file (total lines: %d)", wanted[0], lines)
	case to == -1:
		to = int64(lines)
	case from >= to:
		return 0, 0, invalid("Start line %d must be less than end line %d", wanted[0], to)
	}
	return int(from), int(min(to, int64(lines))), nil
}

// whole returns an item with the whole file.
func (f file) whole(content string) mcp.Content {
	type resource struct {
		URI      string `json:"uri"`
		MIMEType string `json:"mimeType"`
		Text     string `json:"text"`
	}
	return newItem(struct {
		Type        string       `json:"type"`
		Resource    resource     `json:"resource"`
		Annotations *annotations `json:"annotations"`
	}{"resource", resource{"file://" + escaped(f.path), "text", content}, forAssistant})
}

// escaped percent-encodes a path, except unreserved characters (RFC 3986 §2.3) and slashes.
func escaped(path string) string {
	return strings.NewReplacer("+", "%20", "%2F", "/").Replace(url.QueryEscape(path))
}

// entries shows a directory.
func (f file) entries() ([]mcp.Content, error) {
	all, err := os.ReadDir(f.path) // sorted by name
	if err != nil {
		return nil, failed("Failed to read file: %s", f.given)
	}
	var directories, files string
	for _, entry := range all[:min(len(all), maxEntries)] {
		if info, err := os.Stat(filepath.Join(f.path, entry.Name())); err == nil && info.IsDir() {
			directories += "  " + entry.Name() + "/\n"
		} else {
			files += "  " + entry.Name() + "\n"
		}
	}
	shown := "'" + f.given + "' is a directory. Contents:\n\n"
	if directories != "" {
		shown += "Directories:\n" + directories + "\n"
	}
	if files != "" {
		shown += "Files:\n" + files
	}
	switch {
	case len(all) == 0:
		shown += "  (empty directory)\n"
	case len(all) > maxEntries:
		shown += fmt.Sprintf("\n... and %d more items (showing first %d items)\n", len(all)-maxEntries, maxEntries)
	}
	return []mcp.Content{text(shown, nil)}, nil
}
