package developer

import (
	"os"
	"strconv"
	"strings"
)

// maxEntries is how many entries of a directory are shown (decision X18).
const maxEntries = 1000

// view shows a file with the numbers of its lines, or a directory.
func (e *editor) view(f file, a arguments) (string, error) {
	if info, err := os.Stat(f.path); err == nil && info.IsDir() {
		return f.entries()
	}
	content, err := f.existing()
	if err != nil {
		return "", err
	}
	text := utf8(string(content))
	var lines []string
	if text != "" {
		lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	first, last, err := a.lineRange(len(lines))
	if err != nil {
		return "", err
	}
	if len(lines) == 0 {
		return "[The file is empty.]", nil
	}
	var shown strings.Builder
	for n := first; n <= last; n++ {
		if n > first {
			shown.WriteByte('\n')
		}
		shown.WriteString(strconv.Itoa(n) + ": " + lines[n-1])
	}
	return shown.String(), nil
}

// entries shows a directory.
func (f file) entries() (string, error) {
	all, err := os.ReadDir(f.path) // sorted by name
	if err != nil {
		return "", fault("Cannot read " + f.given)
	}
	if len(all) == 0 {
		return "[The directory is empty.]", nil
	}
	var names []string
	for _, entry := range all[:min(len(all), maxEntries)] {
		name := entry.Name()
		if entry.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	if len(all) > maxEntries {
		names = append(names, "[There are more.]")
	}
	return strings.Join(names, "\n"), nil
}
