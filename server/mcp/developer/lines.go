package developer

import (
	"path/filepath"
	"strconv"
	"strings"
)

const review = "Review the changes above for errors. Undo and edit the file again if necessary!"

// around is how many lines are shown before and after a change.
const around = 4

// unixLineEnds converts all line ends to line feeds.
var unixLineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// lineEnd returns the line end of the first line.
func lineEnd(text string) string {
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// asIn returns a text with the line ends of another text (decision X19).
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

// linesOf returns the lines of a text without their line ends.
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

// section shows lines of a content, with some lines around them. The first line has index 0.
func (f file) section(content string, first, count int) string {
	lines := linesOf(content)
	from, to := max(first-around, 0), min(first+count+around, len(lines))
	return fenced(f.language(), strings.Join(lines[min(from, to):to], "\n"))
}

// fenced returns a text in a code block, with a fence that does not occur in it (decision X18).
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

// language returns the language of a code block with the file's text.
func (f file) language() string { return languages[filepath.Ext(f.path)] }

func number(n int64) string { return strconv.FormatInt(n, 10) }
