package developer

import (
	"path/filepath"
	"strconv"
	"strings"
)

const review = "Review the changes above for errors. Undo and edit the file again if necessary!"

// around is how many lines before and behind a change are shown.
const around = 4

// unixLineEnds makes each line end a line feed.
var unixLineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// lineEnd returns what the first line of a text ends with.
func lineEnd(text string) string {
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// asIn returns a text with the line ends of another (decision X19).
func asIn(other, text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if end := lineEnd(other); end != "\n" {
		text = strings.ReplaceAll(text, "\n", end)
	}
	return text
}

func withLineEnd(text, end string) string {
	if strings.HasSuffix(text, "\n") {
		return text
	}
	return text + end
}

// linesOf returns the lines of a text without their ends.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
	}
	return lines
}

// section shows so many lines of a content, those around them too. The first line is 0.
func (f file) section(content string, first, count int) string {
	lines := linesOf(content)
	from, to := max(first-around, 0), min(first+count+around, len(lines))
	return fenced(f.language(), strings.Join(lines[min(from, to):to], "\n"))
}

// fenced returns a text between fences that it does not contain (decision X18).
func fenced(language, text string) string {
	longest, run := 2, 0
	for _, c := range text {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + language + "\n" + withLineEnd(text, "\n") + fence + "\n"
}

var languages = map[string]string{
	".rs": "rust", ".py": "python", ".js": "javascript", ".ts": "typescript", ".go": "go", ".java": "java", ".rb": "ruby",
	".kt": "kotlin", ".swift": "swift", ".sh": "bash", ".json": "json", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml",
	".md": "markdown", ".html": "html", ".css": "css", ".c": "c", ".cpp": "cpp", ".sql": "sql",
}

// language returns what a fence around the file's text is marked with.
func (f file) language() string { return languages[filepath.Ext(f.path)] }

func number(n int64) string { return strconv.FormatInt(n, 10) }
